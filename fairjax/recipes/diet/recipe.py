"""The healthy data diet: a probe scores the rows, and the best are trained on.

    tables → twins → probe → scores → diet → model → measures → report

With `method.name='reweight'` each diet's rows and the validation rows are
weighted by the P(y|z) that holds among them. The rankings and methods of
`config.diet.compare` are trained with the same seeds; rankings share one
tokenised pool and one compiled step.
"""

import dataclasses
import pathlib
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, seed_list
from fairjax.core.errors import UserError
from fairjax.data.batching import batches
from fairjax.data.tables.schema import Tables
from fairjax.methods import METHODS, chain, diet_rows, reweight
from fairjax.models import Bundle
from fairjax.report import verdict
from fairjax.report.tables import plural
from fairjax.results import Results
from fairjax.scores import describe, rank_overlap
from fairjax.stages import scoring
from fairjax.train import mesh
from fairjax.train.progress import Log


class Inputs(NamedTuple):
  """What all diets of a run are made from, made once."""

  tables: Tables  # the training table has the column `twin`
  sets: Tables  # what is measured
  model: Bundle
  scores: pd.DataFrame
  every: pd.DataFrame  # all training rows, then all their twins
  pool: batches.Pool  # of these
  valid: batches.Pool
  mitigated: dict[str, Tables]  # what each method makes of the tables


class Trained(NamedTuple):
  """What a run keeps of a ranking, or of a method."""

  chances: dict[str, np.ndarray]  # [s, n, c] of each set
  facts: dict
  notes: list[str]
  rows: Hashable  # equal for rankings that choose the same rows


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → inputs → each contender's model → tests → verdicts → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    ours = config.diet.ranking
    names = list(dict.fromkeys([ours, *config.diet.compare]))
    inputs = prepare(config, folder, log, names)
    first = chosen(config, inputs, ours)
    for name in (one for one in names[1:] if one not in METHODS):
      own = zip(first, chosen(config, inputs, name))
      differ = np.mean([len(np.setdiff1d(a, b)) for a, b in own])
      log.line(f'{differ:,.0f} of {len(first[0]):,} rows are not in {name}')
    made = {}
    for name in names:
      make = by_method if name in METHODS else by_rows
      made[name] = make(config, inputs, name, folder, log)
    chances = {name: one.chances for name, one in made.items()}
    contenders = {
      name: {
        'sets': stages.assess(config, inputs.sets, one.chances),
        'facts': one.facts,
      }
      for name, one in made.items()
    }
    notes = [note for one in made.values() for note in one.notes]
    pairs = [(ours, name) for name in names[1:]]
    stages.keep_predictions(folder, inputs.sets, chances, ours)
    results = stages.results(
      config,
      contenders=contenders,
      focus=ours,
      tests=stages.compare(config, inputs.sets, chances, pairs),
      notes=notes + alike({name: one.rows for name, one in made.items()}),
      sections=[
        describe.section(
          inputs.scores, inputs.tables['train'], config.measures.pos_label
        )
      ],
    )
    results.verdicts = verdicts(config, inputs, results)
    return stages.publish(folder, results, log)


def by_rows(
  config: Config, inputs: Inputs, name: str, folder: pathlib.Path, log: Log
) -> Trained:
  """Trained on the rows and twins that a ranking chooses."""
  train, rows = inputs.tables['train'], chosen(config, inputs, name)
  own = with_weights(config, inputs, rows)
  facts = diet_rows.facts(train, rows, config.diet.keep_equal)
  facts |= effective(own, rows)
  counts = (plural(facts[k + 's'], k) for k in ('row', 'twin'))
  log.line(f'{name}: {", ".join(counts)}')
  ours = name == config.diet.ranking
  return Trained(
    predictions(config, own, rows, folder, log, name, export=ours),
    facts,
    diet_rows.notes(train, rows, config) if ours else [],
    in_any_order(rows),
  )


def chosen(config: Config, inputs: Inputs, name: str) -> np.ndarray:
  """[s, n]: the rows and twins that a ranking chooses for each seed."""
  own = inputs.tables['train'], inputs.scores, name, shares(config)
  return diet_rows.rows(*own, config, seed_list(config))


def by_method(
  config: Config, inputs: Inputs, name: str, folder: pathlib.Path, log: Log
) -> Trained:
  """Trained on the tables that a method makes; blind, it reads blind sets."""
  config, tables = with_method(config, name), inputs.mitigated[name]
  model = stages.prepare(config, tables, log)  # it may learn its words there
  pools = stages.pools(model, tables)
  chances = stages.answers_once(
    config, model, *pools, inputs.sets, folder, log, part=name
  )
  rows = len(tables['train'])
  notes = [f'{name}: {note}' for note in stages.notes(tables)]
  return Trained(
    chances, {'rows': rows, 'twins': 0, 'total': rows}, notes, name
  )


def in_any_order(rows: np.ndarray) -> bytes:
  """Equal for equal rows of each seed."""
  return np.sort(rows).tobytes()


def alike(rows_of: dict[str, Hashable]) -> list[str]:
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


