"""How sure a number is: resampling of examples and of seeds.

An interval speaks of two sources of chance at once: which examples were drawn
for the test set, and which seeds were drawn for the training.

*Examples.* Rows that agree in everything a count measure looks at (groups,
label, the decisions of all seeds) are interchangeable, so drawing n rows with
replacement is drawing the sizes of those cells from one multinomial: exact,
at a price that does not grow with n. Where there are more than `CELLS` cells,
and for measures of ranks, the rows are dealt at random into `BLOCKS` blocks
(one row a block for small sets, which is exact again) and blocks are drawn:
the variance is right, and the width of an interval is off by about
1/sqrt(2·BLOCKS) = 1.6 %. All seeds of a resample see the same rows.

*Seeds.* With s > 1 a resample averages s − 1 seeds drawn with replacement
(Rao and Wu, 1988): drawing s of s would make the variance between few seeds
too small by (s − 1)/s; drawing s − 1 makes it right.

*Gaps.* A gap such as max_g r_g − min_g r_g, Σ_g |r_g − r| or the mean of two
of them is a seminorm f of the vector r of group rates. Resampled gaps lie
above the truth (|x + noise| does), so their percentiles never contain "no
gap", not even for a fair model. But |f(r̂) − f(r)| ≤ f(r̂ − r), and the
resamples tell the distribution of the right side: f(r̂) ± c with c the
`level` quantile of f(r* − r̂) covers at least at that level, and for two
groups it is the usual interval of a difference, folded at 0.
"""

import functools
import math
from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Bool, Float, Integer

CELLS = 4096  # most cells that are drawn exactly
BLOCKS = 2048  # blocks of rows where there are more
RANKS = 2000  # most resamples of a measure of ranks

EXAMPLES, SEEDS, SIGNS, DEAL, SWAPS, EDGES = range(
  0x1F0, 0x1F6
)  # random streams


class How(NamedTuple):
  """How intervals are made."""

  level: float
  resamples: int
  seed: int


class Items(NamedTuple):
  """The units that a resample draws."""

  item: np.ndarray  # int [n], the item of each row
  size: np.ndarray  # int [m], rows of each item
  cells: bool  # rows of an item are interchangeable
  first: np.ndarray  # int [m], one row of each item


def cells(
  columns: Iterable[Integer[np.ndarray, ' n'] | Bool[np.ndarray, ' n']],
) -> Items:
  """Items of rows that agree in every column of small whole numbers."""
  codes, radix = None, 1
  for column in columns:
    count = int(column.max(initial=0)) + 1
    if codes is None:
      codes = np.zeros(len(column), np.int64)
    if radix * count >= 2**62:
      codes = pd.factorize(codes)[0].astype(np.int64)
      radix = int(codes.max(initial=0)) + 1
    if count > 1:
      codes *= count
      codes += column
    radix *= count
  item = pd.factorize(codes)[0]
  size = np.bincount(item)
  first = np.full(len(size), len(item))
  # Written from the last row to the first, so that the first one stays.
  first[item[::-1]] = np.arange(len(item))[::-1]
  return Items(item, size, True, first)


def blocks(n: int, seed: int) -> Items:
  """Rows dealt at random into at most BLOCKS items of equal size."""
  count = min(n, BLOCKS)
  if n <= BLOCKS:
    item = np.arange(n)
  else:
    item = np.random.default_rng([seed, DEAL]).permutation(n) % count
  return Items(item, np.bincount(item, minlength=count), False, item)


def draw(
  items: Items, resamples: int, seed: int
) -> Float[np.ndarray, 'resample item']:
  """How often each item is in a resample, relative to once a row.

  The total of anything over a resample is this matrix times the totals of the
  items. The second axis is filled with zeros to a power of two, so that sets
  of many sizes share few compiled shapes.
  """
  rng = np.random.default_rng([seed, EXAMPLES])
  m = len(items.size)
  out = np.zeros((resamples, padded(m)), np.float32)
  if items.cells:
    n = int(items.size.sum())
    for low in range(0, resamples, 1000):  # bounds the memory of int64 draws
      rows = min(1000, resamples - low)
      drawn = rng.multinomial(n, items.size / n, size=rows)
      out[low : low + rows, :m] = drawn / items.size
  else:
    for row in range(0, resamples, 1000):
      rows = min(1000, resamples - row)
      drawn = rng.integers(0, m, size=(rows, m))
      drawn += m * np.arange(rows)[:, None]
      drawn = np.bincount(drawn.ravel(), minlength=rows * m)
      out[row : row + rows, :m] = drawn.reshape(rows, m)
  return out


