"""Bias benchmarks of language models, and what mitigates them."""
