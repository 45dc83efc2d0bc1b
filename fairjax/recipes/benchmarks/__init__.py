"""Bias benchmarks of language models, and what mitigates them.

In this room:

  asked             Who is asked: word vectors, or the model of a folder as it
                    reads texts
  downstream        What a mitigation costs a task: a linear classifier on
                    frozen vectors
  experiment        Bias benchmarks of a model folder, and of a second one
                    beside it
  library           A bias benchmark as a function: `fairjax.benchmark`
  mitigation_front  Harm against cost: one picture and one table of all
                    mitigations
  mitigations       What mitigates a language model's bias: a model in, a
                    mitigated model out
"""
