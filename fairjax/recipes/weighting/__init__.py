"""Instance weights (Zhang et al. 2020).

In this room:

  page    Instance weights on a page: rates by term, weights, estimators
  recipe  Instance weights (Zhang et al. 2020), end to end
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Instance weights (Zhang et al. 2020)',
  ('weighting',),
)
