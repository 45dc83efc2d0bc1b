"""The config of a small run on planted rows, for tests of whole recipes."""

from fairjax import config as c


def config(**more) -> c.Config:
  plain = {
    'model': 'tiny',
    'seeds': 2,
    'data': c.Data(name='planted'),
    'planted': c.Planted(rows=96, test_rows=64),
    'train': c.Train(lr=1e-3, epochs=1.0, batch=32, patience=0),
    'measures': c.Measures(resamples=50),
    'scoring': c.Scoring(names=('ge',), epochs=1.0),
  }
  return c.Config(**plain | more)
