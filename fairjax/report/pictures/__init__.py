"""Pictures of results, each with its words."""
