"""The healthy data diet (Zayed et al. 2023).

In this room:

  algorithm   The healthy data diet (Zayed et al. 2023), from a probe to a
              model
  experiment  Diets and methods side by side, and what the paper claims of them
  grid        A grid of diets on a page
  overlap     Overlap of diets: would another seed, epoch, model or score
              differ?
  rank        The diet paper's two experiments, as one grid of runs
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Healthy data diet (Zayed et al. 2023)',
  ('diet', 'rank', 'overlap'),
)
