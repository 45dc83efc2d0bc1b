"""Group names as people type them: blanks, case, and names for "none".

'F', ' F' and 'f' are one group, and 'NaN' or 'None' is no group. What is
changed is said in a sentence; what only might be one group is too, but left.
"""

import itertools
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, shown
from fairjax.data.tables.labels import MISSING, WORDS
from fairjax.data.tables.schema import Tables

NONE = frozenset(word.casefold() for word in MISSING)
SHOWN = 6  # names in a sentence
NUMBER = r'-?\d+(?:\.\d+)?(?:e[+-]\d+)?'  # as :g prints it
BAND = re.compile(
  rf'(below )?({NUMBER})(?(1)|(?: to below {NUMBER}| and above))'
)


def tidy(tables: Tables, column: str, called: str = '') -> list[str]:
  """Writes tidy group names into `column` of each table that has it.

  The spelling of a group is its commonest over all tables, and of equally
  common ones the first in sorted order. Returns what there is to say of it, as
  it is `called` in the file.
  """
  mine = [split for split, table in tables.items() if column in table]
  if not mine:
    return []
  every = pd.concat([tables[s][column] for s in mine])
  names, remarks = tidied(called or column, every)
  at = 0
  for split in mine:
    table = tables[split]
    own = pd.Series(names[at:][: len(table)], table.index, object)
    at += len(own)
    if not own.equals(tables[split][column]):
      tables[split] = tables[split].assign(**{column: own})
  return remarks


def tidied(column: str, values) -> tuple[np.ndarray, list[str]]:
  """Each cell's group in a column; its different names alone are looked at."""
  values = pd.Series(values)
  if values.dtype == object:
    wrong = ~values.map(lambda value: isinstance(value, Hashable))
    if wrong.any():
      row = int(wrong.to_numpy().argmax())
      raise UserError(
        f'column {column!r} has {shown(values.iloc[row])} for a group in row '
        f'{row}; give a name or a number'
      )
  code, distinct = pd.factorize(values, use_na_sentinel=True)
  names = _names(pd.Series(distinct)).to_numpy(object)
  rows = np.bincount(code[code >= 0], minlength=len(names))
  counts = pd.Series(rows, index=names).groupby(level=0).sum()
  by_key: dict[str, list[str]] = {}
  for name in sorted(counts.index, key=lambda n: (-counts[n], n)):
    key = ' '.join(name.split()).casefold()
    by_key.setdefault('' if key in NONE else key, []).append(name)
  mapping = {
    name: (' '.join(same[0].split()) if key else '')
    for key, same in by_key.items()
    for name in same
  }
  spelled = np.array([*map(mapping.get, names), ''], object)[code]
  return spelled, _remarks(column, by_key, counts)


def bands(values: pd.Series, edges: Sequence[float]) -> list[str]:
  """The band of each number: below the first edge, …, from the last on."""
  names = [f'below {edges[0]:g}']
  names += [f'{a:g} to below {b:g}' for a, b in itertools.pairwise(edges)]
  names += [f'{edges[-1]:g} and above']
  at = np.searchsorted(edges, values.to_numpy(float), side='right')
  known = values.notna().to_numpy()
  return [names[k] if ok else '' for k, ok in zip(at, known)]


def in_order(names: Iterable[str]) -> list[str]:
  """Sorted; bands of numbers ('below 18', '18 to below 30') from the lowest.

  >>> in_order(['9 to below 18', '18 and above', 'below 9'])
  ['below 9', '9 to below 18', '18 and above']
  """
  found: dict[str, Any] = {name: BAND.fullmatch(name) for name in names}
  if all(found.values()):
    low = lambda name: (float(found[name][2]), not found[name][1])
    return sorted(found, key=low)
  return sorted(found)


def _names(values: pd.Series) -> pd.Series:
  """Cells as texts; missing ones are '', and 2.0 is '2'."""
  missing = values.isna()
  if pd.api.types.is_float_dtype(values):
    whole = missing | ((values == np.floor(values)) & (values.abs() < 2**53))
    texts = values.map(lambda v: f'{v:g}').where(
      ~whole, values.where(whole & ~missing, 0).astype('int64').astype(str)
    )
  else:
    texts = values.astype(str)  # of days without their hours
  return texts.where(~missing, '').astype(object)


def _remarks(column: str, by_key: dict, counts: pd.Series) -> list[str]:
  remarks = []
  for key, names in by_key.items():
    others = [name for name in names if key and name != names[0]]
    if others:
      rows = int(counts[others].sum())
      remarks.append(
        f'groups {_list(others)} of column {column!r} ({rows} rows) are read '
        f'as {names[0].strip()!r}'
      )
  plain = {key: re.sub(r'(?<=\d),(?=\d{3}\b)', '', key) for key in by_key}
  for key, number in plain.items():
    if key != number and number in by_key:
      remarks.append(
        f'groups {by_key[key][0]!r} and {by_key[number][0]!r} of column '
        f'{column!r} are one number in two spellings, and measured apart; '
        'write it one way'
      )
  none = [name for name in by_key.get('', ()) if name.strip()]
  if none:
    rows = int(counts[none].sum())
    remarks.append(
      f'{rows:,} rows have {_list(none)} in column {column!r} and are in no '
      'group'
    )
  for words in WORDS.alike.values():
    alike = [names[0].strip() for k, names in by_key.items() if k in words]
    if len(alike) > 1:
      remarks.append(
        f'groups {" and ".join(map(repr, sorted(alike)))} of column '
        f'{column!r} are measured apart; write one name if they are one group'
      )
  return remarks


def _list(names: list[str]) -> str:
  more = ', …' if len(names) > SHOWN else ''
  return ', '.join(map(repr, names[:SHOWN])) + more
