"""A person's own csv: what is trained learns, beside a bag of words."""

import importlib.util

import pandas as pd

from fairjax import config as c
from fairjax.results import Results
from fairjax.stages import bag_of_words


def test_without_a_pretrained_model_a_small_one_learns(monkeypatch):
  """`nano` was a constant predictor after 2,000 rows."""
  monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
  names = ('train_csv', 'diet_csv')
  assert [c.shipped(name).model for name in names] == ['cnn', 'tiny']


def test_a_bag_of_words_stands_beside_what_was_trained():
  rows = {'id': range(80), 'text': ['bad', 'good'] * 40, 'label': [1, 0] * 40}
  rows, own = pd.DataFrame(rows), c.Config()
  own.measures.resamples, found = 20, {}
  for name in ('planted', 'file'):
    own.data.name = name
    one = Results(contenders={'m': {'sets': {'test': {'quality': {}}}}})
    bag_of_words.beside(own, {'train': rows}, {'test': rows}, one)
    found[name] = one.sets['test']['quality']
  assert found['planted'] == {}
  assert found['file']['words_accuracy']['value'] == 1.0
