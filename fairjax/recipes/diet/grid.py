"""A grid of diets on a page.

A cell here is a dict: `cell` (its number), `title`, `experiment`, `ranking`,
`a`, `b`, `done` and, once it is, `rows`, `twins`, `total` and `sets`, those of
a contender of results.json.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fairjax import results
from fairjax.metrics import measures, paired
from fairjax.report import findings, names, tables, verdict, written
from fairjax.report.pictures import plots

CHANGES = ('dp', 'eqodd', 'eqopp1', 'auc')  # of figure 4


def value(cell: Mapping, one: str, measure: str) -> dict | None:
  """The Estimate of a measure on a set, if there is one."""
  numbers = cell['sets'].get(one, {})
  return (numbers.get('quality', {}) | numbers.get('fairness', {})).get(measure)


def number(cell: Mapping, one: str, measure: str) -> float:
  estimate = value(cell, one, measure)
  return estimate['value'] if tables.defined(estimate) else float('nan')


def flat(cells: Sequence[Mapping], column: Callable = number) -> list[dict]:
  """A row a cell with its leading measures, for grid.csv and the page."""
  out = []
  for cell in cells:
    row = {k: v for k, v in cell.items() if k != 'sets'}
    for one, numbers in cell.get('sets', {}).items():
      for key in measures.leading([*numbers['quality'], *numbers['fairness']]):
        row[f'{one} {key}'] = column(cell, one, key)
    out.append(row)
  return out


def choose(
  cells: Sequence[Mapping], fair: str, good: str, budget: float
) -> tuple[dict[str, Mapping], list[str]]:
  """The fairest cell of each ranking of experiment 2 within the AUC budget.

  Fairness is dp on the set `fair`, and the budget a share of the AUC of `none`
  on the set `good`. Of equals the one of higher AUC, then of fewer rows, then
  the first is taken. A constant predictor, whose dp is 1, is not taken while
  there is another.

  Returns:
    {ranking: cell}, and a sentence for each ranking whose choice is not what
    it should be.
  """
  (none,) = (c for c in cells if c['title'] == 'none')
  least = (1 - budget) * number(none, good, 'auc')
  best_of, notes = {}, []
  second = [c for c in cells if c['experiment'] == 2]
  for ranking in dict.fromkeys(c['ranking'] for c in second):
    own = [c for c in second if c['ranking'] == ranking]
    within = [c for c in own if number(c, good, 'auc') >= least]
    if not within:
      notes.append(
        f'{ranking}: no cell keeps {tables.percent(1 - budget)} of the AUC of '
        'none on the validation rows; the one of the highest AUC stands in'
      )
    moving = [c for c in within if 'note' not in (value(c, fair, 'dp') or {})]
    if within and not moving:
      notes.append(
        f'{ranking}: the dp of every cell within the budget is undefined or '
        'that of a constant predictor, so that the choice says little'
      )
    within = moving or within
    by_fairness = lambda c: number(c, fair, 'dp') if within else 0.0
    best_of[ranking] = max(
      within or own,
      key=lambda c: (
        *np.nan_to_num([by_fairness(c), number(c, good, 'auc')], nan=-1.0),
        -c['total'],
        -c['cell'],
      ),
    )
  return best_of, notes


def curves(
  cells: Sequence[Mapping], one: str, measure: str
) -> dict[str, dict[str, np.ndarray]]:
  """Experiment 1: {score: {'x': b, 'y', 'low', 'high'}} of a measure."""
  out = {}
  first = [c for c in cells if c['experiment'] == 1 and value(c, one, measure)]
  for ranking in dict.fromkeys(c['ranking'] for c in first):
    own = [c for c in first if c['ranking'] == ranking]
    own = sorted(own, key=lambda c: c['b'])
    score = ranking.removeprefix('augment_')
    out[names.SCORES.get(score, score)] = plots.curve(
      [c['b'] for c in own], [value(c, one, measure) for c in own]
    )
  return out


def rises_faster(
  cells: Sequence[Mapping], one: str, level: float
) -> list[dict]:
  """Claims: dp, mean over b, is higher with twins by GE than by others."""
  of: dict[str, dict[float, np.ndarray]] = {}
  for cell in cells:
    estimate = value(cell, one, 'dp') if cell['experiment'] == 1 else None
    if estimate and 0 < cell['b'] < 1:  # at 0 and 1 all scores take the same
      of.setdefault(cell['ranking'], {})[cell['b']] = np.array(
        estimate['seeds'], float
      )
  ours, out = of.pop('augment_ge', {}), []
  for ranking, theirs in of.items():
    both = [(ours[b], theirs[b]) for b in ours if b in theirs]
    if both:
      test = paired.over_seeds(*np.mean(both, 0), level=level, width=1.0)
      out.append(
        verdict.claim(
          'all rows and some twins: dp is higher with twins by GE than by '
          f'{ranking.removeprefix("augment_")} on {one}, mean over b',
          test['difference'],
          0.0,
          verdict.OVER_SEEDS,
          test['p'],
        )
      )
  return out


def best(chosen: Mapping[str, Mapping], fair: str, good: str) -> list[dict]:
  """Table 5: the chosen (a, b) of each ranking, and what it was chosen by."""
  return [
    {
      'ranking': ranking,
      'a': cell['a'],
      'b': cell['b'],
      'rows': cell['total'],
      'dp, validation': value(cell, fair, 'dp'),
      'auc, validation': value(cell, good, 'auc'),
    }
    for ranking, cell in chosen.items()
  ]


def changes(
  tests: Sequence[Mapping], cells: Mapping[str, Mapping]
) -> dict[tuple[str, str], dict[str, dict]]:
  """Figure 4: {(set, measure): {contender: change in % of none}}."""
  out: dict[tuple[str, str], dict[str, dict]] = {}
  for ours in cells:
    for test in verdict.over_examples(tests, ours, 'none'):
      base = number(cells['none'], test['set'], test['measure'])
      if test['measure'] in CHANGES and base > 0:
        at = out.setdefault((test['set'], test['measure']), {})
        at[ours] = findings.scaled(test['difference'], 100 / base)
  return out


def sections(
  cells: Sequence[Mapping], sets: Sequence[str], effects: Mapping, **about: Any
) -> list[dict]:
  """Figures 2 to 4, the front and all cells (templates/diet_grid.txt).

  `effects` is what `changes` gives; `about` says how cells were chosen.
  """
  pictures: dict[str, dict] = {}
  shown: list[dict] = []

  def add(plot: str, one: str, key: str, **data: Any) -> None:
    name, of = f'{plot}_{key}_{one}', {'plot': plot, 'set': one}
    shown.append({**of, 'measure': label(key), 'at': f'p{len(shown)}'})
    pictures[f'p{len(pictures)}'] = results.figure(plot, name, '', **data)

  label, share = measures.label, 'b, share of the twins added'
  for (one, key), of in effects.items():
    add('forest', one, key, effects=of, x_label=f'{label(key)}, change in %')
  for one in sets:
    for key in ('dp', 'auc'):
      if of := curves(cells, one, key):
        add('curves', one, key, series=of, x_label=share, y_label=label(key))
    if any(value(c, one, 'dp') for c in cells):
      if of := _front(cells, sets[0], one):
        axes = {'x_label': label('auc'), 'y_label': label('dp')}
        add('front', one, 'dp', series=of, **axes)
  own = {'shown': shown, 'first': sets[0], 'cells': flat(cells, value)}
  return written.sections('diet_grid.txt', **pictures, **own, **about)


def _front(cells: Sequence[Mapping], good: str, fair: str) -> dict[str, list]:
  """{ranking: [(auc on good, dp on fair)]}; experiment 1 is one series."""
  series: dict[str, list] = {}
  for cell in cells:
    point = number(cell, good, 'auc'), number(cell, fair, 'dp')
    if not np.isnan(point).any():
      group = cell['ranking'] if cell['experiment'] != 1 else 'experiment 1'
      series.setdefault(group, []).append(point)
  return series
