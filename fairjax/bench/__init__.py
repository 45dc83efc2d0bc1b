"""Races against peers, and programs compiled for chips that are not here.

In this room:

  __main__         python -m fairjax.bench NAME [args]: one race against a peer
  aot              Our programs, compiled for chips that are not here: memory,
                   time, links
  audit            Predictions of an audited classifier: rows/s beside pipeline
                   and a good loop
  batches          Packed batches of short texts: sequences a second against
                   grain's packer
  benchmarks       CrowS-Pairs: packed masks against transformers, the
                   reference's way and well
  compiling        Start-up: one run cold, and again with its programs cached
  dispatch         Several training steps per dispatch against one: what the
                   host costs
  fairflow         FairFlow's parts against transformers and PyTorch: embed,
                   repair, flow
  fairflow_flow    A training step of FairFlow's flow, against PyTorch modules
  fairflow_repair  Repairing swapped texts: ELECTRA finds odd words, BART
                   rewrites them
  generate         Text generation: our greedy decoding against torch's and
                   CTranslate2's
  generate_peers   Peers of the generation race: transformers on torch, and
                   CTranslate2
  grand            Exact per-example gradient norms, against PyTorch and
                   jax_privacy
  grand_peers      Peers of the gradient-norm race: hooks, functorch, Opacus,
                   jax_privacy
  groups           Group measures of many rows: `bincount`s, scikit-learn and
                   fairlearn
  hlo              What a compiled program does, read from its optimised HLO
                   text
  int8             8-bit integers against float32: the tokens written, and
                   perplexity
  load             Loading the weights of a model folder, against transformers
  lstm             Training the weighting paper's LSTM (or Dixon's CNN),
                   against PyTorch
  perturb          Perturbing texts: ours against transformers' generate over
                   the same texts
  plain_bert       A textbook Flax step of a BERT classifier: the peer of
                   deviceless compiles
  precision        bfloat16 products against float32: seconds, losses and
                   gradient norms
  programs         The programs of a run, traced for devices that are not there
  race             Races: two ways to do one thing, timed in turns
  scores           All example scores (GE, EL2N, GraNd, forgetting) for all
                   seeds
  swap             Word swap of a column, against plain dictionaries by `re`;
                   right and fast
  targets          Chips that are not here: rates, memory, and devices to
                   compile for
  text_batches     Lines of a file and padded batches of them, as the races'
                   peers read them
  tokens           Text to ids, against `tokenizers` alone, on the same texts
  torch_packed     BERT with packed rows in PyTorch, as an expert writes it: a
                   peer of races
  train            Fine-tuning an encoder on real short texts, against PyTorch
  weights          Cross-predicted P(y|z) of a random forest, against scikit-
                   learn's
"""
