"""Library inputs as checked arrays and tables."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, is_listed, need, shown
from fairjax.data.tables import answers, audit_table, readers, schema

MOST = 10**6  # classes


def labels(y_true: Sequence, pos_label: Any) -> tuple[list, np.ndarray]:
  """The classes' names in order, and each row's class; 1 is `pos_label`."""
  need(
    pos_label is None
    or isinstance(pos_label, bool | int | float | str | bytes)
    or isinstance(pos_label, np.generic),
    *('pos_label', pos_label, 'one of the labels is needed'),
  )
  values = np.asarray(by_place(y_true, 'y_true'))
  if values.ndim == 2 and values.shape[1] == 1:
    values = values[:, 0]
  if values.ndim != 1 or not len(values):
    raise UserError(
      f'y_true has shape {values.shape}; a label for each row is needed'
    )
  if pd.isna(values).any():
    row = int(pd.isna(values).argmax())
    raise UserError(f'row {row} of y_true has no label')
  try:
    classes = sorted(set(values.tolist()))
  except TypeError as error:  # mappings, complex numbers, texts beside numbers
    raise UserError(
      f'y_true has labels of no order, such as {shown(values[0])}; give '
      'numbers, booleans or names'
    ) from error
  if pos_label is not None:
    if pos_label not in classes:
      raise UserError(
        f'pos_label is {shown(pos_label)}; the labels are {shown(classes, 200)}'
      )
    if len(classes) > 2:
      raise UserError(
        f'pos_label is for two classes; there are {shown(classes)}'
      )
    return classes, (values == pos_label).astype(np.int32)
  numbers = all(isinstance(c, bool | int | float) for c in classes)
  if numbers and set(classes) <= {0, 1}:
    return [0, 1], values.astype(np.int32)
  if len(classes) <= 2:
    raise UserError(
      f'the labels are {shown(classes)}; say which one y_score is the '
      f'probability of with pos_label={shown(classes[-1])}'
    )
  index = {c: i for i, c in enumerate(classes)}
  return classes, np.array([index[v] for v in values.tolist()], np.int32)


def predicted(
  y_true: Sequence, y_score: Any, pos_label: Any
) -> tuple[list[str], np.ndarray, np.ndarray, list[str]]:
  """The classes' names, labels as classes, scores, and what there is to say.

  The one door: `labels` turns its classes where `pos_label` is the first of
  two, and columns and decisions must turn with them. Scores are [s, n] of
  label 1, or [s, n, c] of three or more classes.
  """
  names, classes = labels(y_true, pos_label)
  words = [f'{n:g}' if isinstance(n, float) else str(n) for n in names]
  first = pos_label is not None and names.index(pos_label) == 0
  positive = 0 if first and len(names) == 2 else 1
  named = not all(isinstance(n, int | float) for n in names)
  if readers.as_frame(y_score) is None:
    y_score = _zeros_and_ones(
      by_place(y_score, 'y_score'), named, y_true, positive
    )
  asked = answers.Asked(words, positive, 'y_score has')
  found = answers.of_values(y_score, len(classes), asked)
  if (width := found.scores.shape[2]) != max(len(names), 2):
    raise UserError(
      f'y_score has {width} classes, and y_true has {len(names)} '
      f'({shown(names)}); give a column for each'
    )
  remarks = list(found.remarks)
  if width > 2:
    return words, classes, found.scores, remarks
  turned = words[::-1] if positive == 0 else words
  return turned, classes, found.scores[..., positive], remarks


def _zeros_and_ones(values: Any, named: bool, y_true: Any, positive: int):
  """Scores of 0 and 1 alone, as what they are: labels or probabilities.

  Beside labels that are words they are probabilities, beside numbers labels
  where they are of one type; which matters where label 0 is the positive one.
  """
  array = np.asarray(values)
  if array.ndim != 1 or array.dtype.kind not in 'iubf':
    return values
  if named:
    return array.astype(float)
  if array.dtype.kind in 'iu' or positive or not np.isin(array, (0, 1)).all():
    return values
  if np.asarray(by_place(y_true, 'y_true')).dtype.kind == array.dtype.kind:
    return array.astype(int)
  raise UserError(
    f'y_score has {shown(array[0].item())} and the like alone, and pos_label '
    'is the first label: give labels as y_true has them, or the probabilities '
    'of both labels [n, 2]'
  )


class BadRows(UserError, ValueError):
  """Rows of no use to a model; a ValueError, as scikit-learn has it."""


def texts(values: Any) -> list[str]:
  """A column of texts, each of them a str."""
  if not is_listed(values):
    raise BadRows(f'{shown(values)} is no column of texts')
  if (table := readers.as_frame(values)) is not None:
    names = [*map(str, table.columns)]
    column = 'text' if 'text' in names else (names or ['text'])[0]
    raise BadRows(
      f'a table is given where a column of texts is needed; give one of its '
      f'columns, as in table[{column!r}]'
    )
  out = list(values)
  for row, text in enumerate(out):
    if not isinstance(text, str):
      raise BadRows(f'text {row} is {shown(text)}, which is no text')
  if not out:
    raise BadRows('there are no texts; give one at least')
  return out


def options(
  threshold: Any,
  confidence_level: Any,
  n_resamples: Any,
  random_state: Any,
  min_group: Any = 10,
) -> None:
  """One sentence for the first option that no measure can be made with."""
  right = number(threshold) or isinstance(threshold, str)
  try:
    right = right and (threshold == 'eer' or 0 <= float(threshold) <= 1)
  except (ValueError, OverflowError):
    right = False
  need(
    right,
    *('threshold', threshold, "a number from 0 to 1, or 'eer', is needed"),
  )
  need(
    number(confidence_level) and 0.5 <= confidence_level < 1,
    *('confidence_level', confidence_level),
    'a number from 0.5 to below 1 is needed, such as 0.95',
  )
  need(
    whole(n_resamples) and 0 <= n_resamples <= 10**6,
    *('n_resamples', n_resamples),
    'a whole number from 0 to 1000000 is needed',
  )
  need(
    whole(min_group) and 0 < min_group < 2**31,
    *('min_group', min_group, 'a whole number from 1 is needed'),
  )
  seed(random_state)


def number(value: Any) -> bool:
  return whole(value) or isinstance(value, float | np.floating)


def whole(value: Any) -> bool:
  return isinstance(value, int | np.integer) and not isinstance(value, bool)


def seed(random_state: Any) -> int:
  need(
    whole(random_state) and 0 <= random_state < 2**31,
    *('random_state', random_state),
    'a whole number from 0 is needed, so that the same call gives the same '
    'result',
  )
  return int(random_state)


def groups_of(groups: Any, sensitive_features: Any) -> Any:
  """The groups that are given, by either name."""
  if sensitive_features is None:
    return groups
  if groups is not None and (not isinstance(groups, tuple) or groups):
    raise UserError(
      'sensitive_features is another name of groups; give one of the two'
    )
  return sensitive_features


def columns(groups: Any, rows: int) -> tuple[dict[str, np.ndarray], list[str]]:
  """The group columns by name, as an audit reads them, and what to say."""
  if groups is None:
    return {}, []
  if isinstance(groups, Mapping):
    given = {str(name): values for name, values in groups.items()}
  elif (frame := readers.as_frame(groups)) is not None:
    given = {str(name): frame[name] for name in frame}
  else:
    given = {'group': groups}
  if len(given) > 1000:
    raise UserError(
      f'groups has {len(given):,} columns, each of which would be compared; '
      "give those that hold groups, as in table[['gender', 'age']]"
    )
  result, remarks = {}, []
  for name, values in given.items():
    values = by_place(values, called=name)
    if np.ndim(values) != 1:
      raise UserError(
        f'group column {name!r} has shape {np.shape(values)}; give one value '
        'a row, and several columns as a table or a mapping'
      )
    if len(values) != rows:
      raise UserError(
        f'group column {name!r} has {len(values)} values for {rows} rows'
      )
    result[name], more = audit_table.grouped(pd.Series(values), name, 'groups')
    remarks += more
  return result, remarks


def with_groups(
  table: pd.DataFrame, sensitive_features: Any
) -> tuple[pd.DataFrame, list[str]]:
  """The rows with the groups beside them, and the names of their columns."""
  groups, _ = columns(sensitive_features, len(table))
  if taken := {*groups} & {*schema.REQUIRED, *schema.OPTIONAL} - {'group'}:
    raise UserError(
      f'sensitive_features has a column {min(taken)!r}, a name that rows '
      'have already; rename it'
    )
  return table.assign(**groups), [*groups]


def by_place(
  values: Any, name: str = 'groups', called: str = ''
) -> Sequence | np.ndarray:
  """Values by their places; a Series has places of its own."""
  found = readers.as_values(values)
  wanted = 'one value for each row is needed'
  if isinstance(values, str):
    wanted = f'give the column itself, as in {name}=table[{values!r}]'
  elif callable(values) or hasattr(values, 'predict'):
    wanted = 'of a model give what it says, or ask it: audit(model, table)'
  need(found is not None or is_column(values), name, values, wanted)
  found = list(values) if found is None else found
  readers.whole_characters({called or name: found})
  return found


def table(
  frame: pd.DataFrame, classes: Sequence[str] | None = None
) -> pd.DataFrame:
  """A user's table in our schema: text, whole labels, ids.

  Labels that are names are those of `classes` (of a model), or numbered in
  sorted order.
  """
  need(
    isinstance(frame, pd.DataFrame),
    *('the table', frame, 'a pandas table with text and label is needed'),
  )
  for column in ('text', 'label'):
    if column not in frame:
      raise UserError(
        f'the table has no column {column!r}; rename yours, as in '
        f"table.rename(columns={{'mine': {column!r}}})"
      )
  twice = frame.columns[frame.columns.duplicated()]
  if len(twice):
    raise UserError(
      f'the table has the column {twice[0]!r} twice; drop or rename one'
    )
  out = frame.reset_index(drop=True)
  is_text = out['text'].map(lambda text: isinstance(text, str)).to_numpy(bool)
  if not is_text.all():
    row = int((~is_text).argmax())
    raise UserError(
      f'row {row} has {shown(out["text"][row])} for a text; give it one, or '
      'drop the row'
    )
  if 'id' not in out:
    out.insert(0, 'id', [f'row-{i}' for i in range(len(out))])
  out['id'] = out['id'].astype(str)
  if out['id'].duplicated().any():
    twice = out['id'][out['id'].duplicated()].iloc[0]
    raise UserError(f'the table has id {twice!r} twice; ids must be unique')
  if not pd.api.types.is_integer_dtype(out['label']):
    out['label'] = _named(out['label'], classes)
  wrong = ((out['label'] < 0) | (out['label'] >= MOST)).to_numpy()
  if wrong.any():
    row = int(wrong.argmax())
    raise UserError(
      f'row {row} has the label {out["label"][row]}; number the classes from '
      '0, or give their names'
    )
  return out


def _named(column: pd.Series, classes: Sequence[str] | None) -> np.ndarray:
  if column.isna().any():
    row = int(column.isna().to_numpy().argmax())
    raise UserError(f'row {row} of the column label has no label')
  names = column.map(str).to_numpy(object)
  few = lambda name: name.isdecimal() and len(name) < 9
  if classes is not None and all(map(few, names)):
    numbers = names.astype(np.int32)  # as a csv has numbers of classes
    if not np.isin(names, list(map(str, classes))).any():
      return numbers
  known = sorted(set(names)) if classes is None else list(map(str, classes))
  unknown = ~np.isin(names, known)
  if unknown.any():
    raise UserError(
      f'row {int(unknown.argmax())} has the label '
      f'{names[unknown.argmax()]!r}, and the classes of the model are '
      f'{", ".join(known)}; call the labels so, or number them in that order'
    )
  return np.array([known.index(name) for name in names], np.int32)


def as_given(texts: Any, written: list[str]) -> Any:
  """Texts as others are given: alone, or in a list, an array or a Series."""
  if isinstance(texts, str):
    return written[0]
  if isinstance(texts, pd.Series):
    return pd.Series(written, texts.index, name=texts.name)
  return np.array(written) if isinstance(texts, np.ndarray) else written


def is_column(texts: Any) -> bool:
  """Whether it is texts in an order: a table is no column, nor is one text."""
  listed = is_listed(texts) and not isinstance(texts, Mapping | Set)
  return listed and getattr(texts, 'ndim', 1) == 1
