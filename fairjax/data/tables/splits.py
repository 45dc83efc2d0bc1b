"""Seeded splits, and seeded samples of a split's rows.

Both depend on the seed and the table alone, never on a global generator.
"""

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, count
from fairjax.data.tables.schema import Tables

SEED = 0  # whatever the seed of a run, so that all runs have one split
SPLIT, LIMIT = 101, 102  # streams of randomness
SHARES = {'train': 8, 'valid': 1, 'test': 1}


def assign(
  text: pd.Series,
  label: pd.Series,
  splits: tuple[str, ...],
  seed: int,
  cluster: pd.Series | None = None,
) -> np.ndarray:
  """The split of each row, in the shares of 8:1:1, label by label.

  Rows with the same text, or of the same `cluster`, go to the same split (a
  text in two splits would be a leak), under the label of the first of them.
  Within a label, the texts are permuted by the seed and the split of a text is
  where the middle of its rows falls in the cumulative shares.
  """
  key = np.where(text.isna(), -1, pd.factorize(text)[0])
  missing = key < 0  # rows without text are alone: each its own key
  key[missing] = key.max(initial=-1) + 1 + np.arange(missing.sum())
  if cluster is not None:
    key = connected(key, pd.factorize(cluster)[0])
  _, first, key = np.unique(key, return_index=True, return_inverse=True)
  size = np.bincount(key)
  stratum = pd.factorize(label)[0][first]
  shares = np.array([SHARES[s] for s in splits], float)
  edges = np.cumsum(shares / shares.sum())[:-1]
  rng = np.random.default_rng([seed, SPLIT])
  place = np.empty(len(size), int)
  for one in np.unique(stratum):
    members = rng.permutation(np.flatnonzero(stratum == one))
    ends = np.cumsum(size[members])
    middles = (ends - size[members] / 2) / ends[-1]
    place[members] = np.searchsorted(edges, middles)
  return np.array(splits)[place[key]]


def connected(key: np.ndarray, cluster: np.ndarray) -> np.ndarray:
  """One number for all rows that keys (from 0) or clusters (-1: none) join."""
  from scipy.sparse import coo_array, csgraph

  known = np.flatnonzero(cluster >= 0)
  keys = 1 + key.max(initial=-1)
  nodes = keys + 1 + cluster.max(initial=-1)
  edges = (np.ones(len(known)), (key[known], keys + cluster[known]))
  graph = coo_array(edges, shape=(nodes, nodes))
  return csgraph.connected_components(graph, directed=False)[1][key]


def cut(
  table: pd.DataFrame, splits: tuple[str, ...], seed: int, together: str = ''
) -> Tables:
  """One table as several, by `assign`; no split may stay empty.

  Rows of one value of the column `together` stay so, unless there are too few
  values for that: first labels are let go of, then the values.
  """
  text, label = table['text'], table['label']
  ways = [(label, None)]
  if together:
    whole = pd.Series(0, table.index)
    ways = [(label, table[together]), (whole, table[together]), *ways]
  for labels, cluster in ways:
    which = assign(text, labels, splits, seed, cluster)
    tables = {s: table[which == s] for s in splits}
    if all(map(len, tables.values())):
      break
  for split, part in tables.items():
    if not len(part):
      texts = table['text'].nunique()
      same = f' with {count(texts, "different text")}'
      raise UserError(
        f'{table.attrs.get("source", "the table")} has '
        f'{count(len(table), "row")}{same if texts < len(table) else ""}, too '
        f'few to cut a {split} split from (equal texts stay together); give '
        f'one with --config.data.{split}_path'
      )
  return tables


def draw(tables: Tables, limit: int, seed: int) -> Tables:
  """At most `limit` rows of each split, drawn by seed, in table order."""
  if not limit:
    return tables
  if limit < 0:
    raise UserError(f'data.limit is {limit}; 0 (all) or a number of rows')
  chosen = {}
  for split, table in tables.items():
    stream = list(split.encode())  # a split's draw is its own
    rng = np.random.default_rng([seed, LIMIT, *stream])
    rows = rng.permutation(len(table))[:limit]
    chosen[split] = table.iloc[np.sort(rows)].reset_index(drop=True)
  if 'train' in chosen and chosen['train']['label'].nunique() < 2:
    raise UserError(
      f'data.limit is {limit}, and the training rows it draws are all of one '
      'class; a classifier needs two: raise it'
    )
  return chosen
