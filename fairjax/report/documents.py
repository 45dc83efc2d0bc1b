"""Exports of a page: csv, LaTeX, json, a model card, and what
regulators ask to be documented.

Everything is made of results.json; the files lie in documents/ and, embedded,
behind the page's links. What only the user can say is left empty, by name.
"""

import base64
import json
import os
import pathlib
import re
from collections.abc import Mapping, Sequence

from fairjax.core import artefacts, escape
from fairjax.core.escape import tex
from fairjax.metrics import measures
from fairjax.report import tables
from fairjax.report.tables import defined, printable
from fairjax.results import FILE, Results, plain

FOLDER = 'documents'
LARGEST = 400_000  # bytes of a document that is embedded in the page
# Documents that not every run has.
OURS = re.compile(r'groups\.tex|tests\.csv|\d\d+_\w{1,40}\.csv')
EMPTY = '(to be filled in by the provider)'
KINDS = {
  '.csv': 'text/csv',
  '.tex': 'application/x-tex',
  '.md': 'text/markdown',
  '.json': 'application/json',
}


def of(results: Results) -> dict[str, str]:
  """{file name: its text}."""
  out = {
    'numbers.csv': numbers(results),
    'measures.tex': latex(results),
    FILE: json.dumps(plain(results), ensure_ascii=False),
    'model_card.md': card(results),
  }
  groups = group_table(results)
  if groups:
    out['groups.tex'] = groups
  if results.tests:
    out['tests.csv'] = escape.csv(
      [
        {k: t[k] for k in ('set', 'ours', 'theirs', 'measure')}
        | {k: t['difference'].get(k) for k in ('value', 'low', 'high')}
        | {k: t.get(k) for k in ('p', 'p_at_floor', 'p_adjusted', 'test')}
        for t in results.tests
      ]
    )
  for k, (title, rows) in enumerate(_tables(results.sections), 1):
    name = re.sub(r'\W+', '_', title.lower()).strip('_')[:40] or 'table'
    out[f'{k:02}_{name}.csv'] = escape.csv(list(map(_flat, rows)))
  return out


def publish(folder: str | os.PathLike, results: Results) -> dict[str, str]:
  """Writes the documents of a run; returns them.

  Those of an earlier run in the folder that this one has not go.
  """
  every = of(results)
  place = pathlib.Path(folder) / FOLDER
  for path in place.glob('*'):
    if OURS.fullmatch(path.name) and path.name not in every:
      artefacts.remove_file(path)
  for name, text in every.items():
    if name != FILE:  # it lies in the folder itself
      artefacts.write_text(place / name, text)
  return every


def links(documents: Mapping[str, str]) -> str:
  """Links that hold the documents themselves: no server, no network."""
  items = []
  for name, text in documents.items():
    raw = text.encode()
    kind = KINDS[pathlib.Path(name).suffix]
    if len(raw) > LARGEST:
      words = escape.html(f'{name} is in {FOLDER}/')
      items.append(f'<li>{words}</li>')
      continue
    data = base64.b64encode(raw).decode()
    items.append(
      f'<li><a download="{escape.html(name)}" '
      f'href="data:{kind};base64,{data}">{escape.html(name)}</a></li>'
    )
  return f'<ul class="downloads">{"".join(items)}</ul>'


def numbers(results: Results) -> str:
  """Every number, one a line, as `Results.to_frame`."""
  return escape.csv(results.to_frame())


def _tables(sections: Sequence[Mapping]) -> list[tuple[str, list]]:
  """(title, rows) of every table of the sections, folded ones too."""
  out = []

  def walk(title: str, parts: Sequence[Mapping]) -> None:
    for part in parts:
      if part['part'] == 'table':
        out.append((part.get('caption') or title, part['rows']))
      elif part['part'] == 'fold':
        walk(part['title'], part['parts'])

  for section in sections:
    walk(section['heading'], section['parts'])
  return out


def _flat(row: Mapping) -> dict:
  """A row with an Estimate as three cells."""
  out = {}
  for key, value in row.items():
    if tables.is_estimate(value):
      out[key] = value['value']
      out |= {f'{key}, {end}': value.get(end) for end in ('low', 'high')}
    else:
      out[key] = value
  return out


def _cell(value: Mapping) -> str:
  if not defined(value):
    return '--'
  middle = f'{value["value"]:.3f}'
  if not (defined(value.get('low')) and defined(value.get('high'))):
    return middle
  return f'{middle} [{value["low"]:.3f}, {value["high"]:.3f}]'


