"""A model of the sexism tweets that reads no gender words, not even in tests.

  python -m fairjax.main --config=configs/blind_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

4,560 of 13,524 training tweets change: our words and first names become `_`, or
go (--config.method.how=remove).
Trains as configs/train_twitter.py. Both, with the difference tested:
--config.recipe=compare --config.method.compare=blind.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='blind')
  return config
