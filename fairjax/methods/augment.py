"""Counterfactual data augmentation: every row, and the twins of some.

The training rows stay and ⌊N · ratio⌋ of their N twins are added: those
with the largest score `method.rank` (Zayed et al. 2023, arXiv 2211.11109), or
a random draw. A twin is the row's text with the other group's words and the
same label (Zhao et al. 2018, arXiv 1804.06876). A twin that equals its text
says nothing new: it takes its place in the ranking and is left out, unless
`method.keep_equal` asks for it, as the authors' code adds it.

Only training rows are augmented, since the paper measures every model on the
same validation rows; how='all' does the same to the validation rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables import schema
from fairjax.data.tables import score_table as scores
from fairjax.data.tables.schema import Tables
from fairjax.methods import WAYS, quotas, way
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import axis_values, dictionary

STREAM = 31  # of this file's random numbers
MADE = '~twin'  # what a twin's id adds to its row's
OWN, SWAPPED = "the data's own", 'swapped by word lists'


def augment(tables: Tables, config: Config) -> Tables:
  """Adds twins, id `ID~twin`; `origin` tells 'data' from 'twin'."""
  out = dict(tables)
  for split in chosen_splits(tables, config):
    table = tables[split]
    first = best_first(table, config)
    first = first[: quotas.part(len(table), config.method.ratio)]
    twins = counterparts(table.iloc[np.sort(first)], config)
    same = twins.pop('same').to_numpy()
    if not config.method.keep_equal:
      twins = twins[~same]
    notes = [
      f'{len(twins)} twins, {source(table, config)}, joined {len(table)} '
      f'{split} rows; '
      f'{same.sum()} of the {len(same)} chosen twins equal their text'
      + (' and were added too' if config.method.keep_equal else '')
    ]
    out[split] = appended(table, twins, notes)
  return out


def chosen_splits(tables: Tables, config: Config) -> Sequence[str]:
  """The training split, or with how='all' the validation split as well."""
  own = config.method
  how = way(own.name if own.name in WAYS else 'augment', own.how)
  return [s for s in ('train', 'valid') if s in tables][: 1 + (how == 'all')]


def source(table: pd.DataFrame, config: Config) -> str:
  """Which twins `counterparts` takes: the table's own, or swapped ones."""
  method = config.method
  must_swap: Any = method.words or method.names_file or method.tagger
  must_swap = must_swap or method.axis != 'gender' or method.scope != 'all'
  must_swap = must_swap or method.direction != 'opposite'
  return SWAPPED if must_swap or 'twin' not in table else OWN


def counterparts(table: pd.DataFrame, config: Config) -> pd.DataFrame:
  """The twins of all rows, with a column `same`: equal to the original.

  The table's own column `twin` is taken where it answers what is asked, that
  is, for the opposite gender by no list, scope or tagger of the user's; else
  words are swapped. Each is the other's `twin`. Texts of which none names the
  axis have none.
  """
  method = config.method
  own = source(table, config) == OWN
  if own:
    text = table['twin']
  else:
    text = _swapped(table['text'], config)
    if method.axis != 'gender' and list(text) == list(table['text']):
      axis_values.require(list(table['text']), method.axis, 'the training data')
  twins = table.assign(
    id=table['id'] + MADE, text=text, twin=table['text'], origin='twin'
  )
  same = twins['text'] == table['text']
  if 'text_pair' in table:
    if own and 'twin_pair' in table:
      twins['text_pair'] = table['twin_pair']
    else:
      twins['text_pair'] = _swapped(table['text_pair'], config)
    twins['twin_pair'] = table['text_pair']
    same &= twins['text_pair'] == table['text_pair']
  if 'group' in table:
    if method.axis == 'gender':
      group = [_turned(g, method.direction) for g in table['group']]
    else:
      group = _named(list(table['group']), list(twins['text']), method.axis)
    twins['group'] = np.where(same, table['group'], group)
  return twins.assign(same=same)


def _swapped(texts: pd.Series, config: Config) -> list[str]:
  chosen = dictionary.options(config.method, config.seed)
  return dictionary.swap(list(texts), **chosen).texts


def _turned(group: str, direction: str) -> str:
  """The group that a twin speaks of; '' where that is not known."""
  sides = {'male': 'female', 'female': 'male'}
  if group.lower() not in sides:
    return ''  # a name of the user's own
  return {'opposite': sides[group.lower()], 'neutral': ''}.get(
    direction, direction
  )


def _named(groups: list[str], twins: list[str], axis: str) -> list[str]:
  """The value that each twin names, where its text's group names one."""
  value_of = exchange.reader(axis)
  values = (*exchange.values(axis), '', '')  # of several, of neither
  known = {group: value_of(group) or group in values for group in {*groups}}
  of = axis_values.single(twins, axis)
  return [values[k] if known[g] else '' for g, k in zip(groups, of)]


def appended(
  table: pd.DataFrame, more: pd.DataFrame, notes: list[str]
) -> pd.DataFrame:
  """The rows as they came, their origin 'data', and those that were made.

  What there is to say about them joins attrs['notes'].
  """
  if 'origin' not in table:
    table = table.assign(origin='data')
  more = more[[c for c in more if c in table]]
  known = [c for c in schema.REQUIRED + schema.OPTIONAL if c in more]
  more = more.astype({c: table[c].dtype for c in known})
  out = pd.concat([table, more])
  out = out.reset_index(drop=True)
  out.attrs = noted(table, notes)
  return out


def noted(table: pd.DataFrame, notes: list[str]) -> dict:
  """The attrs of a table and what a method has to say about it."""
  return {**table.attrs, 'notes': [*table.attrs.get('notes', ()), *notes]}


def best_first(table: pd.DataFrame, config: Config) -> np.ndarray:
  """Positions by falling score `method.rank`, ties by id; or a random order.

  Scores stand in `scoring.path` (csv or parquet), a column each beside `id`.
  """
  rank = config.method.rank
  if rank == 'random':
    keys = np.random.default_rng([config.seed, STREAM]).random(len(table))
  else:
    if not config.scoring.path:
      raise UserError(
        f'method.rank is {rank!r}, but scoring.path is empty; name the file of '
        "the scores with --config.scoring.path, or rank by 'random'"
      )
    keys = -scores.read(config.scoring.path, table, [rank])[rank].to_numpy()
  return np.lexsort((table['id'].to_numpy(str), keys))
