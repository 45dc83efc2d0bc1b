"""Exact gradient norms, GE and EL2N of each row, by a fine-tuned classifier.

  fairjax norms FOLDER my.csv

Written to scores.parquet, a row each; the norm of one example's gradient over
all parameters is exact and costs about a training step. Columns as for
configs/train_csv.py; --config.data.twin names counterfactual texts, which are
made by `swap` without it.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='norms',
    data=c.Data(name='file'),
    scoring=c.Scoring(names=('grand', 'ge', 'el2n')),
  )
