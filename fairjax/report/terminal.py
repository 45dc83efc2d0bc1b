"""Results in a terminal of 80 columns."""

import textwrap
from collections.abc import Mapping, Sequence

from fairjax.metrics import measures
from fairjax.report import tables, verdict
from fairjax.report.measured import side_by_side, warnings
from fairjax.report.tables import markdown, plural, printable
from fairjax.report.words import lines, number_of
from fairjax.results import Results

WIDTH = 80
SHORT = 6  # warnings below an audit
MOST = 40  # rows of a table of tests; of more, those that lead


def summary(results: Results) -> str:
  """What a run found, as aligned markdown."""
  data = '' if results.data == 'file' and results.model else results.data
  title = [data or (not results.model and 'run'), results.model]
  title += [plural(len(results.seeds), 'seed')] if results.seeds else []
  if results.positive and results.sets:
    title.append(f'positive = {results.positive}')
  parts = ['## ' + ' · '.join(printable(t) for t in title if t)]
  if said := lines(results):
    parts.append('\n'.join(textwrap.fill(printable(x), WIDTH) for x in said))
  if results.recipe == 'audit':
    parts += _audit(results)
    return '\n\n'.join([*parts, *_remarks(results, SHORT)]) + '\n'
  if claims := verdict.settled(results):
    parts.append('### Claims\n\n' + '\n'.join(map(_claim, claims)))
  if len(results.contenders) > 1:
    for name in results.set_names():
      if rows := side_by_side(results, name):
        parts.append(f'### {printable(name)}: contenders\n\n{markdown(rows)}')
  for title, rows in tables.differences(results.tests).items():
    few = _few(rows)
    parts.append(f'### {printable(title)}\n\n{markdown(few)}')
    if len(few) < len(rows):
      parts.append(f'{len(rows) - len(few)} more rows are on the page.')
  for name, one in results.sets.items():
    parts += _of_set(name, one)
  for section in results.sections:
    screen_parts = [part for part in section['parts'] if part.get('screen')]
    parts += [f'### {printable(section["heading"])}'] * bool(screen_parts)
    parts += [markdown(p['rows'], p.get('columns')) for p in screen_parts]
  if results.facts:
    rows = [{'fact': k, 'value': v} for k, v in results.facts.items()]
    parts.append('### Facts\n\n' + markdown(rows))
  return '\n\n'.join([*parts, *_remarks(results)]) + '\n'


def _audit(results: Results) -> list[str]:
  """One table below the answer: what leads; the page has the rest."""
  several = len(results.contenders) > 1
  names = results.set_names() if several else []
  out = [markdown(side_by_side(results, name)) for name in names]
  for name, one in () if several else results.sets.items():
    estimates = {**one.get('quality', {}), **one.get('fairness', {})}
    keys = [k for k in measures.leading(estimates) if not measures.is_rate(k)]
    rows = [{'measure': _named(key), 'value': estimates[key]} for key in keys]
    head = f'{plural(one["rows"], "row")} of {name}' if 'rows' in one else name
    out += [printable(head), markdown(rows)] if rows else []
  gate = {k: v for k, v in results.facts.items() if k.startswith('gate')}
  return out + ['\n'.join(_item(f'{k}: {v}') for k, v in gate.items())] * bool(
    gate
  )


def _named(key: str) -> str:
  """What people call a measure, and our name, on half a line."""
  room = WIDTH - 39 - len(key)
  label = measures.label(key)
  return f'{label if len(label) <= room else label[: room - 1] + "…"} ({key})'


def _remarks(results: Results, most: int | None = None) -> list[str]:
  """Warnings and notes; of many the first, and how many the page has more."""

  def leading(told: Sequence[str]) -> list[str]:
    if most is None or len(told) <= most:
      return list(told)
    return [*told[:most], f'{len(told) - most} more on the page']

  return [
    f'{title}:\n' + '\n'.join(_item(line) for line in leading(told))
    for title, told in (
      ('Warnings', warnings(results)),
      ('Notes', [*results.notes, *warnings(results, 'notes')]),
    )
    if told
  ]


def _item(line: str) -> str:
  return textwrap.fill(
    printable(line),
    WIDTH,
    initial_indent='- ',
    subsequent_indent='  ',
    break_on_hyphens=False,
  )


def _claim(claim: Mapping) -> str:
  """The verdict, the claim, and the number that it rests on."""
  p = f', p {tables.p_value(claim)}' if claim['p'] is not None else ''
  return textwrap.fill(
    printable(f'{claim["claim"]}: {number_of(claim)}{p}'),
    WIDTH,
    initial_indent=f'{claim["verdict"]:14}  ',
    subsequent_indent=' ' * 16,
    break_on_hyphens=False,
  )


def _few(rows: Sequence[Mapping]) -> Sequence[Mapping]:
  """Rows of a long table: of pictured measures, of leading ones, or the first.

  Measures that no row of it has would leave a table of nothing.
  """
  if len(rows) <= MOST:
    return rows
  names = {row['measure'] for row in rows}
  for pictured in (True, False):
    chosen = measures.leading(names, pictured=pictured)
    few = [row for row in rows if row['measure'] in chosen]
    if few:
      return few
  return rows[:MOST]


def _of_set(name: str, one: Mapping) -> list[str]:
  head = [plural(one['rows'], 'row')] if 'rows' in one else []
  if one.get('threshold') is not None:
    head.append(f'threshold {tables.limits(one["threshold"])}')
  parts = [f'### {printable(name)}: ' + ', '.join(head)]
  own, more = tables.split_aggregates(one.get('fairness', {}))
  for title, values in (('quality', one.get('quality', {})), ('fairness', own)):
    if values:
      parts.append(markdown(tables.measure_rows(values, title)))
  if one.get('groups'):
    rows = tables.group_rows(one['groups'])
    keys = measures.leading(key for row in rows for key in row)
    leading = list(filter(measures.is_rate, keys))
    parts.append(
      markdown(rows, ['group', 'rows', *leading] if leading else None)
    )
  if more:
    parts.append('The report and results.json hold more rates and gaps.')
  return parts
