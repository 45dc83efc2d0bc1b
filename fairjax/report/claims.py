"""The papers' primary claims and the verdicts of runs, as one markdown table.

  fairjax report --claims FOLDER…

A config names the claims of its paper that a run is made for, at most six,
before it runs (`measures.primary`). They are one family: intervals hold
together and p are Holm's (report/verdict.py). Everything else that a run
compares is exploratory, and counted. `decides` is how far from its bound an
effect must be for a run of that size to decide it four times of five. What no
run knows (whose data it was, the paper's size, which rivals a planted gap makes
trivial) stands in sizes.csv beside the kept runs, a line a run.
"""

import csv
import pathlib
import re
from collections.abc import Mapping, Sequence

from fairjax.report import run_archive, tables, verdict
from fairjax.results import Results, read

LARGE = 100  # times a run's size
HEADS = (
  *('paper', 'claim', 'kind', 'data', 'size', "the paper's size", 'value'),
  *('interval', 'adjusted p', 'verdict', 'decides', 'command'),
)


def rows(
  folders: Sequence[str | pathlib.Path], papers: Mapping[str, Sequence[str]]
) -> list[dict]:
  """A row a primary claim and run, by papers: {title: its recipes}."""
  runs = [(read(folder), folder) for folder in run_archive.runs(folders)]
  out = []
  for paper, recipes in papers.items():
    lines = []
    for found, folder in runs:
      if found.recipe in recipes:
        lines += _of_run(found, folder)
    lines = lines or [{'claim': 'no run of it was given'}]
    out += [{'paper': paper, **line} for line in lines]
  return out


def _of_run(found: Results, folder: pathlib.Path) -> list[dict]:
  origin = run_archive.origin(folder, found)
  found.primary = found.primary or origin.get('primary', [])
  settled = verdict.settled(found)
  path = folder.parent / 'sizes.csv'
  lines = csv.DictReader(path.open(encoding='utf-8')) if path.exists() else ()
  noted = next((one for one in lines if one['run'] == folder.name), {})
  where = {
    'data': noted.get('data', ''),
    'size': noted.get('size') or origin['data'],
    "the paper's size": noted.get('paper', ''),
    'command': origin['command'],
  }
  trivial = re.compile(noted.get('trivial') or '(?!)')
  out = [
    {
      'claim': one['claim'],
      'kind': one['family'],
      **_number(one),
      'adjusted p': tables.p_value({**one, 'p': one.get('adjusted')}),
      'verdict': one['verdict']
      + (' (trivial)' if trivial.search(one['claim']) else ''),
      'decides': decides(
        one,
        1 - (1 - found.level) / one.get('of', 1),
        origin.get('seconds'),
        origin.get('device', 'cpu'),
      ),
      **where,
    }
    for one in settled
    if one['family'] == verdict.PRIMARY
  ]
  by_test = {test['test'] for test in found.tests}
  sides = ('set', 'measure', 'ours', 'theirs')
  others = {tuple(test[k] for k in sides) for test in found.tests}
  apart = [one for one in settled if one['test'] not in by_test]
  count = len(others) + len(apart) - len(out)
  title = tables.plural(count, 'other comparison')
  rest = {'claim': title, 'kind': verdict.EXPLORATORY, **where}
  return [*out, rest] if count else out


def _number(one: Mapping) -> dict[str, str]:
  """What a claim is judged by, and its interval."""
  value, _, ends = tables.estimate(one['effect']).partition(' [')
  number = f'{one["what"]} {value}'
  return {'value': number, 'interval': f'[{ends}' if ends else ''}


def decides(
  one: Mapping, level: float, seconds: float | None, device: str = 'cpu'
) -> str:
  """The smallest effect of a run this large, and what an undecided one takes.

  Above LARGE times, the effect is too near the bound for a size to be of use.
  """
  distance = verdict.decided_from(one['effect'], level)
  if distance is None:
    return ''
  text = f'±{distance:.2g}'
  if one['verdict'] != verdict.OPEN:
    return text
  times = verdict.times_larger(one['effect'], one['bound'], level)
  of = 'seeds' if one['test'] == verdict.OVER_SEEDS else 'size'
  if times is None or times > LARGE:
    return f'{text}; as measured it takes over {LARGE} times the {of}'
  text += f'; as measured it takes {times:.2g} times the {of}'
  if not seconds:
    return text
  hours = float(f'{times * seconds / 3600:.2g}')
  text += f', {hours:,g} h'  # 530, where g alone says 5.3e+02
  return text if device == 'cpu' else f'{text} of {device}'


def markdown(
  folders: Sequence[str | pathlib.Path], papers: Mapping[str, Sequence[str]]
) -> str:
  """The table, as CLAIMS.md holds it; what stood above is not said again."""
  lines = [f'| {" | ".join(HEADS)} |', '|' + '---|' * len(HEADS)]
  last: dict[str, str] = {}
  for row in rows(folders, papers):
    cells = dict(row)
    for key in ('paper', 'size', "the paper's size", 'command'):
      if cells.get(key) and cells[key] == last.get(key):
        cells[key] = '' if key == 'paper' else 'as above'
      elif key == 'command' and cells.get(key):
        cells[key] = f'`{cells[key]}`'
    last = row
    texts = (
      tables.printable(cells.get(head, '')).replace('|', '\\|')
      for head in HEADS
    )
    lines.append(f'| {" | ".join(texts)} |')
  return '\n'.join(lines) + '\n'
