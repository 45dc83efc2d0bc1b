"""Rows of one table for those of another: by a key, else by their order.

The one join. A key is a column that both tables have, unique in both, with
the same values; which one was taken is always said. Two such columns that
would join other rows are asked about, and so is one that only seems a key.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables.readers import source

MOST = 99  # keys that are held against each other
MADE = 'row numbers'  # attrs['ids'] of a table whose ids are ours


def rows(
  frame: pd.DataFrame, table: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[str, ...]]:
  """The rows of `frame` for those of `table`, in its order; what to say."""
  where = source(frame)
  if {'set', 'id'} <= {*frame} and 'id' in table:
    if frame['id'].duplicated().any():
      frame = frame[_texts(frame['id']).isin(table['id'])]
  given = table.attrs.get('key', '')  # the user's name of the ids
  if given in frame or ('id' in frame and table.attrs.get('ids') != MADE):
    name = given if given in frame else 'id'
    at = _places(frame, name, table['id'], where)
    if not given:
      _one_key({name: at} | _keys(frame, table), where)
  elif found := _keys(frame, table):
    name, at = _one_key(found, where)
  else:
    _ask_nearly(frame, table, where)
    if 'id' not in frame:
      return _in_order(frame, table, where)
    name, at = 'id', _numbered(frame, len(table), where)
  joined = frame.iloc[at].reset_index(drop=True)
  if 'text' in joined and 'text' in table:
    _same_texts(joined, table, where)
  return joined, (f'{where} is joined by {name}',)


def without_key(data: Any, **given: Any) -> dict[str, Any]:
  """Those of some predictions that can only be joined to `data` by order."""
  both = lambda one: all(isinstance(x, pd.DataFrame) for x in (one, data))
  return {
    name: one
    for name, one in given.items()
    if not both(one) or not ({'id'} <= {*one} & {*data} or _keys(one, data))
  }


def _texts(values: pd.Series) -> pd.Series:
  """Values of a key as texts: 1.0 is 1."""
  return values.astype(str).str.replace(r'^(-?\d+)\.0$', r'\1', regex=True)


def _places(
  frame: pd.DataFrame, name: str, ids: pd.Series, where: str
) -> np.ndarray:
  """The row of `frame` for each id; a sentence where there is none, or two."""
  own = _texts(frame[name])
  twice = own.duplicated()
  if twice.any():
    raise UserError(
      f'{where} has two predictions of {name} {own[twice].iloc[0]!r}'
    )
  at = pd.Index(own).get_indexer(_texts(ids))
  if (at < 0).any():
    row = int((at < 0).argmax())
    raise UserError(
      f'{where} has no prediction of {name} {ids.iloc[row]!r} (row {row} of '
      'the data); it seems to be of other rows'
    )
  return at


def _keys(frame: pd.DataFrame, table: pd.DataFrame) -> dict[str, np.ndarray]:
  """{column: the row of `frame` for each of `table`} of all possible keys.

  Numbers that only count the rows of both files, as pandas writes its index,
  are none beside another one.
  """
  found: dict[str, np.ndarray] = {}
  counters: dict[str, np.ndarray] = {}
  for name, same, one, other in _shared(frame, table):
    if name != same or one.duplicated().any() or other.duplicated().any():
      continue
    one, other = _texts(one), _texts(other)
    at = pd.Index(one).get_indexer(other)
    if (at < 0).any():
      continue
    counts = [str(k) for k in range(len(other))]
    counted = len(one) == len(other) and list(one) == list(other) == counts
    (counters if counted else found)[name] = at
    if len(found) == MOST:
      break
  return found or counters


def _shared(frame: pd.DataFrame, table: pd.DataFrame) -> Iterator[tuple]:
  """(name, its name in `table`, both columns) of one name but for its case."""
  plain = lambda name: str(name).strip().casefold()
  made = table.attrs.get('ids') == MADE
  frame, table = pd.DataFrame(frame), pd.DataFrame(table)  # without attrs
  own = [name for name in table if not (made and name == 'id')]
  folded = {plain(name): name for name in own} | {name: name for name in own}
  for name in frame:
    other = folded.get(name, folded.get(plain(name)))
    if (
      other is None or plain(name) in ('label', 'set') or name == 'id' == other
    ):
      continue
    if frame[name].ndim + table[other].ndim == 2:  # no name of two columns
      yield name, other, frame[name], table[other]


def _ask_nearly(frame: pd.DataFrame, table: pd.DataFrame, where: str) -> None:
  """Asks about a column that is a key but for how it is written.

  It is unique in one of both, and most of its values are in the other, in
  other rows; 0217 and 217 are one value.
  """
  for name, other, one, its in _shared(frame, table):
    if (
      name == 'text' == other
      or (  # texts are held against each other later
        one[:9].duplicated().any() and its[:9].duplicated().any()
      )
    ):
      continue
    one, its = _loosely(one), _loosely(its)
    twice = one[one.duplicated()], its[its.duplicated()]
    in_order = len(one) == len(its) and (one.array == its.array).all()
    if in_order or all(map(len, twice)) or one.isin(its).mean() <= 0.5:
      continue
    why = 'its names or values are not written alike'
    for rows, whose in zip(twice, (where, 'the data')):
      why = f'{rows.iloc[0]!r} is there twice in {whose}' if len(rows) else why
    raise UserError(
      f'{where} has a column {name!r} and the data {other!r} that look like '
      f'one key, in another order, and {why}; write it alike, each value '
      'once, or drop it from one where the rows are in the same order'
    )


def _loosely(values: pd.Series) -> pd.Series:
  """Values of a key as texts, without what people write differently."""
  words = _texts(values).str.strip().str.casefold()
  return words.str.replace(r'^(-?)0+(?=\d)', r'\1', regex=True)


def _one_key(
  found: Mapping[str, np.ndarray], where: str
) -> tuple[str, np.ndarray]:
  (name, at), *others = found.items()
  for other, rows in others:
    if (rows != at).any():
      raise UserError(
        f'{where} and the data share the columns {name!r} and {other!r}, each '
        'unique in both, and they join other rows; name the one that is the '
        'key with --config.data.id, and drop or rename the other'
      )
  return name, at


def _numbered(frame: pd.DataFrame, count: int, where: str) -> np.ndarray:
  """Ids of predictions of rows without ids can only be row numbers, all."""
  own = _texts(frame['id'])
  at = pd.Index(own[~own.duplicated()]).get_indexer(map(str, range(count)))
  if len(own) != count or (at < 0).any():
    raise UserError(
      f'{where} has ids ({own.iloc[0]!r}, …), and the data has none to join '
      'them by; name the id column of the data with --config.data.id (in '
      'Python: a column called id), or leave ids out of the predictions to '
      'join them row by row'
    )
  return at


def _in_order(
  frame: pd.DataFrame, table: pd.DataFrame, where: str
) -> tuple[pd.DataFrame, tuple[str, ...]]:
  if len(frame) != len(table):
    raise UserError(
      f'{where} has {len(frame):,} rows and the data has {len(table):,}; give '
      'a prediction of every row in the same order, or ids in both'
    )
  if 'text' in frame and 'text' in table:
    _same_texts(frame, table, where)
  return frame.reset_index(drop=True), (in_order(where),)


def in_order(where: str) -> str:
  return (
    f'{where} shares no key with the data: its rows are taken in the order of '
    'the rows of the data'
  )


def _same_texts(rows: pd.DataFrame, table: pd.DataFrame, where: str) -> None:
  apart = rows['text'].astype(str).to_numpy() != table['text'].to_numpy()
  if apart.any():
    raise UserError(
      f'{where} has another text in row {int(apart.argmax())} than the data: '
      'these are predictions of other rows, or in another order'
    )
