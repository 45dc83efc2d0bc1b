"""Claims of FairFlow's flow against simpler ways, with MiniLM's masked LM.

  python configs/claims/tables.py FOLDER_OF_PUBLISHED_FILES OUT pairs
  python -m fairjax.main --config=configs/claims/fairflow_words.py \\
      --config.corpus.path=FOLDER_OF_TEXT \\
      --config.fairflow.known=OUT/known_pairs.csv --config.model=MASKED_LM

Stages 1 to 3 of Tokpo and Calders (2024): words and the flow at the paper's
settings, moved embeddings read by the masked LM's head as the paper reads them,
on 1.4 of 34 MB of text, one flow. configs/claims/fairflow.py goes on to
classifiers.
"""

from fairjax import config as c

PRIMARY = (  # the paper's own claims; all else is exploratory
  'flow against difference of means: top_vote on known words',
  'flow against diagonal LDA: top_vote on known words',
  'flow against orthogonal map: top_vote on known words',
)


def get_config() -> c.Config:
  config = c.shipped('fairflow_gender')
  config.seed, config.fairflow.share = 11, 0.04
  config.net.precision = 'bfloat16'
  config.measures.primary = PRIMARY
  return config
