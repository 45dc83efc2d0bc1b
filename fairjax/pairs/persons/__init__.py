"""One person of a text, turned by rules."""
