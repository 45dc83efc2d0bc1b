"""Sections of an audit's page."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import results
from fairjax.config import Config
from fairjax.data.tables import labels
from fairjax.metrics import measures, slices, thresholds
from fairjax.metrics.inference import significance
from fairjax.metrics.texts import flips
from fairjax.pairs.swapping import swap_eval
from fairjax.recipes.audit.groups import Who
from fairjax.recipes.audit.measure import Measured
from fairjax.report import tables, words

EXAMPLES = 10  # rows that flip, shown in the page: a screen of them
WORST = 8  # slices, words and differences in an open table
PRECISION = (
  'Of the words that our gender swap changes, this share agrees with annotated '
  'twins: '
  + ', '.join(f'{p:.3f} on {name}' for name, p in swap_eval.MEASURED.items())
  + ' (GAP without its names).'
)
METHOD = (
  'Flips: share of edited rows whose decision changes. Control: as many words '
  'of the same rows are edited, first names to others of the same gender and '
  'origin, other words to a synonym or a neutral noun. Excess: the paired '
  'difference, by a Bayesian bootstrap of rows. Words: McNemar, exact, swap '
  'against control, each cluster of dependent rows once; adjusted by '
  'Benjamini and Hochberg.'
)


def sections(
  config: Config,
  table: pd.DataFrame,
  focus: Measured,
  groups: Who,
  classes: Sequence[str],
) -> list[dict]:
  """Each part that there is something to say of."""
  every = (
    _flips(config, table, focus, classes),
    _differences(focus),
    _impact(focus, config),
    _controls(focus, groups),
    _thresholds(focus),
    _calibration(focus),
    _slices(focus),
  )
  return [one for one in every if one]


def _flips(
  config: Config, table: pd.DataFrame, focus: Measured, classes: Sequence[str]
) -> dict | None:
  """What the edits changed; None where no text was edited."""
  if not focus.edits:
    return None
  parts = []
  for name, (edits, edit) in focus.edits.items():
    prefix = f'{name}/' if len(config.audit.swaps) > 1 else ''
    own = {
      k.removeprefix(prefix): v
      for k, v in focus.set['fairness'].items()
      if k.startswith(prefix) and k.removeprefix(prefix) in flips.NAMES
    }
    if len(focus.edits) > 1:
      parts.append(results.heading(f'Swap {name}'))
    parts += _one_swap(name, own, edits, edit, focus, config, table, classes)
  return results.section('Exchanged words', *parts)


def _one_swap(name, own, edits, edit, focus, config, table, classes) -> list:
  """The picture, both wordings, rows that flip, words, and every number."""
  whole = results.Results(
    classes=list(classes), pos_label=config.measures.pos_label
  )
  sides = words.sides(whole)
  # An axis that few rows show and none flips by has nothing to draw.
  parts = [_picture(name, own, sides)] if own['flips']['value'] else []
  if 'fprd' in own:
    parts += _by_wording(own, sides)
    parts += _by_value(focus.wordings.get(name, []), sides)
  examples = _examples(edits, edit, focus, config, table, classes)
  if examples:
    parts += [
      results.heading(f'{len(examples)} rows whose decision flips'),
      results.texts(examples, blur=labels.offensive(classes)),
    ]
  known = focus.words[name]
  columns = {
    **{'word': 'word', 'rows': 'rows', 'flips': 'flips, %'},
    **{'control flips': 'control, %'},
    'mean change of score': 'mean change of score',
    'adjusted': 'p, adjusted',
  }
  columns = {k: v for k, v in columns.items() if known and k in known[0]}
  sure = [w for w in known if significance.is_significant(w['adjusted'])]
  rate = f'at a false discovery rate of {significance.SURE:.0%}'
  if sure:
    caption = f'Words that carry it ({len(sure)} of {len(known)} {rate})'
    parts.append(results.table(sure[:WORST], columns, caption))
  elif known:
    none = f'None of {len(known)} words flips decisions more than the control'
    parts.append(results.text(f'{none} does, {rate}.'))
  every = [results.table(known, columns, 'Every word')]
  parts.append(
    results.fold(
      'How good the swap is, and every number',
      *_numbers(name, own, edits, focus),
      *(every if len(known) > len(sure) else []),
      results.text(METHOD, kind='quiet'),
    )
  )
  return parts


def _picture(name: str, own: Mapping, sides: tuple[str, str]) -> dict:
  """Flips under the swap beside its control, by direction and by label."""
  what = own['flips'].get('of', 'words that show a group')
  negative, positive = sides
  shown = {
    'flips': f'swap of {what}',
    'control_flips': 'control: other words',
    'flips_up': f'swap, to {positive}',
    'flips_down': f'swap, to {negative}',
    'flips_positive': f'swap, rows labelled {positive}',
    'flips_negative': f'swap, rows labelled {negative}',
  }
  return results.figure(
    'wordings',
    f'flips_{name}',
    f'Decisions that change under the swap {name!r} and under an edit of as '
    'many words that show no group.',
    rows=[
      {'edit': called, 'value': own[key]}
      for key, called in shown.items()
      if tables.defined(own.get(key))
    ],
  )


def _numbers(name: str, own: Mapping, edits, focus: Measured) -> list[dict]:
  """The measures of a swap, what it edits, how well, how far scores move."""
  rows = [
    {'measure': measures.label(k), 'name': k, 'value': own[k]}
    for k in flips.NAMES
    if k in own
  ]
  parts = [
    results.table(rows, caption=f'Measures of the swap {name}'),
    results.facts(edits.facts) | {'caption': 'The swap itself'},
  ]
  if name in ('gender', 'neutral'):
    parts.append(results.text(PRECISION, kind='quiet'))
  if quantiles := focus.quantiles[name]:
    caption = 'Quantiles of the change of score'
    parts.append(results.table(quantiles, caption=caption))
  return parts


def _by_wording(own: Mapping, sides: tuple[str, str]) -> list[dict]:
  rows = [
    {**own[key], 'label': label, 'difference': own[key]}
    for key, label in zip(('fprd', 'tprd'), sides)
    if own[key].get('female') is not None
  ]
  columns = {
    **{'label': 'rows labelled', 'rows': 'how many'},
    'female': f'decided {sides[1]}, female wording, %',
    **{'male': 'male wording, %', 'difference': 'difference'},
  }
  caption = 'The same texts in either wording (FPRD, TPRD)'
  return [results.table(rows, columns, caption)] if rows else []


def _by_value(rows: Sequence[Mapping], sides: tuple[str, str]) -> list[dict]:
  """TPRD and FPRD of the values of an axis, of which a text draws one other."""
  called = dict(zip(('negative', 'positive'), sides))
  shown = [
    {**one, 'rows labelled': called[one['rows labelled']]} for one in rows
  ]
  columns = {
    **{key: key for one in rows for key in one},
    'decided positive': f'decided {sides[1]}, %',
    'in other wordings': 'in other wordings, %',
  }
  caption = (
    'The same texts in the wording of each value and in the other one that '
    f'the seed drew for them (FPRD of rows labelled {sides[0]}, TPRD of others)'
  )
  return [results.table(shown, columns, caption)] if rows else []


def diverse(rows: Sequence[int], spans: Sequence[Sequence]) -> list[int]:
  """The rows, those first that exchange words which no row before them does.

  >>> she, he, aunt = (0, 3, 'she', 'he'), (0, 2, 'He', 'She'), (0, 4, 'a', 'u')
  >>> diverse([0, 1, 2], [[she], [he], [aunt]])
  [0, 2, 1]
  """
  turns: dict[tuple, int] = {}
  order = []
  for row in rows:
    pairs = ((old.lower(), new.lower()) for _, _, old, new in spans[row])
    words = {tuple(sorted(pair)) for pair in pairs}
    # As often as the least shown of its words was.
    order.append(min((turns.get(word, 0) for word in words), default=0))
    for word in words:
      turns[word] = turns.get(word, 0) + 1
  return [rows[k] for k in np.argsort(order, kind='stable')]


def _examples(edits, edit, focus: Measured, config, table, classes) -> list:
  """Rows that flip in most seeds: other words, then larger changes, first."""
  limit = 0.0 if focus.limit == 'argmax' else focus.limit
  after = flips.decisions(edit.scores, limit)
  flip = (focus.decisions != after).mean(0)
  moved = flips.change(focus.scores, edit.scores).mean(0)
  rows = np.flatnonzero(edit.edited & (flip >= 0.5))
  rows = diverse(rows[np.argsort(-moved[rows], kind='stable')], edits.spans)
  # Names alone come last: they say the least of a group.
  listed = edits.words or ()
  other = lambda row: any(o.lower() in listed for *_, o, _ in edits.spans[row])
  rows.sort(key=lambda row: bool(listed) and not other(row))
  binary = focus.scores.ndim == 2
  names = list(classes) or ['negative', 'positive']
  positive = config.measures.pos_label
  out = []
  for row in rows[:EXAMPLES]:
    one = {'text': table['text'].iloc[row], 'twin': edits.twins[row]}
    if binary:
      one['score'] = (
        f'{focus.scores[:, row].mean():.2f} → {edit.scores[:, row].mean():.2f}'
      )
    else:
      old, new = focus.decisions[0, row], after[0, row]
      one['decision'] = f'{names[old]} → {names[new]}'
    if 'label' in table:
      label = int(table['label'].iloc[row])
      one['label'] = names[label] if label < len(names) else label
    if binary and len(names) == 2 and 'label' not in one:
      one['positive is'] = names[min(positive, 1)]
    out.append(one)
  return out


def _differences(focus: Measured) -> dict | None:
  rows = focus.contrasts
  if not rows:
    return None
  tested = [r for r in rows if not r['few'] and r['p'] is not None]
  sure = [r for r in tested if significance.is_significant(r.get('adjusted'))]
  sure.sort(key=lambda r: -abs(r['difference']['value']))
  # Of two groups of an attribute either says the same of the rest.
  once = {(r['rate'], round(abs(r['difference']['value']), 9)): r for r in sure}
  references = [*dict.fromkeys(row['reference'] for row in rows)]
  reference = ' or '.join(references)
  heading = (
    f'{len(sure)} of {len(tested)} differences to {reference} with an adjusted '
    f'p of at most {significance.SURE:g}'
  )
  columns = {
    **{'group': 'group', 'rate': 'rate', 'value': 'of the group'},
    **({'reference': 'reference'} if len(references) > 1 else {}),
    **{'of reference': 'of the reference', 'difference': 'difference'},
    'adjusted': 'p, adjusted',
  }

  def line(r):
    rate = f'{measures.label(r["rate"])} ({r["rate"]})'
    few = {'adjusted': 'too few rows'} if r['few'] else {}
    return {**r, 'rate': rate, **few}

  parts = []
  if sure:
    parts.append(
      results.table(
        [line(r) for r in [*once.values()][:WORST]],
        columns,
        f'Reference: {reference}',
      )
    )
  parts.append(
    results.fold(
      'Every group and rate, with its test',
      results.table([line(r) for r in rows], columns),
      results.text(
        'Differences of rates with their interval and p of the same bootstrap '
        'of rows (Fisher’s exact p where no resample is as far off); p '
        f'adjusted by holm for {len(tested)} tests.',
        kind='quiet',
      ),
    )
  )
  return results.section(heading, *parts)


def _impact(focus: Measured, config: Config) -> dict | None:
  """Impact ratios with what the four-fifths rule says of each, if asked for.

  The rule of thumb is of hiring in the United States, so it is no default.
  """
  rows = [{**row, 'verdict': words.impact(row)} for row in focus.impact]
  columns = ('attribute', 'of', 'group', 'rows', 'selected', 'rate', 'ratio')
  table = results.table(
    rows,
    {name: name for name in columns} | {'verdict': 'below .8?'},
    words.IMPACT,
  )
  source = config.data.path or config.data.name
  lost = {row['attribute']: row['unknown'] for row in rows}
  said = [f'{n:,} rows: {name} unknown.' for name, n in lost.items() if n]
  about = results.text(' '.join([words.FOUR_FIFTHS, *said, f'Rows: {source}.']))
  return results.section('Impact ratios', table, about) if rows else None


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
  of = f' of {focus.swept}' if focus.swept else ''
  series = {
    measures.label(k) + (of if k in thresholds.SHOWN else ''): [
      None if np.isnan(x) else float(x) for x in v
    ]
    for k, v in focus.sweep.items()
  }
  return results.section(
    'Other thresholds',
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
  said = ''
  if ece and ece.get('null') is not None:
    said = (
      f'Chance alone gives rows as many as these an error of '
      f'{ece["null"]:.3f}. '
    )
  if worst and worst['value'] is not None:
    said += f'The worst group has {tables.estimate(worst)}.'
  return results.section(
    'Calibration',
    results.figure(
      'reliability',
      'reliability',
      'Share of rows that are positive against their mean score, in bins; on '
      'the dotted line scores mean what they say. Of many groups those whose '
      'scores are furthest off, beyond chance.',
      groups={g: focus.reliability[g] for g in shown},
    ),
    results.text(said, kind='quiet'),
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
  sure = [s for s in focus.slices if significance.is_significant(s['adjusted'])]
  sure.sort(key=lambda s: -(s['error rate'] - s['outside']))

  columns = {
    **{'slice': 'where', 'rows': 'rows', 'error rate': 'wrong, %'},
    **{'outside': 'elsewhere, %', 'adjusted': 'p, adjusted'},
  }
  count = len(focus.slices)
  if sure:
    parts = [
      results.table(
        sure[:WORST],
        columns,
        f'{len(sure)} of {count} slices are worse, at a false '
        f'discovery rate of {significance.SURE:.0%}',
      )
    ]
  else:
    none = f'None of {count} slices is worse than the rest beyond chance.'
    parts = [results.text(none)]
  parts.append(
    results.fold(
      f'All {count} slices',
      results.table(focus.slices[:200], columns),
      results.text(
        f'Slices of one condition, and of two of the first {slices.MOST}, '
        f'with {slices.LEAST} rows or more; Fisher’s exact test, one-sided, '
        'and Student’s over clusters of dependent rows; adjusted by '
        'Benjamini and Hochberg.',
        kind='quiet',
      ),
    )
  )
  return results.section('Slices of the rows', *parts)
