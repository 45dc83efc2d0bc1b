"""A dictionary for another axis, from one pair of words: young and old.

  python -m fairjax.main --config=configs/fairflow_axis.py \\
      --config.model=FOLDER --config.corpus.path=FOLDER_OF_COMMENTS

FOLDER is a masked LM. Another axis: --config.fairflow.first=muslim
--config.fairflow.second=christian, or several words a side. No list marks the
entries of dictionary.csv, so read them before use.

Measured: configs/RESULTS.md, "FairFlow".
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('fairflow_gender')
  config.fairflow.first, config.fairflow.second = 'young', 'old'
  config.fairflow.share = 1.0
  config.fairflow.min_count = 5
  config.rewriters.contenders = ('fairflow',)
  return config
