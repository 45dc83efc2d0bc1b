"""Instance weights (Zhang et al. 2020)."""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Instance weights (Zhang et al. 2020)',
  ('weighting',),
)
