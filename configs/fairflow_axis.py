"""A dictionary for another axis, from one pair of words: young and old.

  python -m fairjax.main --config=configs/fairflow_axis.py \\
      --config.model=FOLDER --config.corpus.path=FOLDER_OF_COMMENTS

FOLDER is a masked LM. Another axis is two words:
--config.fairflow.first=muslim --config.fairflow.second=christian, or several
a side ('muslim,muslims,islam'). There is no list of known pairs to mark the
entries by: read dictionary.csv before you use it, and delete what is wrong.
With --config.data.path (a label and a group) stages 4 to 6 follow, by the
flow's dictionary alone, since no list by hand is for this axis.

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
