"""Exports of a page: csv, LaTeX, json, a model card, bias scenarios.

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
from fairjax.metrics import measures
from fairjax.report import measured, render, scenarios, tables, words
from fairjax.report.tables import defined
from fairjax.results import FILE, Results, plain

FOLDER = 'documents'
LARGEST = 400_000  # bytes of a document that is embedded in the page
# Documents that not every run has.
OURS = re.compile(
  r'impact_ratio\.csv|bias_scenarios\.(json|md)|groups\.tex|tests\.csv|'
  r'\d\d+_\w{1,40}\.csv'
)
KINDS = {
  **{'.csv': 'text/csv', '.tex': 'application/x-tex', '.md': 'text/markdown'},
  '.json': 'application/json',
}


def texts(results: Results) -> dict[str, str]:
  """{file name: its text}."""
  out = {
    'numbers.csv': escape.csv(results.to_frame()),
    'measures.tex': latex(results),
    FILE: json.dumps(plain(results), ensure_ascii=False),
    'model_card.md': card(results),
  }
  out |= scenarios.documents(results)
  if groups := group_table(results):
    out['groups.tex'] = groups
  if results.tests:
    first = 'set', 'ours', 'theirs', 'measure'
    rest = 'p', 'p_at_floor', 'p_adjusted', 'test'
    rows = [tables.test_row(t, first, rest) for t in results.tests]
    out['tests.csv'] = escape.csv(rows)
  for k, (title, rows) in enumerate(_tables(results.sections), 1):
    name = re.sub(r'\W+', '_', title.lower()).strip('_')[:40] or 'table'
    file = name if title == words.IMPACT else f'{k:02}_{name}'
    out[f'{file}.csv'] = escape.csv(list(map(_flat, rows)))
  return out


def publish(folder: str | os.PathLike, results: Results) -> dict[str, str]:
  """Writes the documents of a run; returns them.

  Those of an earlier run in the folder that this one has not go.
  """
  every = texts(results)
  place = pathlib.Path(folder) / FOLDER
  for path in place.glob('*'):
    if OURS.fullmatch(path.name) and path.name not in every:
      artefacts.remove_file(path)
  for name, text in every.items():
    if name != FILE:  # it lies in the folder itself
      artefacts.write_text(place / name, text)
  return every


def links(documents: Mapping[str, str]) -> dict:
  """Links that hold the documents themselves: no server, no network."""
  files = []
  for name, text in documents.items():
    raw, kind = text.encode(), KINDS[pathlib.Path(name).suffix]
    data = f'data:{kind};base64,{base64.b64encode(raw).decode()}'
    files.append({'name': name, 'data': data if len(raw) <= LARGEST else ''})
  return {'part': 'downloads', 'files': files, 'folder': FOLDER}


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
    ends = ('low', 'high') if tables.is_estimate(value) else ()
    out[key] = value['value'] if ends else value
    out |= {f'{key}, {end}': value.get(end) for end in ends}
  return out


def _cell(value: Mapping | None) -> str:
  if not defined(value):
    return '--'
  return tables.estimate({**value, 'digits': 3})


def latex(results: Results) -> str:
  """The leading measures of every contender and set, as a booktabs table."""
  out = []
  for name in results.set_names():
    each = {c: results.measured(c, name) for c in results.contenders}
    keys = measures.leading(k for one in each.values() for k in one)
    rows = [
      [measured.heading(key), *(_cell(one.get(key)) for one in each.values())]
      for key in keys
      if not measures.is_rate(key)
    ]
    out.append({'title': name, 'heads': ['', *each], 'rows': rows})
  return render.template('tables.tex').render(tables=out)


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
    rows = [
      [g, values.get('rows', ''), *(_cell(values.get(k)) for k in keys)]
      for g, values in groups.items()
    ]
    heads = ['group', 'rows', *(words.label(results, k) for k in keys)]
    if keys:
      out.append({'title': name, 'heads': heads, 'rows': rows})
  return render.template('tables.tex').render(tables=out) if out else ''


def card(results: Results) -> str:
  """A model card: Hugging Face's model-index, and what is known in words."""
  sets = []
  for name, one in results.sets.items():
    every = {**one.get('quality', {}), **one.get('fairness', {})}
    metrics = [
      {'key': key, 'title': measured.heading(key), 'estimate': every[key]}
      for key in measures.leading(every)
    ]
    sets.append({'name': name, 'metrics': metrics, **one})
  return render.template('model_card.md', {'estimate': tables.estimate}).render(
    name=results.focus or results.model or 'model',
    results=results,
    sets=sets,
    found=' '.join(words.lines(results)),
    level=tables.percent(results.level),
    is_rate=measures.is_rate,
    in_classes=lambda text: words.in_classes(results, text),
    plural=tables.plural,
  )
