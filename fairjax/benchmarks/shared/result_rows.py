"""A benchmark's numbers as rows of results.json, and two models compared."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.metrics.inference import clusters, tails
from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.inference.significance import adjusted


def row(
  metric: str,
  part: str,
  items: int,
  value: dict,
  p: float | None = None,
  null: float | None = None,
  test: str = '',
  floor: tuple[float, float] | None = None,
) -> dict:
  """One number of a benchmark: what of, how sure, against what it is tested.

  `null` is the value without a preference; between the ends of `floor` lie
  `level` of the values that such a model shows by chance. A number without a
  p has no test.
  """
  return {
    'metric': metric,
    'part': part,
    'items': int(items),
    'value': value,
    'null': null,
    'p': p,
    'test': test if p is not None else '',
    'floor_low': floor[0] if floor else None,
    'floor_high': floor[1] if floor else None,
  }


def percent(value: dict) -> dict:
  scaled = {
    k: None if value[k] is None else 100 * value[k]
    for k in ('value', 'low', 'high')
  }
  return {**value, **scaled}


def mean_size(rows: Sequence[dict], of: str, one: str) -> dict:
  """The mean |d| of some rows, and what |d| one reaches by chance."""
  sizes = [abs(row['value']['value'] or 0.0) for row in rows]
  chance = [max(abs(row['floor_low']), abs(row['floor_high'])) for row in rows]
  return of_value(
    np.mean(sizes),
    note=f'mean |d| over the {of}; by chance {one} reaches up to '
    f'{np.mean(chance):.2f}',
  )


def share_row(
  metric: str, part: str, hits: int, ties: int, count: int, options: RowSample
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
  value = percent(clusters.share(hits, decisive, options))
  scaled = {k: value[k] * decisive / count for k in ('low', 'high')}
  ends = tails.coins(decisive, options.level)
  return row(
    metric,
    part,
    count,
    {'value': 100 * hits / count, **scaled},  # 2 of 4 are 50, not 49.99…
    clusters.binomial(hits, decisive),
    50 * decisive / count,
    'exact binomial',
    (100 * ends[0] / count, 100 * ends[1] / count),
  )


def as_set(
  rows: Sequence[dict], main: str = 'all', warnings: Sequence[str] = ()
) -> dict:
  """Rows as a set of results.json: `main` is the whole, other parts groups.

  What a row knows beside its value (null, p, floor, test) goes with it.
  """
  whole: dict = {}
  groups: dict[str, dict] = {}
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


def factors(table: pd.DataFrame) -> list[list[np.ndarray]]:
  """The columns cluster and, where there is one, beside, as `clusters.mean` has
  them; what all rows share tells nothing of how it varies."""
  columns = [table[c].to_numpy() for c in ('cluster', 'beside') if c in table]
  some = [[one] for one in columns if len(np.unique(one)) > 1]
  return some or [[columns[0]]]


def compare(
  ours: pd.DataFrame, theirs: pd.DataFrame, options: RowSample
) -> list[dict]:
  """Paired tests of two models on the items that both have, by metric and part.

  The difference of the means with its interval and p over clusters, and over
  what else items share (`beside`: a template, the other pair of a row); Holm
  over all rows.
  """
  keys = ['metric', 'part', 'id']
  both = ours.merge(theirs, on=keys, suffixes=('', '_theirs'))
  rows = []
  for (metric, part), some in both.groupby(['metric', 'part'], sort=False):
    gap = some['value'].to_numpy(float) - some['value_theirs'].to_numpy(float)
    value, p = clusters.mean(gap, factors(some), options, 0.0)
    count = int(np.isfinite(gap).sum())
    rows.append(difference(metric, part, count, value, p, 'clusters'))
  return by_holm(rows)


def difference(
  metric: str, part: str, items: int, value: dict, p: float | None, over: str
) -> dict:
  """A number of one model less that of another, by the jackknife."""
  return {
    'metric': metric,
    'part': part,
    'items': items,
    'difference': value,
    'p': p,
    'test': f't of the jackknife over {over}',
  }


def as_test(
  row: dict, where: str, ours: str, theirs: str, whole: str = 'all'
) -> dict:
  """A row of differences as a test of results.json; `whole` is no part."""
  part, metric = str(row['part']), row['metric']
  return {
    'set': where,
    'measure': metric if part == whole else f'{part}/{metric}',
    'ours': ours,
    'theirs': theirs,
    'difference': {'seeds': [], **row['difference']},
    'p': row['p'],
    'test': row['test'],
    'n': row['items'],
  }


def by_holm(rows: Sequence[dict]) -> list[dict]:
  """Rows with their p adjusted over all of them."""
  p_holm = adjusted([one['p'] for one in rows])
  return [one | {'p_holm': p} for one, p in zip(rows, p_holm)]
