"""A benchmark as CONTRIBUTING says: three functions, and a row.

Is a word nearer to the first than to the second of two others?
"""

import numpy as np
import pandas as pd

ROWS = [
  ('0', 'doctor', 'he', 'she'),
  ('1', 'nurse', 'he', 'she'),
  ('2', 'pilot', 'he', 'she'),
  ('3', 'snark', 'he', 'she'),
]


def items(config):
  rows = ROWS[: config.data.limit or None]
  return pd.DataFrame(rows, columns=['id', 'word', 'first', 'second'])


def score(model, items, config):
  word, first, second = (
    model.vectors(list(items[name])) for name in ('word', 'first', 'second')
  )
  gap = ((word - second) ** 2).sum(1) - ((word - first) ** 2).sum(1)
  return pd.DataFrame({'id': items['id'], 'toy_gap': gap})


def estimate(items, scores, how):
  value = float(np.mean(scores['toy_gap']))
  return {'fairness': {'toy_gap': {'value': value, 'low': None, 'high': None}}}
