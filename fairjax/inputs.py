"""Library inputs as checked arrays and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.errors import UserError


def labels(y_true: Sequence, pos_label: Any) -> tuple[list, np.ndarray]:
  """The classes' names in order, and each row's class; 1 is `pos_label`."""
  values = np.asarray(y_true)
  if values.ndim != 1 or not len(values):
    raise UserError(
      f'y_true has shape {values.shape}; a label for each row is needed'
    )
  if pd.isna(values).any():
    row = int(pd.isna(values).argmax())
    raise UserError(f'row {row} of y_true has no label')
  classes = sorted(set(values.tolist()))
  if pos_label is not None:
    if pos_label not in classes:
      raise UserError(f'pos_label is {pos_label!r}; the labels are {classes}')
    if len(classes) > 2:
      raise UserError(f'pos_label is for two classes; there are {classes}')
    return [pos_label], (values == pos_label).astype(np.int32)
  numbers = all(isinstance(c, bool | int | float) for c in classes)
  if numbers and set(classes) <= {0, 1}:
    return [0, 1], values.astype(np.int32)
  if len(classes) <= 2:
    raise UserError(
      f'the labels are {classes}; say which one y_score is the probability of '
      f'with pos_label={classes[-1]!r}'
    )
  index = {c: i for i, c in enumerate(classes)}
  return classes, np.array([index[v] for v in values.tolist()], np.int32)


def scores(y_score: Sequence, rows: int, classes: int) -> np.ndarray:
  """[s, n], or [s, n, c] of three or more classes."""
  values = np.asarray(y_score, np.float64)
  shape = values.shape
  if values.ndim == 1:
    values = values[None]
  elif values.ndim == 2 and shape[0] == rows and shape[1] != rows:
    values = values[None]
    values = values[..., 1] if shape[1] == 2 else values
  elif values.ndim == 3 and shape[2] == 2:
    values = values[..., 1]
  class_count = values.shape[2] if values.ndim == 3 else 2
  if values.shape[1] != rows or class_count != max(classes, 2):
    raise UserError(
      f'y_score has shape {shape}, but there are {rows} rows of {classes} '
      'classes; give [n], [n, c] or, for several seeds, [s, n]'
    )
  if not np.isfinite(values).all():
    raise UserError('y_score has values that are no numbers')
  return values


def columns(groups: Any, rows: int) -> dict[str, Sequence | np.ndarray]:
  """The group columns by name."""
  if groups is None:
    return {}
  if isinstance(groups, pd.DataFrame):
    result = {str(name): _column(groups[name]) for name in groups}
  elif isinstance(groups, Mapping):
    result = {str(name): _column(values) for name, values in groups.items()}
  else:
    result = {'group': _column(groups)}
  for name, values in result.items():
    if len(values) != rows:
      raise UserError(
        f'group column {name!r} has {len(values)} values for {rows} rows'
      )
  return result


def _column(values: Any) -> Sequence | np.ndarray:
  """Values by their places; a Series has places of its own."""
  if isinstance(values, pd.Series):
    return values.to_numpy()
  return values if isinstance(values, np.ndarray) else list(values)


def table(frame: pd.DataFrame) -> pd.DataFrame:
  """A user's table in our schema: text, whole labels, ids."""
  for column in ('text', 'label'):
    if column not in frame:
      raise UserError(
        f'the table has no column {column!r}; rename yours, as in '
        f"table.rename(columns={{'mine': {column!r}}})"
      )
  out = frame.reset_index(drop=True)
  if 'id' not in out:
    out.insert(0, 'id', [f'row-{i}' for i in range(len(out))])
  out['id'] = out['id'].astype(str)
  if out['id'].duplicated().any():
    twice = out['id'][out['id'].duplicated()].iloc[0]
    raise UserError(f'the table has id {twice!r} twice; ids must be unique')
  if not pd.api.types.is_integer_dtype(out['label']):
    out['label'] = labels(out['label'], None)[1]
  return out
