"""The other sides of races.

In this room:

  generate_peers  Peers of the generation race: transformers on torch, and
                  CTranslate2
  grand_peers     Peers of the gradient-norm race: hooks, and Opacus
  minilm          MiniLM, the one pretrained model that comes as a Python
                  package
  text_batches    Texts of the races, and padded batches of them, as the peers
                  read them
  torch_packed    BERT with packed rows in PyTorch, as an expert writes it: a
                  peer of races
"""
