"""Bias benchmarks of language models: items, a score an item, an estimate."""
