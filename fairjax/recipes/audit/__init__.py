"""The audit of any classifier, or of its predictions."""
