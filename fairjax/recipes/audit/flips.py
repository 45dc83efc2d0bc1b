"""Flips on the page of an audit: shares, rows and words."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import results
from fairjax.config import Config
from fairjax.data.tables import labels
from fairjax.metrics import measures
from fairjax.metrics.inference import significance
from fairjax.metrics.texts import flips
from fairjax.pairs.swapping import swap_eval
from fairjax.recipes.audit.measure import Measured

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
  'against control, adjusted by Benjamini and Hochberg.'
)


def section(
  config: Config, table: pd.DataFrame, focus: Measured, classes: Sequence[str]
) -> dict | None:
  """What the edits changed; None where no text was edited."""
  if not focus.edits:
    return None
  parts, headline = [], ''
  for name, (edits, edit) in focus.edits.items():
    prefix = f'{name}/' if len(config.audit.swaps) > 1 else ''
    own = {
      k.removeprefix(prefix): v
      for k, v in focus.set['fairness'].items()
      if k.startswith(prefix) and k.removeprefix(prefix) in flips.NAMES
    }
    excess = own.get('excess_flips', {})
    if not headline:
      headline = _finding(own, excess)
    if len(focus.edits) > 1:
      parts.append(results.heading(f'Swap {name}'))
    parts += _one_swap(name, own, edits, edit, focus, config, table, classes)
  return results.section(headline, *parts)


def _percent(estimate: Mapping) -> str:
  """'39 of 100 [36, 42]'."""
  value, low, high = (estimate.get(k) for k in ('value', 'low', 'high'))
  if value is None:
    return 'undefined'
  digits = 0 if abs(value) >= 0.02 or value == 0 else 1
  words = f'{100 * value:.{digits}f} of 100'
  if low is None or high is None:
    return words
  return f'{words} [{100 * low:.{digits}f}, {100 * high:.{digits}f}]'


def _finding(own: Mapping, excess: Mapping) -> str:
  flips_ = own.get('flips', {})
  what = flips_.get('of', 'words that show a group')
  if not flips_.get('fits', True):
    what += ' (not those of the groups compared)'
  if excess.get('value') is None:
    return f'Exchanging {what} flips {_percent(flips_)} decisions'
  if excess.get('low') is not None and excess['low'] > 0:
    return (
      f'Exchanging {what} changes decisions: {_percent(excess)} beyond a '
      'matched edit'
    )
  if excess.get('high') is not None and excess['high'] < 0:
    return (
      f'Exchanging {what} flips {_percent(flips_)} decisions, no more than '
      'other words do'
    )
  return (
    f'Exchanging {what} is not shown to change decisions more than other words '
    f'do: {_percent(excess)} beyond a matched edit'
  )


def _one_swap(name, own, edits, edit, focus, config, table, classes) -> list:
  """The picture, both wordings, rows that flip, words, and every number."""
  parts = [_picture(name, own)]
  if 'fprd' in own:
    parts += _by_wording(own)
  examples = _examples(edits, edit, focus, config, table, classes)
  if examples:
    parts += [
      results.heading(f'{len(examples)} rows whose decision flips'),
      results.texts(examples, blur=labels.offensive(classes)),
    ]
  words = focus.words[name]
  sure = [
    w
    for w in words
    if w['adjusted'] is not None and w['adjusted'] <= significance.SURE
  ]
  parts += _carriers(words, sure)
  parts.append(
    results.fold(
      'How good the swap is, and every number',
      *_numbers(name, own, edits, focus),
      *_every_word(words, sure),
      results.text(METHOD, kind='quiet'),
    )
  )
  return parts


def _picture(name: str, own: Mapping) -> dict:
  """Flips under the swap beside its control, by direction and by label."""
  what = own['flips'].get('of', 'words that show a group')
  rows = [{'edit': f'swap of {what}', 'value': own['flips']}]
  if own['control_flips']['value'] is not None:
    rows.append({'edit': 'control: other words', 'value': own['control_flips']})
  for key, words in (
    ('flips_up', 'swap, to positive'),
    ('flips_down', 'swap, to negative'),
    ('flips_positive', 'swap, rows labelled positive'),
    ('flips_negative', 'swap, rows labelled negative'),
  ):
    if own.get(key, {}).get('value') is not None:
      rows.append({'edit': words, 'value': own[key]})
  return results.figure(
    'wordings',
    f'flips_{name}',
    f'Decisions that change under the swap {name!r} and under an edit of as '
    'many words that show no group.',
    rows=rows,
  )


def _carriers(words: Sequence[Mapping], sure: Sequence[Mapping]) -> list[dict]:
  """The words that carry the flips, or that none is shown to."""
  if sure:
    return [
      results.table(
        [_word(w) for w in sure[:WORST]],
        caption=f'Words that carry it ({len(sure)} of {len(words)} at a false '
        f'discovery rate of {significance.SURE:.0%})',
      )
    ]
  if words:
    return [
      results.text(
        f'None of {len(words)} words flips decisions more than the control '
        f'does, at a false discovery rate of {significance.SURE:.0%}.'
      )
    ]
  return []


def _every_word(words: Sequence[Mapping], sure: Sequence[Mapping]) -> list:
  if len(words) == len(sure):
    return []
  return [results.table([_word(w) for w in words], caption='Every word')]


def _numbers(name: str, own: Mapping, edits, focus: Measured) -> list[dict]:
  """The measures of a swap, what it edits, how well, how far scores move."""
  rows = [
    {'measure': measures.label(k), 'name': k, 'value': own[k]}
    for k in flips.NAMES
    if k in own
  ]
  facts = [{'fact': k, 'value': v} for k, v in edits.facts.items()]
  parts = [
    results.table(rows, caption=f'Measures of the swap {name}'),
    results.table(facts, caption='The swap itself'),
  ]
  if name in ('gender', 'neutral'):
    parts.append(results.text(PRECISION, kind='quiet'))
  quantiles = focus.quantiles[name]
  if quantiles:
    caption = 'Quantiles of the change of score'
    parts.append(results.table(quantiles, caption=caption))
  return parts


def _word(one: Mapping) -> dict:
  return {
    'word': one['word'],
    'rows': one['rows'],
    'flips': f'{one["flips"]:.0%}',
    'control': ''
    if one['control flips'] is None
    else f'{one["control flips"]:.0%}',
    **(
      {'mean change of score': one['mean change of score']}
      if 'mean change of score' in one
      else {}
    ),
    'adjusted p': one['adjusted'],
  }


def _by_wording(own: Mapping) -> list[dict]:
  rows = []
  for key, label in (('fprd', 'negative'), ('tprd', 'positive')):
    one = own[key]
    if one.get('female') is None:
      continue
    rows.append(
      {
        'rows labelled': label,
        'how many': one['rows'],
        'decided positive, female wording': f'{one["female"]:.1%}',
        'male wording': f'{one["male"]:.1%}',
        f'difference ({key})': {k: one[k] for k in ('value', 'low', 'high')},
      }
    )
  if not rows:
    return []
  plain = []
  for row in rows:
    key = next(k for k in row if k.startswith('difference'))
    plain.append({**row, 'difference': row.pop(key)})
  for row in plain:
    for key in [k for k in row if k.startswith('difference (')]:
      del row[key]
  return [
    results.table(
      plain, caption='The same texts in either wording (FPRD, TPRD)'
    )
  ]


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
  binary = focus.scores.ndim == 2
  names = list(classes) or ['negative', 'positive']
  positive = config.measures.pos_label
  out = []
  for row in rows[: config.audit.examples]:
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
