"""The Bayesian bootstrap: weights of rows in resamples, by cells or blocks.

Each row has a weight from Exp(1) (Rubin 1981). Such draws are as skewed as the
data say, where draws of whole rows (Efron) are too symmetric near 0 and 1. Rows
that agree in everything a count measure looks at (groups, label, the decisions
of all seeds) are interchangeable, so a cell of m rows has one weight from
Gamma(m): exact, at a price that does not grow with n. Where there are more than
`CELLS` cells, and for measures of ranks, the rows are dealt at random into
`BLOCKS` blocks (one row a block for small sets, which is exact again) and
blocks are weighted: the variance is right, and the width of an interval is off
by about 1/sqrt(2 BLOCKS) = 1.6 %. All seeds of a resample have the same
weights. What no row says is added where it matters (counts.py: Jeffreys's half
a row of either kind; quality.py: half a row of unknown rank), so no interval
has width 0 because every row agreed.

*Clusters.* Rows that belong together (one template, equal texts, a writer) have
one weight, and everything that is made of the draws then speaks of clusters.
Exp(1) weights of few clusters draw a mean that varies too little, as a z
interval is narrower than Student's t; with weights from Gamma(a) the mean of G
clusters has variance S² (G − 1) / (G (aG + 1)), and `shape_of` takes the a at
which 1.96 such deviations are t_{G−1} standard errors.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from fairjax.metrics.inference import row_weights
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.kernels import kernel

DENSE = 1 << 16  # combinations of columns that are counted in a table
CELLS = 4096  # most cells that are drawn exactly
BLOCKS = 2048  # blocks of rows where there are more
RANKS = 2000  # most resamples of a measure of ranks
ALIKE = 0.99  # a from which on a gamma is as good as exponential
CHUNK = 1000  # resamples at a time

EXAMPLES, SEEDS, SIGNS, DEAL, SWAPS, EDGES = range(
  0x1F0, 0x1F6
)  # random streams of all that is resampled


class Items(NamedTuple):
  """The units that a resample draws."""

  code: np.ndarray  # int [n], the item of each row, or its place in `number`
  size: np.ndarray  # int [m], rows of each item
  cells: bool  # rows of an item are interchangeable
  first: np.ndarray | None  # int [m], one row of each item of cells
  # How many clusters of rows there are, by weight effectively; 0: no clusters.
  clusters: float = 0
  weight: np.ndarray | None = None  # [n] of rows (row_weights.py)
  together: bool = False  # of weighted rows: some are of one cluster
  number: np.ndarray | None = None  # the item of each code

  @property
  def item(self) -> np.ndarray:
    """The item of each row, which those who count cells alone don't need."""
    return self.code if self.number is None else self.number.take(self.code)


def cells(
  columns: Iterable[Integer[np.ndarray, ' n'] | Bool[np.ndarray, ' n']],
) -> Items:
  """Items of rows that agree in every column of small whole numbers."""
  kinds = [(column, int(column.max(initial=0)) + 1) for column in columns]
  # Few combinations fit in two bytes, which are four times as fast as eight.
  few = math.prod(count for _, count in kinds) < DENSE
  codes: Any = np.zeros(len(kinds[0][0]), np.uint16 if few else np.int64)
  radix = 1
  for column, count in kinds:
    if radix * count >= 2**62:
      codes = pd.factorize(codes)[0].astype(np.int64)
      radix = int(codes.max(initial=0)) + 1
    if count > 1:
      codes *= count
      codes += column.astype(codes.dtype, copy=False)
    radix *= count
  if radix > DENSE:
    codes, radix = pd.factorize(codes)[0], 0
  rows = np.bincount(codes, minlength=radix)
  values = np.flatnonzero(rows)
  first = _first(codes, values)
  order = np.argsort(first)  # items are numbered as they appear
  number = np.zeros(len(rows), np.int32)
  number[values[order]] = np.arange(len(values))
  return Items(codes, rows[values[order]], True, first[order], number=number)


def _first(codes: np.ndarray, values: np.ndarray) -> Integer[np.ndarray, ' m']:
  """The first row of each of these codes."""
  some = 1 << 14
  while True:  # most often all are among the first few
    first = np.full(int(values.max(initial=0)) + 1, -1)
    # Of several rows of one code the last that is written stays.
    first[codes[:some][::-1]] = np.arange(min(some, len(codes)))[::-1]
    if (first[values] >= 0).all():
      return np.asarray(first[values])
    some *= 8


def distinct(
  masks: Sequence[Bool[np.ndarray, ' n']],
) -> list[Integer[np.ndarray, ' n'] | Bool[np.ndarray, ' n']]:
  """Columns that agree where all masks do: one if no row is in two groups."""
  if not 0 < len(masks) < 256:
    return [*masks]
  number = np.zeros(len(masks[0]), np.uint8)
  for g, mask in enumerate(masks, 1):
    number += mask.view(np.uint8) * np.uint8(g)
  alone = np.count_nonzero(number) == sum(map(np.count_nonzero, masks))
  return [number] if alone else [*masks]


