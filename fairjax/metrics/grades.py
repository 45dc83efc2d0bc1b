"""Pearson's r of graded labels and predicted grades, with intervals and tests.

The predicted grade of a row is the mean class, Σ c · p(c), where classes are
rounded scores (STS-B). r is a function of five totals over rows, so the
Bayesian bootstrap of resampling.py draws it from weighted totals; the
difference of two models has the same weights on both sides.
"""

import numpy as np
from jaxtyping import Float, Integer

from fairjax.metrics.inference import clusters, intervals, resampling
from fairjax.metrics.inference.estimates import Estimate, of_value
from fairjax.metrics.inference.sample import RowSample

FEW = 'all labels or all predictions agree'


def grades(chances: Float[np.ndarray, 's n c']) -> Float[np.ndarray, 's n']:
  """The mean class of each row."""
  return np.asarray(chances @ np.arange(chances.shape[-1], dtype=np.float64))


def correlation(
  labels: Integer[np.ndarray, ' n'] | Float[np.ndarray, ' n'],
  predicted: Float[np.ndarray, 's n'],
) -> Float[np.ndarray, ' s']:
  """r of each seed; NaN where one side does not vary."""
  return _r(totals_of(labels, predicted).sum(1))


def totals_of(
  labels: np.ndarray, predicted: np.ndarray
) -> Float[np.ndarray, 's n total']:
  """1, x, y, xx, yy and xy of every row, both sides centred."""
  x = np.broadcast_to(labels - labels.mean(), predicted.shape)
  y = predicted - predicted.mean(1, keepdims=True)
  return np.stack([np.ones_like(y), x, y, x * x, y * y, x * y], -1)


def _r(totals: Float[np.ndarray, '*b total']) -> Float[np.ndarray, '*b']:
  n, x, y, xx, yy, xy = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
  width = (xx / n - (x / n) ** 2) * (yy / n - (y / n) ** 2)
  wide = width > 1e-12
  r = (xy / n - x * y / n**2) / np.sqrt(np.where(wide, width, 1))
  return np.where(wide, np.clip(r, -1, 1), np.nan)


def weighted(
  rows: Float[np.ndarray, 's n total'], options: RowSample
) -> Float[np.ndarray, 'resample s']:
  """r of the weighted rows of every resample; all seeds share the weights."""
  items = resampling.blocks(rows.shape[1], options)
  weights = resampling.draw(items, options.resamples, options.seed)
  weights = weights[:, : len(items.size)].astype(np.float64)
  sums = _together(rows, items.item)
  return np.moveaxis(_r(np.einsum('bm,smt->sbt', weights, sums)), 0, 1)


def draws(
  labels: np.ndarray, predicted: np.ndarray, options: RowSample
) -> Float[np.ndarray, 'resample s']:
  """What r may be, by resamples of the rows, or of clusters of them.

  On Fisher's scale z = artanh r they have the spread of the jackknife times
  that of Student's t: weighted rows alone vary too little where rows are few
  or tails heavy (of 60 rows intervals held r in .88 to .92 of sets).
  """
  rows = totals_of(labels, predicted)
  z = fisher(weighted(rows, options))
  whole = rows.sum(1, keepdims=True)
  without = fisher(_r(whole - _together(rows, options.units(rows.shape[1]))))
  n = without.shape[1]
  apart = without - without.mean(1, keepdims=True)
  error = np.sqrt((n - 1) / n * (apart**2).sum(1))
  far = clusters.reach(1.0, [max(n - 1, 1), np.inf], options.level)
  own = z.std(0)
  wider = error / np.where(own > 0, own, 1) * far[0] / far[1]
  drawn = fisher(_r(whole[:, 0])) + (z - z.mean(0)) * wider
  return np.asarray(np.tanh(drawn))


def _together(rows: np.ndarray, code: np.ndarray) -> np.ndarray:
  """The totals of the rows of each code [s, code, total]."""
  sums = np.zeros((len(rows), code.max() + 1, rows.shape[-1]))
  np.add.at(sums.swapaxes(0, 1), code, rows.swapaxes(0, 1))
  return sums


def fisher(r: Float[np.ndarray, '*b']) -> Float[np.ndarray, '*b']:
  return np.asarray(np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)))


def pearson(
  labels: Integer[np.ndarray, ' n'],
  predicted: Float[np.ndarray, 's n'],
  options: RowSample,
) -> Estimate:
  """The estimate of r, of seeds and rows (or clusters of rows)."""
  values = correlation(labels, predicted)
  some = options.resamples and not np.isnan(values).any()
  drawn = draws(labels, predicted, options) if some else None
  return intervals.of_mean(values, drawn, options, FEW, (-1.0, 1.0))


def compare(
  labels: Integer[np.ndarray, ' n'],
  ours: Float[np.ndarray, 's n'],
  theirs: Float[np.ndarray, 's n'],
  options: RowSample,
) -> Estimate:
  """The difference of two models' r on the same rows, with its p."""
  values = correlation(labels, ours) - correlation(labels, theirs)
  out = {'n': len(labels), 'test': 'paired bootstrap over rows and seeds'}
  if not options.resamples or np.isnan(values).any():
    return out | {'difference': of_value(None, note=FEW), 'p': None}
  each = (draws(labels, one, options) for one in (ours, theirs))
  drawn = next(each) - next(each)
  centred = drawn - drawn.mean(0) + values
  return out | intervals.paired(values, centred, options, 2.0)
