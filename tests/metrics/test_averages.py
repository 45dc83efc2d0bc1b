"""The mean of independent estimates, and a ratio of rates."""

import numpy as np
import pytest
from scipy import stats

from fairjax.metrics.inference import clusters, estimates
from fairjax.metrics.inference.estimates import estimate


def test_symmetric_intervals_make_the_normal_one():
  values, errors = np.array([0.2, -0.1, 0.4]), np.array([0.1, 0.05, 0.2])
  z = stats.norm.ppf(0.975)
  parts = [
    estimate([v - 0.01, v + 0.01], v - z * e, v + z * e)
    for v, e in zip(values, errors)
  ]
  one = estimates.mean(parts)
  error = np.sqrt((errors**2).sum()) / 3
  assert one['value'] == pytest.approx(values.mean())
  assert one['low'] == pytest.approx(values.mean() - z * error)
  assert one['high'] == pytest.approx(values.mean() + z * error)
  assert one['seeds'] == pytest.approx([0.5 / 3 - 0.01, 0.5 / 3 + 0.01])
  p = 2 * stats.norm.sf(values.mean() / error)
  assert estimates.p_of(one, 0.95) == pytest.approx(p)


def test_skewed_intervals_of_shares_cover_their_mean():
  """Shares of .02, .05 and .1 of 40, 60 and 80 rows."""
  rng, held, truth = np.random.default_rng(0), 0, (0.02, 0.05, 0.1)
  for _ in range(1000):
    parts = []
    for share, n in zip(truth, (40, 60, 80)):
      hits = rng.binomial(n, share)
      low, high = clusters.jeffreys(float(hits), float(n), 0.95)
      parts.append(estimate([hits / n], low, high))
    one = estimates.mean(parts)
    held += one['low'] <= np.mean(truth) <= one['high']
  assert 0.93 < held / 1000 < 0.985


def test_an_interval_ends_at_0_where_p_is_the_rest_of_its_level():
  for value, low, high in ((0.2, 0.0, 0.5), (-0.2, -0.9, 0.0)):
    p = estimates.p_of(estimate([value], low, high), 0.9)
    assert p == pytest.approx(0.1)
  for value, half, p in ((0.0, 0.1, 1), (0.0, 0.0, 1), (0.5, 0.0, 0)):
    one = estimates.of_value(value, value - half, value + half)
    assert (one['value'], one['seeds']) == (value, [])
    assert estimates.p_of(one, 0.95) == p
  assert estimates.of_value(None)['value'] is None


def test_a_seed_that_one_part_lacks_is_none_and_the_value_is_the_parts():
  one = estimates.mean(
    [estimate([0.2, np.nan], 0.1, 0.3), estimate([0.4, 0.6], 0.3, 0.7)]
  )
  assert one['value'] == pytest.approx((0.2 + 0.5) / 2)
  assert one['seeds'] == [pytest.approx(0.3), None]
  assert one['note'] and one['low'] < one['value'] < one['high']
  one = estimates.mean([estimate([0.2, 0.4]), estimate([0.6])])
  assert one['seeds'] == [pytest.approx(0.45)]


def test_a_part_that_is_undefined_is_said():
  one = estimates.mean([estimate([0.1], 0.0, 0.2), estimate([np.nan])])
  assert one['value'] is None and 'undefined' in one['note']
  assert estimates.p_of(one, 0.95) is None


def test_a_ratio_has_the_ends_of_its_logarithm_and_is_at_most_1():
  one = estimates.of_ratio(np.array([0.5]), np.log(1.5), 0.9)
  assert [one[k] for k in ('low', 'high', 'null')] == pytest.approx(
    [1 / 3, 0.75, 0.9]
  )
  assert 'null' not in estimates.of_ratio(np.array([0.8]), 0.1)
  two = estimates.of_ratio(np.array([0.7, 0.9]), 0.3)
  assert (two['value'], two['high']) == (pytest.approx(0.8), 1)
  assert estimates.of_ratio(np.array([0.2, 0.9]), 4.0)['high'] is None
  assert estimates.of_ratio(np.array([0.8]), None)['low'] is None
  zero = estimates.of_ratio(np.array([0.0, 0.5]), 0.1)
  assert (zero['low'], zero['high']) == (0, None) and 'rate 0' in zero['note']
  turned = estimates.complement(
    estimate([0.25, None], 0.0, 0.5) | {'null': 0.1}
  )
  assert [turned[k] for k in ('low', 'high', 'null')] == [0.5, 1, 0.9]
  assert turned['seeds'] == [0.75, None] and turned['value'] == 0.75
  wilson = stats.binomtest(3, 9).proportion_ci(0.9, 'wilson')
  share = estimates.of_share(3, 9, 0.9)
  assert [share[k] for k in ('value', 'low', 'high')] == pytest.approx(
    [1 / 3, *wilson]
  )
  assert estimates.of_share(0, 0, 0.9)['note'] == 'there is none'


def test_ends_that_say_nothing_are_none_in_a_table():
  """Those of all of [0, 1] or ±1/2, but for .02; one half may be beside it."""
  silent = (0.0, 1.0), (0.01, 1.0), (-0.5, 0.5)
  others = (0.0, 0.98), (-0.6, 0.5), (-0.1, 1.0), (0.0, 1.1), (None, 1.0)
  for ends in silent + others:
    for seeds, why in (([0.2, 0.9], '2 seeds'), ([0.5, 0.51], 'the rows')):
      one = estimates.in_table(estimate(seeds, *ends))
      told = (None, None, why + estimates.FEW)
      assert (one['low'], one['high'], one['note']) == (
        told if ends in silent else (*ends, None)
      )
  for most, seeds in ((0.9, [0.2, 0.9]), (0.9, [0.5]), (1.0, [0.2, 0.9])):
    one = estimates.unless_vague(seeds, 0.0, 1.0, most)
    vague = most < 1 < len(seeds)
    assert (one['high'] is None) == vague == ('note' in one)


def test_a_note_says_why_there_is_no_interval():
  of = lambda *own: estimates.noted(np.array(own), np.nan, np.nan, 'no rows')
  for seeds, note in (
    *(((0.5, np.nan), 'no rows'), ((0.5, 0.5), estimates.STILL)),
    *(((0.5,), estimates.STILL), ((0.2, 0.9), '2 seeds' + estimates.FEW)),
  ):
    assert (of(*seeds)['note'], of(*seeds)['low']) == (note, None)
  assert 'note' not in estimates.noted(np.array([0.5]), 0.1, 0.9, 'no rows')
  assert 'note' not in estimates.noted(np.array([0.5]), None, None, 'no rows')
  # t s/√n is a quarter of .98 of two seeds .03857 apart, of three .1708.
  for seeds, why in (
    *(((0.5, 0.5385), 'the rows'), ((0.5, 0.539), '2 seeds')),
    *(((0, 0, 0.17), 'the rows'), ((0, 0, 0.172), '3 seeds')),
  ):
    assert estimates.too_few(np.array(seeds)) == why + estimates.FEW
