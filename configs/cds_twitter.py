"""Counterfactual substitution in the sexism tweets: a fair coin for each.

  python -m fairjax.main --config=configs/cds_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

With the published twins 2,443 of 13,524 tweets become their twin (seed 0; of
8,635 the twin is the tweet itself). The paper's ratio is 0.5.

Model and training as in configs/train_twitter.py, which is the run to compare
with. To train both, and test the difference, in one go:
--config.recipe=compare --config.method.compare=substitute. On a CPU take a
smaller model: --config.model=path/to/MiniLM --config.train.lr=2e-5
--config.train.epochs=2 --config.seeds=1.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='substitute', ratio=0.5)
  return config
