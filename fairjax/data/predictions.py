"""Predictions of any model from a file: scores or labels, by column.

A file of predictions has one line a row of the data. It is joined by id where
both have ids, else row by row (where both have the text, that must agree).
A column holds the probability of the positive class, or a decision (a label);
`NAME*` stands for one column a class, in the order of the classes or with the
classes' names behind the common beginning. Our own predictions.parquet, with
p0, p1 … for seeds, is read as it is.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.data.files import source
from fairjax.errors import UserError

USUAL = (  # columns that are looked for where none is named
  *('score', 'scores', 'probability', 'probabilities', 'proba', 'prob', 'p'),
  *('y_score', 'y_prob', 'prediction', 'predictions', 'predicted', 'pred'),
  *('y_pred', 'y_hat', 'p_*', 'prob_*', 'score_*', 'p*'),
)
SUM = 1e-3  # how far probabilities of a row may be from a sum of 1


class Predicted(NamedTuple):
  """The predictions of one model."""

  name: str
  scores: np.ndarray  # [s, n, c]
  hard: bool  # decisions, not probabilities


def read(
  frame: pd.DataFrame,
  table: pd.DataFrame,
  columns: Sequence[str],
  classes: Sequence[str],
  pos_label: int = 1,
) -> list[Predicted]:
  """The predictions of each model in `frame`, for the rows of `table`."""
  rows = numeric(joined(frame, table))
  if not columns and _ours(rows):
    return [_seeds(rows)]
  columns = list(columns) or [_found(rows, table)]
  if len(columns) != len(set(columns)):
    raise UserError('audit.scores names a column twice')
  return [_one(rows, name, classes, pos_label) for name in columns]


def numeric(frame: pd.DataFrame) -> pd.DataFrame:
  """Columns of texts that are all numbers, as numbers: files hold texts."""
  out = frame.copy()
  out.attrs = dict(frame.attrs)
  for name in frame.columns[frame.columns != 'id']:
    values = frame[name]
    if isinstance(values, pd.Series) and not (
      pd.api.types.is_numeric_dtype(values)
    ):
      numbers = pd.to_numeric(values, errors='coerce')
      empty = values.isna() | (values.astype(str).str.strip() == '')
      if (numbers.notna() | empty).all() and not empty.all():
        out[name] = numbers
  return out


def joined(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
  """The rows of `frame` that belong to those of `table`, in its order."""
  where = source(frame)
  by_id = 'id' in frame and not _numbered(table)
  if by_id:
    rows = frame.assign(id=frame['id'].astype(str))
    if 'set' in rows and rows['id'].duplicated().any():
      rows = rows[rows['id'].isin(set(table['id']))]
    twice = rows['id'].duplicated()
    if twice.any():
      raise UserError(
        f'{where} has two predictions of id {rows["id"][twice].iloc[0]!r}'
      )
    at = pd.Index(rows['id']).get_indexer(table['id'])
    if (at < 0).any():
      row = int((at < 0).argmax())
      raise UserError(
        f'{where} has no prediction of id {table["id"].iloc[row]!r} (row '
        f'{row} of the data); it seems to be of other rows'
      )
    return rows.iloc[at].reset_index(drop=True)
  if len(frame) != len(table):
    raise UserError(
      f'{where} has {len(frame):,} rows and the data has {len(table):,}; give '
      'a prediction of every row in the same order, or ids in both'
    )
  rows = frame.reset_index(drop=True)
  if 'text' in rows and 'text' in table:
    apart = rows['text'].astype(str) != table['text'].reset_index(drop=True)
    if apart.any():
      row = int(apart.to_numpy().argmax())
      raise UserError(
        f'{where} has another text in row {row} than the data: these are '
        'predictions of other rows, or in another order'
      )
  rows.attrs = dict(frame.attrs)
  return rows


def _numbered(table: pd.DataFrame) -> bool:
  """Whether its ids are row numbers of ours, which say nothing."""
  return list(table['id'].iloc[:3]) == [str(i) for i in range(len(table))][:3]


def _ours(rows: pd.DataFrame) -> bool:
  return any(re.fullmatch(r'p\d+(_c\d+)?', str(c)) for c in rows)


def _seeds(rows: pd.DataFrame) -> Predicted:
  columns = [c for c in rows if re.fullmatch(r'p\d+(_c\d+)?', str(c))]
  seeds = len({c.split('_')[0] for c in columns})
  values = rows[columns].to_numpy(float).reshape(len(rows), seeds, -1)
  if values.shape[2] == 1:
    values = np.concatenate([1 - values, values], 2)
  scores = values.swapaxes(0, 1)
  check(scores, columns, source(rows))
  return Predicted('model', scores, False)


def _found(rows: pd.DataFrame, table: pd.DataFrame) -> str:
  names = {str(c).lower(): str(c) for c in rows}
  for usual in USUAL:
    if usual.endswith('*'):
      start = usual[:-1]
      own = [n for low, n in names.items() if low.startswith(start)]
      if len(own) > 1 and start:
        return own[0][: len(start)] + '*'
    elif usual in names:
      return names[usual]
  others = [str(c) for c in rows if c not in table and c != 'id']
  if len(others) == 1:
    return others[0]
  choices = ', '.join(map(repr, list(names.values())[:12]))
  raise UserError(
    f'{source(rows)} has no column that is called like a prediction (it has '
    f'{choices}); name it with --config.audit.scores=COLUMN'
  )


def _one(
  rows: pd.DataFrame, name: str, classes: Sequence[str], pos_label: int
) -> Predicted:
  if name.endswith('*'):
    return _of_classes(rows, name[:-1], classes)
  if name not in rows:
    choices = ', '.join(map(repr, map(str, list(rows)[:12])))
    raise UserError(
      f'{source(rows)} has no column {name!r} of predictions; it has {choices}'
    )
  values = rows[name]
  if isinstance(values, pd.DataFrame):
    raise UserError(
      f'{source(rows)} has {values.shape[1]} columns named {name!r}; rename one'
    )
  if values.isna().any():
    row = int(values.isna().to_numpy().argmax())
    raise UserError(
      f'{source(rows)} has no prediction in column {name!r} of row {row}'
    )
  numeric = pd.api.types.is_numeric_dtype(values)
  if numeric and not pd.api.types.is_bool_dtype(values):
    numbers = values.to_numpy(float)
    whole = np.isin(numbers, np.arange(max(len(classes), 2))).all()
    if not whole:
      return Predicted(name, _positive(numbers, name, rows, pos_label), False)
    codes = numbers.astype(np.int64)
  else:
    codes = _codes(values, name, rows, classes)
  c = max(len(classes), 2, int(codes.max()) + 1)
  return Predicted(name, np.eye(c)[codes][None], True)


def _positive(numbers, name, rows, pos_label) -> np.ndarray:
  wrong = ~((numbers >= 0) & (numbers <= 1))
  if wrong.any():
    row = int(wrong.argmax())
    raise UserError(
      f'{source(rows)} has {float(numbers[row])!r} in column {name!r} of row '
      f'{row}; a score is a probability from 0 to 1 (of logits take the '
      'sigmoid first)'
    )
  both = np.stack([1 - numbers, numbers], -1)
  return (both if pos_label == 1 else both[:, ::-1])[None]


def _codes(values, name, rows, classes) -> np.ndarray:
  """Decisions by name, as the classes are called."""
  words = values.astype(str).str.strip()
  known = {c.casefold(): k for k, c in enumerate(classes)}
  known |= {part: k for c, k in list(known.items()) for part in c.split('/')}
  if not classes:
    both = sorted(set(words))
    if len(both) != 2:
      raise UserError(
        f'column {name!r} of {source(rows)} holds {len(both)} different '
        'decisions, and the data has no labels to say which is which; give '
        'numbers, 1 for positive'
      )
    known = {word.casefold(): k for k, word in enumerate(both)}
  codes = words.str.casefold().map(known)
  if codes.isna().any():
    odd = pd.to_numeric(words, errors='coerce').isna().to_numpy()
    if odd.mean() < 0.5:  # a column of numbers, but for some
      row = int((odd if odd.any() else codes.isna().to_numpy()).argmax())
      raise UserError(
        f'{source(rows)} has {words[row]!r} in column {name!r} of row {row}, '
        'and numbers in others; give a probability from 0 to 1 in every row'
      )
    row = int(codes.isna().to_numpy().argmax())
    raise UserError(
      f'{source(rows)} decides {words[row]!r} in column {name!r} of row {row}, '
      f'but the labels are {", ".join(map(repr, classes))}; call them alike '
      'with --config.data.labels=NAME=NUMBER,NAME=NUMBER'
    )
  return codes.to_numpy(np.int64)


def _of_classes(rows, start: str, classes: Sequence[str]) -> Predicted:
  columns = [str(c) for c in rows if str(c).startswith(start)]
  twice = next((c for c in columns if columns.count(c) > 1), None)
  if twice is not None:
    raise UserError(f'{source(rows)} has 2 columns named {twice!r}; rename one')
  ends = {c[len(start) :].casefold(): c for c in columns}
  if classes and all(name.casefold() in ends for name in classes):
    columns = [ends[name.casefold()] for name in classes]
  elif all(end.isdigit() for end in ends):
    columns = [ends[end] for end in sorted(ends, key=int)]
  elif classes:
    raise UserError(
      f'the columns {", ".join(columns[:8])} of {source(rows)} are not called '
      f'as the labels {", ".join(map(repr, classes))}; rename them to '
      f'{start}LABEL'
    )
  if len(columns) < 2 or (classes and len(columns) != len(classes)):
    raise UserError(
      f'{source(rows)} has {len(columns)} columns {start}*, and there are '
      f'{len(classes) or "at least 2"} classes; give one for each'
    )
  scores = rows[columns].to_numpy(float)[None]
  check(scores, columns, source(rows))
  return Predicted(start.rstrip('_.- ') or 'model', scores, False)


def check(scores: np.ndarray, columns: Sequence[str], where: str) -> None:
  if not np.isfinite(scores).all():
    row = int(np.argwhere(~np.isfinite(scores))[0][1])
    raise UserError(f'{where} has no number for a probability in row {row}')
  apart = np.abs(scores.sum(-1) - 1) > SUM
  wrong = apart | (scores < 0).any(-1)
  if wrong.any():
    s, row = np.argwhere(wrong)[0]
    raise UserError(
      f'the probabilities of row {row} of {where} sum to '
      f'{scores[s, row].sum():.4g}, not to 1 (columns '
      f'{", ".join(map(str, columns[:6]))}); give probabilities of all classes'
    )
