"""Intervals and p values without draws: of counts, and of Student's t.

Exact ones of counts are those of scipy, imported where they are used: it is 45
MB and most of a second. The one-door test lists these calls; elsewhere they
may not stand.
"""

from collections.abc import Sequence

import numpy as np

from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.inference.intervals import IntervalOptions

# Shares


def clopper_pearson(hits: int, count: int, level: float) -> tuple[float, float]:
  """The exact interval of hits / count (Clopper and Pearson 1934)."""
  from scipy import stats

  tail = (1 - level) / 2
  low = stats.beta.ppf(tail, hits, count - hits + 1) if hits else 0.0
  last = hits == count
  high = 1.0 if last else stats.beta.ppf(1 - tail, hits + 1, count - hits)
  return float(low), float(high)


def share(hits: int, count: int, options: IntervalOptions) -> dict:
  """hits / count with its exact interval."""
  if not count:
    return of_value(None, note='no items')
  return of_value(hits / count, *clopper_pearson(hits, count, options.level))


def jeffreys(share: float, count: float, level: float) -> tuple[float, float]:
  """Of a share of rows that may be a mean over seeds; it holds the share."""
  from scipy import stats

  low, high = stats.beta.ppf(
    [(1 - level) / 2, (1 + level) / 2],
    share * count + 0.5,
    (1 - share) * count + 0.5,
  )
  return float(min(low, share)), float(max(high, share))


def coins(count: int, level: float) -> tuple[float, float]:
  """Between which numbers of heads `count` fair coins show."""
  from scipy import stats

  tail = (1 - level) / 2
  low, high = stats.binom.ppf([tail, 1 - tail], count, 0.5)
  return float(low), float(high)


# Tests of counts


def binomial(hits: int, count: int, p: float = 0.5) -> float | None:
  """The exact two-sided p of `hits` in `count` where each has chance p.

  Twice the smaller tail, so that it agrees with the interval of `share`.
  """
  from scipy import stats

  if not count:
    return None
  below = stats.binom.cdf(hits, count, p)
  above = stats.binom.sf(hits - 1, count, p)
  return float(min(1.0, 2 * min(below, above)))


def sign(first: int, second: int) -> float:
  """McNemar's exact p, of the rows that one side alone has."""
  return binomial(first, first + second) if first + second else 1.0


def fisher(counts: Sequence[Sequence[int]]) -> float:
  """Fisher's exact p of a table of two rows and columns."""
  from scipy import stats

  return float(stats.fisher_exact(counts)[1])


def drawn_at_least(
  hits: np.ndarray, size: np.ndarray, of: int, among: int
) -> np.ndarray:
  """P(at least `hits` of the `of` marked rows are in `size` of `among`)."""
  from scipy import stats

  return stats.hypergeom.sf(hits - 1, among, of, size)


def mann_whitney(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  """Mann and Whitney's p of every row of a and of b."""
  from scipy import stats

  return np.atleast_1d(stats.mannwhitneyu(a, b, axis=1).pvalue)


# A number with its standard error


def reach(error, free, level: float):
  """Half the width of an interval: Student's t times a standard error."""
  from scipy import special

  return error * special.stdtrit(free, (1 + level) / 2)


def p_of_t(value, error, free):
  """The two-sided p of a value being 0; `free` = inf is the normal."""
  from scipy import special

  with np.errstate(divide='ignore', invalid='ignore'):
    t = np.abs(np.asarray(value, np.float64) / error)
  return 2 * special.stdtr(free, -t)
