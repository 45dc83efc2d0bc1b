"""The table: one schema for all data, checked.

A data set is a dict from split name ('train', 'valid', 'test', or a test
set's own name) to a pandas DataFrame with the columns

  id      str, unique over all splits, stable: artefacts are keyed by it
  text    str
  label   int, 0 … C-1

and, where known, `text_pair` (str), `group` (str, '' for none), `twin` (str:
the counterfactual text; equal to `text` where there is none), `twin_pair`
(str: its `text_pair`; without it that stays), `weight`
(float), `origin` (str: where a row that a method made comes from).
"""

import pandas as pd

from fairjax.core.errors import UserError

Tables = dict[str, pd.DataFrame]

REQUIRED = ('id', 'text', 'label')
OPTIONAL = ('text_pair', 'group', 'twin', 'twin_pair', 'weight', 'origin')
TEXTS = ('text', 'text_pair', 'twin', 'twin_pair')  # what models may read


def check(tables: Tables) -> Tables:
  """Returns `tables` if they obey the schema; else one sentence says why."""
  owner: dict[str, str] = {}
  for split, table in tables.items():
    for column in REQUIRED:
      if column not in table:
        raise UserError(f'the {split} table has no column {column!r}')
    if not len(table):
      raise UserError(f'the {split} table has no rows')
    for column in ('id', *TEXTS, 'group', 'origin'):
      if column in table:
        wrong = ~table[column].map(lambda v: isinstance(v, str))
        if wrong.any():
          row = int(wrong.to_numpy().argmax())
          raise UserError(
            f'the {split} table has no text in column {column!r} of row '
            f'{row}: {table[column].iloc[row]!r}'
          )
    if not pd.api.types.is_integer_dtype(table['label']):
      raise UserError(f'the {split} table has labels that are not integers')
    if (table['label'] < 0).any():
      raise UserError(f'the {split} table has a negative label')
    twice = table['id'][table['id'].duplicated()]
    if len(twice):
      raise UserError(f'the {split} table has id {twice.iloc[0]!r} twice')
    both = [i for i in table['id'] if i in owner]
    if both:
      raise UserError(
        f'id {both[0]!r} is in the {owner[both[0]]} and the {split} table'
      )
    owner.update(dict.fromkeys(table['id'], split))
  return tables


def classes(tables: Tables) -> int:
  """The number of classes: labels are 0 … C-1 over all splits."""
  return 1 + max(int(table['label'].max()) for table in tables.values())


def has_twin(table: pd.DataFrame) -> pd.Series:
  """True for rows whose counterfactual differs from their text, or pair."""
  if 'twin' not in table:
    return pd.Series(False, index=table.index)
  differs = table['twin'] != table['text']
  if 'twin_pair' in table:
    differs |= table['twin_pair'] != table['text_pair']
  return differs
