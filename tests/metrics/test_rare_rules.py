"""Rules that few data show: each was broken once, and no other test saw it."""

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.metrics import (
  calibration,
  contrasts,
  counts,
  gate,
  grades,
  groups,
  slices,
  warn,
)
from fairjax.metrics.inference import (
  clusters,
  group_means,
  intervals,
  row_means,
)
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.paired import compare
from fairjax.metrics.texts import counterfactual, flips, rewrites

HOW = RowSample(0.95, 4000, 0)


def decided(n=200):
  rng = np.random.default_rng(0)
  first, labels = rng.random(n) < 0.3, rng.integers(0, 2, n)
  decisions = (rng.random((1, n)) < 0.3 + 0.3 * first).astype(int)
  return counts.decided(labels, decisions, [first, ~first], HOW)[1]


def test_edges_of_rewrites_are_all_right_and_all_wrong():
  words = ['a b c d e'.split(), 'a x c d e'.split()]
  rows = np.array([rewrites.counts(*words, words[1])] * 3, float)
  for edge, value in zip(rewrites.edges(rows), (1, 0)):
    assert {*np.concatenate([*rewrites.measures(edge[None]).values()])} == {
      value
    }
  edges = counterfactual.recall(np.ones((2, 5), int)).edges
  assert np.array_equal(edges, [[1, 1], [1, 0]])  # a word, found or not


def test_a_perfect_correlation_has_a_finite_scale():
  assert np.isfinite(grades.fisher(np.array([-1.0, 1.0]))).all()


def test_conditions_of_the_same_rows_are_no_pair():
  rows = np.arange(200) < 80
  wrong = np.random.default_rng(0).random(200).round()
  found = slices.worst(wrong, groups.Groups(np.stack([rows, rows]), 'xy', 'ab'))
  assert {one['slice'] for one in found} == {'a: x', 'b: y'}


def test_bounds_of_largest_rates_are_alike_on_either_side():
  rng = np.random.default_rng(0)
  draws, centre = rng.random((5, 1, 1, 4, 2)), rng.random((1, 1, 4, 2))
  low, high = groups.reduce_noise(draws, centre)
  for kind in ('sum', 'min', 'max'):
    np.testing.assert_array_equal(low[kind], -high[kind])
  apart = (draws - centre)[..., :-1, :] - (draws - centre)[..., -1:, :]
  np.testing.assert_allclose(high['sum'], np.abs(apart).sum(-2))
  still = groups.reduce_noise(centre[None], centre)
  assert not any(one.any() for side in still for one in side.values())


def test_an_interval_reaches_0_where_the_exact_test_does_not_refute_it():
  one = {'low': 0.01, 'high': 0.1}
  assert intervals.reaching_null(one, 0.25, HOW) == {'low': 0, 'high': 0.1}
  assert intervals.reaching_null(one, 0.04, HOW) == one


def test_what_is_vague_is_so_by_the_range_of_the_gap():
  noise = np.random.default_rng(0).normal(0, 0.3, (4000, 2))
  one = intervals.of_gap(np.array([0.5, 0.6]), noise, HOW, 2.0)
  assert one['low'] is not None and one['high'] - one['low'] > 0.5


def test_a_difference_that_is_defined_has_no_note():
  rng = np.random.default_rng(0)
  labels, scores = rng.integers(0, 2, 80), rng.random((2, 1, 80))
  sides = groups.of_columns({'side': np.arange(80) < 40})
  found = compare(labels, *scores, sides, options=HOW)
  assert not [one for one in found if 'note' in one['difference']]


def test_flips_of_two_models_are_shares_and_excesses_halves():
  rng = np.random.default_rng(0)
  scores, after, control = rng.random((3, 2, 1, 60))
  every, side = np.ones(60, bool), np.zeros(60, int)
  sides = [
    (a, flips.EditScores(every, b, every, c, side), 0.5)
    for a, b, c in zip(scores, after, control)
  ]
  flip, under = ((scores > 0.5) != (one > 0.5) for one in (after, control))
  one, two = flips.compare(*sides, HOW)
  plain = row_means.difference(1.0 * flip[0] - flip[1], HOW)
  assert one['difference']['low'] == plain['low']
  over = flip.astype(float) - under
  half = row_means.difference((over[0] - over[1]) / 2, HOW)
  assert two['difference']['low'] == 2 * half['low']


