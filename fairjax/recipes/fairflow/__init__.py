"""FairFlow (Tokpo and Calders 2024): counterfactual words from one pair."""

from fairjax.report.claims import Paper

PAPER = Paper(
  'FairFlow (Tokpo and Calders 2024)',
  ('fairflow', 'counterfactual_texts'),
)
