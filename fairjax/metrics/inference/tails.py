"""Tails and quantiles of distributions, and exact tests of counts.

As in scipy.stats, of which they are the closed forms in scipy.special: to
import the whole of scipy.stats takes as long as a small audit.
"""

import numpy as np
from jaxtyping import Float, Integer
from numpy.typing import ArrayLike
from scipy import special

TIE = 1e-7  # probabilities this close are equal, as R's fisher.test has it


def t_sf(x: ArrayLike, free: ArrayLike) -> np.ndarray:
  """P(T > x) of Student's t."""
  return np.asarray(special.stdtr(free, -np.asarray(x, np.float64)))


def t_ppf(share: ArrayLike, free: ArrayLike) -> np.ndarray:
  """The quantile of Student's t."""
  return np.asarray(special.stdtrit(free, share))


def beta_ppf(share: ArrayLike, a: float, b: float) -> np.ndarray:
  """The quantile of Beta(a, b)."""
  return np.asarray(special.betaincinv(a, b, share))


def clopper_pearson(hits: int, count: int, level: float) -> tuple[float, float]:
  """The exact interval of a share (Clopper and Pearson 1934)."""
  tail = (1 - level) / 2
  low = beta_ppf(tail, hits, count - hits + 1) if hits else 0.0
  last = hits == count
  high = 1.0 if last else beta_ppf(1 - tail, hits + 1, count - hits)
  return float(low), float(high)


def coins(count: int, level: float) -> tuple[int, int]:
  """Between which numbers of heads `count` fair coins show."""
  below = special.bdtr(np.arange(count + 1), count, 0.5)
  tail = (1 - level) / 2
  low, high = np.searchsorted(below, [tail, 1 - tail])
  return int(low), int(high)


def mann_whitney(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  """Mann and Whitney's p of every row of a and of b."""
  from scipy import stats

  return np.atleast_1d(stats.mannwhitneyu(a, b, axis=1).pvalue)


def wilson(hits: int, count: int, level: float) -> tuple[float, float]:
  """The interval of a share (Wilson 1927)."""
  z, share = special.ndtri((1 + level) / 2), hits / count
  centre = share + z * z / (2 * count)
  half = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
  low, high = ((centre + s * half) / (1 + z * z / count) for s in (-1, 1))
  return (0.0 if not hits else float(low)), (
    1.0 if hits == count else float(high)
  )


def fisher(table: list[list[int]]) -> float:
  """The two-sided p of a table of four counts (Fisher 1922).

  >>> round(fisher([[8, 2], [1, 5]]), 4)
  0.035
  """
  (a, b), (c, d) = table
  drawn, good, n = a + b, a + c, a + b + c + d
  least = max(0, drawn + good - n)
  each = _hypergeometric(np.arange(least, min(drawn, good) + 1), n, good, drawn)
  own = each[a - least]
  return min(1.0, float(each[each <= own * (1 + TIE)].sum()))


def hypergeometric_sf(
  hits: Integer[np.ndarray, ' k'],
  n: int,
  good: int,
  drawn: Integer[np.ndarray, ' k'],
) -> Float[np.ndarray, ' k']:
  """P(more than `hits` of `drawn` are among the `good` of n)."""
  out = np.zeros(len(hits))
  for k, (seen, own) in enumerate(zip(hits.tolist(), drawn.tolist())):
    low, high = max(0, own + good - n), min(own, good)
    more = np.arange(max(seen + 1, low), high + 1)
    out[k] = _hypergeometric(more, n, good, own).sum()
  return np.clip(out, 0, 1)


def _hypergeometric(
  k: Integer[np.ndarray, ' k'], n: int, good: int, drawn: int
) -> Float[np.ndarray, ' k']:
  """P(k) = C(good, k) C(n − good, drawn − k) / C(n, drawn)."""
  logs = _log_choose(good, k) + _log_choose(n - good, drawn - k)
  return np.asarray(np.exp(logs - _log_choose(n, drawn)))


def _log_choose(n: int, k: int | np.ndarray) -> np.ndarray:
  log = special.gammaln
  return np.asarray(log(n + 1) - log(k + 1) - log(n - k + 1))
