"""Sections of an audit's page: the rows that templates/audit.txt shows."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fairjax import results
from fairjax.data.tables import labels
from fairjax.metrics import measures, slices, thresholds
from fairjax.metrics.inference import significance
from fairjax.metrics.texts import flips
from fairjax.pairs.swapping import swap_eval
from fairjax.recipes.audit.measure import Measured
from fairjax.report import tables, words, written

EXAMPLES = 10  # rows that flip, shown in the page: a screen of them
WORST = 8  # slices, words and differences in an open table
RATE = f'{significance.SURE:.0%}'


def sections(focus: Measured, of: results.Results) -> list[dict]:
  """Each part that there is something to say of; `of` names the classes."""
  given, every = focus.given, focus.reliability
  controls = ', '.join(given.controls)
  swaps = []
  for name in focus.edits:
    if len(focus.edits) > 1:
      swaps.append(results.heading(f'Swap {name}'))
    swaps += _one_swap(name, focus, of)
  fairness = focus.set['fairness']
  error, worst = focus.set['quality'].get('ece', {}), fairness.get('ece_max')
  each = {'everyone': focus.set['quality'], **focus.set['groups']}
  off = furthest_off(every, focus.set['groups']) if every else ()
  return written.sections(
    'audit.txt',
    swaps=swaps,
    **_differences(focus.contrasts, of),
    impact=[{**row, 'verdict': words.impact(row)} for row in focus.impact],
    impact_caption=words.IMPACT,
    unknown={row['attribute']: row['unknown'] for row in focus.impact},
    controls=controls,
    # Gaps inside the levels of the controls, beside the gaps as they are.
    conditional=[
      {
        'measure': measures.label(key),
        f'given {controls}': value,
        'as it is': fairness.get(key.replace('conditional_', ''), ''),
      }
      for key, value in fairness.items()
      if 'conditional_' in key
    ],
    within=focus.within,
    left_out=focus.left_out,
    thresholds=_thresholds(focus, of),
    reliability=every
    and results.figure(
      *('reliability', 'reliability', ''),
      share=words.in_classes(of, 'share positive'),
      groups={words.group(g): every[g] for g in off},
    ),
    share=words.in_classes(of, 'Share of rows that are positive'),
    null=error.get('null'),
    worst=tables.defined(worst) and tables.estimate(worst),
    calibration=[
      {
        'group': name,
        'calibration error (ece)': one['ece'],
        'overconfidence': one.get('overconfidence', ''),
      }
      for name, one in each.items()
      if 'ece' in one
    ],
    **_slices(focus.slices),
  )


def _one_swap(name: str, focus: Measured, of: results.Results) -> list[dict]:
  """The picture, both wordings, rows that flip, words, and every number."""
  (edits, _), config = focus.edits[name], focus.given.config
  prefix = f'{name}/' if len(config.audit.swaps) > 1 else ''
  fairness = focus.set['fairness']
  own = {k: fairness[prefix + k] for k in flips.NAMES if prefix + k in fairness}
  classes, sides = of.classes, words.sides(of)
  called = dict(zip(('negative', 'positive'), sides))
  # TPRD and FPRD of the values of an axis, of which a text draws one other.
  values = focus.wordings.get(name, []) if 'fprd' in own else []
  examples = _examples(name, focus, classes)
  known = focus.words[name]
  right = (f'{p:.3f} on {text}' for text, p in swap_eval.MEASURED.items())
  sure = [w for w in known if significance.is_significant(w['adjusted'])]
  return written.parts(
    'audit_swap.txt',
    **{'name': name, **called},
    # An axis that few rows show and none flips by has nothing to draw.
    picture=own['flips']['value'] and _picture(name, own, sides),
    wordings=[
      {**own[key], 'label': label, 'difference': own[key]}
      for key, label in zip(('fprd', 'tprd'), sides)
      if own.get(key, {}).get('female') is not None
    ],
    values=[{**v, 'rows labelled': called[v['rows labelled']]} for v in values],
    keys=dict.fromkeys(key for one in values for key in one),
    examples=examples,
    texts=results.texts(examples, blur=labels.offensive(classes)),
    known=known,
    sure=sure,
    carrying=sure[:WORST],
    rate=RATE,
    numbers=[
      {'measure': words.label(of, k), 'name': k, 'value': v}
      for k, v in own.items()
    ],
    facts=results.facts(edits.facts),
    agreement=', '.join(right) * (name in ('gender', 'neutral')),
    quantiles=focus.quantiles[name],
  )


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
  rows = [
    {'edit': called, 'value': own[key]}
    for key, called in shown.items()
    if tables.defined(own.get(key))
  ]
  return results.figure('wordings', f'flips_{name}', '', rows=rows)


def diverse(
  rows: Sequence[int], words_of: Callable[[int], Sequence[tuple[str, str]]]
) -> list[int]:
  """The rows, those first that exchange words which no row before them does.

  >>> words = [('she', 'he')], [('He', 'She')], [('aunt', 'uncle')]
  >>> diverse([0, 1, 2], words.__getitem__)
  [0, 2, 1]
  """
  turns: dict[tuple, int] = {}
  order = []
  for row in rows:
    pairs = ((old.lower(), new.lower()) for old, new in words_of(row))
    words = {tuple(sorted(pair)) for pair in pairs}
    # As often as the least shown of its words was.
    order.append(min((turns.get(word, 0) for word in words), default=0))
    for word in words:
      turns[word] = turns.get(word, 0) + 1
  return [rows[k] for k in np.argsort(order, kind='stable')]


def _examples(name: str, focus: Measured, classes: Sequence[str]) -> list[dict]:
  """Rows that flip in most seeds: other words, then larger changes, first."""
  edits, edit = focus.edits[name]
  after = flips.decisions(edit.scores, focus.cut)
  flip = (focus.decisions != after).mean(0)
  moved = flips.change(focus.scores, edit.scores).mean(0)
  turned = np.flatnonzero(edit.edited & (flip >= 0.5))
  largest = turned[np.argsort(-moved[turned], kind='stable')]
  words_of = edits.exchanged.by_row()
  rows = diverse(largest.tolist(), words_of)
  # Names alone come last: they say the least of a group.
  listed = edits.words or ()
  other = lambda row: any(old.lower() in listed for old, _ in words_of(row))
  rows.sort(key=lambda row: bool(listed) and not other(row))
  binary, table = focus.scores.ndim == 2, focus.given.table
  names = list(classes) or ['negative', 'positive']
  out = []
  for row in rows[:EXAMPLES]:
    one = {'text': table['text'].iloc[row], 'twin': edits.twins[row]}
    if binary:
      old, new = (of.scores[:, row].mean() for of in (focus, edit))
      one['score'] = f'{old:.2f} → {new:.2f}'
    else:
      old, new = focus.decisions[0, row], after[0, row]
      one['decision'] = f'{names[old]} → {names[new]}'
    if 'label' in table:
      label = int(table['label'].iloc[row])
      one['label'] = names[label] if label < len(names) else label
    elif binary and len(names) == 2:
      one['positive is'] = names[min(focus.given.config.measures.positive, 1)]
    out.append(one)
  return out


def _differences(rows: Sequence[Mapping], of: results.Results) -> dict:
  """Each group beside the reference, and the surest differences."""
  tested = [r for r in rows if not r['few'] and r['p'] is not None]
  sure = [r for r in tested if significance.is_significant(r.get('adjusted'))]
  sure.sort(key=lambda r: -abs(r['difference']['value']))
  # Of two groups of an attribute either says the same of the rest.
  once = {(r['rate'], round(abs(r['difference']['value']), 9)): r for r in sure}
  references = dict.fromkeys(row['reference'] for row in rows)

  def line(r):
    rate = f'{words.label(of, r["rate"])} ({r["rate"]})'
    few = {'adjusted': 'too few rows'} if r['few'] else {}
    return {**r, 'rate': rate, **few}

  return {
    'contrasts': [line(r) for r in rows],
    'differences': [line(r) for r in [*once.values()][:WORST]],
    **{'tested': len(tested), 'sure': len(sure)},
    'alpha': f'{significance.SURE:g}',
    'reference': ' or '.join(references),
    'several': len(references) > 1,
  }


def _thresholds(focus: Measured, own: results.Results) -> dict | None:
  """Measures at every threshold, of an attribute where there are several."""
  of = f' of {focus.swept}' if focus.swept else ''
  called = lambda k: words.label(own, k) + (of if k in thresholds.SHOWN else '')
  known = lambda x: None if np.isnan(x) else float(x)
  series = {called(k): [*map(known, v)] for k, v in focus.sweep.items()}
  return series and results.figure(
    *('over_thresholds', 'thresholds', ''),
    x=thresholds.POINTS,
    series=series,
    chosen=np.ravel(focus.limit).tolist(),
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


def _slices(found: Sequence[Mapping]) -> dict:
  """Where it is wrong more often than elsewhere."""
  sure = [s for s in found if significance.is_significant(s['adjusted'])]
  sure.sort(key=lambda s: -(s['error rate'] - s['outside']))
  return {
    'slices': found,
    'worst_slices': sure[:WORST],
    'some_slices': found[:200],
    **{'worse': len(sure), 'rate': RATE},
    **{'most': slices.MOST, 'least': slices.LEAST},
  }
