"""Tables for a terminal (markdown) and for a page (html).

A table is a list of dicts, one a row. A cell is a text, a number, or an
Estimate: {'value', 'low', 'high', 'seeds', 'note'?}, written
`0.842 [0.811, 0.870]`; an undefined one says so and why. A `mark`, such as a
dagger, stands behind it.
"""

import collections
import math
import numbers
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from fairjax.core.escape import printable as printable
from fairjax.metrics import measures
from fairjax.metrics.inference import estimates, significance

Table = Sequence[Mapping[str, Any]]
Columns = Sequence[str] | Mapping[str, str] | None

BOUND = re.compile(r'[<≤] [\d.e-]+|[\d.]+(e-\d+)?')  # a p value in print
NOTHING = 1e-5  # sizes of differences below which none is shown
SENTENCE = 34  # characters of a first cell that no narrow column has room for
P = 'p', 'p, adjusted', 'p (Holm)'  # headings of p values
LONGEST = 30, 43  # characters on a terminal: of the first cell, of others


def is_estimate(value: Any) -> TypeGuard[Mapping[str, Any]]:
  return isinstance(value, Mapping) and 'value' in value


def defined(value: Any) -> TypeGuard[Any]:
  """True for a number, or an Estimate with one."""
  if is_estimate(value):
    value = value['value']
  if isinstance(value, bool) or not isinstance(value, numbers.Real):
    return False
  return not math.isnan(value)


def has_ends(value: Mapping[str, Any]) -> bool:
  return all(defined(value.get(end)) for end in ('low', 'high'))


def decimals(*values: float) -> int:
  """Digits behind the point that suit the largest of `values`."""
  size = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
  if size >= 100:
    return 1
  if size >= 0.01 or size == 0:
    return 3
  return min(2 - math.floor(math.log10(size)) - 1, 9)


def number(value: float, digits: int | None = None) -> str:
  if math.isinf(value):
    return '∞' if value > 0 else '-∞'
  if isinstance(value, int) or (digits is None and value == int(value)):
    return f'{int(value):,}'
  digits = decimals(value) if digits is None else digits
  if value and abs(value) < 1e-6:
    return f'{value:.1e}'
  text = f'{value:,.{digits}f}'
  return text.lstrip('-') if float(text.replace(',', '')) == 0 else text


def percent(share: float) -> str:
  """A share that somebody chose, with all of its digits: '99.9%', '95%'."""
  return f'{100 * share:.10g}%'


def estimate(value: Mapping[str, Any]) -> str:
  """`0.842 [0.811, 0.870]`, `0.842`, or `undefined`; without its note."""
  if not defined(value):
    return 'undefined'
  middle, low, high = value['value'], value.get('low'), value.get('high')
  # What rounding leaves of no difference is none.
  if all(abs(v) < NOTHING for v in (middle, low, high) if defined(v)):
    middle = 0.0
    low, high = (0.0 if defined(v) else v for v in (low, high))
  if not has_ends(value):
    return number(float(middle), value.get('digits') or decimals(middle))
  digits = value.get('digits') or decimals(middle, low, high)
  if why := estimates.too_wide(value):
    return f'{number(float(middle), digits)} ({why})'
  low, high = (number(float(v), digits) for v in (low, high))
  return f'{number(float(middle), digits)} [{low}, {high}]'


of_measure = measures.in_print


def cell(value: Any) -> str:
  """One line of text for any value of a cell."""
  if is_estimate(value):
    return estimate(value) + printable(value.get('mark', ''))
  if value is None or (isinstance(value, float) and math.isnan(value)):
    return '–'
  if isinstance(value, bool):
    return 'yes' if value else 'no'
  if isinstance(value, Mapping):
    return '; '.join(f'{printable(k)}: {cell(v)}' for k, v in value.items())
  if isinstance(value, list | tuple):
    return ', '.join(cell(v) for v in value)
  if isinstance(value, str):
    return printable(value)
  return number(value.item() if hasattr(value, 'item') else value)


def limits(threshold: Any) -> str:
  """A decision threshold: a number, one a seed, or the name of a rule."""
  if isinstance(threshold, list | tuple):
    return ', '.join(map(limits, threshold))
  return f'{threshold:.4g}' if defined(threshold) else printable(threshold)


