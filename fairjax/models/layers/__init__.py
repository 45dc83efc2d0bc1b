"""Layers, attention and products, with exact norms of gradients.

In this room:

  argmax        Argmax of long rows, as fast as reading them
  attention     Attention: activations, keys and values, weight dropout, rotary
                positions
  dropout       Counter-based dropout: bits that are a hash of the key, place
                and feature
  exact_norms   Layer operations that also give each example's squared gradient
                norm
  gathers       Rows and places read by number, whose cotangents are sums in a
                fixed order
  int8          Products of 8-bit integers, for writing and predicting on a CPU
  layer_params  Parameters in the forms that layers read: types, tiles,
                transposes
  linear_loss   Losses of a tied output layer, without the array of all its
                logits
  places        Positions in packed batches: rows, positions, first tokens
  probed        The parametric layers: Dense, Embed and LayerNorm, with exact
                gradient norms
  products      Matrix products, exact and fast on each platform
"""
