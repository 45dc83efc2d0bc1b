"""The files that template test sets are made from.

Each reader returns a checked table or list, or says in one sentence what is
wrong with the file.
"""

import pathlib
from collections.abc import Sequence

import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables import readers

SHIPPED = pathlib.Path(__file__).parent / 'identity'
KEYS = ['type', 'subtype', 'connotation']
TOXICITY = {'toxic': 1, 'nontoxic': 0}


def read_templates(path) -> pd.DataFrame:
  """Columns template, label, phrase of a templates file."""
  table = read_csv(path, ('template', 'toxicity', 'phrase'))
  _no_repeat(path, 'template', table['phrase'], table['phrase'].str.lower())
  table['label'] = labels_of(path, table['toxicity'], TOXICITY)
  return table[['template', 'label', 'phrase']]


def labels_of(path, column: pd.Series, names: dict[str, int]) -> pd.Series:
  """The label of each row of a column that names them."""
  wrong = ~column.isin(names)
  if wrong.any():
    row = int(wrong.to_numpy().argmax())
    raise UserError(
      f'{path} row {row + 2}: {column.name} is {column.iloc[row]!r}; it must '
      f'be {" or ".join(names)}'
    )
  return column.map(names)


def read_words(path) -> pd.DataFrame:
  """A words file (column `word`) or a pairs file (one column a group)."""
  table = read_csv(path, KEYS)
  columns = groups_of(table)
  if not columns:
    raise UserError(
      f'{path} has no column of words; add `word`, or one column a group'
    )
  for column in columns:
    empty = table[column] == ''
    if empty.any():
      raise UserError(
        f'{path} row {int(empty.to_numpy().argmax()) + 2}: {column} is empty; '
        'write the word or delete the row'
      )
  flat = pd.concat(
    [table['type'] + ' ' + table[c].str.lower() for c in columns]
  )
  cells = pd.concat([table[c] for c in columns])
  _no_repeat(path, 'word', cells, flat)
  return table


def read_list(path) -> list[str]:
  """The lines of a word list; refuses an empty list and repeated words."""
  lines = readers.lines(path)
  words = pd.Series([line.strip() for line in lines if line.strip()], dtype=str)
  if not len(words):
    raise UserError(f'the list {path} is empty; write one entry a line')
  _no_repeat(path, 'word', words, words.str.lower())
  return words.tolist()


def read_csv(path, columns: Sequence[str]) -> pd.DataFrame:
  """The rows of a file as literal texts, with these columns among them."""
  table = readers.read(str(path), usual='.csv').fillna('').astype(str)
  readers.need(table, path, columns, 'add it')
  return table


def _no_repeat(path, kind: str, values: pd.Series, keys: pd.Series) -> None:
  twice = keys.duplicated().to_numpy()
  if twice.any():
    raise UserError(
      f'{path} has the {kind} {values.iloc[int(twice.argmax())]!r} twice; '
      'delete one'
    )


def groups_of(words: pd.DataFrame) -> list[str]:
  return [column for column in words if column not in KEYS]
