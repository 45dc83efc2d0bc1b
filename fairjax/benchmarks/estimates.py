"""How sure a benchmark's number is: clusters, exact tests, many tests.

Items that share a template, a term or a word are not independent, so a number
is resampled by clusters: the Bayesian bootstrap (Rubin 1981) gives each
cluster a weight from Exp(1). A share of independent items has the exact
(Clopper-Pearson) interval and the exact binomial test.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

CHUNK = 1 << 24  # weights held in memory at a time


class Options(NamedTuple):
  """How intervals are made."""

  level: float = 0.95
  resamples: int = 2000
  seed: int = 0


def estimate(value, low=None, high=None, note: str = '') -> dict:
  """One number with its interval, as results.json has it."""

  def number(v):
    return float(v) if v is not None and math.isfinite(v) else None

  out = {'value': number(value), 'low': number(low), 'high': number(high)}
  return out | ({'note': note} if note else {})


def share(hits: int, count: int, options: Options) -> dict:
  """hits / count with the exact interval of Clopper and Pearson (1934)."""
  if not count:
    return estimate(None, note='no items')
  tail = (1 - options.level) / 2
  low = stats.beta.ppf(tail, hits, count - hits + 1) if hits else 0.0
  high = stats.beta.ppf(1 - tail, hits + 1, count - hits)
  return estimate(hits / count, low, high if hits < count else 1.0)


def binomial(hits: int, count: int, p: float = 0.5) -> float | None:
  """The exact two-sided p of `hits` in `count` where each has chance p.

  Twice the smaller tail, so that it agrees with the interval of `share`.
  """
  if not count:
    return None
  below = stats.binom.cdf(hits, count, p)
  above = stats.binom.sf(hits - 1, count, p)
  return float(min(1.0, 2 * min(below, above)))


def percent(value: dict) -> dict:
  scaled = {
    k: None if value[k] is None else 100 * value[k]
    for k in ('value', 'low', 'high')
  }
  return {**value, **scaled}


def weights(clusters: int, options: Options, stream: int = 0) -> np.ndarray:
  """Weights of the clusters in each resample, mean 1: [resample, cluster]."""
  rng = np.random.default_rng([options.seed, 0xB1, stream])
  exponentials = rng.standard_exponential((options.resamples, clusters))
  return exponentials / exponentials.mean(1, keepdims=True)


def resampled(
  sums: np.ndarray,
  cluster: np.ndarray,
  measure: Callable[[np.ndarray], np.ndarray],
  options: Options,
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
      return estimate(None, note='it is not defined for these items'), None
    if len(names) < 2:
      return estimate(value, note='one cluster, so no interval'), None
    draws = measure(weights(len(names), options) @ totals)
  draws = draws[np.isfinite(draws)]
  if not len(draws):
    return estimate(value, note='no resample defines it'), None
  tail = (1 - options.level) / 2
  low, high = np.quantile(draws, [tail, 1 - tail])
  p = None
  if null is not None:
    side = min((draws <= null).mean(), (draws >= null).mean())
    p = float(min(1.0, max(2 * side, 1 / len(draws))))
  return estimate(value, low, high), p


def mean(
  values: np.ndarray,
  cluster: np.ndarray | None,
  options: Options,
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
  values: np.ndarray, cluster: np.ndarray | None, options: Options
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


def holm(p: Sequence[float | None]) -> list[float | None]:
  """Holm (1979): p ≤ α keeps the chance of any false finding below α."""
  return _adjust(
    p, lambda ordered, m: np.maximum.accumulate(ordered * (m - np.arange(m)))
  )


def benjamini_hochberg(p: Sequence[float | None]) -> list[float | None]:
  """Benjamini and Hochberg (1995): of findings at α a share α is false."""
  return _adjust(
    p,
    lambda ordered, m: np.minimum.accumulate(
      (ordered * m / np.arange(1, m + 1))[::-1]
    )[::-1],
  )


def _adjust(p, rule) -> list[float | None]:
  known = [i for i, one in enumerate(p) if one is not None]
  ordered = np.array([p[i] for i in known], np.float64)
  order = np.argsort(ordered, kind='stable')
  steps = np.minimum(rule(ordered[order], len(known)), 1)
  out: list[float | None] = [None] * len(p)
  for i, step in zip(order, steps):
    out[known[i]] = float(step)
  return out


def as_set(
  rows: Sequence[dict], main: str = 'all', warnings: Sequence[str] = ()
) -> dict:
  """Rows as a set of results.json: `main` is the whole, other parts groups.

  What a row knows beside its value (null, p, floor, test) goes with it.
  """
  whole, groups = {}, {}
  for one in rows:
    more = {
      k: v
      for k, v in one.items()
      if k not in ('metric', 'part', 'items', 'value') and v not in (None, '')
    }
    estimate = {'seeds': [], **one['value'], **more, 'items': one['items']}
    if one['part'] == main:
      whole[one['metric']] = estimate
    else:
      group = groups.setdefault(one['part'], {'rows': one['items']})
      group[one['metric']] = estimate
  return {'fairness': whole, 'groups': groups, 'warnings': list(warnings)}


def of(how) -> Options:
  """Our options of the house's IntervalOptions."""
  return Options(how.level, max(how.resamples, 1), how.seed)


