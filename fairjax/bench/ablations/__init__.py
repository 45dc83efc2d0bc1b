"""Ours against ours: what one choice costs and what it gains, a file each.

In this room:

  compiling  Start-up: one run cold, and again with its programs cached
  dispatch   Several training steps per dispatch against one: what the host
             costs
  int8       8-bit integers against float32: the tokens written, and perplexity
  precision  bfloat16 products against float32: seconds, losses and gradient
             norms
"""
