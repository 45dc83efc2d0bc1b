"""The papers' claims and the verdicts of runs, as one markdown table.

  fairjax report --claims FOLDER…

reads results.json of every folder: paired tests, by the claims that the rooms
of recipes declare, and what a recipe judges itself (`verdicts`). A verdict is
that of report/verdict.py, by the whole interval. A claim that no folder speaks
of is a line too: not run. `decides` is how far from its bound an effect must
be for a run of that size to decide it four times of five.
"""

import pathlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fairjax.metrics import measures
from fairjax.report import kept, tables, verdict
from fairjax.results import Results, read

LARGE = 100  # times a run's size


class Claim(NamedTuple):
  """A claim that a paired test of two contenders decides."""

  words: str
  ours: str  # how the contender's name begins
  theirs: str
  measure: str
  sign: int = 1  # −1: less is claimed
  bound: float = 0.0  # that sign × (ours − theirs) must be above


class Paper(NamedTuple):
  """What a paper claims; a room of recipes declares it as its PAPER."""

  title: str
  recipes: tuple[str, ...]  # that measure it
  claims: tuple[Claim, ...] = ()
  # Where its recipe decides the claim itself: the words, and how the names of
  # the paper's own contenders begin.
  headline: str = ''
  own: tuple[str, ...] = ()


def rows(
  folders: Sequence[str | pathlib.Path], papers: Sequence[Paper]
) -> list[dict]:
  """A row a claim and run, in the order of the papers."""
  runs = [(read(folder), folder) for folder in kept.runs(folders)]
  out = []
  for paper in papers:
    own = [run for run in runs if run[0].recipe in paper.recipes]
    for claim in paper.claims:
      lines = [
        _row(paper.title, words, one, *run)
        for run in own
        for words, one in _of_tests(claim, run[0])
      ]
      out += lines or [_absent(paper.title, claim.words)]
    lines = [
      _row(paper.title, one['claim'], one, *run)
      for run in own
      for one in _headline(paper, run[0])
    ]
    if not lines and paper.headline:
      lines = [_absent(paper.title, paper.headline)]
    out += lines
  return out


def _headline(paper: Paper, results: Results) -> list[Mapping]:
  """Those of the paper's own contenders, or of whichever the run has.

  Where paired tests are read, what none of them decides.
  """
  verdicts = list(results.verdicts)
  if not paper.headline:
    tests = {one['test'] for one in results.tests}
    return [one for one in verdicts if one['test'] not in tests]
  own = [v for v in verdicts if v['claim'].startswith(paper.own)]
  return own or verdicts


def _of_tests(claim: Claim, results: Results) -> Iterator[tuple[str, dict]]:
  """(its words, its verdict) of every test set that decides the claim."""
  pairs = dict.fromkeys((t['ours'], t['theirs']) for t in results.tests)
  pairs |= dict.fromkeys((b, a) for a, b in pairs)  # read the other way round
  for ours, theirs in pairs:
    if not (ours.startswith(claim.ours) and theirs.startswith(claim.theirs)):
      continue
    for test in verdict.over_examples(results.tests, ours, theirs):
      if test['measure'] == claim.measure:
        effect = test['difference']
        effect = effect if claim.sign > 0 else verdict.negated(effect)
        yield (
          f'{claim.words} ({ours} against {theirs}, {test["set"]})',
          verdict.claim(
            claim.words,
            effect,
            claim.bound,
            test['test'],
            test['p'],
            what=_what(claim),
          ),
        )


def _what(claim: Claim) -> str:
  label = measures.label(claim.measure)
  return f'{label} lower by' if claim.sign < 0 else f'difference in {label}'


def _row(
  paper: str, words: str, one: Mapping, results: Results, folder: pathlib.Path
) -> dict:
  number = tables.estimate(one['effect'])
  if one['bound'] or one['side'] != 'above':
    number += f', to be {one["side"]} {one["bound"]:g}'
  origin = kept.origin(folder, results)
  return {
    'paper': paper,
    'claim': words,
    'verdict': one['verdict'],
    'by': f'{one["what"]} {number}',
    'decides': _decides(
      one, results.level, origin.get('seconds'), origin.get('device', 'cpu')
    ),
    'data': origin['data'],
    'command': origin['command'],
  }


def _decides(
  one: Mapping, level: float, seconds: float | None, device: str = 'cpu'
) -> str:
  """The smallest effect of a run this large, and what an undecided one takes.

  Above LARGE times, the effect is too near the bound for a size to be of use.
  """
  distance = verdict.decided_from(one['effect'], level)
  if distance is None:
    return ''
  said = f'±{distance:.2g}'
  if one['verdict'] != verdict.OPEN:
    return said
  times = verdict.times_larger(one['effect'], one['bound'], level)
  of = 'seeds' if one['test'] == verdict.OVER_SEEDS else 'size'
  if times is None or times > LARGE:
    return f'{said}; as measured it takes over {LARGE} times the {of}'
  said += f'; as measured it takes {times:.2g} times the {of}'
  if not seconds:
    return said
  hours = float(f'{times * seconds / 3600:.2g}')
  said += f', {hours:,g} h'  # 530, where g alone says 5.3e+02
  return said if device == 'cpu' else f'{said} of {device}'


def _absent(paper: str, words: str) -> dict:
  return {'paper': paper, 'claim': words, 'verdict': 'not run'}


def markdown(
  folders: Sequence[str | pathlib.Path], papers: Sequence[Paper]
) -> str:
  """The table, as CLAIMS.md holds it."""
  heads = ('paper', 'claim', 'verdict', 'by', 'decides', 'data', 'command')
  lines = [f'| {" | ".join(heads)} |', '|' + '---|' * len(heads)]
  last: dict[str, str] = {}
  for row in rows(folders, papers):
    cells = dict(row)
    cells['paper'] = row['paper'] if row['paper'] != last.get('paper') else ''
    if cells.get('command'):
      same = row['command'] == last.get('command')
      cells['command'] = 'as above' if same else f'`{cells["command"]}`'
    last = row
    texts = (_cell(cells.get(head, '')) for head in heads)
    lines.append(f'| {" | ".join(texts)} |')
  return '\n'.join(lines) + '\n'


def for_people(
  folders: Sequence[str | pathlib.Path], papers: Sequence[Paper]
) -> str:
  """The same for a terminal: a paper's claims, verdict first."""
  out: dict[str, list[str]] = {}
  for row in rows(folders, papers):
    said = f'{row["claim"]}: {row["by"]}' if row.get('by') else row['claim']
    data = f' ({row["data"]})' if row.get('data') else ''
    lines = textwrap.wrap(tables.printable(said + data), 62)
    heads = [row['verdict'], *[''] * len(lines)]
    own = out.setdefault(row['paper'], [''])
    own += [f'  {head:15} {line}' for head, line in zip(heads, lines)]
  return '\n'.join('\n'.join([k, *own, '']) for k, own in out.items()) + '\n'


def _cell(text: str) -> str:
  return tables.printable(text).replace('|', '\\|')
