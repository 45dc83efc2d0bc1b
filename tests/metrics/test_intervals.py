"""Intervals: parts of the variance, edges of rates, coverage."""

import numpy as np
import pytest
import scipy.stats

from fairjax.metrics import counts
from fairjax.metrics.assess import assess
from fairjax.metrics.inference import intervals
from fairjax.metrics.inference.sample import RowSample

HOW = RowSample(0.95, 0, 0)


@pytest.mark.parametrize('seeds', [1, 3])
def test_intervals_of_many_measures_are_those_of_each(seeds):
  rng = np.random.default_rng(0)
  values = rng.uniform(0.2, 0.8, (seeds, 5, 29))
  draws = values + rng.normal(0, 0.05, (400, *values.shape))
  draws = draws.astype(np.float32)
  ends = intervals.percentiles(values, draws, HOW, intervals.SHARES)
  for k in np.ndindex(5, 29):
    at = (slice(None), *k)
    one = intervals.percentiles(
      values[at], draws[:, *at], HOW, intervals.SHARES
    )
    assert ends.low[k] == pytest.approx(one.low, rel=1e-5)
    assert ends.high[k] == pytest.approx(one.high, rel=1e-5)


def test_variance_is_split_into_what_seeds_share_and_what_they_do_not():
  """Rows, seeds and rows of seeds, each of a variance that is known."""
  rng = np.random.default_rng(0)
  rows, seeds, own, s = 2.0, 3.0, 1.5, 6
  shared = rows**0.5 * rng.normal(size=(40_000, 1))
  draws = shared + own**0.5 * rng.normal(size=(40_000, s))
  values = (seeds + own) ** 0.5 * rng.normal(size=s)
  part = intervals.parts(values, (values + draws).astype(np.float32))
  assert part.own == pytest.approx(values.var(ddof=1) / s, rel=1e-6)
  assert part.shared == pytest.approx(rows, rel=0.03)
  assert intervals.shrunken(part).var() == pytest.approx(rows, rel=0.03)
  one = values[:1], draws[:, :1]  # what errs alike in both runs is no noise
  assert not intervals.difference_noise([one, one], HOW).any()


def test_seeds_that_agree_leave_what_the_rows_leave():
  """One decides 0 of all rows and one 1: both are right of half of them."""
  rng = np.random.default_rng(1)
  one, other = rng.normal(0, 0.1, (2, 4000))
  draws = np.stack([0.5 + one, 0.5 - one + 0.2 * other], 1).astype(np.float32)
  values = np.full(2, 0.5)
  ends = intervals.percentiles(values, draws, HOW)
  # Twice 1.96 of half of .2 of .1; their covariance alone says none.
  assert ends.high - ends.low == pytest.approx(2 * 1.96 * 0.01, rel=0.05)


@pytest.mark.parametrize('seeds', [1, 2])
def test_where_no_draw_differs_there_is_no_interval(seeds):
  values = np.full(seeds, 0.7)
  draws = np.full((200, seeds), 0.7, np.float32)
  one = intervals.of_mean(values, draws, HOW, bounds=intervals.SHARES)
  assert one['value'] == pytest.approx(0.7)
  assert one['low'] is None and one['high'] is None
  assert 'no interval' in one['note']
  assert intervals.of_mean(values, draws[:0], HOW)['low'] is None
  draws[::2] += 1e-3  # not much, but some
  one = intervals.of_mean(values, draws, HOW, bounds=intervals.SHARES)
  assert one['low'] < one['high'] and 'note' not in one


RANGES = [intervals.REALS, (2.0, np.inf), (-1.0, 3.0), (0.0, 100.0)]


@pytest.mark.parametrize('bounds', RANGES)
def test_a_range_is_linked_to_the_line_and_back(bounds):
  low, high = bounds
  x = np.array([2.1, 2.5, 2.9])
  line = {
    intervals.REALS: x,
    (2.0, np.inf): np.log(x - 2),
    (-1.0, 3.0): np.log((x + 1) / (3 - x)),
    (0.0, 100.0): np.log(x / (100 - x)),
  }[bounds]
  np.testing.assert_allclose(intervals.link(x, bounds), line)
  np.testing.assert_allclose(intervals.unlink(line, bounds), x)
  step = 1e-6
  rise = intervals.link(x + step, bounds) - intervals.link(x - step, bounds)
  np.testing.assert_allclose(
    intervals.slope(x, bounds), rise / (2 * step), rtol=1e-6
  )
  inside = intervals.inside(bounds)
  if np.isfinite(high):
    least = 1e-9 * (high - low)
    assert inside == (low + least, high - least)
  else:
    assert inside == (low + 1e-300, np.inf)


