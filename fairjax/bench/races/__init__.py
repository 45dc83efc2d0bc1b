"""Races against peers, one a file.

In this room:

  audit       Predictions of an audited classifier: rows/s beside pipeline and
              a good loop
  batches     Packed batches of short texts: sequences a second against grain's
              packer
  benchmarks  CrowS-Pairs: packed masks against transformers, the reference's
              way and well
  fairflow    FairFlow's parts against transformers and PyTorch: embed, repair,
              flow
  generate    Text generation: our greedy decoding against torch's and
              CTranslate2's
  grand       Exact per-example gradient norms, against PyTorch and jax_privacy
  groups      Group measures of many rows: `bincount`s, scikit-learn and
              fairlearn
  load        Loading the weights of a model folder, against transformers
  lstm        Training the weighting paper's LSTM (or Dixon's CNN), against
              PyTorch
  perturb     Perturbing texts: ours against transformers' generate over the
              same texts
  sample      Sampled texts: our decoder against transformers'
              generate(do_sample=True)
  scores      All example scores (GE, EL2N, GraNd, forgetting) for all seeds
  swap        Word swap of a column, against plain dictionaries by `re`; right
              and fast
  tokens      Text to ids, against `tokenizers` alone, on the same texts
  train       Fine-tuning an encoder on real short texts, against PyTorch
  weights     Cross-predicted P(y|z) of a random forest, against scikit-learn's
"""