def prepare(
  config: Config,
  folder: pathlib.Path,
  log: Log,
  rankings: list[str],
  scores_folder: pathlib.Path | None = None,
) -> Inputs:
  """Tables with twins, the model, the probe's scores, and the pools.

  The scores are in `scores_folder`, by default the folder. Where nobody asks
  for a score there is no probe.
  """
  ratios = shares(config)
  methods = [name for name in rankings if name in METHODS]
  rankings = [name for name in rankings if name not in METHODS]
  weighs(config)  # or a sentence, before anything is made
  for name in rankings:
    diet_rows.check(name, ratios)
  tables = stages.load(config, folder, log)
  tables, twins = diet_rows.with_twins(tables, config)
  sets = stages.test_sets(config, tables)
  # Before the probe, so that a method's sentence about an option costs nothing.
  mitigated = {
    name: stages.mitigate(with_method(config, name), tables, log)
    for name in methods
  }
  model = stages.prepare(config, tables, log)
  probe_config, scores = asking(config, rankings), tables['train'][['id']]
  if probe_config.scoring.names:
    scores = scoring.probe(
      probe_config, model, tables, scores_folder or folder, log
    )
  every = pd.concat([tables['train'], twins], ignore_index=True)
  return Inputs(
    tables,
    sets,
    model,
    scores,
    every,
    stages.pool(model, every),
    stages.pool(model, tables['valid']),
    mitigated,
  )


def with_method(config: Config, name: str) -> Config:
  method = dataclasses.replace(config.method, name=name)
  return dataclasses.replace(config, method=method)


def shares(config: Config) -> tuple[float, float]:
  return config.diet.factual, config.diet.counterfactual


def weighs(config: Config) -> bool:
  """Whether the rows of diets are weighted."""
  names = chain(config.method.name)
  if [n for n in names if n != 'reweight']:
    raise UserError(
      f'method.name is {config.method.name!r}, but a diet chooses rows and '
      "twins itself; name no method, or 'reweight' to weight what it chose"
    )
  return bool(names)


def with_weights(
  config: Config, inputs: Inputs, chosen_rows: np.ndarray
) -> Inputs:
  """The inputs whose pools have weights [s, n], if the config asks for them.

  Each seed's are those of the rows that it takes, and of the validation rows
  beside them.
  """
  if not weighs(config):
    return inputs
  valid = inputs.tables['valid']
  pools = inputs.pool, inputs.valid
  weight = [np.tile(pool.weight, (len(chosen_rows), 1)) for pool in pools]
  for seed, rows in enumerate(chosen_rows):
    table = pd.concat([inputs.every.iloc[rows], valid], ignore_index=True)
    weights = reweight.weights(table, config)['weight'].to_numpy()
    weight[0][seed, rows] = inputs.pool.weight[rows] * weights[: len(rows)]
    weight[1][seed] *= weights[len(rows) :]
  return inputs._replace(
    pool=inputs.pool._replace(weight=weight[0]),
    valid=inputs.valid._replace(weight=weight[1]),
  )


def effective(inputs: Inputs, rows: np.ndarray) -> dict:
  """How many rows of weight 1 the first seed's weighted rows are worth."""
  if inputs.pool.weight.ndim == 1:
    return {}
  first = inputs.pool.weight[0, rows[0]]
  return {'effective': round(reweight.effective(first))}


def asking(config: Config, rankings: list[str]) -> Config:
  """The config with the scores that the rankings need among its own."""
  needed = [score for name in rankings for score in diet_rows.needs(name)]
  names = tuple(dict.fromkeys([*config.scoring.names, *needed]))
  scoring = dataclasses.replace(config.scoring, names=names)
  return dataclasses.replace(config, scoring=scoring)


def predictions(
  config: Config,
  inputs: Inputs,
  rows: np.ndarray,
  folder: pathlib.Path,
  log: Log,
  part: str,
  tables: Tables | None = None,
  export: bool = False,
) -> dict[str, np.ndarray]:
  """Trains on the rows `taken` [s, n] of the pool, and predicts the sets."""
  model = inputs.model
  write = lambda params: stages.export(config, model, params, folder, log)
  return stages.answers_once(
    config,
    model,
    inputs.pool,
    inputs.valid,
    tables or inputs.sets,
    folder,
    log,
    rows=rows,
    part=part,
    keep=write if export and config.train.export else None,
  )


def verdicts(config: Config, inputs: Inputs, results: Results) -> list[dict]:
  """The paper's claims as far as the contenders speak of them."""
  ours, tests = config.diet.ranking, results.tests
  facts = results.contenders[ours]['facts']
  out = []
  for theirs in list(results.contenders)[1:]:
    out += verdict.fairer(tests, ours, theirs)
  if 'none' in results.contenders:
    aucs = {
      one: results.measured('none', one).get('auc', {}).get('value')
      for one in inputs.sets
    }
    out += verdict.costs_little(tests, ours, 'none', aucs, config.grid.budget)
  cda = round(facts['total'] / facts['of CDA'])
  out += verdict.at_most_half(ours, facts['total'], 'cda', cda)
  if config.seeds > 1 and 'ge_s' in ''.join(inputs.scores.columns):
    agree = rank_overlap.seeds(inputs.scores, 'ge')
    out += verdict.seeds_agree(agree, config.measures.confidence_level)
  return out