@pytest.mark.parametrize('bounds', RANGES)
def test_seeds_alone_are_students_t_on_the_line(bounds):
  """Of rows that tell nothing: link x̄ ± t S/√s, by the slope at x̄."""
  values = np.array([[2.3], [2.6], [2.2]])
  draws = np.repeat(values[None], 20_000, 0)
  found = intervals.percentiles(values, draws, HOW, bounds)
  mean, error = values.mean(), values.std(ddof=1) / 3**0.5
  half = scipy.stats.t.ppf(0.975, 2) * error * intervals.slope(mean, bounds)
  ends = intervals.unlink(
    intervals.link(mean, bounds) + half * np.array([-1, 1]), bounds
  )
  np.testing.assert_allclose(np.ravel(found), ends, rtol=2e-3)


def test_gap_interval_of_two_groups_is_that_of_their_difference():
  rng = np.random.default_rng(0)
  noise = np.abs(rng.normal(size=(20_000, 1))).astype(np.float32) * 0.05
  half = float(intervals.radius(np.array([0.2]), noise, HOW))
  assert half == pytest.approx(1.96 * 0.05, abs=0.003)
  near = intervals.of_gap(np.array([0.02]), noise, HOW)
  assert near['low'] == 0 and near['p'] == pytest.approx(0.69, abs=0.02)
  far = intervals.of_gap(np.array([0.2]), noise, HOW)
  assert far['low'] == pytest.approx(0.2 - half, abs=0.001)
  # No draw is as far off, and four standard errors are no 1 in 20,000.
  exact = 2 * scipy.stats.norm.sf(4)
  # Seeds alone, of gaps that two or three of them have: t S/√s.
  gaps = np.array([[0.1, 0.3, 0.2], [0.3, np.nan, 0.2], [0.5, 0.4, np.nan]])
  found = intervals.radius(gaps, np.zeros((20_000, *gaps.shape)), HOW)
  for k, free in enumerate((2, 1, 1)):
    error = np.nanstd(gaps[:, k], ddof=1) / (free + 1) ** 0.5
    half = scipy.stats.t.ppf(0.975, free) * error
    assert found[k] == pytest.approx(half, rel=0.01, abs=1e-9)
  assert exact / 2 < intervals.of_gap(np.array([0.2]), noise, HOW)['p'] <= 1e-4


def test_tails_beyond_the_draws_are_bounds():
  """p of a normal is never below the truth; a heavy tail has the floor."""
  rng = np.random.default_rng(1)
  options = intervals.RowSample(0.95, 10_000, 0)
  for value in (4.5, 6.0, 8.0):
    exact = 2 * scipy.stats.norm.sf(value)
    one = intervals.difference(value, rng.normal(size=10_000), options, np.inf)
    assert one.p_at_floor and exact <= one.p <= 1e-4
  heavy = scipy.stats.t.rvs(2, size=10_000, random_state=0)
  one = intervals.difference(2000.0, heavy, options, np.inf)
  assert one.p == pytest.approx(1e-4, rel=0.01)
  # Holm over 600 tests can be met: at c3433a7 it was .06 at the least.
  one = intervals.difference(8.0, rng.normal(size=10_000), options, np.inf)
  assert 600 * one.p < 0.05


def test_a_reach_measured_at_the_value_is_as_wide_there():
  """All θ within c · sd(θ) / sd(value), sd(θ) = sqrt(1 − θ²): by a grid."""
  grid = np.linspace(-2, 2, 400_001)
  sd = np.sqrt(np.maximum(4 - grid**2, 0))
  for value in (-1.9, -0.4, 0.0, 1.0, 1.96):
    for c in (0.02, 0.3, 1.5):
      for at in (0.0, value):
        room = np.sqrt(4 - at**2)
        inside = grid[np.abs(value - grid) <= c * sd / room + 1e-12]
        found = intervals.within(value, c, 2.0, at)
        np.testing.assert_allclose(found, inside[[0, -1]], atol=3e-5)
  assert intervals.within(2.0, 0.1, 2.0, 2.0) == (-2.0, 2.0)
  assert intervals.ends(-0.9, 0.05, 0.2, 1.0)[0] < -0.92
  assert intervals.ends(0.5, 0.1, 0.1, np.inf) == (0.4, 0.6)


def test_intervals_of_large_differences_hold_them():
  """Of 300 rows that differ by .9 the ends of .95 were beside it in .3."""
  rng, inside = np.random.default_rng(0), 0
  options = RowSample(0.95, 1000, 0)
  for _ in range(200):
    rows = rng.choice([0.0, 1.0], (300, 2), p=[0.05, 0.95])
    gap = rows[:, 0] - (1 - rows[:, 1])
    noise = rng.choice(gap - gap.mean(), (1000, 300)).mean(1)
    one = intervals.difference(gap.mean(), noise, options, 1.0)
    inside += one.low <= 0.9 <= one.high
  assert inside / 200 > 0.91


