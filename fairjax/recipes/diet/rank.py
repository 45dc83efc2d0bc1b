"""The diet paper's two experiments, as one grid of runs.

Experiment 1: all rows and the top b of the twins, by several scores. Experiment
2: rankings × a × b. Beside them no mitigation, CDA and CDS. A cell is one diet
trained with all seeds stacked; its result is kept in cells/ under the
fingerprint of what it was made from, so a cell is never run twice, two cells
that hold the same rows are one, and processes that share a folder and run other
cells (`--config.grid.cells=0-9`) merge by themselves. A call without
`grid.cells` runs what is missing, then chooses and reports. The scores of all
rankings come first: before several processes start, let
`--config.grid.cells=none` make them.

The best (a, b) of each ranking is chosen on validation data: the fairest cell
that keeps all but claims.BUDGET of the unmitigated AUC.
"""

import pathlib
import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts, escape
from fairjax.core.errors import UserError
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import diet_rows
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary
from fairjax.recipes.diet import algorithm as diets
from fairjax.recipes.diet import claims, experiment, grid
from fairjax.recipes.diet.algorithm import Inputs
from fairjax.report import tables
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import mesh
from fairjax.train.progress import Log

BASELINES = ('none', 'cda', 'cds')
WORST = 'unhealthy_random'  # of the rankings, says the paper
READINGS = 'readings'  # validation rows of a man and of a woman
NUMBERS, PREDICTIONS = 'numbers.json', 'predictions.npz'  # of a cell
# Columns of a set that its numbers are of, beside measures.groups.
READ = ('id', 'text', 'text_pair', 'label', 'group', 'cluster', 'template')
UNTOLD = ('sets', 'done', 'title', 'ranking')  # of a cell, as facts