@pytest.mark.parametrize('rows', [None, 2])
def test_the_spread_of_two_equal_rates_is_that_of_both_rows(rows):
  rates, r = decided(), groups.NAMES.index('selection_rate')
  at, beside = (0, 0, r), (0, 1, r)
  rates.rows[at] = rows or rates.rows[at]
  n, m = (rates.rows[one] for one in (at, beside))
  x, y = (rates.values[0][one] * k for one, k in ((at, n), (beside, m)))
  both, own = (x + y + 1) / (n + m + 2), (x + 0.5) / (n + 1)
  grown = (n + 2) / (n - 1)
  expected = (both * (1 - both) / own / (1 - own) * grown) ** 0.5
  assert contrasts.pooled(rates, at, beside, at) == pytest.approx(expected)


@pytest.mark.parametrize(
  ('count', 'end'), [(12, 'g11, or'), (13, 'g11, …, or')]
)
def test_twelve_groups_are_named_to_whom_names_none(count, end):
  several = groups.of_masks(np.eye(count) > 0, [f'g{k}' for k in range(count)])
  with pytest.raises(UserError, match=end):
    contrasts.reference_of(several, 'x')


def test_two_clusters_are_enough():
  assert [*clusters.given(['a', 'b', 'b'], 3)] == [0, 1, 1]


def test_a_gate_shows_an_interval_that_has_two_ends():
  known = {'dp': {'value': 0.5, 'low': 0.25, 'high': 0.75}}
  known['flips'] = {'value': 0.5, 'low': None, 'high': 0.75}
  failed = gate.check('dp<0.9 or flips>0.1', known, 'value').reasons
  assert failed[0].startswith('dp is 0.500 [0.250, 0.750], and')
  assert failed[1].startswith('flips is 0.500, and')


def test_a_group_of_few_rows_of_a_label_is_told_of_that_label():
  labels, scores = 1 * (np.arange(43) < 3), np.arange(43)[None] / 43
  every = groups.of_masks(np.ones((1, 43), bool), ['all'])
  case = counts.Case(labels, scores, 1 * (scores > 0.5), every, HOW)
  (said,) = warn.sentences(case, {})[:1]
  assert "'all' (3 of label 1)" in said


def test_confidence_of_one_row_is_measured_and_of_none_is_not():
  one = groups.of_masks(np.arange(9) == np.array([[0], [9]]), 'ab')
  scores = np.full((1, 9), 0.75)
  case = counts.Case(np.arange(9) % 2, scores, scores > 0.5, one, HOW)
  _, found, _ = calibration.measure(case)
  assert [one['overconfidence']['value'] for one in found] == [0.75, None]


def test_draws_of_rows_are_grown_and_those_of_clusters_are_not():
  rates = decided()
  # What chance gives of two groups: √(2/π) standard errors of the difference.
  r = groups.NAMES.index('selection_rate')
  share, rows = rates.values[0, 0, :2, r], rates.rows[0, :2, r]
  error = (share * (1 - share) / (rows - 1)).sum() ** 0.5
  twice = rates._replace(
    values=rates.values.repeat(2, 0), draws=rates.draws.repeat(2, 1)
  )
  for own in (rates, twice):  # seeds that agree add nothing
    found = counts.gaps(own, [0, 1], HOW)['dp']['null']
    assert 1 - found == pytest.approx(error * (2 / np.pi) ** 0.5, rel=0.03)
  centre = rates.values.astype(np.float32)
  grown = centre + (rates.draws - centre) * counts.grown_by(rates.rows)
  other = rates._replace(draws=grown, clustered=True)
  one, two = (counts.gaps(each, [0, 1], HOW)['dp'] for each in (rates, other))
  assert one['low'] == pytest.approx(two['low'], rel=1e-4)
  assert one['null'] == pytest.approx(two['null'], rel=1e-4)


def test_chance_of_a_distance_is_that_of_a_row_more_or_of_two_halves():
  """Beta(1, 6) where six rows are alike, Beta(3½, 3½) of three of either."""
  rng, a = np.random.default_rng(0), np.arange(12) % 2 == 0
  far = lambda *shape: np.abs(
    np.subtract(*rng.beta(*shape, (2, 99_999)))
  ).mean()
  one = group_means.distance(np.full(12, 0.9), a, ~a, HOW)
  assert one['null'] == pytest.approx(0.9 * far(1, 6), rel=0.06)
  ends = np.repeat([0.0, 1.0], 6)
  two = group_means.distance(ends, a, ~a, HOW)
  assert two['null'] == pytest.approx(far(3.5, 3.5), rel=0.06)
  # Four copies of a row are one: the further one is as many.
  code = np.repeat(np.arange(12), 4)
  many = group_means.distance(
    np.full(48, 0.9), np.repeat(a, 4), ~np.repeat(a, 4), HOW.over(code)
  )
  assert many['null'] == pytest.approx(one['null'], rel=0.2)
