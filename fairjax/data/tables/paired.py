"""The paired file of fairscore: texts and their perturbations, one row each.

Columns: id, perturber, text, perturbed, label; word, attribute and axis where
they are known; text_pair and perturbed_pair of tasks on two texts; control, a
neutral rewrite of the text (empty where there is none), and control_pair. It
is written once and read for any model. What is read may also be long, as the
released script has it: ex_id, is_perturbed, label and the text's columns, half
of the rows perturbed.
"""

import math
import os

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, shown
from fairjax.data.tables import files, readers

MOST = 10**6  # classes
COLUMNS = (
  *('id', 'perturber', 'text', 'perturbed', 'text_pair', 'perturbed_pair'),
  *('control', 'control_pair', 'word', 'attribute', 'axis', 'label'),
)
# Text fields of the tasks in the released files, first and second.
FIELDS = (
  *(('sentence', ''), ('sentence1', 'sentence2'), ('premise', 'hypothesis')),
  *(('question1', 'question2'), ('question', 'sentence'), ('text', '')),
)


def read(path: str | os.PathLike) -> pd.DataFrame:
  """A paired file in either form, checked; one sentence where it is wrong."""
  table = files.read(str(path))
  if 'is_perturbed' in table:
    table = wide(table, str(path))
  return check(table, str(path))


def wide(table: pd.DataFrame, path: str) -> pd.DataFrame:
  """One row an example, of a file with one row a text."""
  remedy = 'a long paired file needs ex_id, is_perturbed, label and the texts'
  readers.need(table, path, ('ex_id', 'label'), remedy)
  one, two = next(
    (
      (a, b)
      for a, b in (*FIELDS[1:4], FIELDS[4], FIELDS[0], FIELDS[5])
      if a in table and (not b or b in table)
    ),
    ('', ''),
  )
  if not one:
    raise UserError(
      f'{path} has no column of texts; name it sentence, or sentence1 and '
      'sentence2'
    )
  table = table.assign(ex_id=table['ex_id'].map(str))
  marked = table['is_perturbed'].map(str).str.strip().str.lower()
  mask = marked.isin(('true', '1', '1.0', 'yes'))
  old, new = table[~mask], table[mask]
  if len(old) != len(new):
    raise UserError(
      f'{path} has {len(old)} original and {len(new)} perturbed rows; give '
      'each example once in either form'
    )
  for half, what in ((old, 'original'), (new, 'perturbed')):
    again = half['ex_id'].duplicated()
    if again.any():
      raise UserError(
        f'{path} has two {what} rows of ex_id '
        f'{half["ex_id"][again].iloc[0]!r}; keep one'
      )
  both = old.merge(new, on='ex_id', suffixes=('', '_new'))
  if len(both) != len(old):
    lone = sorted(set(old['ex_id']) ^ set(new['ex_id']), key=str)[0]
    raise UserError(f'{path}: ex_id {lone!r} has one half only; give both')
  if (both['label'] != both['label_new']).any():
    row = both[both['label'] != both['label_new']].iloc[0]
    raise UserError(
      f'{path}: ex_id {row["ex_id"]!r} has label {row["label"]!r} and, '
      f'perturbed, {row["label_new"]!r}; a perturbation keeps the label'
    )
  result = pd.DataFrame(
    {
      'id': both['ex_id'].astype(str),
      'perturber': 'file',
      'text': both[one],
      'perturbed': both[f'{one}_new'],
      'label': both['label'],
    }
  )
  if two:
    result['text_pair'] = both[two]
    result['perturbed_pair'] = both[f'{two}_new']
  return result


def _class(value) -> float:
  """The number of a class, NaN where it is none."""
  try:
    number = float(value)
  except (TypeError, ValueError, OverflowError):
    return math.nan
  return number if number.is_integer() and 0 <= number < MOST else math.nan


def check(table: pd.DataFrame, path: str) -> pd.DataFrame:
  """The table with all its columns, if every row is a perturbation."""
  names = ('id', 'text', 'perturbed', 'label')
  readers.need(table, path, names, f'a paired file has {", ".join(names)}')
  table = table.assign(id=table['id'].map(str))
  if 'perturber' not in table:
    table['perturber'] = 'file'
  for name in COLUMNS:
    if name not in table:
      table[name] = ''
  texts = [c for c in COLUMNS if c not in ('id', 'label')]
  table[texts] = table[texts].astype(object).fillna('').astype(str)
  blank = (table['text'] == '') | (table['perturbed'] == '')
  same = (table['text'] == table['perturbed']) & (
    table['text_pair'] == table['perturbed_pair']
  )
  for wrong, what in (
    (blank, 'has no text or no perturbed text'),
    (same, 'has a perturbed text that equals its text'),
    (table.duplicated(['id', 'perturber']), 'is there twice'),
  ):
    if wrong.any():
      row = table.loc[wrong.to_numpy().argmax()]
      raise UserError(f'{path}: id {row["id"]!r} {what}; leave such rows out')
  labels = table['label'].map(_class)
  if labels.isna().any():
    row = table.loc[int(labels.isna().to_numpy().argmax())]
    raise UserError(
      f'{path}: id {row["id"]!r} has label {shown(row["label"])}; give the '
      'number of its class'
    )
  table['label'] = labels.astype(np.int32)
  return table[list(COLUMNS)].reset_index(drop=True)
