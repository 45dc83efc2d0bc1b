"""Tails and exact tests against scipy.stats."""

import numpy as np
import pytest
from scipy import stats

from fairjax.metrics.inference import clusters, tails


def test_tails_and_quantiles_are_those_of_scipy():
  x, free = np.array([-3.0, 0, 0.4, 12]), np.array([1, 3, 40, 1e6])
  np.testing.assert_allclose(tails.t_sf(x, free), stats.t.sf(x, free), 1e-10)
  share = np.array([0.001, 0.3, 0.5, 0.995])
  np.testing.assert_allclose(
    tails.t_ppf(share, free), stats.t.ppf(share, free), 1e-8, 1e-12
  )
  a, b = np.array([0.5, 3, 1000, 1]), np.array([7.5, 0.5, 1, 20000])
  np.testing.assert_allclose(
    tails.beta_ppf(share, a, b), stats.beta.ppf(share, a, b), 1e-8
  )


@pytest.mark.parametrize('k, n', [(0, 1), (0, 9), (3, 10), (5, 10), (40, 41)])
def test_shares_and_coins_are_those_of_scipy(k, n):
  expected = stats.binomtest(k, n)
  ends = expected.proportion_ci(0.9, 'wilson')
  assert tails.wilson(k, n, 0.9) == pytest.approx([*ends], abs=1e-12)
  assert clusters.binomial(k, n) == pytest.approx(expected.pvalue, rel=1e-12)


def test_exact_tests_of_counts_are_those_of_scipy():
  rng = np.random.default_rng(0)
  tables = rng.integers(0, 12, (60, 2, 2)).tolist()
  tables += [[[0, 0], [3, 4]], [[900, 20], [700, 60]], [[5, 5], [5, 5]]]
  for table in tables:
    expected = stats.fisher_exact(table)[1]
    assert tails.fisher(table) == pytest.approx(expected, rel=1e-8), table
  a, b = rng.random((2, 3, 9))
  for one, other, p in zip(a, b, tails.mann_whitney(a, b), strict=True):
    assert p == pytest.approx(stats.mannwhitneyu(one, other).pvalue)
  n, good = 400, 37
  drawn = np.array([0, 1, 30, 390, 400, 30])
  hits = np.array([-1, 0, 5, 30, 36, -1])
  np.testing.assert_allclose(
    tails.hypergeometric_sf(hits, n, good, drawn),
    stats.hypergeom.sf(hits, n, good, drawn),
    1e-8,
    1e-300,
  )
