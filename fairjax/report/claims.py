"""The papers' claims and the verdicts of runs, as one markdown table.

  fairjax report --claims FOLDER…

reads results.json of every folder: paired tests, by CLAIMS, and what a recipe
judges itself (`verdicts`). A verdict is that of report/verdict.py, by the
whole interval. A claim that no folder speaks of is a line too: not run.
"""

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fairjax.metrics import measures
from fairjax.report import kept, tables, verdict
from fairjax.results import Results, read

PAPERS = {  # by recipe
  'diet': 'Healthy data diet (Zayed et al. 2023)',
  'weighting': 'Instance weights (Zhang et al. 2020)',
  'fairflow': 'FairFlow (Tokpo and Calders 2024)',
  'mbcda': 'MBCDA (Tokpo and Calders 2023)',
  'fairtune': 'Perturbation augmentation (Qian et al. 2022)',
}
# Of the verdicts of recipes that CLAIMS reads, those that no test decides.
BEYOND_TESTS = ('count', 't interval over seeds')
# Recipes that judge their claims themselves: the claim, and how the names of a
# paper's own contenders begin (V1 and V2 of FairFlow; all of MBCDA).
JUDGED = {
  'fairflow': (
    'classifiers trained on rewritten texts have smaller TPRD and FPRD, and '
    'the texts read more fluently than swapped ones',
    ('dictionary + repair + BART', 'flow + repair + BART'),
  ),
  'mbcda': (
    'with a discriminator more texts turn, and TPRD and FPRD are smaller',
    ('BART on repaired, filtered + discriminator',),
  ),
}
SAME = {  # other recipes of a paper
  'rank': 'diet',
  'overlap': 'diet',
  'perturber': 'fairtune',
}


class Claim(NamedTuple):
  """A claim that a paired test of two contenders decides."""

  words: str
  ours: str  # how the contender's name begins
  theirs: str
  measure: str
  sign: int = 1  # −1: less is claimed
  bound: float = 0.0  # that sign × (ours − theirs) must be above


CLAIMS = {
  'diet': (
    Claim('fairer than the unhealthy diet', 'healthy', 'unhealthy', 'dp'),
    Claim('fairer than none', 'healthy', 'none', 'dp'),
    Claim('at most 3 points of AUC lost', 'healthy', 'none', 'auc', 1, -0.03),
  ),
  'weighting': (
    Claim('lower gap of false positives', 'weight', 'baseline', 'fped', -1),
    Claim('lower gap of false negatives', 'weight', 'baseline', 'fned', -1),
    Claim(
      'at most 2 points of AUC lost', 'weight', 'baseline', 'auc', 1, -0.02
    ),
  ),
  'fairtune': (
    Claim(
      'fairtuning lowers the fairscore',
      *('fairtuned', 'original', 'different', -1),
    ),
    Claim(
      'at most 2 points of accuracy lost',
      *('fairtuned', 'original', 'accuracy', 1, -0.02),
    ),
    Claim(
      'a learned perturber is exact more often than a dictionary',
      *('perturber', 'dictionary', 'exact'),
    ),
  ),
}


def rows(folders: Sequence[str | pathlib.Path]) -> list[dict]:
  """A row a claim and run, in the order of the papers."""
  runs = [(read(folder), folder) for folder in kept.runs(folders)]
  out = []
  for recipe, paper in PAPERS.items():
    own = [
      run for run in runs if SAME.get(run[0].recipe, run[0].recipe) == recipe
    ]
    for claim in CLAIMS.get(recipe, ()):
      lines = [
        _row(paper, words, one, *run)
        for run in own
        for words, one in _of_tests(claim, run[0])
      ]
      out += lines or [_absent(paper, claim.words)]
    lines = [
      _row(paper, one['claim'], one, *run)
      for run in own
      for one in _judged(recipe, run[0].verdicts)
    ]
    out += lines or [
      _absent(paper, words) for words in JUDGED.get(recipe, ())[:1]
    ]
  return out


def _judged(recipe: str, verdicts: Sequence[Mapping]) -> list[Mapping]:
  """Those of the paper's own contenders, or of whichever the run has."""
  if recipe not in JUDGED:
    return [one for one in verdicts if one['test'] in BEYOND_TESTS]
  _, names = JUDGED[recipe]
  return [v for v in verdicts if v['claim'].startswith(names)] or list(verdicts)


def _of_tests(claim: Claim, results: Results) -> Iterator[tuple[str, dict]]:
  """(its words, its verdict) of every test set that decides the claim."""
  pairs = dict.fromkeys((t['ours'], t['theirs']) for t in results.tests)
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
    'data': origin['data'],
    'command': origin['command'],
  }


def _absent(paper: str, words: str) -> dict:
  return {'paper': paper, 'claim': words, 'verdict': 'not run'}


def markdown(folders: Sequence[str | pathlib.Path]) -> str:
  """The table, as CLAIMS.md holds it."""
  heads = ('paper', 'claim', 'verdict', 'by', 'data', 'command')
  lines = [f'| {" | ".join(heads)} |', '|' + '---|' * len(heads)]
  last: dict[str, str] = {}
  for row in rows(folders):
    cells = dict(row)
    cells['paper'] = row['paper'] if row['paper'] != last.get('paper') else ''
    if cells.get('command'):
      same = row['command'] == last.get('command')
      cells['command'] = 'as above' if same else f'`{cells["command"]}`'
    last = row
    texts = (_cell(cells.get(head, '')) for head in heads)
    lines.append(f'| {" | ".join(texts)} |')
  return '\n'.join(lines) + '\n'


def _cell(text: str) -> str:
  return tables.printable(text).replace('|', '\\|')
