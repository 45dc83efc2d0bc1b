"""BERT-base on the sexism tweets with the healthy-data-diet paper's settings.

  python -m fairjax.main --config=configs/train_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

Without data.path the paper's zip is downloaded and checked. 1e-6, batch 64, 15
epochs, patience 3, 5 seeds. A spreadsheet error (`#NAME?`) in the published
file is dropped. On a CPU: --config.model=path/to/MiniLM --config.train.lr=2e-5
--config.train.epochs=2 --config.seeds=1.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='train',
    model='bert-base-cased',
    seeds=5,
    data=c.Data(name='twitter_sexism', on_bad='drop'),
    tokens=c.Tokens(max_length=100),
    train=c.Train(lr=1e-6, batch=64, epochs=15, patience=3),
    measures=c.Measures(sets=('test', 'identity')),
  )
