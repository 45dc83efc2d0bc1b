"""MBCDA (Tokpo and Calders 2023): a generator against a discriminator.

In this room:

  algorithm   MBCDA's training: a discriminator on logits, generators against
              it
  experiment  MBCDA: a generator of counterfactual texts with two objectives
  parallel    MBCDA's parallel text: sentences of one gender, swapped,
              repaired, filtered
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'MBCDA (Tokpo and Calders 2023)',
  ('mbcda',),
)
