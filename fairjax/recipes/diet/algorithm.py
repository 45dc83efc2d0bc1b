"""The healthy data diet (Zayed et al. 2023), from a probe to a model.

    tables → twins → probe → scores → rows and twins → weights → model

A probe is trained for an epoch and its logits score each row: GE = ‖logits(x) −
logits(twin)‖₂. A ranking takes a share of the rows and of the twins by their
scores (methods/diet_rows.py), and the model is trained on these. All rankings
share one tokenised pool, in which row i's twin is row n + i, and one compiled
step. With `method.name='reweight'` each diet's rows and the validation rows are
weighted by the P(y|z) that holds among them.
"""

import pathlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, changed, seed_list
from fairjax.core.errors import UserError
from fairjax.data.batching import batches
from fairjax.data.tables.schema import Tables
from fairjax.methods import METHODS, chain, diet_rows, reweight
from fairjax.models import Bundle
from fairjax.stages import Experiment, scoring


class Inputs(NamedTuple):
  """What all diets of a run are made from, made once."""

  tables: Tables  # the training table has the column `twin`
  model: Bundle
  scores: pd.DataFrame
  every: pd.DataFrame  # all training rows, then all their twins
  pool: batches.Pool  # of these
  valid: batches.Pool
  mitigated: dict[str, Tables]  # what each method makes of the tables


def prepare(
  e: Experiment, names: Sequence[str], scores_folder: pathlib.Path | None = None
) -> Inputs:
  """Tables with twins, the model, the probe's scores, and the pools.

  `names` are rankings and methods. The scores are in `scores_folder`, by
  default the run's; where nobody asks for a score there is no probe.
  """
  config, log = e.config, e.log
  rankings = [name for name in names if name not in METHODS]
  weighs(config)  # or a sentence, before anything is made
  for name in rankings:
    diet_rows.check(name, shares(config))
  tables, twins = diet_rows.with_twins(e.load(), config)
  # Before the probe, so that a method's sentence about an option costs nothing.
  mitigated = {
    name: stages.mitigate(with_method(config, name), tables, log)
    for name in names
    if name in METHODS
  }
  model = stages.prepare(config, tables, log)
  scores = tables['train'][['id']]
  needed = [score for name in rankings for score in diet_rows.needs(name)]
  if own := tuple(dict.fromkeys([*config.scoring.names, *needed])):
    asked = changed(config, scoring={'names': own})
    place = scores_folder or e.folder
    scores = scoring.probe(asked, model, tables, place, log)
  every = pd.concat([tables['train'], twins], ignore_index=True)
  pool, valid = stages.pools(model, {**tables, 'train': every})
  return Inputs(tables, model, scores, every, pool, valid, mitigated)


def with_method(config: Config, name: str) -> Config:
  return changed(config, method={'name': name})


def shares(config: Config) -> tuple[float, float]:
  """a and b: the shares of the rows and of the twins that are taken."""
  return config.diet.factual, config.diet.counterfactual


def chosen(
  config: Config, inputs: Inputs, ranking: str, ratios: tuple[float, float]
) -> np.ndarray:
  """[s, n]: the rows and twins that a ranking takes for each seed."""
  own = inputs.tables['train'], inputs.scores, ranking, ratios
  return diet_rows.rows(*own, config, seed_list(config))


def weighs(config: Config) -> bool:
  """Whether the rows of diets are weighted."""
  names = chain(config.method.name)
  if [n for n in names if n != 'reweight']:
    raise UserError(
      f'method.name is {config.method.name!r}, but a diet chooses rows and '
      "twins itself; name no method, or 'reweight' to weight what it chose"
    )
  return bool(names)


def with_weights(config: Config, inputs: Inputs, rows: np.ndarray) -> Inputs:
  """The inputs whose pools have weights [s, n], if the config asks for them."""
  if not weighs(config):
    return inputs
  valid = inputs.tables['valid']
  pools = inputs.pool, inputs.valid
  weight = [np.tile(pool.weight, (len(rows), 1)) for pool in pools]
  for seed, own in enumerate(rows):
    # Each seed's own: P(y|z) is that of the rows that it takes.
    table = pd.concat([inputs.every.iloc[own], valid], ignore_index=True)
    weights = reweight.weights(table, config)['weight'].to_numpy()
    weight[0][seed, own] = inputs.pool.weight[own] * weights[: len(own)]
    weight[1][seed] *= weights[len(own) :]
  return inputs._replace(
    pool=inputs.pool._replace(weight=weight[0]),
    valid=inputs.valid._replace(weight=weight[1]),
  )
