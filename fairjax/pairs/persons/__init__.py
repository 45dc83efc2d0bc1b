"""One person of a text, turned by rules.

In this room:

  chain     One person of a text, by rules: the mentions that a perturbation
            turns
  parallel  Parallel text for perturbers: one person turned, everybody else
            untouched
  perturb   Perturbation: which word of a text, to which attribute, and what is
            kept
"""
