"""Layers, attention and products, with exact norms of gradients."""
