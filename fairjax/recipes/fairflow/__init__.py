"""FairFlow (Tokpo and Calders 2024): counterfactual words from one pair.

In this room:

  attribute_words       FairFlow's stage 1: words that reveal an attribute,
                        from a seed pair
  counterfactual_words  FairFlow's stages 2 and 3: embeddings moved, read as
                        words, voted on
  flow_training         FairFlow's two fits: the attribute head, and the flow
  page                  FairFlow's page: the dictionary, its map, and who wins
                        on known pairs
  recipe                FairFlow: from one pair of words to counterfactual
                        words and texts
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'FairFlow (Tokpo and Calders 2024)',
  ('fairflow', 'counterfactual_texts'),
)
