"""Scores of rows: golden values, identities, slow twins, overlaps."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fairjax.core.errors import UserError
from fairjax.scores import error_scores, rank_overlap
from fairjax.scores.cartography import confidence, correctness, variability
from fairjax.scores.forgetting import forgetting

LOGITS = arrays.arrays(
  np.float32, (2, 3, 2), elements=st.floats(-30, 30, width=32)
)


def one(*logits) -> np.ndarray:
  return np.array([[logits]], np.float32)


def test_ge_golden():
  a, b = [[[1, -1], [2, 0], [0.3, 0.1]]], [[[0.5, -0.25], [0, 0], [0.3, 0.1]]]
  found = error_scores.ge(np.float32(a), np.float32(b))
  np.testing.assert_allclose(found, [[0.9013878, 2, 0]], rtol=1e-6)


def test_el2n_golden():
  logits = np.float32([[[0, 0], [1, -1], [1, -1], [-800, 800]]])
  found = error_scores.el2n(logits, np.array([0, 0, 1, 0]))
  golden = [[0.7071068, 0.1685784, 1.2456352, np.sqrt(2)]]
  np.testing.assert_allclose(found, golden, rtol=1e-6)


def test_stereotype_golden():
  label = np.array([0])
  a, b = one(1, -1), one(0.5, -0.25)
  assert error_scores.stereotype(a, b, label) == -1
  assert error_scores.stereotype(b, a, label) == 1
  assert error_scores.stereotype(a, a, label) == 0


def test_pvi_golden():
  # Three rows of label 0 and one of 1: log₂ p − log₂ of 3/4 and of 1/4.
  logits = np.log([[[0.75, 0.25], [0.5, 0.5], [0.9, 0.1], [0.5, 0.5]]])
  found = error_scores.pvi(logits.astype(np.float32), np.array([0, 0, 0, 1]))
  want = [0, np.log2(0.5 / 0.75), np.log2(0.9 / 0.75), 1]
  np.testing.assert_allclose(found, [want], atol=1e-6)


def test_wrong_is_the_error_of_the_likeliest_label():
  logits = np.array([[[2, 1, 0], [0, 1, 3], [0, 5, 1]]], np.float32)
  found = error_scores.wrong(logits, np.array([0, 1, 1]))
  np.testing.assert_array_equal(found, [[0, 1, 0]])
  # Of two classes: EL2N beyond that of an even chance.
  two = np.random.default_rng(0).normal(size=(1, 20, 2)).astype(np.float32)
  label = np.arange(20) % 2
  np.testing.assert_array_equal(
    error_scores.wrong(two, label), error_scores.el2n(two, label) > np.sqrt(0.5)
  )


@given(LOGITS, LOGITS)
def test_identities(a, b):
  label = np.array([0, 1, 1])
  assert (error_scores.ge(a, a) == 0).all()
  np.testing.assert_array_equal(error_scores.ge(a, b), error_scores.ge(b, a))
  assert (error_scores.el2n(a, label) <= np.sqrt(2) + 1e-12).all()
  np.testing.assert_array_equal(
    error_scores.stereotype(a, b, label), -error_scores.stereotype(b, a, label)
  )
  # A distance in the plane is made of its distances along the classes.
  parts = [error_scores.gap(a, b, c) for c in range(2)]
  np.testing.assert_allclose(np.hypot(*parts), error_scores.ge(a, b), rtol=1e-9)


# Each line is one example over five epochs: 1 is right.
HISTORIES = ['11111', '00000', '10101', '01111', '11110', '01001', '00001']
CORRECT = np.array([[[int(c) for c in h] for h in HISTORIES]], bool)
CORRECT = CORRECT.transpose(0, 2, 1)  # [s, e, n]


def test_forgetting_against_a_loop():
  rng = np.random.default_rng(0)
  correct = rng.random((3, 6, 40)) < 0.4
  expected = np.zeros((3, 40))
  for s in range(3):
    for n in range(40):
      learned = False
      for e in range(6):
        learned |= correct[s, e, n]
        if e and correct[s, e - 1, n] and not correct[s, e, n]:
          expected[s, n] += 1
      if not learned:
        expected[s, n] = 6
  np.testing.assert_array_equal(forgetting(correct), expected)
  two = forgetting(np.array([[[1, 1, 0], [0, 1, 0]]], bool))
  np.testing.assert_array_equal(two, [[1, 0, 2]])


def test_one_epoch_forgets_nothing_and_says_so():
  with pytest.raises(UserError, match='was given 1'):
    forgetting(CORRECT[:, :1])


def test_cartography_by_hand():
  chance = np.array([[[0.2, 1.0], [0.6, 1.0], [0.7, 1.0]]])
  np.testing.assert_allclose(confidence(chance), [[0.5, 1]])
  # Deviations -0.3, 0.1, 0.2: squares 0.14 in sum.
  np.testing.assert_allclose(variability(chance), [[np.sqrt(0.14 / 3), 0]])
  np.testing.assert_allclose(
    variability(chance, ddof=1), [[np.sqrt(0.14 / 2), 0]]
  )
  np.testing.assert_allclose(
    correctness(CORRECT), [[1, 0, 0.6, 0.8, 0.8, 0.4, 0.2]]
  )
  with pytest.raises(UserError, match='was given 1'):
    variability(chance[:, :1])
  np.testing.assert_allclose(
    variability(chance[:, :2]), np.abs(chance[:, 0] - chance[:, 1]) / 2
  )


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
  assert [row['above'] for row in rows] == [4, 9, 14, 19, 24]
  of = {name: np.array([3.0, 2, 2, 0]) for name in 'abc'}
  (ab, ac, bc) = rank_overlap.compare(of, list('wxyz'), '', (0.1,))
  assert [ab['a'], ac['b'], bc['a']] == ['a', 'c', 'b']
  assert (ab['rows'], ab['above'], ab['chance']) == (4, 0, 0.25)


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
      *('bert-base-cased GE', 'roberta-base GE', 'bert-base-cased EL2N'),
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
