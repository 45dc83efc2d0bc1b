"""Counterfactual data substitution: some rows become their twins.

For each training row a coin that shows heads with probability `method.ratio`
decides whether its text is exchanged for its twin (Hall Maudslay et al. 2019,
arXiv 1909.00871; there 0.5, so that each word is as likely as its partner).
The table keeps its size. With ratio 1 every text is exchanged: a bias is
mirrored, not removed. how='all' does the same to the validation rows.
"""

import numpy as np

from fairjax.config import Config
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment

STREAM = 32  # of this file's random numbers


def substitute(tables: Tables, config: Config) -> Tables:
  """Exchanged rows have the id `ID~twin` and the origin 'twin'."""
  out = dict(tables)
  for k, split in enumerate(augment.chosen_splits(tables, config)):
    table = tables[split]
    rng = np.random.default_rng([config.seed, STREAM, k])
    heads = rng.random(len(table)) < config.method.ratio
    twins = augment.counterparts(table, config)
    same = twins.pop('same').to_numpy()
    replaced = heads & ~same
    note = (
      f'{replaced.sum()} of {len(table)} {split} rows became their '
      f'twin ({augment.source(table, config)}); {same.sum()} have none that '
      'differs'
    )
    if config.method.ratio > 0.5:
      note += '; a ratio above 0.5 turns a bias round instead of removing it'
    whole = augment.appended(table, twins, [note])
    places = np.arange(len(table)) + np.where(replaced, len(table), 0)
    out[split] = whole.iloc[places].reset_index(drop=True)
  return out
