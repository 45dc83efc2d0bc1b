"""The healthy data diet (Zayed et al. 2023).

In this room:

  grid     A grid of diets on a page
  overlap  Overlap of diets: would another seed, epoch, model or score differ?
  rank     The diet paper's two experiments, as one grid of runs
  recipe   The healthy data diet: a probe scores the rows, and the best are
           trained on
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Healthy data diet (Zayed et al. 2023)',
  ('diet', 'rank', 'overlap'),
)
