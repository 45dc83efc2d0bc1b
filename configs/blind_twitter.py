"""A model of the sexism tweets that reads no gender words, not even in tests.

  python -m fairjax.main --config=configs/blind_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

4,560 of 13,524 training tweets change: words of our lists and first names of
persons become `_` (--config.method.how=remove takes them out). 1,483 of the
4,889 published twins still differ after it, since the published swap changed
words that our lists leave alone.

Model and training as in configs/train_twitter.py, which is the run to compare
with. To train both, and test the difference, in one go:
--config.recipe=compare --config.method.compare=blind. On a CPU take a
smaller model: --config.model=path/to/MiniLM --config.train.lr=2e-5
--config.train.epochs=2 --config.seeds=1.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='blind')
  return config