def _booktabs(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
  columns = 'l' + 'r' * (len(heads) - 1)
  lines = [
    '% \\usepackage{booktabs}',
    f'\\begin{{tabular}}{{{columns}}}',
    '\\toprule',
    ' & '.join(map(tex, heads)) + r' \\',
    '\\midrule',
    *(' & '.join(row) + r' \\' for row in rows),
    '\\bottomrule',
    '\\end{tabular}',
  ]
  return '\n'.join(lines) + '\n'


def latex(results: Results) -> str:
  """The leading measures of every contender and set, as a booktabs table."""
  out = []
  for name in results.set_names():
    measured = {c: results.measured(c, name) for c in results.contenders}
    keys = measures.leading(k for one in measured.values() for k in one)
    keys = [k for k in keys if not measures.is_rate(k)]
    rows = [
      [tex(_title(key))]
      + [_cell(one[key]) if key in one else '--' for one in measured.values()]
      for key in keys
    ]
    out.append(f'% {printable(name)}\n' + _booktabs(['', *measured], rows))
  return '\n'.join(out)


def _title(key: str) -> str:
  prefix = f'{key.rpartition("/")[0]}: ' if '/' in key else ''
  return f'{prefix}{measures.label(key)}'


def group_table(results: Results) -> str:
  """The rates of every group, as a booktabs table."""
  out = []
  for name, one in results.sets.items():
    groups = one.get('groups') or {}
    keys = [
      k
      for k in ('selection_rate', 'fpr', 'fnr', 'accuracy', 'flips')
      if any(tables.is_estimate(g.get(k)) for g in groups.values())
    ]
    if keys:
      rows = [
        [tex(g), str(values.get('rows', ''))]
        + [_cell(values[k]) if k in values else '--' for k in keys]
        for g, values in groups.items()
      ]
      heads = ['group', 'rows', *(measures.label(k) for k in keys)]
      out.append(f'% {printable(name)}\n' + _booktabs(heads, rows))
  return '\n'.join(out)


def card(results: Results) -> str:
  """A model card: Hugging Face's model-index, and what is known in words."""
  name = results.focus or results.model or 'model'
  lines = ['---', 'model-index:', f'- name: {json.dumps(printable(name))}']
  lines.append('  results:')
  for set_name, one in results.sets.items():
    every = {**one.get('quality', {}), **one.get('fairness', {})}
    keys = [k for k in measures.leading(every) if defined(every[k])]
    if not keys:
      continue
    lines += [
      '  - task:',
      '      type: text-classification',
      '    dataset:',
      f'      name: {json.dumps(printable(set_name))}',
      f'      type: {json.dumps(printable(results.data or set_name))}',
      '    metrics:',
    ]
    for key in keys:
      lines += [
        f'    - type: {json.dumps(key)}',
        f'      name: {json.dumps(_title(key))}',
        f'      value: {every[key]["value"]:.6g}',
      ]
      low, high = every[key].get('low'), every[key].get('high')
      if defined(low) and defined(high):
        lines += [
          '      args:',
          f'        interval: [{low:.6g}, {high:.6g}]',
          f'        level: {results.level:g}',
        ]
  lines += ['---', '', f'# {escape.markdown(name)}', '']
  for title, about, words in documentation(results):
    lines += [f'## {title}', '']
    if about:
      lines += [f'({about})', '']
    lines += [escape.markdown(words), '']
  return '\n'.join(lines)


def _weighted(one: Mapping) -> str:
  if 'effective_rows' not in one:
    return ''
  return f', weighted: as sure as {one["effective_rows"]:,.0f}'


def _adjusted(results: Results) -> bool:
  """Whether p values of its paired tests were adjusted: measures.adjust."""
  return any(test.get('p_adjusted') is not None for test in results.tests)


def documentation(results: Results) -> list[tuple[str, str, str]]:
  """(what is asked, where, what is known); what only users know is empty."""
  data, groups, numbers, warnings = [], [], [], []
  for name, one in results.sets.items():
    if 'rows' in one:
      data.append(
        f'{name}: {tables.plural(one["rows"], "row")}{_weighted(one)}'
      )
    groups += [
      f'{g} ({v["rows"]:,} rows{_weighted(v)})' if 'rows' in v else g
      for g, v in (one.get('groups') or {}).items()
    ]
    every = {**one.get('quality', {}), **one.get('fairness', {})}
    numbers += [
      f'{_title(k)} ({k}): {tables.estimate(every[k])}'
      for k in measures.leading(every)
      if not measures.is_rate(k)
    ]
    warnings += one.get('warnings', []) + one.get('notes', [])
  facts = '; '.join(f'{k}: {tables.cell(v)}' for k, v in results.facts.items())
  act = 'EU AI Act'
  return [
    ('Intended use', f'{act} Art. 13', EMPTY),
    ('Who is affected, and how errors harm them', f'{act} Art. 9', EMPTY),
    (
      'Data',
      f'{act} Art. 10: origin, collection, examination for biases',
      f'Assessed on {"; ".join(data) or "(nothing)"}. {facts} Origin and '
      f'collection: {EMPTY}',
    ),
    (
      'Groups',
      f'{act} Art. 10 (2) (f), (g)',
      ', '.join(groups) or 'no groups were compared',
    ),
    (
      'Accuracy and fairness',
      f'{act} Art. 15: levels of accuracy and the metrics used',
      '; '.join(numbers) or '(nothing was measured)',
    ),
    (
      'How sure this is',
      f'{act} Art. 15',
      f'{tables.percent(results.level)} intervals over examples'
      + (' and seeds' if len(results.seeds) > 1 else '')
      + ' (Bayesian bootstrap).'
      + ' P values are adjusted for their number.' * _adjusted(results),
    ),
    (
      'Known limits',
      f'{act} Art. 13 (3) (b), Art. 15',
      ' '.join([*warnings, *results.notes])
      or 'No warning was raised. The numbers hold for data like these.',
    ),
    ('Measures taken against bias', f'{act} Art. 10 (2) (g)', EMPTY),
    ('Human oversight and contact', f'{act} Art. 14', EMPTY),
  ]
