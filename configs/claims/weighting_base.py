"""Claims of instance weighting at base size, on sexist tweets with MPNet.

  launch/mpnet.sh DIR
  python configs/claims/tables.py FOLDER_OF_PUBLISHED_FILES OUT tweets
  python -m fairjax.main --config=configs/claims/weighting_base.py \\
      --config.data.path=OUT/train_original.csv \\
      --config.data.valid_path=OUT/valid_original.csv \\
      --config.data.test_path=OUT/test_original_even.csv \\
      --config.model=DIR/all-mpnet-base-v2

configs/claims/weighting_forest.py's tweets and forest (1,000 trees, 250 folds)
with an encoder of 12 layers of 768 beside the paper's LSTM, ten seeds, two
epochs at 2e-5. The rows with a + need word vectors, so they are left out.
"""

from fairjax import config as c

PRIMARY = (  # named before the run; all else is exploratory
  'weight against baseline: fped on identity',
  'weight against baseline: fned on identity',
  'weight against baseline: auc on test above -0.02',
)


def get_config() -> c.Config:
  config = c.shipped('claims/weighting_forest')
  data, train = config.data, config.train
  data.sources = (
    *(s for s in data.sources if s.startswith('data.')),
    *(s for s in c.shipped('claims/diet_base').data.sources if 'model' in s),
  )
  config.model, config.net.glove = 'all-mpnet-base-v2', ''
  config.weighting.rows = ('baseline', 'swap', 'weight')
  config.tokens.max_length = 64
  train.optimizer, train.schedule, train.lr = 'adamw', 'linear', 2e-5
  train.batch, train.epochs, train.patience, train.warmup = 64, 2.0, 0, 0.1
  train.max_grad_norm, train.save_every = 1.0, 0
  config.net.precision = 'bfloat16'
  config.measures.primary = PRIMARY
  return config