def row(
  metric: str,
  part: str,
  items: int,
  value: dict,
  null: float | None = None,
  p: float | None = None,
  test: str = '',
  floor: tuple[float, float] | None = None,
) -> dict:
  """One number of a benchmark: what of, how sure, against what it is tested.

  `null` is the value without a preference; between the ends of `floor` lie
  `level` of the values that such a model shows by chance.
  """
  return {
    'metric': metric,
    'part': part,
    'items': int(items),
    'value': value,
    'null': null,
    'p': p,
    'test': test,
    'floor_low': floor[0] if floor else None,
    'floor_high': floor[1] if floor else None,
  }


def share_row(
  metric: str, part: str, hits: int, ties: int, count: int, options: Options
) -> dict:
  """100 · hits / count of independent items, of which `ties` decide nothing.

  Ties stay in the denominator, as published; the interval and the test are
  those of the items that decide, so without a preference the value is
  50 (count − ties) / count.
  """
  decisive = count - ties
  if not decisive:
    value = estimate(None, note='no item decides')
    return row(metric, part, count, value)
  part_of = decisive / count
  value = percent(share(hits, decisive, options))
  scaled = {k: part_of * value[k] for k in ('value', 'low', 'high')}
  tail = (1 - options.level) / 2
  ends = stats.binom.ppf([tail, 1 - tail], decisive, 0.5) / count * 100
  return row(
    metric,
    part,
    count,
    scaled,
    50 * part_of,
    binomial(hits, decisive),
    'exact binomial',
    (float(ends[0]), float(ends[1])),
  )


def compare(
  ours: pd.DataFrame, theirs: pd.DataFrame, options: Options
) -> list[dict]:
  """Paired tests of two models on the items that both have, by metric and part.

  The difference of the means with its interval over clusters; p by flipping
  the sign of whole clusters; Holm over all rows.
  """
  keys = ['metric', 'part', 'id']
  both = ours.merge(theirs, on=keys, suffixes=('', '_theirs'))
  rows = []
  for (metric, part), some in both.groupby(['metric', 'part'], sort=False):
    gap = some['value'].to_numpy(float) - some['value_theirs'].to_numpy(float)
    cluster = some['cluster'].to_numpy()
    value, _ = mean(gap, cluster, options)
    rows.append(
      {
        'metric': metric,
        'part': part,
        'items': int(np.isfinite(gap).sum()),
        'difference': value,
        'p': sign_flip(gap, cluster, options),
        'test': 'sign flips of clusters',
      }
    )
  adjusted = holm([one['p'] for one in rows])
  return [one | {'p_holm': p} for one, p in zip(rows, adjusted)]
