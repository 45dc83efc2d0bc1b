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
  assert estimates.p_of(estimate([0.0], -0.1, 0.1), 0.95) == 1


def test_a_seed_that_one_part_lacks_is_none_and_the_value_is_the_parts():
  one = estimates.mean(
    [estimate([0.2, np.nan], 0.1, 0.3), estimate([0.4, 0.6], 0.3, 0.7)]
  )
  assert one['value'] == pytest.approx((0.2 + 0.5) / 2)
  assert one['seeds'] == [pytest.approx(0.3), None]
  assert one['note'] and one['low'] < one['value'] < one['high']


def test_a_part_that_is_undefined_is_said():
  one = estimates.mean([estimate([0.1], 0.0, 0.2), estimate([np.nan])])
  assert one['value'] is None and 'undefined' in one['note']
  assert estimates.p_of(one, 0.95) is None


def test_a_ratio_says_what_chance_gives_where_that_is_known():
  found = [estimates.of_ratio(np.array([0.8]), 0.1, at) for at in (0.9, None)]
  assert found[0]['null'] == 0.9 and 'null' not in found[1]
  assert 'rate 0' in estimates.of_ratio(np.zeros(1), 0.1)['note']
