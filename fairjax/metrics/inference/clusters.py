"""Numbers over items that are not independent: intervals and p by clusters.

Items that share a template, a term or a word are not independent, so a number
has the variance of the jackknife over clusters and Student's t for their
number (`resampled`), at the price of one pass and no resample. A share of
independent items has the exact (Clopper-Pearson) interval and the exact
binomial test.
"""

import functools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from numpy.typing import ArrayLike
from scipy import special

from fairjax.core.errors import UserError, shown
from fairjax.data.tables import splits
from fairjax.metrics.inference import row_weights, tails
from fairjax.metrics.inference.estimates import Estimate, Function, of_value
from fairjax.metrics.inference.intervals import REALS, RowSample, link, unlink

THIN = 'fewer than two equal clusters: no interval'
FEW = 8  # clusters below which an interval is said to be a rough one


def of_texts(texts: Sequence[str]) -> Integer[np.ndarray, ' n'] | None:
  """The cluster of each row where texts occur twice or more, else None.

  Rows whose texts are equal but for case and blanks are one cluster.
  """
  import pandas as pd

  plain = [' '.join(str(text).casefold().split()) for text in texts]
  return distinct(pd.factorize(np.array(plain, object))[0])


def distinct(cluster: ArrayLike) -> Integer[np.ndarray, ' n'] | None:
  """Codes of the values of a column; None where no two rows share one.

  A row without a value ('', None, NaN) is a cluster of its own.
  """
  import pandas as pd

  values = pd.Series(np.asarray(cluster))
  lone = (values.isna() | (values.astype(str) == '')).to_numpy()
  codes = pd.factorize(values)[0].astype(np.int64)
  codes[lone] = codes.max(initial=-1) + 1 + np.arange(lone.sum())
  return codes if len(np.unique(codes)) < len(codes) else None


def given(values: Any, rows: int) -> Integer[np.ndarray, ' n'] | None:
  """Codes of a user's column of what makes rows belong together."""
  if values is None:
    return None
  if isinstance(values, str):
    raise UserError(
      f'cluster is {values!r}; give the column itself, as in '
      f'cluster=table[{values!r}]'
    )
  values = np.asarray(values, object)
  unhashable = [v for v in values.flat if not isinstance(v, Hashable)]
  if unhashable:
    raise UserError(
      f'cluster has {shown(unhashable[0])}; give a name or number a row'
    )
  if values.shape != (rows,):
    raise UserError(
      f'cluster has shape {values.shape} for {rows} rows; give one value a row'
    )
  codes = distinct(values)
  if codes is not None and len(np.unique(codes)) < 2:
    raise UserError(
      'all rows are one cluster, and nothing is known of another one; give a '
      'column of several values, or none'
    )
  return codes


def connected(
  *clusters: Integer[np.ndarray, ' n'] | None,
) -> Integer[np.ndarray, ' n'] | None:
  """Rows that are together in any of several ways are in one cluster."""
  known = [one for one in clusters if one is not None]
  if len(known) < 2:
    return known[0] if known else None
  codes = (np.unique(one, return_inverse=True)[1] for one in known)
  joined = functools.reduce(splits.connected, codes)
  return np.asarray(pd.factorize(joined)[0])  # numbered by their first rows


def by_any(
  ways: Mapping[str, Integer[np.ndarray, ' n'] | None],
) -> tuple[Integer[np.ndarray, ' n'] | None, str]:
  """`connected` by the ways that some rows are together in, and their names."""
  known = {name: codes for name, codes in ways.items() if codes is not None}
  return connected(*known.values()), ' or '.join(known)


def words(cluster: Integer[np.ndarray, ' n'] | None, of: str = '') -> str:
  """What a page says of them: '400 rows in 120 clusters (equal texts)'."""
  if cluster is None:
    return ''
  count = len(np.unique(cluster))
  by = f' ({of})' if of else ''
  return (
    f'{len(cluster):,} rows are {count:,} clusters{by}: rows of one cluster '
    'are not independent, and intervals and p values are over clusters'
  )


def warnings(cluster: Integer[np.ndarray, ' n'] | None) -> list[str]:
  """A sentence where clusters are few, or few hold the most of the rows.

  m clusters of shares sᵢ tell as much as 1 / Σ sᵢ² equal ones (Kish 1965).
  """
  if cluster is None or not len(cluster):
    return []
  size = np.unique(cluster, return_counts=True)[1]
  count, worth = len(size), row_weights.equal_clusters(size)
  if worth >= FEW:
    return []
  rough = 'intervals over so few are rough'
  if worth >= count / 2:
    only = f'there are only {count} clusters of rows; {rough}'
    return [only] if count < FEW else []
  if worth < 2:
    rough = 'of fewer than two there are no intervals and no p values'
  return [
    f'one of {count:,} clusters has {size.max() / size.sum():.0%} of the rows: '
    f'all tell as much as {worth:.1f} equal clusters; {rough}'
  ]


def share(hits: int, count: int, options: RowSample) -> Estimate:
  """hits / count with the exact interval of Clopper and Pearson (1934)."""
  if not count:
    return of_value(None, note='no items')
  return of_value(
    hits / count, *tails.clopper_pearson(hits, count, options.level)
  )


