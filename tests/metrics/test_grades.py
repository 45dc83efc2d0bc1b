"""Pearson's r of grades: scipy's value, coverage, and paired differences."""

import numpy as np
import pytest
from scipy import stats

from fairjax.metrics import grades
from fairjax.metrics.inference import resampling
from fairjax.metrics.inference.sample import RowSample

HOW = RowSample(0.95, 1000, 0)


def sample(rng, n, r, seeds=1):
  """Labels 0 … 5 and predictions that correlate about r with them."""
  hidden = rng.standard_normal(n)
  labels = np.clip(np.round(hidden * 1.5 + 2.5), 0, 5).astype(int)
  noise = rng.standard_normal((seeds, n))
  return labels, r * hidden + np.sqrt(1 - r * r) * noise


def test_the_value_and_the_interval_are_those_of_textbooks():
  labels, predicted = sample(np.random.default_rng(0), 800, 0.7)
  r = stats.pearsonr(labels, predicted[0])
  one = grades.pearson(labels, predicted, HOW)
  assert one['value'] == pytest.approx(r.statistic, abs=1e-6)
  low, high = r.confidence_interval()
  assert one['low'] == pytest.approx(low, abs=0.01)
  assert one['high'] == pytest.approx(high, abs=0.01)


def test_a_difference_is_paired():
  rng = np.random.default_rng(2)
  labels, ours = sample(rng, 500, 0.8, seeds=3)
  near = ours + rng.standard_normal(ours.shape) * 0.02
  far = rng.standard_normal(ours.shape)
  same = grades.compare(labels, ours, near, HOW)
  other = grades.compare(labels, ours, far, HOW)
  width = lambda one: one['difference']['high'] - one['difference']['low']
  assert width(same) < width(other) / 5
  assert other['p'] < 0.01
  expected = grades.correlation(labels, ours) - grades.correlation(labels, far)
  assert other['difference']['value'] == pytest.approx(expected.mean())


def test_a_side_that_does_not_vary_has_none():
  labels = np.arange(6)
  flat = np.ones((1, 6))
  one = grades.pearson(labels, flat, HOW)
  assert one['value'] is None and one['note'] == grades.FEW
  assert grades.compare(labels, flat, flat, HOW)['p'] is None
  graded = grades.grades(np.eye(6)[None, 1:])  # five rows of six classes
  assert grades.correlation(labels[1:], graded) == [1.0]


def test_a_resample_is_a_weighted_correlation():
  """numpy's covariance with the same weights of the same rows."""
  labels, predicted = sample(np.random.default_rng(3), 60, 0.5, seeds=2)
  drawn = grades.weighted(grades.totals_of(labels, predicted), HOW)
  items = resampling.blocks(60, HOW)
  weights = resampling.draw(items, HOW.resamples, HOW.seed)[:, :60]
  for b in (0, 7):
    for s in range(2):
      rows = weights[b][items.item].astype(float)
      cov = np.cov(labels, predicted[s], aweights=rows)
      r = cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1])
      assert drawn[b, s] == pytest.approx(r, abs=1e-5)


def test_the_spread_of_r_is_that_of_leaving_rows_out():
  labels, predicted = sample(np.random.default_rng(3), 40, 0.5, seeds=2)
  drawn = np.arctanh(grades.draws(labels, predicted, HOW))
  for s in range(2):
    r = [
      np.corrcoef(np.delete(labels, i), np.delete(predicted[s], i))[0, 1]
      for i in range(40)
    ]
    error = np.sqrt(39 * np.var(np.arctanh(r)))
    wider = stats.t.ppf(0.975, 39) / stats.norm.ppf(0.975)
    assert drawn[:, s].std() == pytest.approx(error * wider, rel=1e-3)


def test_copies_of_a_row_are_one_row():
  """Each row four times, or once: r is as sure in either."""
  labels, predicted = sample(np.random.default_rng(4), 60, 0.6)
  other = predicted + np.random.default_rng(5).standard_normal((1, 60))
  four = lambda a: np.repeat(a, 4, axis=-1)
  cluster = np.repeat(np.arange(60), 4)
  own = grades.pearson(labels, predicted, HOW.over(np.arange(60)))
  copied = four(labels), four(predicted)
  together, alone = (
    grades.pearson(*copied, how) for how in (HOW.over(cluster), HOW)
  )
  width = lambda one: one['high'] - one['low']
  assert together['value'] == pytest.approx(own['value'])
  assert width(together) == pytest.approx(width(own), rel=0.02)
  assert width(alone) < 0.6 * width(own)
  plain = grades.compare(labels, predicted, other, HOW.over(np.arange(60)))
  pairs = four(labels), four(predicted), four(other)
  found = grades.compare(*pairs, HOW.over(cluster))
  assert grades.compare(*pairs, HOW)['p'] < found['p']
  found = found['difference']
  assert width(found) == pytest.approx(width(plain['difference']), rel=0.02)
