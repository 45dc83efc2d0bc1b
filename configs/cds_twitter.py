"""Counterfactual substitution in the sexism tweets: a fair coin for each.

  python -m fairjax.main --config=configs/cds_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

2,443 of 13,524 tweets become their published twin (seed 0; the paper's ratio).
Trains as configs/train_twitter.py. Both, with the difference tested:
--config.recipe=compare --config.method.compare=substitute.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='substitute', ratio=0.5)
  return config
