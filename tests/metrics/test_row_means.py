"""Draws of means over rows: which half rows stand at the ends, by hand."""

import numpy as np
import pytest
from scipy import stats

from fairjax.metrics.inference import row_means
from fairjax.metrics.inference.sample import RowSample

HOW = RowSample(0.95, 20_000, 0)
SIGNS, SHARES = (-1.0, 1.0), (0.0, 1.0)
CASES = {  # values, ends, what is drawn of {value: its weight}
  'no ends': ([0, 1, 1.0], None, {0: 1, 1: 2}),
  'every sign': ([-1, 0, 1, 1.0], SIGNS, {-1: 1.5, 0: 1, 1: 2.5}),
  'none below': ([1, 1, 0.0], SIGNS, {-1: 1, 0: 1, 1: 2.5}),
  'none above': ([-1, 0, 0.0], SIGNS, {-1: 1.5, 0: 2, 1: 1}),
  'all 0': ([0, 0, 0, 0.0], SIGNS, {-1: 1, 0: 4, 1: 1}),
  'a range from 0': ([0.2, 0.8], SHARES, {0: 0.5, 0.2: 1, 0.8: 1, 1: 0.5}),
  'a wider range': ([2.0, 2], (0.0, 8.0), {0: 0.5, 2: 2, 8: 0.5}),
}


@pytest.mark.parametrize('case', CASES)
def test_draws_are_dirichlet_s(case):
  """Of weights a, sum A: mean m = Σ av/A, variance (Σ av²/A − m²)/(A + 1)."""
  values, ends, weights = CASES[case]
  (drawn,) = row_means.draws_of(np.array([values]), HOW, ends).T
  value, weight = np.array([*weights]), np.array([*weights.values()])
  share = weight / weight.sum()
  mean = share @ value
  variance = (share @ value**2 - mean**2) / (weight.sum() + 1)
  assert drawn.var() == pytest.approx(variance, rel=0.05)
  assert drawn.mean() == pytest.approx(mean, abs=0.02 * variance**0.5 + 1e-9)


def test_a_sign_that_one_seed_saw_was_seen():
  """Half a row of −1 in either seed, though one has no row of it."""
  values = np.array([[1, 0, 0, 0.0], [1, -1, 0, 0]])
  drawn = row_means.draws_of(values, HOW, SIGNS)
  seen = {-1: 0.5, 0: 3, 1: 1.5}, {-1: 1.5, 0: 2, 1: 1.5}
  for k, weights in enumerate(seen):
    total = sum(weights.values())
    mean = sum(v * a for v, a in weights.items()) / total
    assert drawn[:, k].mean() == pytest.approx(mean, abs=0.01)
  heavy = HOW._replace(weight=np.tile([1.5, 0.5], 50))
  drawn = row_means.draws_of(np.tile([1.0, 0], 50)[None], heavy)
  spread = 0.75 * 0.25 * (2 / 50) ** 0.5  # 3 A / (3 A + B) of Gamma(50)
  assert drawn.std() == pytest.approx(spread, rel=0.05)


def test_a_mean_of_no_rows_is_none_and_of_no_draws_has_no_interval():
  none = row_means.mean(np.zeros((2, 0)), HOW, SIGNS)
  assert none['value'] is None and none['note'] == 'no rows'
  told = row_means.difference(np.zeros((2, 0)), HOW, 'nobody')
  assert told['p'] is None and told['note'] == 'nobody'
  few = HOW._replace(resamples=0)
  plain = row_means.mean(np.array([[0.0, 1]]), few, SHARES)
  assert (plain['value'], plain['low']) == (0.5, None)
  plain = row_means.difference(np.array([[0.0, 1]]), few)
  assert (plain['value'], plain['low'], plain['p']) == (0.5, None, None)
  idle = row_means.mean(np.ones((1, 2)), HOW._replace(weight=np.zeros(2)))
  assert idle['value'] is None and idle['note'] == 'no rows'


def test_a_difference_that_all_rows_show_is_sure_and_none_is_not():
  all_ = row_means.difference(np.ones((1, 40)), HOW)
  assert all_['value'] == 1 and 0.85 < all_['low'] < 1 == all_['high']
  assert all_['p'] < 0.001 and all_['p_at_floor']
  none = row_means.difference(np.zeros((1, 40)), HOW)
  assert none['value'] == 0 and none['p'] == 1
  # Of 40 zeros and one row of either sign.
  drawn = np.random.default_rng(0).dirichlet([1, 40, 1], 20_000)
  reach = np.quantile(np.abs(drawn[:, 2] - drawn[:, 0]), 0.95)
  assert [none['low'], none['high']] == pytest.approx([-reach, reach], rel=0.05)


def test_a_mean_in_a_range_has_ends_and_one_without_has_its_rows():
  found = row_means.mean(np.zeros((1, 40)), HOW, SHARES)
  beta = stats.beta.ppf(0.975, 0.5, 40.5)
  assert (found['value'], found['low']) == (0, 0)
  assert found['high'] == pytest.approx(beta, rel=0.05)
  values = np.arange(5.0)[None]
  found = row_means.mean(values, HOW)
  drawn = np.random.default_rng(0).dirichlet(np.ones(5), 20_000) @ values[0]
  ends = np.quantile(drawn, [0.025, 0.975])
  assert [found['low'], found['high']] == pytest.approx(ends, rel=0.03)
