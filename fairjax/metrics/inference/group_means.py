"""Means of groups whose rows belong together across the groups.

A template has prompts of every group, so what it adds to one group's mean it
adds to the others' too, and a gap varies less than either mean. Linearised,
the mean of group g over rows of G clusters is θ_g + Σ_c (S_cg − θ_g N_cg) / N_g
(S sums, N counts of cluster c). A draw multiplies each cluster's part by one
normal number, the same for all groups, times what makes the whole Student's t
of G − 1 degrees of freedom (clustered_rates.py). What rows alone would make
vary is the least, half a row at either end of the range among them, each group
for itself: no interval has width 0 because all rows agree.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy import stats

from fairjax.metrics.inference import (
  clustered_rates,
  clusters,
  estimates,
  extremes,
  intervals,
  resampling,
  row_weights,
)
from fairjax.metrics.inference.estimates import Estimate, Function
from fairjax.metrics.inference.intervals import SHARES, RowSample

STREAM = 0xC2  # of random numbers
GRID = 128  # places at which two distributions are held against each other


def drawn(
  values: Float[np.ndarray, ' n'],
  members: Bool[np.ndarray, 'g n'],
  options: RowSample,
  bounds: tuple[float, float] = SHARES,
) -> tuple[Float[np.ndarray, ' g'], Float[np.ndarray, 'resample g']]:
  """The means of the groups, and draws of them."""
  code = options.units(len(values))
  m = int(code.max(initial=-1)) + 1
  per: Function = lambda x: np.stack(
    [np.bincount(code[one], x[one], minlength=m) for one in members], 1
  )
  sums, counts = per(values), per(np.ones(len(values)))
  n = counts.sum(0)
  means = sums.sum(0) / n
  total = n + 1
  centre = (sums.sum(0) + sum(bounds) / 2) / total
  here = counts > 0
  number = np.maximum(here.sum(0), 2)
  apart = np.where(here, (sums - centre * counts) / total, 0)
  apart = np.where(here, apart - apart.sum(0) / number, 0)
  apart *= np.sqrt(number / (number - 1))
  squares = per(values**2).sum(0) - 2 * centre * sums.sum(0) + n * centre**2
  squares += sum((end - centre) ** 2 for end in bounds) / 2
  missing = np.sqrt(np.maximum(squares / total**2 - (apart**2).sum(0), 0))
  equal = row_weights.equal_clusters(counts)
  heavy = clustered_rates.heavy(equal, options)
  rng = np.random.default_rng([options.seed, STREAM])
  out = np.empty((options.resamples, len(means)))
  for some in resampling.chunks(options.resamples):
    z = rng.standard_normal((some.stop - some.start, m))
    own = rng.standard_normal((len(z), len(means)))
    out[some] = means + (z @ apart + own * missing) * heavy[some]
  return means, out


def gap(
  means: Float[np.ndarray, ' g'],
  draws: Float[np.ndarray, 'resample g'],
  options: RowSample,
  largest: float = 1.0,
) -> Estimate:
  """The largest difference of two groups' means, with what chance shows."""
  noise = draws[:, None] - means if len(draws) else None
  return extremes.gap_of(means[None], noise, options, largest)


def difference(
  values: Float[np.ndarray, ' n'],
  one: Bool[np.ndarray, ' n'],
  other: Bool[np.ndarray, ' n'],
  options: RowSample,
  bounds: tuple[float, float] = SHARES,
) -> Estimate:
  """The mean of `one` less that of `other`, and the p of its being 0.

  A cluster that has rows of both is one item: what its rows share is in neither
  side's favour, so the difference varies less than independent rows would let
  it.
  """
  if not (one.any() and other.any()):
    return estimates.of_value(None, note='no rows')
  some = one | other
  code = options.of(some).units(int(some.sum()))
  columns = np.zeros((int(code.max()) + 1, 4))
  parts = np.stack([values * one, one, values * other, other], 1)[some]
  np.add.at(columns, code, parts)
  (low, high), width = bounds, bounds[1] - bounds[0]
  found, p = clusters.resampled(
    columns,
    [[np.arange(len(columns))]],
    lambda t: t[..., 0] / t[..., 1] - t[..., 2] / t[..., 3],
    options,
    0.0,
    (-width, width),
    ((high, 1, low, 1), (low, 1, high, 1)),
  )
  return found | {'p': p}


def distance(
  values: Float[np.ndarray, ' n'],
  one: Bool[np.ndarray, ' n'],
  other: Bool[np.ndarray, ' n'],
  options: RowSample,
) -> Estimate:
  """Wasserstein-1 of two groups' distributions in [0, 1], as a gap.

  ∫ |F − G| is a seminorm of F − G, so the distance from the truth is at most
  that of the noise (intervals.py), whose mean is what groups that are alike
  show.
  """
  if not (one.any() and other.any()):
    return estimates.of_value(None, note='no rows')
  value = np.array([stats.wasserstein_distance(values[one], values[other])])
  if not options.resamples:
    return estimates.estimate(value)
  items = resampling.blocks(len(values), options)
  m = len(items.size)
  grid = (np.arange(GRID) + 0.5) / GRID
  totals = np.zeros((m, 2, GRID + 1))
  for k, rows in enumerate((one, other)):
    at = np.searchsorted(grid, values[rows])
    np.add.at(totals[:, k], (items.item[rows], at), 1.0)
  below = np.cumsum(totals, -1)  # the last is the count
  apart: Function = lambda t: np.diff(
    t[..., :GRID] / np.maximum(t[..., GRID:], 1e-9), axis=-2
  )[..., 0, :]
  weights = resampling.draw(items, options.resamples, options.seed)[:, :m]
  flat = weights @ below.reshape(m, -1).astype(np.float32)
  flat = flat.reshape(-1, 2, GRID + 1)
  rng = np.random.default_rng([options.seed, resampling.EDGES, 8])
  for k, rows in enumerate((one, other)):
    if np.ptp(values[rows]) == 0:  # all alike: one more, at the farther end
      more = rng.standard_gamma(1.0, options.resamples)
      more = more * len(values) / (items.clusters or len(values))
      reached = grid >= (0.0 if values[rows][0] > 0.5 else 1.0)
      flat[:, k] += np.outer(more, np.append(reached, 1.0))
    else:  # half a row at either end: clusters may be alike, their rows apart
      for end in (0.0, 1.0):
        more = rng.standard_gamma(0.5, options.resamples)
        flat[:, k] += np.outer(more, np.append(grid >= end, 1.0))
  noise = np.abs(apart(flat) - apart(below.sum(0))).mean(-1)
  return intervals.of_gap(value, noise[:, None], options)
