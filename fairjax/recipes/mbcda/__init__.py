"""MBCDA (Tokpo and Calders 2023): a generator against a discriminator."""

from fairjax.report.claims import Paper

PAPER = Paper(
  'MBCDA (Tokpo and Calders 2023)',
  ('mbcda',),
)
