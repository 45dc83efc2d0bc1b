"""Counterfactual augmentation of the sexism tweets: every twin is added.

  python -m fairjax.main --config=configs/cda_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

The published twins are used: 4,889 of 13,524 differ from their tweet and join
it (18,413 rows; the paper also adds the other 8,635 once more, as
--config.method.keep_equal=true does). The top 30 % by a score:
--config.method.ratio=0.3 --config.method.rank=ge --config.scoring.path=FILE

Model and training as in configs/train_twitter.py, which is the run to compare
with. To train both, and test the difference, in one go:
--config.recipe=compare --config.method.compare=augment. On a CPU take a
smaller model: --config.model=path/to/MiniLM --config.train.lr=2e-5
--config.train.epochs=2 --config.seeds=1.

Measured: configs/RESULTS.md, "Healthy data diet".
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='augment', ratio=1.0)
  return config
