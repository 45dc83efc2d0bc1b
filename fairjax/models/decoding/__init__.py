"""Text from models: greedy, beams, drafts, spans filled in.

In this room:

  beam          Beam search, step by step as transformers has it, each row on
                its own
  decode        Decoding on the device: many rows of different lengths in one
                loop
  decode_slots  Decoding slots on the device: filled, stepped, widened
  decode_texts  Decoding of a whole input: sorted by length, few shapes, no
                idle slots
  infill        Constrained infilling: a source is copied, and only its masks
                are written
  sample        Sampling: the next token by temperature, top-k and top-p,
                without a sort
  speculate     Copy-speculative greedy decoding: drafts from the source,
                verified at once
"""
