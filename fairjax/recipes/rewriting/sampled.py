"""Which texts a rewriter is judged by, as in Table 1 of FairFlow.

labelled texts → those with a group → two labels, one group ahead in each
               → as imbalanced as is asked: training; as many of each: test
"""

import numpy as np
import pandas as pd

from fairjax.config import Config, changed
from fairjax.core.errors import UserError
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import quotas
from fairjax.recipes.rewriting import contenders
from fairjax.train.progress import Log

SAMPLE = 71  # stream of the rows


def two_labels(tables: Tables, shows: dict[str, np.ndarray]) -> Tables:
  """Label 1 for classes with more of attribute 1 than all, as the papers.

  Occupations that women or men dominate, by the training texts.
  """
  train, one = tables['train'], shows['train']
  ahead = pd.Series(one).groupby(train['label'].to_numpy()).mean() > one.mean()
  out = {}
  for split, table in tables.items():
    some = table[table['label'].isin(ahead.index)]  # others have no side
    label = ahead[some['label'].to_numpy()].to_numpy().astype(np.int64)
    out[split] = some.assign(label=label).reset_index(drop=True)
  return out


def imbalanced(
  tables: Tables, shows: dict[str, np.ndarray], share: float, seed: int
) -> Tables:
  """Table 1: as many of either label, and `share` of label 1 of attribute 1.

  Label 0 mirrors it. Test texts are as many of each label and attribute. As
  many rows as there can be, drawn by `seed`.
  """
  out = {}
  for split, table in tables.items():
    label, one = table['label'].to_numpy(), shows[split]
    part = share if split in ('train', 'valid') else 0.5
    wanted = {
      (y, a): (part if y == a else 1 - part) / 2 for y in (0, 1) for a in (0, 1)
    }
    rows = {k: np.flatnonzero((label == k[0]) & (one == k[1])) for k in wanted}
    # The scarcest cell decides.
    total = min(len(rows[k]) / w for k, w in wanted.items() if w)
    draw = np.random.default_rng([seed, SAMPLE])
    taken = [
      draw.permutation(rows[k])[: quotas.part(total, w)]
      for k, w in wanted.items()
    ]
    chosen = np.sort(np.concatenate(taken))
    if min(map(len, taken)) < 1:
      raise UserError(
        f'split {split} has too few texts for rewriters.imbalance={share:g}: '
        'each label needs texts of both groups; give more'
      )
    out[split] = table.iloc[chosen].reset_index(drop=True)
  return out


def grouped(tables: Tables, log: Log) -> Tables:
  """The texts that name a group: others are of neither."""
  if any('group' not in table for table in tables.values()):
    return tables
  out = {
    split: table[table['group'].fillna('') != ''].reset_index(drop=True)
    for split, table in tables.items()
  }
  left = sum(map(len, tables.values())) - sum(map(len, out.values()))
  if left and all(map(len, out.values())):
    log.line(f'{left:,} texts name no group and are left out')
    return out
  return tables


def of_two(config: Config, tables: Tables) -> Config:
  """The config as `sampled` tables need it: of the two labels 1 is positive."""
  if schema.classes(tables) < 3:  # the data has two itself
    return config
  return changed(config, measures={'pos_label': 1})


def sampled(config: Config, tables: Tables, log: Log) -> Tables:
  """The texts with a group and two labels, as imbalanced as the config says."""
  tables = grouped(tables, log)
  shows = lambda: {
    s: contenders.attribute(config, t) for s, t in tables.items()
  }
  count = schema.classes(tables)
  if count > 2:
    every, tables = tables, two_labels(tables, shows())
    for split, table in tables.items():
      if left := len(every[split]) - len(table):
        log.line(
          f'{left:,} texts of classes that no training text has are left out '
          f'({split})'
        )
    log.line(
      f'label 1: those of {count} classes that have more of attribute 1 in the '
      'training texts than all together'
    )
  share = config.rewriters.imbalance
  if share:
    tables = imbalanced(tables, shows(), share, config.seed)
    sizes = ', '.join(f'{len(t):,} {name}' for name, t in tables.items())
    log.line(f'sampled, {share:g} of label 1 of attribute 1: {sizes}')
  return tables