def _headings(rows: Table, columns: Columns) -> dict[str, str]:
  """{key: heading}; all keys in order of appearance where none are given."""
  if isinstance(columns, Mapping):
    return {key: printable(heading) for key, heading in columns.items()}
  every = (key for row in rows for key in row)
  keys = every if columns is None else columns
  return {key: printable(key) for key in keys}


def _printed(rows: Table, headings: Mapping[str, str]) -> Table:
  """Shares in percent and p values as bounds, where a heading says so."""
  out = [dict(row) for row in rows]
  for row in out:
    for key, heading in headings.items():
      value = row.get(key)
      if heading.endswith(', %') and defined(value):
        row[key] = f'{100 * value:.1f}'
      elif heading in P and key in row and not isinstance(value, str):
        row[key] = p_value({**row, 'p': value})
  return out


def _numeric(rows: Table, key: str) -> bool:
  """True if a column holds numbers only, which stand to the right."""
  values = [row[key] for row in rows if row.get(key) not in (None, '', '–')]
  return bool(values) and all(
    is_estimate(v)
    or defined(v)
    or (isinstance(v, str) and BOUND.fullmatch(v) is not None)
    for v in values
  )


def _width(text: str) -> int:
  """Columns of a terminal that `text` takes."""
  shown = (c for c in text if not unicodedata.combining(c))
  return sum(1 + (unicodedata.east_asian_width(c) in 'WF') for c in shown)


def _pad(text: str, width: int, right: bool) -> str:
  space = ' ' * (width - _width(text))
  return space + text if right else text + space


def _blocks(widths: list[int], width: int, body: list) -> list[list[int]]:
  """Columns of each stacked table: all within `width`, the first in each.

  With it those without which it would name several rows, where there is room.
  """
  size = lambda block: 1 + sum(widths[k] + 3 for k in block)
  apart = lambda ks: len({tuple(r[k] for k in ks) for r in body}) == len(body)
  every = range(len(widths))
  first = [*next(filter(apart, map(range, every[1:])), [0])]
  for k in first[1:]:  # without those that the others make needless
    less = [j for j in first if j != k]
    first = less if apart(less) else first
  rest = [k for k in every if k not in first]
  if max((size([*first, k]) for k in rest), default=0) > width:
    first, rest = [0], [*every[1:]]
  blocks = [first]
  for k in rest:
    if size([*blocks[-1], k]) > width and blocks[-1] != first:
      blocks.append(first)
    blocks[-1] = [*blocks[-1], k]
  return blocks


def markdown(rows: Table, columns: Columns = None, width: int = 80) -> str:
  """An aligned markdown table.

  Wider ones become stacked tables that repeat the first column. The notes of
  Estimates stand below, numbered.
  """
  headings = _headings(rows, columns)
  if not rows or not headings:
    return '(no rows)'
  rows = _printed(rows, headings)
  notes: dict[str, int] = {}

  def show(value: Any, key: str, cut: bool = True) -> str:
    text = cell(value).replace('|', '\\|')
    longest = LONGEST[key != keys[0]]
    if cut and len(text) > longest:
      text = text[: longest - 1].rstrip('\\') + '…'
    if is_estimate(value) and value.get('note'):
      mark = notes.setdefault(printable(value['note']), len(notes) + 1)
      text += f' ({mark})'
    return text

  keys = list(headings)
  right = [_numeric(rows, key) for key in keys]
  heads = [headings[key].replace('|', '\\|') for key in keys]
  # Cells are cut where the table has no room for them.
  for cut in (False, True):
    body = [[show(row.get(key, ''), key, cut) for key in keys] for row in rows]
    widths = [max(3, *map(_width, column)) for column in zip(heads, *body)]
    if sum(widths) + 3 * len(widths) + 1 <= width:
      break
  tables = []
  for block in _blocks(widths, width, body):
    lines = [
      [_pad(row[k], widths[k], right[k]) for k in block]
      for row in (heads, *body)
    ]
    rule = ['-' * (widths[k] - right[k]) + ':' * right[k] for k in block]
    lines.insert(1, rule)
    tables.append('\n'.join(f'| {" | ".join(line)} |' for line in lines))
  if notes:
    tables.append('\n'.join(f'({k}) {note}' for note, k in notes.items()))
  return '\n\n'.join(tables)


