"""Numbers over items that are not independent: intervals and p by clusters.

Items that share a template, a term or a word are not independent, so a number
is resampled by clusters: the Bayesian bootstrap (Rubin 1981) gives each
cluster a weight from Exp(1). A share of independent items has the exact
(Clopper-Pearson) interval and the exact binomial test.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from jaxtyping import Integer
from scipy import stats

from fairjax.metrics.estimates import of_value
from fairjax.metrics.intervals import IntervalOptions

FEW = 8  # clusters below which an interval is said to be a rough one

CHUNK = 1 << 24  # signs held in memory at a time


def of_texts(texts: Sequence[str]) -> Integer[np.ndarray, ' n'] | None:
  """The cluster of each row where texts occur twice or more, else None.

  Rows whose texts are equal but for case and blanks are one cluster.
  """
  import pandas as pd

  plain = [' '.join(str(text).casefold().split()) for text in texts]
  return distinct(pd.factorize(np.array(plain, object))[0])


def distinct(
  cluster: Sequence | np.ndarray,
) -> Integer[np.ndarray, ' n'] | None:
  """Codes of the values of a column; None where no two rows share one.

  A row without a value ('', None, NaN) is a cluster of its own.
  """
  import pandas as pd

  values = pd.Series(np.asarray(cluster))
  lone = (values.isna() | (values.astype(str) == '')).to_numpy()
  codes = pd.factorize(values)[0].astype(np.int64)
  codes[lone] = codes.max(initial=-1) + 1 + np.arange(lone.sum())
  return codes if len(np.unique(codes)) < len(codes) else None


def joined(
  *clusters: Integer[np.ndarray, ' n'] | None,
) -> Integer[np.ndarray, ' n'] | None:
  """Rows that are together in any of several ways are in one cluster."""
  known = [one for one in clusters if one is not None]
  if len(known) < 2:
    return known[0] if known else None
  from scipy import sparse
  from scipy.sparse import csgraph

  n = len(known[0])
  first, codes = 0, []
  for one in known:
    code = np.unique(one, return_inverse=True)[1]
    codes.append(n + first + code)
    first += int(code.max(initial=-1)) + 1
  at = np.concatenate(codes), np.tile(np.arange(n), len(known))
  size = n + first
  graph = sparse.coo_array((np.ones(len(at[0])), at), (size, size))
  return csgraph.connected_components(graph, directed=False)[1][:n]


def words(cluster: Integer[np.ndarray, ' n'] | None, of: str = '') -> str:
  """What a page says of them: '400 rows in 120 clusters (equal texts)'."""
  if cluster is None:
    return ''
  count = len(np.unique(cluster))
  told = f' ({of})' if of else ''
  return (
    f'{len(cluster):,} rows are {count:,} clusters{told}: rows of one cluster '
    'are not independent, and intervals and p values are over clusters'
  )


def warnings(cluster: Integer[np.ndarray, ' n'] | None) -> list[str]:
  """A sentence where there are too few clusters to tell much."""
  if cluster is None:
    return []
  count = len(np.unique(cluster))
  if count >= FEW:
    return []
  return [
    f'there are only {count} clusters of rows; intervals over so few are rough'
  ]


def share(hits: int, count: int, options: IntervalOptions) -> dict:
  """hits / count with the exact interval of Clopper and Pearson (1934)."""
  if not count:
    return of_value(None, note='no items')
  tail = (1 - options.level) / 2
  low = stats.beta.ppf(tail, hits, count - hits + 1) if hits else 0.0
  high = stats.beta.ppf(1 - tail, hits + 1, count - hits)
  return of_value(hits / count, low, high if hits < count else 1.0)


def binomial(hits: int, count: int, p: float = 0.5) -> float | None:
  """The exact two-sided p of `hits` in `count` where each has chance p.

  Twice the smaller tail, so that it agrees with the interval of `share`.
  """
  if not count:
    return None
  below = stats.binom.cdf(hits, count, p)
  above = stats.binom.sf(hits - 1, count, p)
  return float(min(1.0, 2 * min(below, above)))


def weights(
  clusters: int | np.integer, options: IntervalOptions, stream: int = 0
) -> np.ndarray:
  """Weights of the clusters in each resample, mean 1: [resample, cluster]."""
  rng = np.random.default_rng([options.seed, 0xB1, stream])
  exponentials = rng.standard_exponential((max(options.resamples, 1), clusters))
  return exponentials / exponentials.mean(1, keepdims=True)


def resampled(
  sums: npt.ArrayLike,
  cluster: npt.ArrayLike,
  measure: Callable[[np.ndarray], np.ndarray],
  options: IntervalOptions,
  null: float | None = None,
) -> tuple[dict, float | None]:
  """A function of totals, with interval and two-sided p by clusters.

  `sums` [n, k] are what each item adds; `measure` maps totals [..., k] to
  numbers. The p is the share of resamples on the other side of `null`, twice,
  so the interval leaves `null` out exactly where p < 1 − level.
  """
  names, cluster = np.unique(np.asarray(cluster), return_inverse=True)
  sums = np.asarray(sums, np.float64).reshape(len(cluster), -1)
  totals = np.zeros((len(names), sums.shape[1]))
  np.add.at(totals, cluster, sums)
  with np.errstate(invalid='ignore', divide='ignore'):
    value = float(measure(totals.sum(0)))
    if not math.isfinite(value):
      return of_value(None, note='it is not defined for these items'), None
    if len(names) < 2:
      return of_value(value, note='one cluster, so no interval'), None
    draws = measure(weights(len(names), options) @ totals)
  draws = draws[np.isfinite(draws)]
  if not len(draws):
    return of_value(value, note='no resample defines it'), None
  tail = (1 - options.level) / 2
  low, high = np.quantile(draws, [tail, 1 - tail])
  p = None
  if null is not None:
    side = min((draws <= null).mean(), (draws >= null).mean())
    p = float(min(1.0, max(2 * side, 1 / len(draws))))
  return of_value(value, low, high), p


def mean(
  values: npt.ArrayLike,
  cluster: npt.ArrayLike | None,
  options: IntervalOptions,
  null: float | None = None,
) -> tuple[dict, float | None]:
  """The mean over items, undefined ones left out, resampled by clusters."""
  values = np.asarray(values, np.float64)
  cluster = np.arange(len(values)) if cluster is None else np.asarray(cluster)
  real = np.isfinite(values)
  sums = np.stack([values[real], np.ones(real.sum())], 1)
  return resampled(
    sums, cluster[real], lambda t: t[..., 0] / t[..., 1], options, null
  )


def sign_flip(
  values: npt.ArrayLike, cluster: npt.ArrayLike | None, options: IntervalOptions
) -> float | None:
  """Two-sided p of mean 0 where each cluster's sign is a coin (Fisher 1935).

  All 2^m signs up to m = 16 clusters, else `resamples` draws and the data
  themselves.
  """
  values = np.asarray(values, np.float64)
  cluster = np.arange(len(values)) if cluster is None else np.asarray(cluster)
  real = np.isfinite(values)
  if not real.any():
    return None
  _, cluster = np.unique(cluster[real], return_inverse=True)
  totals = np.bincount(cluster, values[real])
  totals = totals[totals != 0]
  m, observed = len(totals), abs(totals.sum())
  slack = 1e-9 * np.abs(totals).sum()
  if m <= 16:
    signs = 1 - 2 * (np.arange(1 << m)[:, None] >> np.arange(m) & 1)
    return float((np.abs(signs @ totals) >= observed - slack).mean())
  rng = np.random.default_rng([options.seed, 0xB2])
  hits, draws = 1, max(options.resamples, 999)
  for low in range(0, draws, max(CHUNK // m, 1)):
    rows = min(max(CHUNK // m, 1), draws - low)
    signs = rng.integers(0, 2, (rows, m), dtype=np.int8) * 2 - 1
    hits += int((np.abs(signs @ totals) >= observed - slack).sum())
  return hits / (draws + 1)
