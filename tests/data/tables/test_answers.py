"""Answers: joined by a key; seeds, classes and confidences told apart."""

import pathlib
import re

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config
from fairjax.core.errors import UserError
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


def test_ids_on_one_side_are_row_numbers_or_refused():
  table = data()  # has none of its own
  frame = scores(table)
  shuffled = frame.sample(frac=1, random_state=3)
  one = read(shuffled, table)  # they are the numbers of the rows
  np.testing.assert_array_equal(one.scores[0, :, 1], frame['score'])
  names = frame.assign(id=[f'c{i}' for i in range(len(frame))])
  with pytest.raises(UserError, match=r'and the data has none to join them by'):
    read(names, table)


def test_p0_and_p1_that_sum_to_one_are_classes():
  """They were read as two seeds of one model."""
  table = data()
  p = scores(table)['score']
  one = read(pd.DataFrame({'p0': 1 - p, 'p1': p}), table)
  assert one.scores.shape == (1, 40, 2)
  np.testing.assert_allclose(one.scores[0, :, 1], p)
  with pytest.raises(UserError, match='not to 1'):
    read(pd.DataFrame({'p0': p, 'p1': p}), table)


def test_our_own_predictions_are_seeds():
  table = data(ids=[f'c{i}' for i in range(40)])
  p = scores(table)['score']
  ours = pd.DataFrame({'id': table['id'], 'set': 'test', 'p0': p, 'p1': p / 2})
  one = read(ours, table)
  assert one.scores.shape == (2, 40, 2)
  np.testing.assert_allclose(one.scores[1, :, 1], p / 2)


@pytest.mark.parametrize(
  'names', (('fine', 'toxic'), ('LABEL_0', 'LABEL_1'), ('0', '1'))
)
def test_output_of_a_pipeline_is_confidence_in_its_label(names):
  """AUC was .21 where it is 1.00."""
  table = data()
  p = scores(table)['score'].to_numpy()
  decided = p >= 0.45  # one row that the label and the data do not share
  confident = np.where(decided, np.maximum(p, 0.5), np.maximum(1 - p, 0.5))
  decided[0] = ~decided[0]
  frame = pd.DataFrame(
    {'label': [names[int(d)] for d in decided], 'score': confident}
  )
  one = read(frame, table)
  expected = np.where(decided, confident, 1 - confident)
  np.testing.assert_allclose(one.scores[0, :, 1], expected)
  assert 'as a pipeline writes them' in one.remarks[-1]


def test_a_label_that_is_the_truth_beside_a_score_is_asked():
  table = data()
  frame = pd.DataFrame({'label': table['label'], 'score': 0.9})
  with pytest.raises(UserError, match='or the probability of the positive'):
    read(frame, table)


def test_scores_beside_the_truth_are_scores_of_the_positive_class():
  """Below one half they cannot be confidences."""
  table = data()
  frame = scores(table).drop(columns='id').assign(label=table['label'])
  one = read(frame, table)
  np.testing.assert_allclose(one.scores[0, :, 1], frame['score'])


@pytest.mark.parametrize(
  'columns, words',
  [
    ({'set': 'test', 'p0': ''}, 'nan for row 0'),
    ({'set': 'test', 'p0': 'x', 'p1': 'y'}, 'nan for row 0'),
    ({'set': 'test', 'p0': 0.1, 'p1_c0': 0.2, 'p1_c1': 0.8}, '3 columns .* 2'),
    ({'q_fine': 0.5, 'q_toxic': 'many'}, 'nan for row 0'),
  ],
)
def test_columns_that_are_no_probabilities_are_told(columns, words):
  table = data(ids=[f'c{i}' for i in range(40)])
  frame = table[['id']].assign(**columns)
  with pytest.raises(UserError, match=words):
    read(frame, table, ('q_*',) if 'q_fine' in columns else ())


def test_probabilities_are_checked_in_one_place():
  """Six readers each had their own sums, ranges, and remedy."""
  root = pathlib.Path(__file__).parents[3] / 'fairjax'
  for pattern in (r'take the sigmoid', r'not to 1\b', r'\.sum\(-1\) - 1\)'):
    files = [f for f in root.rglob('*.py') if re.search(pattern, f.read_text())]
    assert files == [root / 'data/tables/answers.py'], (pattern, files)