def view(
  rows: Table, columns: Columns = None, about: Mapping[str, str] | None = None
) -> dict[str, Any]:
  """A table as a page's template shows it.

  `about` explains first cells: {cell: words below it}. A note of one Estimate
  stands in its cell, that of several once below the table. Where first cells
  are sentences, the others stand below them on a narrow screen, each behind its
  heading.
  """
  headings = _headings(rows, columns)
  if not rows or not headings:
    return {'rows': []}
  rows, first = _printed(rows, headings), next(iter(headings))
  shared = _shared_notes(rows, headings)

  def show(key: str, value: Any) -> dict[str, Any]:
    note = (value.get('note') if is_estimate(value) else '') or ''
    return {
      'text': cell(value),
      'mark': shared.get(note, ''),
      'note': note,
      'about': about.get(value, '') if about and key == first else '',
    }

  longest = max(len(cell(row.get(first, ''))) for row in rows)
  return {
    'heads': [
      {'text': heading, 'right': _numeric(rows, key)}
      for key, heading in headings.items()
    ],
    'rows': [[show(k, row.get(k, '')) for k in headings] for row in rows],
    'stacked': bool(about) or (longest > SENTENCE and len(headings) > 2),
    'notes': [*shared],
  }


def _shared_notes(rows: Table, keys: Iterable[str]) -> dict[str, int]:
  """{note: its number} of those that stand in more than one cell."""
  values = [row.get(key) for row in rows for key in keys]
  notes = collections.Counter(
    value['note']
    for value in values
    if is_estimate(value) and value.get('note')
  )
  several = (note for note, times in notes.items() if times > 1)
  return {note: k for k, note in enumerate(several, 1)}


def split_aggregates(
  fairness: Mapping[str, Any],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
  """The measures that stand for themselves, and the rates' aggregates.

  Those are named `{rate}_difference`, `_ratio`, `_min` and `_max`, and become
  one row a rate.
  """
  own: dict[str, Any] = {}
  rows: dict[str, dict[str, Any]] = {}
  for name, value in fairness.items():
    rate, _, kind = name.rpartition('_')
    if rate and kind in ('difference', 'ratio', 'min', 'max'):
      rows.setdefault(rate, {'rate': rate})[kind] = value
    else:
      own[name] = value
  return own, list(rows.values())


def plural(count: int, noun: str) -> str:
  """`1 seed`, `1,200 seeds`."""
  return f'{count:,} {noun}{"s" * (count != 1)}'


def p_value(test: Mapping[str, Any]) -> str:
  """p, or that it is a bound, where no smaller one could have come out."""
  return significance.p_text(test) if defined(test['p']) else '–'


def test_row(test: Mapping, first: Iterable, rest: Iterable) -> dict:
  """A paired test as one row: its difference, between other of its facts."""
  ends = {k: test['difference'].get(k) for k in ('value', 'low', 'high')}
  return {k: test[k] for k in first} | ends | {k: test.get(k) for k in rest}


def differences(tests: Sequence[Mapping[str, Any]]) -> dict[str, list[dict]]:
  """{title: rows}: the tests of one measure on a set in one row.

  The title names the set and the side that all rows share, so that a row is
  narrow: the other contender, the measure, the difference and the p values.
  """
  one_base = len({test['theirs'] for test in tests}) == 1
  shared, own = ('theirs', 'ours') if one_base else ('ours', 'theirs')
  out: dict[str, dict[tuple, dict]] = {}
  order = measures.in_order({test['measure']: 0 for test in tests})
  pairs = list(dict.fromkeys((t['ours'], t['theirs']) for t in tests))
  place = lambda t: pairs.index((t['ours'], t['theirs']))
  for test in sorted(
    tests, key=lambda t: (place(t), order.index(t['measure']))
  ):
    base = test[shared]
    pair = f'differences to {base}' if one_base else f'{base} minus the others'
    head = 'contender' if one_base else 'minus'
    rows = out.setdefault(f'{test["set"]}: {pair}', {})
    row = rows.setdefault((test[own], test['measure']), {head: test[own]})
    if 'measure' not in row:
      row['measure'] = test['measure']
      row['difference'] = of_measure(row['measure'], test['difference'])
      row['p'] = p_value(test)
      if test.get('p_adjusted') is not None:
        row['adjusted'] = p_value({**test, 'p': test['p_adjusted']})
    else:
      row['p, seeds'] = p_value(test)
  return {title: list(rows.values()) for title, rows in out.items()}