class Cell(NamedTuple):
  """One diet of the grid."""

  experiment: int  # 0 is a baseline
  ranking: str
  factual: float
  counterfactual: float


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → inputs → cells → the chosen → tests → verdicts → report."""
  every = cells(config)
  numbers = pick(config.grid.cells, len(every))
  own = config.grid.cells.replace(' ', '')[:60]
  # Processes that run some cells keep logs of their own.
  target = folder / 'processes' / own if own else folder
  with Log(target, config, main=mesh.is_main()) as log:
    e = Experiment(config, folder, log)
    inputs = diets.prepare(e, list(dict.fromkeys(c.ranking for c in every)))
    tested = e.sets
    e.sets = {**tested, **choosing(config, inputs.tables)}
    rows = [
      diets.chosen(config, inputs, c.ranking, (c.factual, c.counterfactual))
      for c in every
    ]
    keys = [key(config, inputs, e.sets, one) for one in rows]
    for k in numbers:
      if not finished(folder, keys[k]):
        log.line(f'cell {k} of 0–{len(every) - 1}: {title(every[k])}')
        work(e, inputs, every[k], rows[k], keys[k])
        progress(e, every, keys)
    missing = [k for k in range(len(every)) if not finished(folder, keys[k])]
    if missing:
      log.line(
        f'{tables.plural(len(missing), "cell")} left; a call without '
        'grid.cells runs them and reports'
      )
      return e.results(facts={'cells': len(every), 'left': missing})
    fair = READINGS if READINGS in e.sets else 'valid'
    e.sets = tested
    return stages.publish(folder, merge(e, inputs, fair, every, keys), log)


def cells(config: Config) -> list[Cell]:
  """All cells in a fixed order: baselines, experiment 1, experiment 2."""
  options = config.grid
  return (
    [Cell(0, name, 1.0, 1.0) for name in BASELINES]
    + [
      Cell(1, f'augment_{score}', 1.0, float(b))
      for score in options.augment
      for b in options.shares
    ]
    + [
      Cell(2, ranking, float(a), float(b))
      for ranking in options.rankings
      for a in options.factual
      for b in options.counterfactual
    ]
  )


def pick(spec: str, count: int) -> list[int]:
  """'0,3,5-9' as numbers; '' is all of them and 'none' is none."""
  if not spec.strip():
    return list(range(count))
  chosen: list[int] = []
  for part in spec.split(',') if spec.strip() != 'none' else ():
    match = re.fullmatch(r'\s*(\d+)\s*(?:-\s*(\d+)\s*)?', part)
    numbers = (
      range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
    )
    if not numbers or numbers[-1] >= count:
      raise UserError(
        f'grid.cells is {spec!r}, and {part.strip()!r} is no cell or range of '
        f"cells; they are 0 to {count - 1}, as in '0,3,5-9'"
      )
    chosen += numbers
  return list(dict.fromkeys(chosen))


def title(cell: Cell) -> str:
  if cell.experiment == 0:
    return cell.ranking
  if cell.experiment == 1:
    return f'{cell.ranking} b={cell.counterfactual:g}'
  return f'{cell.ranking} a={cell.factual:g} b={cell.counterfactual:g}'


def choosing(config: Config, tables: Tables) -> Tables:
  """The validation rows and, where they have no groups, their readings.

  A row that speaks of a man or a woman (or names another value of method.axis)
  is read in every way, so that dp is the gap between these wordings. Quality is
  judged on the first of these sets, fairness on the last.
  """
  valid = tables['valid']
  if len(stages.groups_of(config, valid).names) > 1:
    return {'valid': valid}
  column = config.measures.groups
  column = 'group' if column.startswith('terms:') else column or 'group'
  both = [c for c in ('text', 'text_pair') if c in valid]
  swapped = lambda side, one: (
    dictionary.swap(
      list(valid[one]),
      **dictionary.options(config.method, config.seed, direction=side),
    ).texts
  )
  sides = {
    side: valid.assign(
      id=valid['id'] + f'~{side}',
      **{one: swapped(side, one) for one in both},
      **{column: side},
    )
    for side in exchange.values(config.method.axis)
  }
  texts = np.stack([side[both].to_numpy(object) for side in sides.values()])
  differ = (texts != texts[0]).any((0, 2))
  if not differ.any():
    axis = config.method.axis
    raise UserError(
      'no validation row '
      + (
        'speaks of a man or a woman'
        if axis == 'gender'
        else f'names {exchange.called(axis)}'
      )
      + ' and none has a group, so diets cannot be chosen by fairness; name a '
      'group column with data.group'
    )
  every = pd.concat([side[differ] for side in sides.values()])
  return {'valid': valid, READINGS: every.reset_index(drop=True)}


def key(config: Config, inputs: Inputs, sets: Tables, rows: np.ndarray) -> str:
  """The identity of a cell: of all that its numbers depend on.

  Of a set what the models read, and what groups and clusters rows have; where
  rows are weighted, every column that z may be of.
  """
  weighs = diets.weighs(config)
  read = (*READ, config.measures.groups)
  return identity(
    config,
    ('training', 'measures', *(['weights'] if weighs else [])),
    rows,
    config.method.keep_equal,
    *stages.parts_of(inputs.pool, inputs.valid),
    *([inputs.every, inputs.tables['valid']] if weighs else []),
    list(sets),
    *(
      table[[c for c in dict.fromkeys(read) if c in table]]
      for table in sets.values()
    ),
  )


def finished(folder: pathlib.Path, made_from: str) -> bool:
  return artefacts.finished(cell_path(folder, made_from), made_from) is not None


def cell_path(folder: pathlib.Path, made_from: str) -> pathlib.Path:
  return folder / 'cells' / made_from


def work(e: Experiment, inputs: Inputs, cell: Cell, rows, made_from) -> None:
  """Trains and measures a cell; its weights go when its numbers are kept."""
  path = cell_path(e.folder, made_from)
  own = diets.with_weights(e.config, inputs, rows)
  here, pools = e.of(e.config, f'cells/{made_from}'), (own.pool, own.valid)
  chances = here.answers(own.model, pools, title(cell), rows)
  numbers = stages.assess(e.config, e.sets, chances)
  if mesh.is_main():
    with artefacts.atomic(path / PREDICTIONS) as part:
      np.savez(part, **chances)
    equal = e.config.method.keep_equal
    facts = diet_rows.facts(inputs.tables['train'], rows, equal)
    record = {'cell': title(cell), **facts, 'sets': numbers}
    artefacts.write_json(path / NUMBERS, record)
    artefacts.remove(path / 'training')
    artefacts.seal(path, made_from)
  mesh.wait_for_all(made_from)


def known(
  folder: pathlib.Path, every: list[Cell], keys: list[str]
) -> list[dict]:
  """The cells as diet/grid.py reads them, with what is done of them."""
  out = []
  for k, (cell, made_from) in enumerate(zip(every, keys)):
    done = finished(folder, made_from)
    row = {'cell': k, 'title': title(cell), 'experiment': cell.experiment}
    of = (cell.factual, cell.counterfactual) if cell.experiment else (None,) * 2
    row |= {'ranking': cell.ranking, 'a': of[0], 'b': of[1], 'done': done}
    if done:
      record = artefacts.read_json(cell_path(folder, made_from) / NUMBERS)
      row |= {k: v for k, v in record.items() if k != 'cell'}
    out.append(row)
  return out


def progress(e: Experiment, every: list[Cell], keys: list[str]) -> None:
  """grid.csv: the cells, and the numbers of those done."""
  if not mesh.is_main():
    return
  cells, path = known(e.folder, every, keys), e.folder / 'grid.csv'
  artefacts.write_text(path, escape.csv(pd.DataFrame(grid.flat(cells))))
  done = sum(cell['done'] for cell in cells)
  e.log.line(f'{done} of {len(cells)} cells are done: {path}')


def merge(e: Experiment, inputs: Inputs, fair: str, every, keys) -> Results:
  """Chooses and tests, when every cell is done."""
  config, names = e.config, list(e.sets)
  cells = known(e.folder, every, keys)
  chosen, notes = grid.choose(cells, fair, 'valid', claims.BUDGET)
  found = chosen | {c['title']: c for c in cells[: len(BASELINES)]}
  for name, cell in found.items():
    path = cell_path(e.folder, keys[cell['cell']])
    e.chances[name] = artefacts.read_arrays(path / PREDICTIONS)
    facts = {k: v for k, v in cell.items() if k not in UNTOLD}
    sets = {one: cell['sets'][one] for one in names}
    e.contenders[name] = {'sets': sets, 'facts': facts}
  ours = config.grid.rankings[0]
  pairs = [(name, 'none') for name in found if name != 'none']
  pairs += [(ours, name) for name in found if name not in (ours, 'none')]
  pairs += [(name, WORST) for name in above_worst(config)]
  e.tests = stages.compare(config, e.sets, e.chances, pairs)
  sides = ' and '.join(exchange.values(config.method.axis))
  read = f', each read as {sides}' if fair == READINGS else ''
  level = config.measures.confidence_level
  rises = [v for one in names for v in grid.rises_faster(cells, one, level)]
  effects = grid.changes(e.tests, found)
  key_of = {name: keys[cell['cell']] for name, cell in found.items()}
  share = schema.has_twin(inputs.tables['train']).mean()
  twins = (
    f'{share:.0%} of the rows have a twin that differs, so that a larger b '
    'takes all of these twins, whatever the ranking'
  )
  return e.results(
    title=f'Diets on {stages.data_of(config)} with {config.model}',
    focus=ours,
    verdicts=claims.verdicts(e, inputs.scores, ours) + rises,
    notes=[*notes, *experiment.alike(key_of), twins],
    sections=[
      *grid.sections(
        *(cells, names, effects),
        chosen=grid.best(chosen, fair, 'valid'),
        fair=fair,
        read=read,
        budget=tables.percent(claims.BUDGET),
      ),
      experiment.scores(e, inputs),
    ],
  )


def above_worst(config: Config) -> list[str]:
  """The rankings beside the first that are compared with the worst."""
  others = config.grid.rankings[1:]
  return [name for name in others if name != WORST and WORST in others]
