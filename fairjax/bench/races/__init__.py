"""Races against peers, one a file.

In this room:

  audit       Predictions of an audited classifier: rows/s beside OpenVINO and
              others
  benchmarks  CrowS-Pairs: packed masks against transformers, taken apart by an
              expert
  generate    Text generation: our greedy decoding against torch's and
              CTranslate2's
  grand       Exact per-example gradient norms, against PyTorch
  groups      Group measures of many rows, against `bincount`s and scikit-learn
  swap        Word swap of a column, against plain dictionaries by `re`
  tokens      Text to ids, against `tokenizers` alone, on the same texts
  train       Fine-tuning an encoder on real short texts, against PyTorch
"""
