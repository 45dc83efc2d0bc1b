"""Instance weights (Zhang et al., ACL 2020): from tables to what is trained on.

    tables → z → P(y|z) → w = Q(y) / P(y|z) → the tables of each row

Each row of the paper's table is a way to change the training and validation
rows; methods/reweight.py has the weights, methods/evidence.py what z is.

  baseline    the training rows as they are, after `config.method` if it is one
  weight      w = Q(y)/P(y|z) on training and validation rows
  swap        the swapped twin of every row that has one, in both
  supplement  rows of `config.method.table` in training (methods/supplement.py)
  weight+ …   the same on word vectors without their gender direction
"""

import pandas as pd

from fairjax.config import Config, changed
from fairjax.core import knobs
from fairjax.core.errors import UserError
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment, chain, reweight, supplement
from fairjax.stages import Experiment
from fairjax.stages.identity import identity


def check(config: Config) -> list[str]:
  """The rows' names, or one sentence for the first that cannot be made."""
  names = list(config.weighting.rows)
  if 'reweight' in chain(config.method.name):
    raise UserError(
      f'method.name is {config.method.name!r}, but recipe weighting gives '
      "weights in its row 'weight'; leave reweight out of method.name"
    )
  plus = [n for n in names if n.endswith('+')]
  if plus and not config.net.glove:
    raise UserError(
      f'weighting.rows has {plus[0]!r}, which needs word vectors; name a GloVe '
      'file with --config.net.glove, or leave out the rows with a +'
    )
  glove = config.net.glove
  if wrong := knobs.existing(glove):  # else it is missed after the forests
    raise UserError(where='net.glove', got=glove, expected=wrong)
  return names


def weigh(e: Experiment, tables: Tables) -> tuple[pd.DataFrame, dict]:
  """The weights by id (weights.parquet), and what they do (weights.json)."""
  config = e.config
  reweight.check(tables, config)
  table = reweight.fitted_rows(tables)
  made_from = identity(config, 'weights', table)
  made = lambda: reweight.weights(table, config)
  result = e.stage('weights.parquet', made_from, made)
  report = lambda: reweight.report(table, result, config)
  about = e.stage('weights.json', made_from, report)
  e.log.line(
    f'weights of {len(result)} rows by {about["z"]}: '
    f'{result["weight"].min():.3g} to {result["weight"].max():.3g}, '
    f'effective rows {about["effective"]:.0f}'
  )
  return result, about


def tables_of(
  config: Config, tables: Tables, weights: pd.DataFrame, name: str
) -> Tables:
  """The tables that a row's model is trained and stopped on."""
  kind = name.removesuffix('+')
  if kind == 'weight':
    tables = reweight.put(tables, weights)
  elif kind == 'swap':
    every = {'name': 'augment', 'ratio': 1.0, 'rank': 'random', 'how': 'all'}
    tables = augment.augment(tables, changed(config, method=every))
  elif kind == 'supplement':
    tables = supplement.supplement(tables, config)
  return schema.check(tables)
