"""The healthy data diet (Zayed et al. 2023)."""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Healthy data diet (Zayed et al. 2023)',
  ('diet', 'rank', 'overlap'),
)
