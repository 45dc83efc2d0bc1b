"""What models write, of whom: prompts, continuations, scores, gaps

In this room:

  experiment  What a model writes, of whom: prompts by group, texts, scores,
              gaps
  library     What a model writes, as a function for notebooks: `fairjax.write`
  matched     Matched prompts: one person, two groups; how alike is what is
              written?
  measure     Measures of what was written: texts and scores in, numbers out
  prompts     The prompts: whose they are, what they hang together by, and
              their pairs
  published   Prompts as others published them: BOLD's json,
              RealToxicityPrompts' jsonl
  rows        The rows that are measured: a text each, attribute by attribute
  scores      Scores of what was written: a classifier's, and which of its
              classes it is
  templates   Prompts of templates: people of every group of an axis, and of
              none
  words       Words of groups, to mask and to count, and targets that may co-
              occur
  writers     Who writes: a causal model of ours, or any function of prompts to
              texts
"""
