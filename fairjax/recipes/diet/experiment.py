"""Diets and methods side by side, and what the paper claims of them.

The rankings and methods of `config.diet.compare` are trained with the same
seeds as `diet.ranking`, which is tested against each.
"""

from collections.abc import Hashable, Mapping

import numpy as np

from fairjax import stages
from fairjax.methods import METHODS, diet_rows, reweight
from fairjax.recipes.diet import algorithm as diets
from fairjax.recipes.diet import claims, score_page
from fairjax.recipes.diet.algorithm import Inputs
from fairjax.report.tables import plural
from fairjax.results import Results
from fairjax.stages import Experiment


@stages.recipe
def run(e: Experiment) -> Results:
  """config → inputs → each contender's model → tests → verdicts → report."""
  config, ours = e.config, e.config.diet.ranking
  names = list(dict.fromkeys([ours, *config.diet.compare]))
  inputs = diets.prepare(e, names)
  rows = {
    name: diets.chosen(config, inputs, name, diets.shares(config))
    for name in names
    if name not in METHODS
  }
  for name in [*rows][1:]:
    both = zip(rows[ours], rows[name])
    differ = np.mean([len(np.setdiff1d(a, b)) for a, b in both])
    e.log.line(
      f'{differ:,.0f} of {len(rows[ours][0]):,} rows are not in {name}'
    )
  for name in names:
    if name in METHODS:
      by_method(e, inputs, name)
    else:
      by_rows(e, inputs, name, rows[name])
  e.notes += alike({name: in_any_order(own) for name, own in rows.items()})
  e.compare([(ours, name) for name in names[1:]], ours)
  return e.results(
    verdicts=claims.verdicts(e, inputs.scores, ours),
    sections=[scores(e, inputs)],
  )


def by_rows(e: Experiment, inputs: Inputs, name: str, rows: np.ndarray) -> None:
  """A contender trained on the rows and twins that a ranking takes."""
  config, train = e.config, inputs.tables['train']
  own = diets.with_weights(config, inputs, rows)
  facts = diet_rows.facts(train, rows, config.method.keep_equal)
  if own.pool.weight.ndim > 1:  # rows of weight 1 that the first seed's weigh
    weight = own.pool.weight[0, rows[0]]
    facts['effective'] = round(reweight.effective(weight))
  counts = (plural(facts[k + 's'], k) for k in ('row', 'twin'))
  e.log.line(f'{name}: {", ".join(counts)}')
  ours = name == config.diet.ranking
  pools = own.pool, own.valid
  e.answer(name, e.answers(own.model, pools, name, rows, ours), facts)
  if ours:
    e.notes += diet_rows.notes(train, rows, config)


def by_method(e: Experiment, inputs: Inputs, name: str) -> None:
  """One trained on what a method makes of the tables; blind reads blind."""
  config, tables = diets.with_method(e.config, name), inputs.mitigated[name]
  model = stages.prepare(config, tables, e.log)  # it may learn its words there
  pools = stages.pools(model, tables)
  chances = e.of(config).answers(model, pools, name)
  rows = len(tables['train'])
  e.answer(name, chances, {'rows': rows, 'twins': 0, 'total': rows})
  e.notes += [f'{name}: {note}' for note in stages.notes(tables)]


def in_any_order(rows: np.ndarray) -> bytes:
  """Equal for equal rows of each seed."""
  return np.sort(rows).tobytes()


def alike(rows_of: Mapping[str, Hashable]) -> list[str]:
  """Which diets hold the same rows: those whose keys are equal."""
  names: dict[Hashable, list[str]] = {}
  for name, rows in rows_of.items():
    names.setdefault(rows, []).append(name)
  return [
    f'{" and ".join(same)} hold the same rows, so they cannot differ; where b '
    'asks for all twins there are, a smaller b leaves a choice'
    for same in names.values()
    if len(same) > 1
  ]


def scores(e: Experiment, inputs: Inputs) -> dict:
  """What the probe's scores measure, for the page."""
  train, positive = inputs.tables['train'], e.config.measures.positive
  return score_page.section(inputs.scores, train, positive)