def share_right(
  right: ArrayLike,
  cluster: Integer[np.ndarray, ' n'] | None,
  options: RowSample,
) -> Estimate:
  """The share of right items: exact, or over clusters where there are some."""
  right = np.asarray(right)
  if cluster is None:
    return share(int(right.sum()), len(right), options)
  return mean(right, cluster, options, bounds=(0.0, 1.0))[0]


def binomial(hits: int, count: int, p: float = 0.5) -> float | None:
  """The exact two-sided p of `hits` in `count` where each has chance p.

  Twice the smaller tail, so that it agrees with the interval of `share`.
  """
  if not count:
    return None
  below = special.bdtr(hits, count, p)
  above = special.bdtrc(hits - 1, count, p)
  return float(min(1.0, 2 * min(below, above)))


Factor = Sequence[ArrayLike]  # codes of each item; of a pair, two of them


def resampled(
  sums: ArrayLike,
  factors: Sequence[Factor],
  measure: Function,
  options: RowSample,
  null: float | None = None,
  bounds: tuple[float, float] = REALS,
  edges: ArrayLike | None = None,
) -> tuple[Estimate, float | None]:
  """A function of totals, with interval and two-sided p over clusters.

  The jackknife: with θ₋ᵢ without cluster i, on the scale of a logit g where
  the range is bounded, the variance of g(θ) is Σ (1 − hᵢ) (g(θ₋ᵢ) − mean)²,
  hᵢ the share of the items that are of cluster i (clustered_rates.py),
  and (g(θ) − g)/se is Student's t of G − 1 degrees of freedom. Half a row at
  either end of the range is among the totals (`edges`), and the variance is
  at least that of as many independent rows, so that no interval has width 0
  because all items agree.

  Args:
    sums: what each item adds [n, k].
    factors: the ways in which items belong together. Each is one array of
      codes, or two where an item is a pair of one kind of thing (two words):
      leaving a thing out leaves out all of its items.
    measure: totals [..., k] to numbers.
    options: the level.
    null: what p is the p of; the interval leaves it out where p < 1 − level.
    bounds: the range of the measure.
    edges: what an item adds at the high end of the range, and at the low end.
  """
  sums = np.asarray(sums, np.float64)
  if not len(sums):
    return of_value(None, note='no items'), None
  sums = sums.reshape(len(sums), -1)
  with np.errstate(invalid='ignore', divide='ignore'):
    value = float(measure(sums.sum(0)))
  if not math.isfinite(value):
    return of_value(None, note='it is not defined for these items'), None
  total, extra = sums.sum(0), np.zeros((0, sums.shape[1]))
  if edges is not None:
    extra = np.asarray(edges, np.float64)
    total = total + extra.sum(0) / 2
  line: Function = lambda t: _line(measure(t), bounds)
  with np.errstate(invalid='ignore', divide='ignore'):
    centre = float(line(total))
    rows = ((line(total - sums) - centre) ** 2).sum() * (1 - 1 / len(sums))
    rows += ((line(total + extra) - centre) ** 2).sum() / 2
    variance, least = 0.0, math.inf
    for factor in factors:
      own, count = _without(sums, total, factor, line)
      variance, least = variance + own, min(least, count)
  if least < 2:
    return of_value(value, note=THIN), None
  # The items of two factors are in the variance of either.
  variance = max(variance - (len(factors) - 1) * rows, rows)
  if not (math.isfinite(variance) and math.isfinite(centre) and variance > 0):
    return of_value(value, note='the clusters do not tell how sure it is'), None
  error, free = variance**0.5, least - 1
  ends = centre + reach(error, free, options.level) * np.array([-1, 1])
  low, high = np.asarray(unlink(ends, bounds)).tolist()
  p = None
  if null is not None:
    p = float(two_sided((centre - _line(null, bounds)) / error, free))
  return of_value(value, min(low, value), max(high, value)), p


def reach(error: ArrayLike, free: ArrayLike, level: float) -> np.ndarray:
  """Half the width of an interval: Student's t times a standard error."""
  return np.asarray(error * tails.t_ppf((1 + level) / 2, free))


def two_sided(t: ArrayLike, free: ArrayLike) -> np.ndarray:
  """The p of Student's t as far from 0, to either side."""
  return np.asarray(2 * tails.t_sf(np.abs(t), free))


def jeffreys(hits: float, count: float, level: float) -> tuple[float, float]:
  """The ends of Beta(hits + ½, misses + ½), which hold the share itself."""
  tail = (1 - level) / 2
  ends = tails.beta_ppf([tail, 1 - tail], hits + 0.5, count - hits + 0.5)
  share = hits / count
  return float(min(ends[0], share)), float(max(ends[1], share))


def student(
  value: float, error: float, free: int | float, options: RowSample
) -> tuple[Estimate, float]:
  """A difference with Student's interval, and the p of its being 0."""
  half = float(reach(error, free, options.level))
  p = float(two_sided(value / error, free))
  return of_value(value, value - half, value + half), p


