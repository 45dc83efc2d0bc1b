"""Counterfactual augmentation of the sexism tweets: every twin is added.

  python -m fairjax.main --config=configs/cda_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

4,889 of 13,524 published twins differ and are added, or all of them
(--config.method.keep_equal=true, the paper); the top 30 % by a score:
--config.method.ratio=0.3 --config.method.rank=ge --config.scoring.path=FILE.
Trains as configs/train_twitter.py. Both, with the difference tested:
--config.recipe=compare --config.method.compare=augment.

Measured: configs/RESULTS.md, "Healthy data diet".
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='augment', ratio=1.0)
  return config
