"""A grid of diets on a page.

A cell here is a dict: `cell` (its number), `title`, `experiment`, `ranking`,
`a`, `b`, `done` and, once it is, `rows`, `twins`, `total` and `sets`, those of
a contender of results.json.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fairjax import results
from fairjax.metrics import measures, paired
from fairjax.report import findings, tables, verdict
from fairjax.report.pictures import plots

CHANGES = ('dp', 'eqodd', 'eqopp1', 'auc')  # of figure 4
TITLES = {  # of the scores that rank the twins
  'ge': 'GE',
  'el2n': 'EL2N',
  'grand': 'GraNd',
}


# Largest share of the AUC of `none` that a chosen diet may cost.
BUDGET = 0.03


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
    out[TITLES.get(score, score)] = plots.curve(
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
  cells: Sequence[Mapping],
  sets: Sequence[str],
  chosen: Sequence[Mapping],
  effects: Mapping,
  about: str,
) -> list[dict]:
  """Table 5, figures 2 to 4, the front and all cells, as parts of results.

  `chosen` is what `best` gives, and `effects` what `changes` does.
  """
  fair = [one for one in sets if any(value(c, one, 'dp') for c in cells)]
  figure = results.figure
  of_best = [
    figure(
      'forest',
      f'change_{measure}_{one}',
      f'Figure 4: {measure} on {one} against no mitigation; right is better. A '
      'hollow point: the interval holds 0.',
      effects=by_contender,
      x_label=f'{measure} on {one}, change in % of none',
    )
    for (one, measure), by_contender in effects.items()
  ]
  added = [
    figure(
      'curves',
      f'added_{measure}_{one}',
      f'Figures 2 and 3: {measure} on {one} of all rows and the first b of '
      'the twins by each score; bands are intervals.',
      series=series,
      x_label='b, share of the twins added',
      y_label=measure,
    )
    for one in sets
    for measure in ('dp', 'auc')
    if (series := curves(cells, one, measure))
  ]
  fronts = [
    figure(
      'front',
      f'front_{one}',
      f'Every cell: quality on {sets[0]} and fairness on {one}. The steps '
      'join those that no other beats in both.',
      series=front,
      x_label=f'auc on {sets[0]}',
      y_label=f'dp on {one}',
    )
    for one in fair
    if (front := _front(cells, sets[0], one))
  ]
  return [
    results.section(
      'The best diet of each ranking',
      results.text(about),
      results.table(chosen, screen=True),
      *of_best,
    ),
    results.section('All rows and some twins', *added),
    results.section(
      'Fairness and quality',
      *fronts,
      results.fold('All cells', results.table(flat(cells, value))),
    ),
  ]


def _front(cells: Sequence[Mapping], good: str, fair: str) -> dict[str, list]:
  """{ranking: [(auc on good, dp on fair)]}; experiment 1 is one series."""
  series: dict[str, list] = {}
  for cell in cells:
    point = number(cell, good, 'auc'), number(cell, fair, 'dp')
    if not np.isnan(point).any():
      group = cell['ranking'] if cell['experiment'] != 1 else 'experiment 1'
      series.setdefault(group, []).append(point)
  return series
