"""Instance weights (Zhang et al. 2020).

In this room:

  algorithm   Instance weights (Zhang et al., ACL 2020): from tables to what is
              trained on
  experiment  The rows of Zhang et al.'s table, trained, measured and tested
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Instance weights (Zhang et al. 2020)',
  ('weighting',),
)
