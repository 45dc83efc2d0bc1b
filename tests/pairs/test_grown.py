"""Seed pairs grown from one, and the linear head they are read by."""

import numpy as np
import pytest

from fairjax.pairs import attributes, flow_words

PAIRS, ALONE, WIDTH = 8, 6, 16


def planted(noise=0.05):
  """Means of pairs (2k, 2k + 1) one offset apart, then words by themselves."""
  draw = np.random.default_rng(0)
  offset = np.eye(WIDTH)[0]
  roles = 3 * draw.normal(size=(PAIRS, WIDTH))
  pairs = np.stack([roles - offset / 2, roles + offset / 2], 1)
  mean = np.concatenate(
    [pairs.reshape(-1, WIDTH), 3 * draw.normal(size=(ALONE, WIDTH))]
  )
  return mean + noise * draw.normal(size=mean.shape)


def test_pairs_one_offset_apart_are_grown_from_the_first():
  pairs = attributes.grow(planted(), ([0], [1]), rounds=4)
  assert set(pairs) == {(2 * k, 2 * k + 1) for k in range(1, PAIRS)}
  assert attributes.grow(planted(), ([0], [1]), rounds=0) == []


def test_words_that_show_both_sides_are_left_out():
  """Three words in a row: the middle is one's second and another's first."""
  line = np.array([[-9.0, 9], [-8, 9], [0, 0], [1, 0], [2, 0], [20, 5]])
  pairs = attributes.reciprocal(line, np.array([1.0, 0]))
  assert {(2, 3), (3, 4)} <= set(pairs)
  assert attributes.grow(line, ([0], [1]), 3, alpha=1.0) == []


def test_reciprocal_neighbours_are_those_of_a_plain_search(monkeypatch):
  mean = np.random.default_rng(1).normal(size=(23, 5))
  shift = np.linspace(-1, 1, 5)
  monkeypatch.setattr(attributes, 'ROWS', 7)

  def closest(x, own):
    others = [k for k in range(len(mean)) if k != own]
    return min(others, key=lambda k: np.linalg.norm(mean[k] - x))

  expected = []
  for a in range(len(mean)):
    b = closest(mean[a] + shift, a)
    if closest(mean[b] - shift, b) == a:
      expected.append((a, b))
  assert attributes.reciprocal(mean, shift) == expected and expected


def test_the_discriminant_is_scikit_learn_s():
  lda = pytest.importorskip('sklearn.discriminant_analysis')
  draw = np.random.default_rng(2)
  x = draw.normal(size=(60, 6)) @ draw.normal(size=(6, 6))
  y = np.arange(60) % 2
  x[y == 1] += 0.7
  share = 0.3 / 1.3  # sklearn shrinks (1 - s) S + s tr(S)/d I
  theirs = lda.LinearDiscriminantAnalysis('lsqr', shrinkage=share).fit(x, y)
  w, b = attributes.discriminant(x, y, np.arange(60), 0.3)
  np.testing.assert_allclose(w / (1 - share), theirs.coef_[0], rtol=1e-4)
  np.testing.assert_allclose(b / (1 - share), theirs.intercept_[0], rtol=1e-4)


def test_a_frequent_word_weighs_no_more_than_another():
  draw = np.random.default_rng(3)
  x = draw.normal(size=(12, 4))
  y, word = np.arange(12) % 2, np.arange(12)
  often = np.r_[np.arange(12), np.zeros(50, int)]
  np.testing.assert_allclose(
    attributes.discriminant(x[often], y[often], word[often])[0],
    attributes.discriminant(x, y, word)[0],
    rtol=1e-5,
  )


def test_a_pair_s_difference_must_point_along_the_move():
  frame = flow_words.ballots(
    np.array(['a', 'A', 'b', 'B']),
    np.array([-1, 1, -1, 1]),
    np.array(['A', 'a', 'B', 'b']),
  ).assign(along=[0.9, 0.8, 0.9, 0.1])
  votes = flow_words.tally(frame)
  both = flow_words.mutual(votes)
  assert list(both['first']) == ['a', 'b']
  assert list(flow_words.mutual(votes, 0.5)['first']) == ['a']


def test_the_sides_means_are_those_of_typical_rows():
  z = np.float32([[0, 5], [2, 5], [10, 5], [4, 5]])
  side, typical = np.array([-1, -1, 1, 1]), np.array([True, False, True, False])
  out = flow_words.moved(z, side, 'shift', 1.0, 1, typical=typical)
  np.testing.assert_allclose(out[:, 0], [10, 12, 0, -6])
  np.testing.assert_array_equal(out[:, 1], 5)
