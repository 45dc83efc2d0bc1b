"""FairFlow (Tokpo and Calders 2024): counterfactual words from one pair.

In this room:

  algorithm             FairFlow (Tokpo and Calders 2024): from one pair of
                        words to a dictionary
  attribute_words       FairFlow's stage 1: words that reveal an attribute,
                        from a seed pair
  counterfactual_words  FairFlow's stages 2 and 3: embeddings moved, read as
                        words, voted on
  experiment            FairFlow beside simpler ways, word by word, and the
                        texts of its dictionary
  flow_training         FairFlow's two fits: the attribute head, and the flow
"""

from fairjax.report.claims import Paper

PAPER = Paper(
  'FairFlow (Tokpo and Calders 2024)',
  ('fairflow', 'counterfactual_texts'),
)
