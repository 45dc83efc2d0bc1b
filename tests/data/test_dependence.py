"""Rows that hang together: copies are told, and clusters have codes."""

import numpy as np
import pandas as pd
import pytest

from fairjax.data import dependence
from fairjax.errors import UserError

TEXTS = ['one', 'two ', ' two', 'three', 'one', 'four']


def same(codes, wanted):
  """Equal up to the names of the clusters."""
  pairs = set(zip(codes, wanted))
  return len(pairs) == len(set(codes)) == len(set(wanted))


def test_equal_texts_are_one_cluster_and_told():
  table = pd.DataFrame({'text': TEXTS})
  codes, (said,) = dependence.clusters(table)
  assert same(codes, [0, 1, 1, 2, 0, 3])
  assert said.startswith('2 of 6 rows repeat the text of another row: there')
  assert '4 different texts' in said and dependence.distinct(table) == 4
  alone = pd.DataFrame({'text': ['a', 'b', 'A']})
  assert dependence.clusters(alone) == (None, [])
  assert dependence.clusters(table, 'none') == (None, [said])


def test_a_column_and_a_template_are_clusters():
  table = pd.DataFrame(
    {'text': list('abcdef'), 'writer': ['x', None, 'y', 'x', None, 'y']}
  )
  codes, (said,) = dependence.clusters(table, 'writer')
  assert same(codes, [0, 1, 2, 0, 3, 2])  # without a writer: by itself
  assert said == 'rows hang together by writer: 4 clusters'
  with pytest.raises(UserError, match="no column 'writr'"):
    dependence.clusters(table, 'writr')
  with pytest.raises(UserError, match='the same in every row'):
    dependence.clusters(table.assign(writer='x'), 'writer')
  table['template'] = [0, 0, 1, 1, 2, 2]
  assert dependence.clusters(table) == (None, [])  # a user's own column
  codes, _ = dependence.clusters(table, template=True)
  assert same(codes, [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize(('times', 'told'), [(1, False), (2, True), (5, True)])
def test_copies_of_rows_without_a_text_are_told(times, told):
  p = np.random.default_rng(0).random(50)
  table = pd.DataFrame({'label': (p > 0.5) * 1, 'score': p})
  table = pd.concat([table] * times, ignore_index=True)
  table = table.assign(id=[str(i) for i in range(len(table))])
  said = dependence.copies(table)
  assert bool(said) == told
  assert not told or f'{50 * (times - 1)} of {50 * times} rows' in said[0]
