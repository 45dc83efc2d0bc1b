"""Counterfactuals by word lists and rules of context."""
