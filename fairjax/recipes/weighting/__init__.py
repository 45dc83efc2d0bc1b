"""Instance weights (Zhang et al. 2020).

In this room:

  page    Instance weights on a page: rates by term, weights, estimators
  recipe  Instance weights (Zhang et al. 2020), end to end
"""

from fairjax.report.claims import Claim, Paper

PAPER = Paper(
  'Instance weights (Zhang et al. 2020)',
  ('weighting',),
  (
    Claim('lower gap of false positives', 'weight', 'baseline', 'fped', -1),
    Claim('lower gap of false negatives', 'weight', 'baseline', 'fned', -1),
    Claim(
      'at most 2 points of AUC lost', 'weight', 'baseline', 'auc', 1, -0.02
    ),
  ),
)
