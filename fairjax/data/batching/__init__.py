"""Texts as tokens, and tokens as packed batches."""
