"""The healthy data diet (Zayed et al. 2023).

In this room:

  grid     A grid of diets on a page
  overlap  Overlap of diets: would another seed, epoch, model or score differ?
  rank     The diet paper's two experiments, as one grid of runs
  recipe   The healthy data diet: a probe scores the rows, and the best are
           trained on
"""

from fairjax.report.claims import Claim, Paper

PAPER = Paper(
  'Healthy data diet (Zayed et al. 2023)',
  ('diet', 'rank', 'overlap'),
  (
    Claim('fairer than the unhealthy diet', 'healthy', 'unhealthy', 'dp'),
    Claim('fairer than none', 'healthy', 'none', 'dp'),
    Claim('fairer than CDA', 'healthy', 'cda', 'dp'),
    Claim('fairer than CDS', 'healthy', 'cds', 'dp'),
    Claim('fairer than vanilla GE', 'healthy', 'vanilla', 'dp'),
    Claim('fairer than a diet at random', 'healthy', 'random', 'dp'),
    Claim('at most 3 points of AUC lost', 'healthy', 'none', 'auc', 1, -0.03),
  ),
)