def padded(m: int) -> int:
  """The next power of two, at least 16."""
  return max(16, 1 << max(m - 1, 0).bit_length())


def pad(totals: np.ndarray) -> np.ndarray:
  """Zeros after the items, as `draw` has them, in float32."""
  extra = padded(len(totals)) - len(totals)
  widths = [(0, extra)] + [(0, 0)] * (totals.ndim - 1)
  return np.pad(totals, widths).astype(np.float32)


@jax.jit
def resampled(
  drawn: Float[Array, 'resample item'], totals: Float[Array, 'item *rest']
) -> Float[Array, 'resample *rest']:
  """Totals of every resample: one matrix product, in full float32."""
  return jnp.tensordot(drawn, totals, 1, precision=jax.lax.Precision.HIGHEST)


@functools.lru_cache(maxsize=4)
def seed_draws(
  seeds: int, resamples: int, seed: int
) -> Float[np.ndarray, 'resample s']:
  """Weights of the seeds in each resample: s − 1 of s with replacement."""
  if seeds == 1:
    return np.ones((resamples, 1), np.float32)
  rng = np.random.default_rng([seed, SEEDS])
  picks = rng.integers(0, seeds, size=(resamples, seeds - 1))
  count = (picks[:, :, None] == np.arange(seeds)).sum(1)
  return (count / (seeds - 1)).astype(np.float32)


def seed_mean(
  draws: Float[np.ndarray, 'resample s *rest'],
  weights: Float[np.ndarray, 'resample s'],
) -> Float[np.ndarray, 'resample *rest']:
  """Mean over the drawn seeds; seeds where the value is undefined left out."""
  weights = weights.reshape(weights.shape + (1,) * (draws.ndim - 2))
  known = ~np.isnan(draws)
  total = np.where(known, draws, 0) * weights
  with np.errstate(invalid='ignore', divide='ignore'):
    return total.sum(1) / (known * weights).sum(1)


def quantile(
  draws: Float[np.ndarray, 'resample *rest'], shares: tuple[float, ...]
) -> list[np.ndarray | np.floating]:
  """Quantiles over the resamples in which the value is defined."""
  ordered = np.sort(draws, axis=0)  # NaN goes last
  known = np.sum(~np.isnan(ordered), axis=0)
  out = []
  for share in shares:
    place = share * np.maximum(known - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(known - 1, 0))
    low_value, high_value = (
      np.take_along_axis(ordered, at[None], 0)[0] for at in (low, high)
    )
    # Equal ends are kept apart from the sum: inf − inf is no number.
    step = np.where(low_value == high_value, 0, place - low)
    with np.errstate(invalid='ignore'):
      gap = np.where(step > 0, high_value - low_value, 0)
    out.append(low_value + step * gap)
  return out


class Ends(NamedTuple):
  """Low and high ends of the intervals of many measures."""

  low: np.ndarray
  high: np.ndarray


def percentiles(draws: Float[np.ndarray, 'resample s *rest'], how: How) -> Ends:
  """Intervals of measures that resamples do not pull to one side."""
  mean = seed_mean(draws, seed_draws(draws.shape[1], len(draws), how.seed))
  return Ends(*quantile(mean, ((1 - how.level) / 2, (1 + how.level) / 2)))


