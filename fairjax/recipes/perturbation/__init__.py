"""Perturbation augmentation (Qian et al. 2022)."""

from fairjax.report.claims import Paper

PAPER = Paper(
  'Perturbation augmentation (Qian et al. 2022)',
  ('fairtune', 'perturber', 'fairberta')
  # What earlier runs, which are kept, called parts of these.
  + ('fairtune_glue', 'fairberta_planted'),
)
