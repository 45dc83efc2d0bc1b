"""Intervals and tests against scipy, enumeration and simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairjax.benchmarks import result_rows
from fairjax.metrics import clusters, significance
from fairjax.metrics.intervals import IntervalOptions

OPTIONS = IntervalOptions(0.95, 1000, 0)


@pytest.mark.parametrize('hits, count', [(0, 9), (3, 9), (9, 9), (57, 100)])
def test_shares_are_those_of_scipy(hits, count):
  exact = stats.binomtest(hits, count)
  ends = exact.proportion_ci(0.95, 'exact')
  found = clusters.share(hits, count, OPTIONS)
  np.testing.assert_allclose([found['low'], found['high']], list(ends))
  p = clusters.binomial(hits, count)
  assert (p < 0.05) == (not found['low'] <= 0.5 <= found['high'])


def test_resamples_of_clusters_cover_where_items_do_not():
  rng, hits, naive = np.random.default_rng(0), 0, 0
  cluster = np.repeat(np.arange(25), 8)
  for _ in range(200):
    values = rng.normal(size=25)[cluster] + 0.3 * rng.normal(size=200)
    found, p = clusters.mean(values, cluster, OPTIONS, 0.0)
    alone, _ = clusters.mean(values, None, OPTIONS)
    hits += found['low'] <= 0 <= found['high']
    naive += alone['low'] <= 0 <= alone['high']
    if abs(p - 0.05) > 0.003:  # a quantile lies between two draws
      assert (p > 0.05) == (found['low'] <= 0 <= found['high'])
  assert hits / 200 > 0.89 and naive / 200 < 0.7


def test_sign_flips_are_enumerated():
  values = np.array([0.3, -0.1, 0.5, 0.2, 0.2])
  signs = 1 - 2 * (np.arange(32)[:, None] >> np.arange(5) & 1)
  exact = (np.abs(signs @ values) >= abs(values.sum()) - 1e-12).mean()
  assert clusters.sign_flip(values, None, OPTIONS) == exact
  # Two items of a cluster flip together.
  whole = clusters.sign_flip(values, [0, 0, 1, 2, 2], OPTIONS)
  assert whole == clusters.sign_flip([0.2, 0.5, 0.4], None, OPTIONS)
  many = np.random.default_rng(1).normal(0.0, 1, 40)
  drawn = clusters.sign_flip(many, None, OPTIONS._replace(resamples=20_000))
  assert drawn == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.03)
  assert clusters.sign_flip([0.0, 0.0], None, OPTIONS) == 1


def test_adjusted_p_values():
  p = [0.01, None, 0.04, 0.03, 0.005]
  assert significance.adjusted(p) == pytest.approx(
    [0.03, None, 0.06, 0.06, 0.02]
  )
  known = [v for v in p if v is not None]
  bh = [v for v in significance.adjusted(p, 'bh') if v is not None]
  np.testing.assert_allclose(bh, stats.false_discovery_control(known))


def test_ties_stay_in_the_denominator():
  row = result_rows.share_row('m', 'all', 30, 10, 60, OPTIONS)
  assert row['value']['value'] == pytest.approx(50)
  assert row['null'] == pytest.approx(50 * 50 / 60)
  assert row['p'] == clusters.binomial(30, 50)
  assert row['floor_low'] < row['null'] < row['floor_high']


def frame(values):
  return pd.DataFrame(
    {
      'id': [str(i) for i in range(len(values))],
      'metric': 'm',
      'part': 'all',
      'value': values,
      'cluster': np.arange(len(values)) // 2,
    }
  )


def test_two_models_are_compared_on_shared_items():
  rng = np.random.default_rng(2)
  ours = rng.normal(size=60)
  theirs = ours - 0.2 + 0.1 * rng.normal(size=60)
  (row,) = result_rows.compare(frame(ours), frame(theirs)[:50], OPTIONS)
  assert row['items'] == 50
  difference = row['difference']
  assert difference['low'] < 0.2 < difference['high']
  assert row['p'] < 0.01 and row['p_holm'] == row['p']
