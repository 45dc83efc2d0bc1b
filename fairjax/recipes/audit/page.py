"""Sections of an audit's page."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import results
from fairjax.config import Config
from fairjax.metrics import measures, thresholds
from fairjax.metrics.inference import significance
from fairjax.recipes.audit import flips
from fairjax.recipes.audit.flips import WORST
from fairjax.recipes.audit.groups import Who
from fairjax.recipes.audit.measure import Measured
from fairjax.report import tables


def sections(
  config: Config,
  table: pd.DataFrame,
  focus: Measured,
  groups: Who,
  classes: Sequence[str],
) -> list[dict]:
  """Each part that there is something to say of."""
  every = (
    flips.section(config, table, focus, classes),
    _differences(focus, config),
    _controls(focus, groups),
    _thresholds(focus),
    _calibration(focus),
    _slices(focus),
  )
  return [one for one in every if one]


def _differences(focus: Measured, config: Config) -> dict | None:
  rows = focus.contrasts
  if not rows:
    return None
  tested = [r for r in rows if not r['few'] and r['p'] is not None]
  sure = [r for r in tested if r.get('adjusted', 1) <= significance.SURE]
  sure.sort(key=lambda r: -abs(r['difference']['value']))
  reference = rows[0]['reference']
  if sure:
    worst = sure[0]
    heading = (
      f'{len(sure)} of {len(tested)} differences to {reference} are more than '
      f'chance; the largest: {worst["group"]}, '
      f'{measures.label(worst["rate"])}, '
      f'{100 * worst["difference"]["value"]:+.0f} points'
    )
  else:
    heading = (
      f'None of {len(tested)} differences to {reference} is more than chance '
      'where so many are tested'
    )
    gaps = significance.of_gaps(focus.set['fairness'])
    least = min(gaps, key=gaps.get, default='')
    if least and gaps[least] < significance.SURE:
      heading += (
        f'; that of the groups which are furthest apart is ({least}, '
        f'{significance.said(gaps[least])})'
      )
  line = lambda r: {
    'group': r['group'],
    'rate': f'{measures.label(r["rate"])} ({r["rate"]})',
    'of the group': r['value'],
    'of the reference': r['of reference'],
    'difference': r['difference'],
    'p, adjusted': significance.p_text(
      {'p': r.get('adjusted'), 'p_at_floor': r.get('p_at_floor')}
    )
    if not r['few']
    else 'too few rows',
  }
  parts = []
  if sure:
    parts.append(
      results.table(
        [line(r) for r in sure[:WORST]], caption=f'Reference: {reference}'
      )
    )
  parts += _four_fifths(focus)
  parts.append(
    results.fold(
      'Every group and rate, with its test',
      results.table([line(r) for r in rows]),
      results.text(
        'Differences of rates with their interval and p of the same bootstrap '
        'of rows (Fisher’s exact p where no resample is as far off); p '
        f'adjusted by {config.measures.adjust} for {len(tested)} '
        'tests.',
        kind='quiet',
      ),
    )
  )
  return results.section(heading, *parts)


def _four_fifths(focus: Measured) -> list[dict]:
  """The ratio of the smallest share of positive decisions to the largest."""
  parts = []
  for key, ratio in focus.set['fairness'].items():
    if key.rpartition('/')[2] != 'selection_rate_ratio':
      continue
    if ratio['value'] is None:
      continue
    words = 'below' if ratio['value'] < 0.8 else 'not below'
    parts.append(
      results.text(
        'Four-fifths rule: the group with the fewest positive decisions has '
        f'{tables.estimate(ratio)} times the share of the group with the most '
        f'({key}), which is {words} .8.'
      )
    )
  return parts


def _controls(focus: Measured, groups: Who) -> dict | None:
  names = ', '.join(groups.controls)
  gaps = {k: v for k, v in focus.set['fairness'].items() if 'conditional_' in k}
  if not gaps:
    return None
  rows = []
  for key, value in gaps.items():
    plain = key.replace('conditional_', '')
    rows.append(
      {
        'measure': measures.label(key),
        f'given {names}': value,
        'as it is': focus.set['fairness'].get(plain, ''),
      }
    )
  parts = [
    results.table(rows, caption='1 is equal'),
    results.fold(
      'The largest difference inside each level',
      results.table(focus.within),
    ),
  ]
  if focus.left_out:
    levels = ', '.join(dict.fromkeys(focus.left_out))
    parts.append(
      results.text(
        f'Levels without rows of every group are left out: {levels}.',
        kind='warning',
      )
    )
  return results.section(f'Given {names}', *parts)


def _thresholds(focus: Measured) -> dict | None:
  if not focus.sweep:
    return None
  limit = focus.limit
  chosen = limit if isinstance(limit, list) else [limit]
  series = {
    measures.label(k): [None if np.isnan(x) else float(x) for x in v]
    for k, v in focus.sweep.items()
  }
  fair = focus.sweep.get(
    'eqodd', focus.sweep['dp'] if 'dp' in focus.sweep else None
  )
  heading = 'What another threshold would do'
  if fair is not None and np.isfinite(fair).any():
    low, high = np.nanmin(fair), np.nanmax(fair)
    name = 'equalised odds' if 'eqodd' in focus.sweep else 'demographic parity'
    heading += f': {name} from {low:.2f} to {high:.2f}'
  return results.section(
    heading,
    results.figure(
      'over_thresholds',
      'thresholds',
      'Measures at every threshold; the dotted line is the one chosen. At the '
      'ends all decisions are alike, and so all groups: that is no fairness.',
      x=thresholds.POINTS,
      series=series,
      chosen=[float(c) for c in chosen],
    ),
  )


def _calibration(focus: Measured) -> dict | None:
  if not focus.reliability:
    return None
  ece = focus.set['quality'].get('ece')
  worst = focus.set['fairness'].get('ece_max')
  heading = 'Scores and what comes true'
  if ece and ece['value'] is not None:
    heading += f': off by {100 * ece["value"]:.0f} points on average'
  shown = furthest_off(focus.reliability, focus.set['groups'])
  rows = [
    {
      'group': name,
      'calibration error (ece)': one.get('ece', ''),
      'overconfidence': one.get('overconfidence', ''),
    }
    for name, one in {
      'everyone': focus.set['quality'],
      **focus.set['groups'],
    }.items()
    if 'ece' in one
  ]
  words = ''
  if ece and ece.get('null') is not None:
    words = (
      f'Chance alone gives rows as many as these an error of '
      f'{ece["null"]:.3f}. '
    )
  if worst and worst['value'] is not None:
    words += f'The worst group has {tables.estimate(worst)}.'
  return results.section(
    heading,
    results.figure(
      'reliability',
      'reliability',
      'Share of rows that are positive against their mean score, in bins; on '
      'the dotted line scores mean what they say. Of many groups those whose '
      'scores are furthest off, beyond chance.',
      groups={g: focus.reliability[g] for g in shown},
    ),
    results.text(words, kind='quiet'),
    results.fold('Each group', results.table(rows)),
  )


def furthest_off(reliability: Mapping, groups: Mapping) -> list[str]:
  """The four groups whose calibration error is most beyond chance's.

  Chance makes the error of a small group large. Where fewer than two groups
  have one, everyone is shown.
  """
  errors = {
    g: one['value'] - (one.get('null') or 0.0)
    for g in reliability
    if tables.defined(one := groups.get(g, {}).get('ece'))
  }
  worst = sorted(errors, key=lambda g: -errors[g])[:4]
  return worst if len(worst) > 1 else ['everyone']


def _slices(focus: Measured) -> dict | None:
  if not focus.slices:
    return None
  sure = [s for s in focus.slices if s['adjusted'] <= significance.SURE]
  sure.sort(key=lambda s: -(s['error rate'] - s['outside']))
  line = lambda s: {
    'where': s['slice'],
    'rows': s['rows'],
    'wrong': f'{s["error rate"]:.1%}',
    'elsewhere': f'{s["outside"]:.1%}',
    'adjusted p': s['adjusted'],
  }
  count = len(focus.slices)
  if sure:
    heading = (
      f'Worst where {sure[0]["slice"]}: {sure[0]["error rate"]:.0%} wrong, '
      f'elsewhere {sure[0]["outside"]:.0%}'
    )
    parts = [
      results.table(
        [line(s) for s in sure[:WORST]],
        caption=f'{len(sure)} of {count} slices are worse, at a false '
        f'discovery rate of {significance.SURE:.0%}',
      )
    ]
  else:
    heading = f'None of {count} slices of the rows is worse than the rest'
    parts = []
  parts.append(
    results.fold(
      f'All {count} slices',
      results.table([line(s) for s in focus.slices[:200]]),
      results.text(
        'Slices of one or two conditions with 30 rows or more; Fisher’s exact '
        'test, one-sided, adjusted by Benjamini and Hochberg.',
        kind='quiet',
      ),
    )
  )
  return results.section(heading, *parts)