def excess(
  bad: Float[np.ndarray, ' n'],
  inside: Bool[np.ndarray, ' n'],
  cluster: Integer[np.ndarray, ' n'],
) -> tuple[float, float]:
  """P that the rows inside are more often bad, one-sided and two-sided.

  With r = bad − its mean and z = [row is inside], the score of the difference
  is T = Σ r z. Clusters c add u_c = Σ_{i in c} r_i (z_i − mean z), of sum T;
  without a difference they are of either sign, and S = T²/Σ u_c² is as large
  as G R² of G independent rows. So t² = (G − 2) S/(G − S) is Student's of G − 2
  degrees of freedom: what one cluster shows by itself is no evidence (t about
  1), however many rows it has. `cluster` are codes from 0 without gaps.
  """
  count = int(cluster.max(initial=-1)) + 1
  apart = bad - bad.mean()
  sums = np.bincount(cluster[inside], apart[inside], count)
  sums -= inside.mean() * np.bincount(cluster, apart, count)
  total, squares = float(sums.sum()), float((sums**2).sum())
  free = count - 2
  if free < 1:
    return 1.0, 1.0
  part = min(total**2 / squares / count, 1 - 1e-12) if squares else 0.0
  t = float(np.sign(total) * np.sqrt(free * part / (1 - part)))
  return float(tails.t_sf(t, free)), float(two_sided(t, free))


def _line(x: ArrayLike, bounds: tuple[float, float]) -> np.ndarray:
  return np.asarray(link(np.asarray(x, np.float64), bounds))


def _without(
  sums: np.ndarray, total: np.ndarray, factor: Factor, measure: Function
) -> tuple[float, float]:
  """The jackknife's variance over the things of a factor, and how many equal
  ones tell as much.
  """
  codes = [np.asarray(code) for code in factor]
  things, code = np.unique(np.concatenate(codes), return_inverse=True)
  count = len(things)
  if count < 2:
    return 0.0, float(count)
  left = np.zeros((count, sums.shape[1]))
  at = np.split(code, len(codes))
  for k, own in enumerate(at):
    # An item whose two things are the same is left out once.
    twice = np.any([own == other for other in at[:k]], 0) if k else False
    np.add.at(left, own, sums * ~np.broadcast_to(twice, len(own))[:, None])
  without, size = measure(total - left), np.bincount(code)
  known = np.isfinite(without)
  if known.sum() < 2:
    return 0.0, float(known.sum())
  apart = without[known] - without[known].mean()
  spread = ((1 - size / len(code))[known] * apart**2).sum()
  return float(spread), float(row_weights.equal_clusters(size))


def mean(
  values: ArrayLike,
  cluster: ArrayLike | list[list[np.ndarray]] | None,
  options: RowSample,
  null: float | None = None,
  bounds: tuple[float, float] = REALS,
) -> tuple[Estimate, float | None]:
  """The mean over items, undefined ones left out, over clusters.

  `cluster` is a code of each item, None where items are independent, or a list
  of factors, as `resampled` has them.

  Where all items are at one end of the range, the interval and the p are the
  exact ones of so many independent items as there are clusters. Else half an
  item at the least and half at the largest value that was seen (at
  the ends of the range where all are the same); for differences, whose range
  is not bounded, at ± the largest where no two sizes but 0 occur.
  """
  every = np.asarray(values, np.float64)
  real = np.isfinite(every)
  if isinstance(cluster, list) and cluster and isinstance(cluster[0], list):
    factors = [[np.asarray(c)[real] for c in one] for one in cluster]
  else:
    own = np.arange(len(every)) if cluster is None else np.asarray(cluster)
    factors = [[own[real]]]
  known = every[real]
  if len(known) and known.min() == known.max() and known[0] in bounds:
    return _unanimous(float(known[0]), factors, options, null, bounds)
  return resampled(
    np.stack([known, np.ones(len(known))], 1),
    factors,
    lambda t: t[..., 0] / t[..., 1],
    options,
    null,
    bounds,
    _edges(known, bounds),
  )


def _unanimous(
  value: float,
  factors: Sequence[Factor],
  options: RowSample,
  null: float | None,
  bounds: tuple[float, float],
) -> tuple[Estimate, float | None]:
  units = min(len(np.unique(np.concatenate(factor))) for factor in factors)
  width, hits = bounds[1] - bounds[0], units if value == bounds[1] else 0
  one = share(hits, units, options)
  ends = (bounds[0] + width * one[key] for key in ('low', 'high'))
  p = None
  if null is not None:
    p = binomial(hits, units, (null - bounds[0]) / width)
  return of_value(value, *ends), p


def _edges(values: np.ndarray, bounds: tuple[float, float]) -> Any:
  if not len(values):
    return None
  if math.isfinite(bounds[0]) and math.isfinite(bounds[1]):
    low, high = values.min(), values.max()
    low, high = bounds if low == high else (low, high)
    return (high, 1.0), (low, 1.0)
  size = np.abs(values).max()
  few = np.isin(np.abs(values), (0, size)).all()
  return ((size, 1.0), (-size, 1.0)) if few and size else None
