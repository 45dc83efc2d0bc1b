"""A benchmark's numbers as rows of results.json, and two models compared."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from fairjax.metrics import clusters, intervals
from fairjax.metrics.estimates import of_value
from fairjax.metrics.intervals import IntervalOptions
from fairjax.metrics.significance import adjusted


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


def percent(value: dict) -> dict:
  scaled = {
    k: None if value[k] is None else 100 * value[k]
    for k in ('value', 'low', 'high')
  }
  return {**value, **scaled}


def share_row(
  metric: str,
  part: str,
  hits: int,
  ties: int,
  count: int,
  options: IntervalOptions,
) -> dict:
  """100 · hits / count of independent items, of which `ties` decide nothing.

  Ties stay in the denominator, as published; the interval and the test are
  those of the items that decide, so without a preference the value is
  50 (count − ties) / count.
  """
  decisive = count - ties
  if not decisive:
    value = of_value(None, note='no item decides')
    return row(metric, part, count, value)
  part_of = decisive / count
  value = percent(clusters.share(hits, decisive, options))
  scaled = {k: part_of * value[k] for k in ('value', 'low', 'high')}
  tail = (1 - options.level) / 2
  ends = stats.binom.ppf([tail, 1 - tail], decisive, 0.5) / count * 100
  return row(
    metric,
    part,
    count,
    scaled,
    50 * part_of,
    clusters.binomial(hits, decisive),
    'exact binomial',
    (float(ends[0]), float(ends[1])),
  )


def crossed_share(
  hit: np.ndarray,
  weight: np.ndarray,
  units: int,
  options: IntervalOptions,
  null: float | None = None,
) -> tuple[dict, float | None]:
  """100 · the share of hits, of items that two kinds of units cross.

  `weight` [resample, item] is the product of the units' weights. Where all
  items agree no weight tells how far another sample could be, so the interval
  (and the p of `null`) is the exact one of `units` independent items.
  """
  if hit.min() == hit.max():
    hits = int(units * hit[0])
    p = None if null is None else clusters.binomial(hits, units, null / 100)
    return percent(clusters.share(hits, units, options)), p
  draws = 100 * (weight @ hit) / weight.sum(1)
  p = None
  if null is not None:
    side = min((draws <= null).mean(), (draws >= null).mean())
    p = float(min(1.0, max(2 * side, 1 / len(draws))))
  tail = (1 - options.level) / 2
  low, high = np.quantile(draws, [tail, 1 - tail])
  return of_value(100 * hit.mean(), low, high), p


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


def compare(
  ours: pd.DataFrame, theirs: pd.DataFrame, options: IntervalOptions
) -> list[dict]:
  """Paired tests of two models on the items that both have, by metric and part.

  The difference of the means with its interval over clusters; p by flipping
  the sign of whole clusters; Holm over all rows. The interval holds 0 where
  p does not refute it.
  """
  keys = ['metric', 'part', 'id']
  both = ours.merge(theirs, on=keys, suffixes=('', '_theirs'))
  rows = []
  for (metric, part), some in both.groupby(['metric', 'part'], sort=False):
    gap = some['value'].to_numpy(float) - some['value_theirs'].to_numpy(float)
    cluster = some['cluster'].to_numpy()
    value, _ = clusters.mean(gap, cluster, options)
    p = clusters.sign_flip(gap, cluster, options)
    value = intervals.reaching_null(value, p, options)
    rows.append(
      {
        'metric': metric,
        'part': part,
        'items': int(np.isfinite(gap).sum()),
        'difference': value,
        'p': p,
        'test': 'sign flips of clusters',
      }
    )
  p_holm = adjusted([one['p'] for one in rows])
  return [one | {'p_holm': p} for one, p in zip(rows, p_holm)]
