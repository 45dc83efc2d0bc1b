"""Answers: joined by a key, and checked in one place; readings.csv has more."""

import pathlib
import re

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config
from fairjax.data.tables import answers, audit_table

CLASSES = ('fine', 'toxic')


def data(ids=None, n=40) -> audit_table.Rows:
  rng = np.random.default_rng(0)
  frame = pd.DataFrame({'label': rng.permutation([0, 1] * (n // 2))})
  if ids is not None:
    frame['id'] = ids
  frame.attrs['source'] = 'data.csv'
  config = Config()
  config.data.name = 'file'
  return audit_table.of_frame(frame, config).table


def scores(table) -> pd.DataFrame:
  rng = np.random.default_rng(1)
  p = np.clip(
    0.3 + 0.4 * table['label'] + rng.normal(0, 0.05, len(table)), 0, 1
  )
  frame = pd.DataFrame({'id': table['id'], 'score': p})
  frame.attrs['source'] = 'predictions.csv'
  return frame


def read(frame, table, columns=(), classes=CLASSES):
  frame.attrs.setdefault('source', 'predictions.csv')
  (one,) = answers.of_table(frame, table, columns, classes)
  return one


@pytest.mark.parametrize('start', (0, 1, 1000))
def test_ids_that_look_like_row_numbers_are_ids(start):
  """A user's ids 0, 1, 2 … were once taken for rows, and joined by place."""
  n = 40
  ids = np.random.default_rng(2).permutation(np.arange(start, start + n))
  ids = np.sort(ids) if start == 0 else ids  # 0, 1, 2 … as the file has them
  table = data(ids)
  frame = scores(table)
  shuffled = frame.sample(frac=1, random_state=3)
  one = read(shuffled, table)
  np.testing.assert_array_equal(one.scores[0, :, 1], frame['score'])


def test_ids_on_one_side_are_row_numbers():
  table = data()  # has none of its own
  frame = scores(table)
  shuffled = frame.sample(frac=1, random_state=3)
  one = read(shuffled, table)  # they are the numbers of the rows
  np.testing.assert_array_equal(one.scores[0, :, 1], frame['score'])


def test_probabilities_are_checked_in_one_place():
  """Six readers each had their own sums, ranges, and remedy."""
  root = pathlib.Path(__file__).parents[3] / 'fairjax'
  for pattern in (r'take the sigmoid', r'not to 1\b', r'\.sum\(-1\) - 1\)'):
    files = [f for f in root.rglob('*.py') if re.search(pattern, f.read_text())]
    assert files == [root / 'data/tables/answers.py'], (pattern, files)
