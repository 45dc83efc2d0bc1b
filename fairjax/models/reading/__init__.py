"""What a language model says of texts: likelihoods, fills, judgements.

In this room:

  contextual     Contextual embeddings of words, and predictions of heads on
                 them
  detect         Detection of replaced tokens: by an ELECTRA, or by a masked LM
  eraser_head    Erasers in the head of a masked LM, and such a model as a
                 folder
  fill           Mask filling: with a BART, or with a masked LM
  judge          Log probabilities and vectors of texts under a language model
  masked         Masked-LM predictions at chosen positions, one masked at a
                 time
  self_debias    Self-Debias (Schick et al. 2021, arXiv:2103.00453): against a
                 prompt
  shared_prefix  Log probabilities of texts with a common prefix, which is read
                 once
  token_scores   Log probability of every token of texts under a language model
  unmasked       Texts read by a masked LM as they stand, no token masked: AUL
                 and AULA
  word_judge     Word vectors of a text file, behind the interface of a
                 language model
"""