def test_chance_holds_what_seeds_add():
  """Five seeds of sd .10 a group show a gap of .8 · .1 √2 by chance alone."""
  rng = np.random.default_rng(2)
  wrong, nulls = 0, []
  for _ in range(60):
    rates = 0.4 + 0.1 * rng.normal(size=(5, 2))
    noise = rng.normal(size=(1000, 1, 2)).astype(np.float32) * 0.01
    noise = np.repeat(noise, 5, 1)
    alike = noise + intervals.seeds_alike(rates, 1000, 0)
    apart = lambda x: np.ptp(x, axis=-1)
    one = intervals.of_gap(apart(rates), apart(noise), HOW, 1.0, apart(alike))
    nulls.append(one['null'])
    assert (one['low'] > 0) == (one['p'] < 0.05)
    wrong += one['low'] > 0
  assert np.mean(nulls) == pytest.approx(0.113, abs=0.012)
  assert wrong / 60 <= 0.12


@pytest.mark.parametrize('wrong', [0, 1, 3, 20])
def test_rates_are_jeffreys_and_exact_at_the_edges(wrong):
  """Beta(x + 1/2, n − x + 1/2), and Clopper and Pearson's limits at 0 of n."""
  labels = np.zeros(20, np.int64)
  decisions = (np.arange(20) < wrong).astype(np.int64)[None]
  masks = [np.ones(20, bool)]
  options = RowSample(0.95, 20_000, 0)
  table = counts.tabulate(labels, decisions, masks, 2, options)
  rates = counts.rates(table, counts.draw(table, options), options)
  one = counts.of_group(table, rates, -1, options)
  low, high = scipy.stats.beta.ppf(
    [0.025, 0.975], wrong + 0.5, 20 - wrong + 0.5
  )
  exact = 0.025 ** (1 / 20)
  low = {0: 0, 20: exact}.get(wrong, low)
  high = {0: 1 - exact, 20: 1}.get(wrong, high)
  assert one['fpr']['low'] == pytest.approx(low, abs=0.006)
  assert one['fpr']['high'] == pytest.approx(high, abs=0.006)
  assert one['tnr']['high'] == pytest.approx(1 - low, abs=0.006)
  assert one['tpr']['value'] is None and one['tpr']['low'] is None


@pytest.mark.parametrize('classes', [2, 3])
@pytest.mark.parametrize('wrong', [0, 4, 20])
def test_everyone_s_accuracy_has_half_a_row_right_and_half_wrong(
  wrong, classes
):
  """Over all cells together; a whole one of what was never seen."""
  options = RowSample(0.95, 20_000, 0)
  labels = np.arange(20) % classes
  decided = np.where(np.arange(20) < wrong, labels + 1, labels) % classes
  seeds = np.stack([decided, decided])
  masks = [np.ones(20, bool)]
  for runs in (1, 2):
    table = counts.tabulate(labels, seeds, masks, classes, options)
    draws = counts.draw(table, options, runs)
    drawn = draws.everyone['accuracy']
    # Two seeds of one run have the same half rows, two runs have their own.
    assert (drawn[:, 0] == drawn[:, 1]).all() == (runs == 1)
    right = 20 - wrong
    ends = scipy.stats.beta.ppf(
      [0.025, 0.5, 0.975],
      right + (0.5 if right else 1),
      wrong + (0.5 if wrong else 1),
    )
    for k in range(2):
      found = np.quantile(drawn[:, k], [0.025, 0.5, 0.975])
      np.testing.assert_allclose(found, ends, atol=0.008)
  one = counts.of_everyone(table, draws, options)['accuracy']
  assert one['value'] == 1 - wrong / 20 and one['low'] <= one['value']


@pytest.mark.parametrize('level, least', [(0.9, 9), (0.95, 19), (0.999, 999)])
def test_too_few_resamples_for_a_level_are_told(level, least):
  """Of 200 at level .999 an interval was [-1, 1], without a word."""
  rng = np.random.default_rng(0)
  y, p = rng.integers(0, 2, 80), rng.random((1, 80))
  for count in (0, least - 1, least, 2 * least):
    how = RowSample(level, count, 0)
    noise = rng.normal(0, 0.1, count)
    one = intervals.difference(0.3, noise, how, 1.0)
    whole = (one.low, one.high) == (-1, 1)
    found = assess(y, p, options=how)
    said = [w for w in found['warnings'] if 'resamples are too few' in w]
    assert len(said) == whole == (0 < count < least)
    assert all(f'Draw {least} or more' in w for w in said)
