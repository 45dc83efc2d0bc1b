"""Library inputs as checked arrays and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table, predictions, readers


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
    return classes, (values == pos_label).astype(np.int32)
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


def scores(
  y_score: Sequence, rows: int, classes: int, positive: int = 1
) -> np.ndarray:
  """Probabilities [s, n], or [s, n, c] of three or more classes.

  `positive` is the column of the positive label where there are two.
  """
  try:
    values = np.asarray(y_score, np.float64)
  except (TypeError, ValueError) as error:
    raise UserError(
      'y_score has values that are no numbers; give probabilities'
    ) from error
  shape = values.shape
  if values.ndim == 1:
    values = values[None]
  elif values.ndim == 2 and shape[0] == rows and shape[1] != rows:
    values = values[None]
  class_count = values.shape[2] if values.ndim == 3 else 2
  if (
    values.ndim not in (2, 3)
    or values.shape[1] != rows
    or class_count != max(classes, 2)
  ):
    raise UserError(
      f'y_score has shape {shape}, but there are {rows} rows of {classes} '
      'classes; give [n], [n, c] or, for several seeds, [s, n]'
    )
  if not np.isfinite(values).all():
    row = int(np.argwhere(~np.isfinite(values))[0][1])
    raise UserError(f'y_score has values that are no numbers, as in row {row}')
  if values.ndim == 3:
    predictions.check(values, range(class_count), 'y_score')
    return values[..., positive] if class_count == 2 else values
  wrong = (values < 0) | (values > 1)
  if wrong.any():
    s, row = np.argwhere(wrong)[0]
    raise UserError(
      f'y_score is {values[s, row]:g} in row {row}; a probability from 0 to 1 '
      'is needed (of logits take the sigmoid first, divide percents by 100)'
    )
  return values


def texts(values: Any) -> list[str]:
  """A column of texts, each of them a str."""
  out = list(values)
  for row, text in enumerate(out):
    if not isinstance(text, str):
      raise UserError(f'text {row} is {text!r}, which is no text')
  if not out:
    raise UserError('there are no texts; give one at least')
  return out


def seed(random_state: Any) -> int:
  """A seed, which the same call gives the same result by."""
  whole = isinstance(random_state, int | np.integer)
  if isinstance(random_state, bool) or not whole or random_state < 0:
    raise UserError(
      f'random_state is {random_state!r}; a whole number from 0 is needed, so '
      'that the same call gives the same result'
    )
  return int(random_state)


def options(
  threshold: Any, confidence_level: Any, n_resamples: Any, random_state: Any
) -> None:
  """One sentence for the first option that no measure can be made with."""

  def number(value):
    return isinstance(
      value, int | float | np.integer | np.floating
    ) and not isinstance(value, bool)

  whole = lambda value: number(value) and float(value).is_integer()
  right = number(threshold) and 0 <= threshold <= 1
  try:
    right = right or 0 <= float(threshold) <= 1
  except (TypeError, ValueError):
    pass
  if not right and threshold != 'eer':
    raise UserError(
      f"threshold is {threshold!r}; a number from 0 to 1, or 'eer', is needed"
    )
  if not (number(confidence_level) and 0.5 <= confidence_level < 1):
    raise UserError(
      f'confidence_level is {confidence_level!r}; a number from 0.5 to below '
      '1 is needed, such as 0.95'
    )
  if not (whole(n_resamples) and 0 <= n_resamples <= 10**6):
    raise UserError(
      f'n_resamples is {n_resamples!r}; a whole number from 0 to 1000000 is '
      'needed'
    )
  if not (whole(random_state) and 0 <= random_state < 2**31):
    raise UserError(
      f'random_state is {random_state!r}; a whole number from 0 is needed, so '
      'that the same call gives the same intervals'
    )


def columns(groups: Any, rows: int) -> tuple[dict[str, np.ndarray], list[str]]:
  """The group columns by name, as an audit reads them, and what to say."""
  if groups is None:
    return {}, []
  if isinstance(groups, str):
    raise UserError(
      f'groups is {groups!r}; give the column itself, as in '
      f'groups=table[{groups!r}]'
    )
  if isinstance(groups, Mapping):
    given = {str(name): values for name, values in groups.items()}
  elif (frame := readers.as_frame(groups)) is not None:
    given = {str(name): frame[name] for name in frame}
  else:
    given = {'group': groups}
  result, remarks = {}, []
  for name, values in given.items():
    values = _column(values)
    if np.ndim(values) != 1:
      raise UserError(
        f'group column {name!r} has shape {np.shape(values)}; give one value '
        'a row, and several columns as a table or a mapping'
      )
    if len(values) != rows:
      raise UserError(
        f'group column {name!r} has {len(values)} values for {rows} rows'
      )
    result[name], said = audit_table.grouped(pd.Series(values), name, 'groups')
    remarks += said
  return result, remarks


def _column(values: Any) -> Sequence | np.ndarray:
  """Values by their places; a Series has places of its own."""
  if isinstance(values, pd.Series):
    return values.to_numpy()
  return values if isinstance(values, np.ndarray) else list(values)


def table(
  frame: pd.DataFrame, classes: Sequence[str] | None = None
) -> pd.DataFrame:
  """A user's table in our schema: text, whole labels, ids.

  Labels that are names are those of `classes` (of a model), or numbered in
  sorted order.
  """
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
    out['label'] = _named(out['label'], classes)
  return out


def _named(column: pd.Series, classes: Sequence[str] | None) -> np.ndarray:
  if column.isna().any():
    row = int(column.isna().to_numpy().argmax())
    raise UserError(f'row {row} of the column label has no label')
  names = column.map(str).to_numpy(object)
  known = sorted(set(names)) if classes is None else list(map(str, classes))
  unknown = ~np.isin(names, known)
  if unknown.any():
    raise UserError(
      f'row {int(unknown.argmax())} has the label '
      f'{names[unknown.argmax()]!r}, and the classes of the model are '
      f'{", ".join(known)}; call the labels so, or number them in that order'
    )
  return np.array([known.index(name) for name in names], np.int32)
