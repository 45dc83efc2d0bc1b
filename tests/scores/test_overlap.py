"""Overlap: sets, ties by lot against simulation, the published columns."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fairjax.scores import rank_overlap


def test_overlap_against_sets():
  rng = np.random.default_rng(0)
  a, b = rng.permutation(37) + 1, rng.permutation(37) + 1
  for fraction, found in zip(
    (0.1, 0.5, 1.0), rank_overlap.overlap(a, b, (0.1, 0.5, 1.0))
  ):
    k = int(37 * fraction)
    first = lambda ranks: set(np.argsort(ranks)[:k])
    assert found == len(first(a) & first(b)) / k


def test_fair_overlap_is_the_mean_over_all_ways_to_break_ties():
  a, b = np.array([3.0, 1, 1, 1, 0]), np.array([2.0, 2, 2, 0, 0])

  def head_columns(values):  # the first two, for each order of the rows
    for order in itertools.permutations(range(5)):
      yield frozenset(sorted(order, key=lambda i: -values[i])[:2])

  ways = itertools.product(list(head_columns(a)), list(head_columns(b)))
  expected = np.mean([len(x & y) / 2 for x, y in ways])
  np.testing.assert_allclose(rank_overlap.fair(a, b, (0.4,)), [expected])


def test_fair_overlap_of_values_without_ties_is_the_overlap():
  rng = np.random.default_rng(1)
  a, b = rng.random(50), rng.random(50)
  rows = rank_overlap.compare({'a': a, 'b': b}, [f'{i}' for i in range(50)])
  for row in rows:
    assert row['overlap'] == pytest.approx(row['fair'])
  assert [row['chance'] for row in rows] == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_the_four_studies():
  scores = pd.DataFrame({'id': list('abcdefghij')})
  for name, sign in (('ge', 1), ('el2n', -1)):
    scores[name] = sign * np.arange(10.0)
    scores[f'{name}_rank'] = rank_overlap.table.rank(
      scores[name].to_numpy(), scores['id']
    )
    scores[f'{name}_s0'] = scores[name]
    scores[f'{name}_s1'] = -scores[name]
  of = lambda rows: {(r['b'], r['fraction']): r['overlap'] for r in rows}
  seeds = of(rank_overlap.seeds(scores, 'ge'))
  assert seeds['seed 0', 0.2] == 1 and seeds['seed 1', 0.2] == 0
  assert of(rank_overlap.between(scores))['el2n', 0.5] == 0
  shuffled = scores.sample(frac=1, random_state=0)
  runs = of(rank_overlap.runs({'one': scores, 'two': shuffled}, 'ge', 'one'))
  assert all(v == 1 for v in runs.values())


def test_published_overlaps(shared):
  """BERT against RoBERTa on the even rows of the published scores.

  All rows give .693 .815 .913 .974 .961 under the ties of their file. 64 % of
  GE is 0: from 40 % on, ties by id choose the same rows on both sides.
  """
  path = shared / 'twitter_sexism' / 'train_published_scores_even.csv'
  given = pd.read_csv(path)
  ids = [f'{row:05d}' for row in given['row']]
  columns = {
    name: given[f'original: {name}'].to_numpy(np.float64)
    for name in (
      'bert-base-cased GE',
      'roberta-base GE',
      'bert-base-cased EL2N',
    )
  }
  rows = rank_overlap.compare(columns, ids, 'bert-base-cased GE')
  models, scores = rows[:5], rows[5:]
  close = lambda rows, key, expected, atol: np.testing.assert_allclose(
    [row[key] for row in rows], expected, atol=atol
  )
  close(models[:3], 'overlap', [0.693, 0.815, 0.913], 0.01)
  close(models, 'overlap', [0.688, 0.808, 0.917, 1, 1], 5e-4)
  close(models, 'fair', [0.688, 0.808, 0.917, 0.907, 0.782], 5e-4)
  close(scores, 'overlap', [0.129, 0.276, 0.427, 0.516, 0.568], 0.015)