def radius(
  values: Float[np.ndarray, 's *rest'],
  noise: Float[np.ndarray, 'resample s *rest'],
  how: How,
) -> Float[np.ndarray, '*rest']:
  """Half the width of the intervals of gaps f, averaged over seeds.

  `noise` is f(r* − r̂) of each resample and seed, `values` is f(r̂). The noise
  of the examples gets a random sign and is added to that of the seeds.
  """
  seeds, resamples = len(values), len(noise)
  every = np.full((resamples, seeds), 1 / seeds, np.float32)
  examples = (seed_mean(noise, every).T * _signs(resamples, how.seed)).T
  if seeds > 1:
    weights = seed_draws(seeds, resamples, how.seed)
    stacked = np.broadcast_to(values.astype(np.float32), noise.shape)
    examples += seed_mean(stacked, weights) - seed_mean(stacked[:1], every[:1])
  (half,) = quantile(np.abs(examples), (how.level,))
  return np.asarray(half)


@functools.lru_cache(maxsize=4)
def _signs(resamples: int, seed: int) -> Float[np.ndarray, ' resample']:
  rng = np.random.default_rng([seed, SIGNS])
  return rng.choice(np.array([-1, 1], np.float32), resamples)


def of_mean(
  values: Float[np.ndarray, ' s'],
  draws: Float[np.ndarray, 'resample s'] | None,
  how: How,
  note: str = '',
) -> dict:
  """Estimate of one measure; `note` says why it is undefined, where it is."""
  if draws is None:
    return noted(values, None, None, note)
  return noted(values, *percentiles(draws, how), note)


def noted(
  values: Float[np.ndarray, ' s'],
  low: float | None,
  high: float | None,
  note: str,
) -> dict:
  """An estimate with `note` only where it is undefined."""
  return estimate(values, low, high, note if np.isnan(values).any() else '')


def of_gap(
  values: Float[np.ndarray, ' s'],
  half: float | None,
  least: float,
  largest: float,
) -> dict:
  """Estimate of a gap: f(r̂) ± the radius, kept in the possible range."""
  if half is None:
    return estimate(values)
  value = np.nanmean(values)
  return estimate(values, max(value - half, least), min(value + half, largest))


def of_ratio(values: Float[np.ndarray, ' s'], half: float | None) -> dict:
  """Estimate of a ratio min/max, with the radius of its logarithm."""
  if half is None:
    return estimate(values)
  if not np.nanmin(values) > 0:
    return estimate(values, 0.0, None, 'a group has rate 0: no upper end')
  value = np.nanmean(values)
  low, high = value * np.exp(-half), value * np.exp(half)
  return estimate(values, low, min(high, 1.0))


def complement(found: dict) -> dict:
  """The estimate of 1 − x."""
  turn = lambda v: None if v is None else 1 - v
  return {
    **found,
    'value': turn(found['value']),
    'low': turn(found['high']),
    'high': turn(found['low']),
    'seeds': [turn(v) for v in found['seeds']],
  }


def at_edge(found: dict, rows: int, how: How) -> dict:
  """Widens the interval of a rate that is 0 or 1 in every seed.

  Resampling can only say [0, 0] of a rate of 0 of `rows`; up to
  1 − ((1 − level)/2)^(1/rows) it would not be surprising (Clopper-Pearson).
  """
  if found['low'] is None or found['value'] not in (0.0, 1.0):
    return found
  reach = 1 - ((1 - how.level) / 2) ** (1 / max(rows, 1))
  if found['value'] == 0:
    return {**found, 'low': 0.0, 'high': reach}
  return {**found, 'low': 1 - reach, 'high': 1.0}


def estimate(
  seeds: Iterable[float],
  low: float | None = None,
  high: float | None = None,
  note: str = '',
) -> dict:
  """One reported number: the mean over seeds, its interval and its seeds."""
  seeds = [_number(v) for v in seeds]
  known = [v for v in seeds if v is not None]
  out = {
    'value': sum(known) / len(known) if known else None,
    'low': _number(low) if known else None,
    'high': _number(high) if known else None,
    'seeds': seeds,
  }
  if note:
    out['note'] = note
  return out


def _number(value: float | None) -> float | None:
  if value is None or not math.isfinite(value):
    return None
  return float(value)
