"""Means over rows, with intervals, for values that no count table holds.

The mean of z over rows is a ratio of totals, so the Bayesian bootstrap of
resampling.py draws it exactly: rows that agree in z are one cell with a weight
from Gamma(rows). Where z takes −1, 0 or 1 (a decision that flips under one
edit and not under another, or that differs between two texts) half a row of
−1 and half a row of 1 is added, and a whole one of a kind that was never seen,
as counts.py does for rates: no interval has width 0 because all rows agree.
Means of other bounded values have half a row at either end of their range:
few values that are not 0 say little of how large another may be.
"""

import numpy as np
from jaxtyping import Float

from fairjax.metrics.inference import intervals, resampling
from fairjax.metrics.inference.estimates import Estimate, estimate
from fairjax.metrics.inference.sample import RowSample

FEW = 64  # distinct values above which rows are dealt into blocks


def draws_of(
  values: Float[np.ndarray, 's n'],
  options: RowSample,
  edges: tuple[float, float] | None = None,
) -> Float[np.ndarray, 'resample s']:
  """Means over the rows in every resample; all seeds share the weights.

  With `edges`, the least and the largest value a row can have, half a row of
  either is added, and a whole one where no row lies on that side of 0.
  """
  items = _items(values, options)
  m = len(items.size)
  each = values if options.weight is None else values * options.weight
  sums = np.stack([np.bincount(items.item, v, minlength=m) for v in each], 1)
  extra = np.zeros((2, options.resamples, 1))
  low, high = edges or (0.0, 0.0)
  if edges:
    rng = np.random.default_rng([options.seed, resampling.EDGES, 7])
    extra = rng.standard_normal((2, 2, options.resamples, 1)) ** 2 / 2
    extra, more = extra
    if low < 0:
      signs = np.array([(values < 0).any(), (values > 0).any()])
      extra = extra + more * ~signs[:, None, None]
    if items.clusters:
      extra = extra * (items.size.sum() / items.clusters)
  weights = resampling.draw(items, options.resamples, options.seed)[:, :m]
  totals = weights @ sums + extra[1] * high + extra[0] * low
  return np.asarray(totals / (weights @ items.size[:, None] + extra.sum(0)))


def _items(values: np.ndarray, options: RowSample) -> resampling.Items:
  alone = options.cluster is None and options.weight is None
  if alone and all(len(np.unique(v)) <= FEW for v in values):
    codes = [np.unique(v, return_inverse=True)[1] for v in values]
    items = resampling.cells(codes)
    if len(items.size) <= resampling.CELLS:
      return items
  return resampling.blocks(values.shape[1], options)


def mean(
  values: Float[np.ndarray, 's n'],
  options: RowSample,
  bounds: tuple[float, float] = intervals.REALS,
  note: str = '',
) -> Estimate:
  """The estimate of a mean; `note` says why there is none."""
  if not options.rows(np.ones(values.shape[1], bool)):
    return estimate(np.full(len(values), np.nan), note=note or 'no rows')
  seeds = options.mean(values)
  draws = None
  if options.resamples:
    edges = bounds if np.isfinite(bounds).all() else None
    draws = draws_of(values, options, edges)
  return intervals.of_mean(seeds, draws, options, bounds=bounds)


def difference(
  values: Float[np.ndarray, 's n'], options: RowSample, note: str = ''
) -> Estimate:
  """The estimate of a mean of −1, 0 and 1, with the p of its being 0."""
  alone = mean(values, options._replace(resamples=0), note=note)
  if alone['value'] is None or not options.resamples:
    return {**alone, 'p': None}
  seeds = np.array(alone['seeds'])
  draws = draws_of(values, options, (-1.0, 1.0))
  draws += seeds - draws.mean(0)
  found = intervals.paired(seeds, draws, options, 1.0)
  return {**found.pop('difference'), **found}
