"""How far a largest value, or a range, of estimates is from the true one.

With θ true, v = θ + e estimated, t the group of the largest θ and m that of
the largest v, e_t ≤ max v − max θ ≤ e_m: only the noise of groups that may be
the largest counts. Those within SURE standard errors of the largest estimate
may be (a moment selection, Andrews and Soares 2010); where all are alike these
are all groups and the bound of a range is the range of the noise.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from fairjax.metrics.inference import intervals
from fairjax.metrics.inference.estimates import Estimate, Function

# The least of 1, 1.5, 2 at which intervals of a least, a largest and a ratio
# of rates cover for up to 12 groups that are alike (tests/coverage.py).
SURE = 2.0


def of_largest(
  noise: Float[np.ndarray, 'g b *rest'], centre: Float[np.ndarray, 'g 1 *rest']
) -> Float[np.ndarray, 'b *rest']:
  """A bound of |max v − max θ| in each resample; NaN where nothing is known."""
  some = near(noise, centre) & ~np.isnan(noise)
  size = np.where(some, np.abs(noise), -np.inf).max(0)
  return np.where(np.isinf(size), np.nan, size)


def of_range(
  noise: Float[np.ndarray, 'g b *rest'], centre: Float[np.ndarray, 'g 1 *rest']
) -> tuple[Float[np.ndarray, 'b *rest'], Float[np.ndarray, 'b *rest']]:
  """The least and the largest (max v − min v) − (max θ − min θ) may be.

  NaN where fewer than two groups are known. Means of several ranges have the
  means of these as bounds.
  """
  known = ~np.isnan(noise)
  top, low = near(noise, centre) & known, near(noise, -centre) & known
  most: Function = lambda where: np.where(where, noise, -np.inf).max(0)
  least: Function = lambda where: np.where(where, noise, np.inf).min(0)
  two = known.sum(0) > 1
  with np.errstate(invalid='ignore'):
    ends = least(top) - most(low), most(top) - least(low)
  one, other = (np.where(two, end, np.nan) for end in ends)
  return one, other


def gap(values: Float[np.ndarray, '*b g']) -> Float[np.ndarray, '*b']:
  """max v − min v over the groups that are known; NaN of fewer than two."""
  known = np.isfinite(values)
  high = np.where(known, values, -np.inf).max(-1, initial=-np.inf)
  low = np.where(known, values, np.inf).min(-1, initial=np.inf)
  return np.where(known.sum(-1) > 1, high - low, np.nan)


def gap_of(
  values: Float[np.ndarray, 's g'],
  noise: Float[np.ndarray, 'resample s g'] | None,
  options: intervals.RowSample,
  largest: float = 1.0,
) -> Estimate:
  """The estimate of the gap between groups, from draws of their errors."""
  bound = null = None
  if noise is not None:
    bound = size(of_range(*groups_first(noise, values)))
    null = gap(intervals.alike(values, noise, options))
  return intervals.of_gap(gap(values), bound, options, largest, null)


def groups_first(
  noise: Float[np.ndarray, 'b s g'], values: Float[np.ndarray, 's g']
) -> tuple[Float[np.ndarray, 'g b s'], Float[np.ndarray, 'g 1 s']]:
  """As the others take them."""
  return np.moveaxis(noise, -1, 0), np.moveaxis(values[None], -1, 0)


def size(ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
  """A bound of the error's size from its least and largest value."""
  return np.asarray(np.maximum(np.abs(ends[0]), np.abs(ends[1])))


def near(noise: Any, centre: Any) -> Bool[np.ndarray, 'g 1 *rest']:
  """Which groups may have the largest value."""
  known = np.isfinite(noise)
  count = np.maximum(known.sum(1, keepdims=True), 1)
  own = np.where(known, noise, 0)
  spread = np.sqrt((own * own).sum(1, keepdims=True) / count)
  high = np.where(np.isfinite(centre), centre, -np.inf)
  at = np.expand_dims(high.argmax(0), 0)
  apart = np.hypot(spread, np.take_along_axis(spread, at, 0))
  return np.asarray(high >= np.take_along_axis(high, at, 0) - SURE * apart)
