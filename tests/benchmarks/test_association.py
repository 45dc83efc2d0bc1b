"""Statistics of WEAT by hand: cosines, d, drawn p, floors, two models."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fairjax.benchmarks.shared import association
from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample

HOW = RowSample(0.95, 100, 0)


def test_an_association_is_of_directions():
  """cos of (3, 4) with (1, 0) and (0, 2), and the mean of the two lists."""
  targets = np.array([[3.0, 4], [-30, 40], [0, 1e-9]])
  first, second = np.array([[5.0, 0], [0, 7]]), np.array([[0, 2.0]])
  s = association.association(targets, first, second)
  np.testing.assert_allclose(s, [0.7 - 0.8, 0.1 - 0.8, 0.5 - 1])
  for k, part in enumerate((targets, first, second)):
    parts = [targets, first, second]
    parts[k] = part * [[0], *[[1]] * (len(part) - 1)]
    with pytest.raises(UserError, match='encoding of length 0'):
      association.association(*parts)


@pytest.mark.parametrize('size', [1.0, 1e-9, 1e-100, 1e9])
def test_d_hangs_on_no_scale(size):
  """(1.5 − 4) over the spread of 1, 2, 3, 5, which is √(35/12)."""
  x, y = np.array([1.0, 2]), np.array([3.0, 5])
  d = association.effect_size(size * x, size * y)
  assert d == pytest.approx(-2.5 / (35 / 12) ** 0.5)
  shifted = association.effect_size(1 + 1e-10 * x, 1 + 1e-10 * y)
  assert shifted == pytest.approx(d, rel=1e-4)


@pytest.mark.parametrize('same', [[0.3, 0.3], [0.1 + 0.2, 0.3], [0.0, 0.0]])
def test_what_differs_by_rounding_has_no_d(same):
  x, y = np.array(same), np.full(3, same[1])
  assert np.isnan(association.effect_size(x, y))
  found = association.interval(x, y, HOW)
  assert found['value'] is None
  assert found['note'] == 'all targets have the same s'


@pytest.mark.parametrize(
  ('x', 'y'),
  [
    ([1.0, 4, 2, 9, 3], [0.0, 1, 2, 5]),
    ([1.0, 1, 0, 1], [0.0, 0, 1, 0, 0]),  # ties
    ([-3.0, -1], [2.0, 1, 0, -2]),  # the other way round
  ],
)
def test_a_drawn_p_is_near_the_exact_one(x, y, monkeypatch):
  x, y = np.array(x), np.array(y)
  exact = association.permutation(x, y)
  monkeypatch.setattr(association, 'TABLE', len(x) + len(y) - 1)
  drawn = association.permutation(x, y, 4000, 0)
  assert exact.exact and not drawn.exact and drawn.splits == exact.splits
  for one, other in zip(drawn[:2], exact[:2]):
    error = (other * (1 - other) / 4000) ** 0.5
    assert one == pytest.approx(other, abs=4 * error + 1e-9)
  assert association.permutation(x, y, 4000, 1) != drawn
  assert association.permutation(x, y, 4000, 0) == drawn
  assert association.permutation(5 + x, 5 + y, 4000, 0) == drawn
  monkeypatch.undo()
  assert association.permutation(x, y, 1, 0) == exact


def test_a_drawn_p_counts_the_data_themselves(monkeypatch):
  """Of 40 million splits none of 99 is as far: 1 of 100, not 0."""
  monkeypatch.setattr(association, 'TABLE', 10)
  up = np.arange(14.0)
  p = association.permutation(up + 1, -up - 1, 100, 0)
  assert (p.one_sided, p.two_sided) == (0.01, 0.01)
  p = association.permutation(-up - 1, up + 1, 100, 0)
  assert (p.one_sided, p.two_sided) == (1, 0.01)
  same = association.permutation(up * 0, up * 0, 100, 0)
  assert (same.one_sided, same.two_sided) == (1, 1)


def test_few_words_have_no_interval():
  two, three = np.array([0.1, 0.5]), np.array([0.2, 0.0, 0.4])
  for x, y in ((two, three), (three, two)):
    found = association.interval(x, y, HOW)
    assert found['value'] is not None and found['low'] is None
    assert found['note'] == 'fewer than three words in a list'
    found, p = association.difference((x, y), (x * x, y * y), HOW)
    assert found['value'] is not None and found['low'] is p is None
  found = association.interval(three, three + 0.1, HOW)
  assert found['low'] < found['value'] < found['high']
  found = association.interval(three * 0 + 1, three * 0, HOW)
  assert found['note'] == 'the lists are apart without overlap'


def dealt(s, words):
  """d of every way to deal the words to two lists, the first of `words[0]`."""
  names = sorted({*words[0], *words[1]})
  owner, spread = [*words[0], *words[1]], np.std(s, ddof=1)
  for chosen in itertools.combinations(names, len({*words[0]})):
    inside = np.isin(owner, chosen)
    yield (s[inside].mean() - s[~inside].mean()) / spread


@pytest.mark.parametrize('level', [0.5, 0.9])
def test_the_floor_is_where_dealt_words_lie(level):
  """Three words and five of one to three sentences: 56 ways to deal them."""
  words = [*'aabccc'], [*'defffghh']
  s = np.random.default_rng(3).normal(size=14)
  every = np.array([*dealt(s, words)])
  assert len(every) == 56
  options = RowSample(level, 100, 0)
  low, high = association.floor(s[:6], s[6:], options, *words)
  for end, share in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
    near = np.quantile(every, np.clip([share - 0.05, share + 0.05], 0, 1))
    assert near[0] - 1e-9 <= end <= near[1] + 1e-9
  # Words of the two lists are two though they have one name.
  same = association.floor(s[:6], s[6:], options, [*'aabccc'], [*'abcccdee'])
  assert same == (low, high)
  assert association.floor(s[:2] * 0, s[:3] * 0, options) == (0, 0)


def d_of(x, y):
  return (np.mean(x) - np.mean(y)) / np.std([*x, *y], ddof=1)


@pytest.mark.parametrize('words', [None, ([*'ppqrs'], [*'tuvv'])])
def test_the_difference_of_two_models_by_loops(words):
  """Each word out of both models; Student's t of the words less two."""
  one = [0.5, 0.1, 0.7, 0.2, 0.9], [0.3, -0.2, 0.1, 0.0]
  other = [0.2, 0.4, 0.3, -0.1, 0.5], [0.1, 0.2, 0.4, -0.3]
  value = d_of(*one) - d_of(*other)
  variance, count = 0.0, 0
  for i, names in enumerate(words or (range(5), range(4))):
    kinds, each = sorted(set(names)), []
    for kind in kinds:
      gaps = []
      for model in (one, other):
        sides = list(model)
        sides[i] = [s for s, name in zip(sides[i], names) if name != kind]
        gaps.append(d_of(*sides))
      each.append(gaps[0] - gaps[1])
    variance += (len(kinds) - 1) * np.var(each)
    count += len(kinds)
  error = variance**0.5
  half = stats.t.ppf(0.975, count - 2) * error
  arrays = [tuple(map(np.array, model)) for model in (one, other)]
  found, p = association.difference(*arrays, HOW, words)
  ends = [found[key] for key in ('value', 'low', 'high')]
  assert ends == pytest.approx([value, value - half, value + half])
  assert p == pytest.approx(2 * stats.t.sf(abs(value) / error, count - 2))


def test_two_models_of_which_one_has_no_d_are_not_compared():
  x, y = np.array([0.5, 0.1, 0.7]), np.array([0.3, -0.2, 0.1])
  found, p = association.difference((x, y), (x * 0, y * 0), HOW)
  assert found['value'] is p is None
  assert found['note'] == 'all targets of a model have the same s'
  found, p = association.difference((x, y), (3 * x, 3 * y), HOW)
  assert (found['value'], p) == (pytest.approx(0), 1)
  assert found['note'] == 'the models do not differ'
