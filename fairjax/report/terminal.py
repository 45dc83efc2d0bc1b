"""What leads, in a terminal of 80 columns."""

import textwrap
from collections.abc import Mapping

from fairjax.metrics import measures
from fairjax.report import names, tables, verdict, words
from fairjax.report.measured import side_by_side, warnings
from fairjax.report.tables import markdown, plural, printable
from fairjax.results import Results

WIDTH = 80
MOST = 7  # claims, warnings, notes


def summary(results: Results) -> str:
  """What a run found, as aligned markdown."""
  data = '' if results.data == 'file' and results.model else results.data
  first = data or (not results.model and (results.title or 'run'))
  title = [first, names.named(results.model)]
  title += [plural(len(results.seeds), 'seed')] if results.seeds else []
  if len(results.classes) == 2 and results.sets:
    title.append(f'positive: {results.classes[results.pos_label]}')
  out = ['## ' + ' · '.join(printable(t) for t in title if t)]
  if sentences := words.lines(results):
    out.append('\n'.join(textwrap.fill(printable(x), WIDTH) for x in sentences))
  claims = verdict.settled(results)
  named = (_claim(c) for c in claims if c['family'] == verdict.PRIMARY)
  out += _listed('Claims', named)
  if len(results.contenders) > 1:
    for name in results.set_names():
      rows = side_by_side(results, name)
      head = f'### {printable(name)}: contenders'
      out += [f'{head}\n\n{markdown(rows)}'] * bool(rows)
  else:
    out += _measures(results)
  for section in results.sections:
    shown = [part for part in section['parts'] if part.get('screen')]
    out += [f'### {printable(section["heading"])}'] * bool(shown)
    out += [markdown(p['rows'], p.get('columns')) for p in shown]
  if rows := [{'fact': k, 'value': v} for k, v in results.facts.items()]:
    out.append('### Facts\n\n' + markdown(rows))
  out += _listed('Warnings', map(_item, warnings(results)))
  notes = [*results.notes, *warnings(results, 'notes')]
  return '\n\n'.join([*out, *_listed('Notes', map(_item, notes))]) + '\n'


def _measures(results: Results) -> list[str]:
  """A table a set of what leads."""
  out = []
  for name, one in results.sets.items():
    estimates = {**one.get('quality', {}), **one.get('fairness', {})}
    keys = [k for k in measures.leading(estimates) if not measures.is_rate(k)]
    keys = keys or list(measures.in_order(estimates))
    of = lambda k: tables.of_measure(k, estimates[k])
    rows = [{'measure': _named(results, k), 'value': of(k)} for k in keys]
    head = f'{plural(one["rows"], "row")} of {name}' if 'rows' in one else name
    out += [f'### {printable(head)}'] + [markdown(rows)] * bool(rows)
  return out


def _named(results: Results, key: str) -> str:
  """What people call a measure, and our name, on half a line."""
  room = WIDTH - 39 - len(key)
  label = words.label(results, key)
  if label.casefold() == key:
    return label
  return f'{label if len(label) <= room else label[: room - 1] + "…"} ({key})'


def _listed(title: str, items) -> list[str]:
  """The first of many, and how many more the page has."""
  items = list(items)
  more = [f'{len(items) - MOST} more on the page'] * (len(items) > MOST)
  return [f'{title}:\n' + '\n'.join([*items[:MOST], *more])] if items else []


def _item(line: str, first: str = '- ') -> str:
  """Lines of a terminal, further down as far in as the first words reach."""
  return textwrap.fill(
    printable(line),
    WIDTH,
    initial_indent=first,
    subsequent_indent=' ' * len(first),
    break_on_hyphens=False,
  )


def _claim(claim: Mapping) -> str:
  """The verdict, the claim, and the number that it rests on."""
  p = tables.p_value({**claim, 'p': claim.get('adjusted')})
  line = f'{claim["claim"]}: {words.number_of(claim)}, p {p}'
  return _item(line, f'{claim["verdict"]:14}  ')
