"""Balance: as many training rows of every group with every label.

The cells are all combinations of the values of the columns `method.by`.
how='down' (the default) cuts each cell to the smallest, how='up' fills each to
the largest with copies, spread evenly: no row is copied twice before all are
once, unless `method.replacement` draws them freely. `method.ratio` is how far
it goes: 0 nowhere, 1 to cells of one size. Rows of no group ('') are in no
cell and stay.

Where the table has no column `gender`, that name stands for the gender whose
words, and first names with `method.names`, are in the text: 'male', 'female',
or '' where there are none or both.
"""

import itertools

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment, way
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import axis_values, dictionary

STREAM = 33  # of this file's random numbers


def balance(tables: Tables, config: Config) -> Tables:
  """Fewer rows, or more: copy k of a row has id `ID~k` and origin 'copy'."""
  table, how = tables['train'], way('balance', config.method.how)
  ratio = config.method.ratio
  by = config.method.by
  if 'gender' in map(str.strip, by.split(',')):
    cell, names = cells(with_gender(table, config), by)
  else:
    cell, names = cells(table, by)
  size = np.bincount(cell[cell >= 0], minlength=len(names))
  goal = size.min() if how == 'down' else size.max()
  # Of the ratio as it is written (quotas.part): .7 of 90 is 63.
  target = size + np.trunc(np.round(ratio * (goal - size), 6)).astype(int)
  rng = np.random.default_rng([config.seed, STREAM])
  times = np.ones(len(table), int)
  if how == 'up' and config.method.replacement:
    for k, extra in enumerate(target - size):
      rows = np.flatnonzero(cell == k)
      times += np.bincount(rng.choice(rows, extra), minlength=len(table))
  else:
    rank = _rank_within(cell, rng.random(len(table)))
    inside = cell >= 0
    times[inside] = (  # even copies, the rest by rank
      target[cell] // size[cell] + (rank < target[cell] % size[cell])
    )[inside]
  ends = lambda of: ' to '.join(dict.fromkeys(f'{f(of):,}' for f in (min, max)))
  note = (
    f'{len(table):,} rows became {times.sum():,}: {ends(target)} of each '
    f'{" and ".join(by.split(","))}, before {ends(size)}'
  )
  return {**tables, 'train': _repeated(table, times, note)}


def with_gender(table: pd.DataFrame, config: Config) -> pd.DataFrame:
  """The table with a column `gender`, read from its texts if it has none."""
  if 'gender' in table:
    return table
  chosen = dictionary.options(config.method, config.seed, axis='gender')
  of = axis_values.single(list(table['text']), **chosen)
  # Codes below 0 (of both, of neither) take the last name, ''.
  gender = np.array([*exchange.GENDER, ''])[np.maximum(of, -1)]
  return table.assign(gender=gender)


def cells(table: pd.DataFrame, by: str) -> tuple[np.ndarray, list[str]]:
  """Each row's cell (−1 for rows of no group), and the cells' names."""
  columns = [name.strip() for name in by.split(',') if name.strip()]
  if not columns:
    raise UserError(
      'method.by is empty; name the columns to balance, as in group,label'
    )
  cell, names = np.zeros(len(table), int), ['']
  none = np.zeros(len(table), bool)
  for column in columns:
    if column not in table:
      raise UserError(
        f'method.by names the column {column!r}, which the training table '
        f'does not have; it has {", ".join(map(str, table.columns))}'
      )
    empty = (table[column].isna() | (table[column] == '')).to_numpy()
    code, values = pd.factorize(table[column].where(~empty), sort=True)
    none |= empty
    if none.all():
      raise UserError(
        f'no training row has a value in column {column!r} of method.by={by}'
        + (', beside the others' if not empty.all() else '')
        + '; name another column'
      )
    cell = cell * len(values) + code
    names = [
      f'{a} {column}={b}'.strip() for a, b in itertools.product(names, values)
    ]
  cell[none] = -1  # in no cell: they stay
  here = np.bincount(cell[~none], minlength=len(names)) > 0
  if not here.all():
    raise UserError(
      f'no training row has {names[int((~here).argmax())]}, so that the cells '
      f'of method.by={by} cannot be made equal; name fewer columns'
    )
  return cell, names


def _rank_within(cell: np.ndarray, key: np.ndarray) -> np.ndarray:
  """The place of each row among those of its cell, by key."""
  order = np.lexsort((key, cell))
  first = np.searchsorted(cell[order], cell[order])
  rank = np.empty(len(cell), int)
  rank[order] = np.arange(len(cell)) - first
  return rank


def _repeated(table: pd.DataFrame, times: np.ndarray, note: str):
  """Each row `times` over: the rows in their order, then the copies."""
  row = np.repeat(np.arange(len(table)), times)
  copy = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
  more = table.iloc[row[copy > 0]]  # copy 0 is the row itself
  number = pd.Series(copy[copy > 0] + 1, index=more.index).astype(str)
  more = more.assign(id=more['id'] + '~' + number, origin='copy')
  return augment.appended(table[times > 0], more, [note])