def blocks(n: int, how: RowSample) -> Items:
  """Rows, or whole clusters, dealt at random into at most BLOCKS items.

  A row that has a weight is a cluster of as many rows.
  """
  cluster, weight = how.cluster, how.weight
  unit = None if cluster is None else pd.factorize(np.asarray(cluster))[0]
  units = n if unit is None else int(unit.max(initial=-1)) + 1
  count = min(units, BLOCKS)
  item = np.arange(units)
  if units > BLOCKS:
    item = np.random.default_rng([how.seed, DEAL]).permutation(units) % count
  if unit is not None:
    item = item[unit]
  size = np.bincount(item, weight, minlength=count)
  if weight is not None:
    of_unit = weight if unit is None else np.bincount(unit, weight)
    own = row_weights.effective(of_unit.sum(), (of_unit**2).sum())
    first = np.unique(item, return_index=True)[1]
    clustered = cluster is not None
    return Items(item, size, False, first, float(own), weight, clustered)
  if unit is None:
    return Items(item, size, False, item)
  first = np.unique(item, return_index=True)[1]
  return Items(item, size, False, first, units)


def weights(
  rows: int, how: RowSample
) -> tuple[Items, Float[np.ndarray, 'resample item'] | None]:
  """Blocks of so many rows, and their `draw`, of RANKS resamples at most."""
  items, count = blocks(rows, how), min(how.resamples, RANKS)
  return items, draw(items, count, how.seed) if count else None


def draw(
  items: Items, resamples: int, seed: int
) -> Float[np.ndarray, 'resample item']:
  """The mean weight of the rows of each item in a resample; 1 on average.

  The total of anything over a resample is this matrix times the totals of the
  items; what is estimated are ratios of totals, so weights need not add up to
  the rows. The second axis is filled with zeros to a power of two, so that
  sets of many sizes share few compiled shapes.
  """
  out = np.empty((resamples, padded(len(items.size))), np.float32)
  for some, weights in drawn(items, resamples, seed):
    out[some] = weights
  return out


def drawn(
  items: Items, resamples: int, seed: int
) -> Iterator[tuple[slice, Float[np.ndarray, 'some item']]]:
  """The weights of `draw`, CHUNK resamples at a time: which, and theirs."""
  rng = np.random.default_rng([seed, EXAMPLES])
  m = len(items.size)
  for some in chunks(resamples):
    out = np.zeros((some.stop - some.start, padded(m)), np.float32)
    shape = (len(out), m)
    if items.cells:
      out[:, :m] = rng.standard_gamma(items.size, shape, np.float32)
      out[:, :m] /= items.size.astype(np.float32)
    elif items.clusters:
      a = shape_of(float(row_weights.equal_clusters(items.size)))
      # Gamma(1) by its own name: rows with weights are many, and it is fast.
      alike = items.weight is not None and a > ALIKE
      out[:, :m] = (
        rng.standard_exponential(shape, np.float32)
        if alike
        else rng.standard_gamma(a, shape, np.float32)
      )
      # Few weights from Gamma(a) may all be tiny beside half a row.
      out[:, :m] /= np.maximum(out[:, :m].mean(1, keepdims=True), 1e-30)
    else:
      out[:, :m] = rng.standard_exponential(shape, np.float32)
    yield some, out


def shape_of(clusters: float) -> float:
  """a of the Gamma(a) that weights of so many clusters are drawn from."""
  if clusters > BLOCKS:
    return 1.0
  from scipy import special

  z, t = special.ndtri(0.975), special.stdtrit(max(clusters - 1, 1), 0.975)
  return max(float((clusters - 1) * (z / t) ** 2 - 1) / clusters, 0.05)


def chunks(resamples: int) -> Iterator[slice]:
  """CHUNK resamples after another: bounds the memory of what is between."""
  for low in range(0, resamples, CHUNK):
    yield slice(low, min(low + CHUNK, resamples))


def padded(m: int) -> int:
  """The next power of two, at least 16."""
  return max(16, 1 << max(m - 1, 0).bit_length())


def pad(totals: np.ndarray) -> np.ndarray:
  """Zeros after the items, as `draw` has them, in float32."""
  extra = padded(len(totals)) - len(totals)
  widths = [(0, extra)] + [(0, 0)] * (totals.ndim - 1)
  return np.pad(totals, widths).astype(np.float32)


@kernel
def resampled(
  xp: Any,
  weights: Float[Any, 'resample item'],
  totals: Float[Any, 'item *rest'],
) -> Float[Any, 'resample *rest']:
  """Totals of every resample: one matrix product, in full float32."""
  flat = weights @ totals.reshape(len(totals), -1)
  return flat.reshape(-1, *totals.shape[1:])


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
