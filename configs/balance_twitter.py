"""The sexism tweets with as many rows of either gender with each label.

  python -m fairjax.main --config=configs/balance_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

10,558 of 13,524 rows stay (--config.method.how=up copies rows instead). A row's
gender is that of its words and first names.
Trains as configs/train_twitter.py. Both, with the difference tested:
--config.recipe=compare --config.method.compare=balance.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='balance', by='gender,label')
  return config
