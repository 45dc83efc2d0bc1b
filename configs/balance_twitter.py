"""The sexism tweets with as many rows of either gender with each label.

  python -m fairjax.main --config=configs/balance_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

The tweets name no group, so a row's gender is that of its words and first
names. 10,558 of 13,524 rows stay: 230 in each cell (before: male 1,541 not
sexist, 230 sexist; female 984 and 1,131) and all rows that show no gender or
both. --config.method.how=up copies rows of the small cells instead.

Model and training as in configs/train_twitter.py, which is the run to compare
with. To train both, and test the difference, in one go:
--config.recipe=compare --config.method.compare=balance. On a CPU take a
smaller model: --config.model=path/to/MiniLM --config.train.lr=2e-5
--config.train.epochs=2 --config.seeds=1.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='balance', by='gender,label')
  return config
