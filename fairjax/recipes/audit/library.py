"""The audit as a function of tables, for notebooks: `fairjax.audit`."""

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Unpack

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, doors
from fairjax.core import cache
from fairjax.core.errors import UserError, need, same_index
from fairjax.data.tables import audit_table, inputs, join, readers
from fairjax.recipes.audit import recipe
from fairjax.recipes.audit.measure import Measured
from fairjax.recipes.audit.what_if import WhatIf
from fairjax.report.result_views import ResultView
from fairjax.stages import asking
from fairjax.train.progress import shown


@dataclasses.dataclass(repr=False)
class Audited(ResultView):
  """What `fairjax.audit` found: result['flips'] is {value, low, high, …}."""

  config: Config
  measured: Mapping[str, Measured]

  def words(self, swap: str = '') -> pd.DataFrame:
    """The words of a swap, those that carry its flips first."""
    every = self.measured[self.results.focus].words
    name = swap if isinstance(swap, str) and swap else next(iter(every), swap)
    need(
      isinstance(swap, str) and name in every,
      *('swap', swap, f'words are known of {", ".join(every) or "no swap"}'),
    )
    return pd.DataFrame(every[name])

  def slices(self) -> pd.DataFrame:
    """Where it is wrong more often than elsewhere, the surest first."""
    return pd.DataFrame(self.measured[self.results.focus].slices)

  def what_if(self, text: str) -> WhatIf:
    """A sentence's score, what its edits do, and the words that carry it."""
    ask = self.measured[self.results.focus].what_if
    if ask is None:
      raise UserError(
        'these are predictions, and those of a new sentence are not known; '
        'audit the model itself'
      )
    with shown():
      return ask(text)

  def save(self, folder: str | os.PathLike) -> pathlib.Path:
    """Writes the page, its documents and predictions; returns the page."""
    keep = lambda at: recipe.keep(at, self.measured)
    return stages.leave(folder, self.config, self.results, keep)


class AuditOptions(doors.CommonOptions, total=False):
  """The rest of what `audit` takes, which says what each is: knobs."""

  against: Annotated[Any, 'audit.against']
  min_group: Annotated[int, 'measures.min_group']
  cluster: Annotated[Any, 'data.cluster']
  sample_weight: Annotated[Any, 'audit.weight']
  controls: Annotated[Any, 'audit.controls']
  id: Annotated[str, 'data.id']
  labels: Annotated[str, 'data.labels']
  on_bad: Annotated[str, 'data.on_bad']
  scores: Annotated[Sequence[str], 'audit.scores']
  classes: Annotated[Sequence[str], 'audit.classes']
  intersections: Annotated[bool, 'audit.intersections']
  reference: Annotated[str, 'audit.reference']
  swaps: Annotated[Sequence[str], 'audit.swaps']
  edited: Annotated[str | os.PathLike, 'audit.edited']
  equalize: Annotated[str, 'audit.equalize']
  control: Annotated[bool, 'audit.control']
  costs: Annotated[str, 'audit.costs']
  hiring: Annotated[bool, 'audit.hiring']
  training: Annotated[str | os.PathLike, 'audit.training']


OPTIONS = doors.options(AuditOptions, Config())
ARGUMENTS = {'workdir': 'keep'}
COLUMNS = ('controls', 'cluster', 'sample_weight')  # or their names


@doors.door(ARGUMENTS, OPTIONS)
def audit(
  model: Any,
  data: Any = None,
  *,
  text: str = 'text',
  label: str = 'label',
  groups: Any = (),
  sensitive_features: Any = None,
  keep: str | os.PathLike = '',
  options: AuditOptions | None = None,
  **deprecated: Unpack[AuditOptions],
) -> Audited:
  """Any classifier, or only its predictions, assessed on labelled rows.

  Args:
    {arguments}

  Options (an `AuditOptions`, or a mapping; columns by name or themselves; a
  list may be one text):
    {options}

  >>> rows = pd.DataFrame({'text': ['She won.', 'He won.'] * 30})
  >>> result = audit(lambda texts: [0.9] * len(texts), rows)
  >>> result['flips']['value']
  0.0
  """
  if data is None:
    model, data = None, model
  own = doors.given(options, deprecated)
  against = own.pop('against', None)
  groups = inputs.groups_of(groups, sensitive_features)
  same_index(
    data=data,
    **join.without_key(data, model=model, against=against),
    groups=groups,
    **{name: own.get(name, '') for name in COLUMNS},
  )
  frame = _frame(data, label)
  config = Config(recipe='audit', seeds=1)
  config.data.name, config.data.text = 'file', text
  config.data.path = getattr(frame, 'attrs', {}).get('path', '')
  config.data.label = 'label' if _no_label(label) else label
  config.audit.groups = _named(frame, groups, 'groups')
  for name in {*COLUMNS} & {*own}:
    columns = _named(frame, '' if own[name] is None else own[name], name)
    if name != 'controls' and len(columns) > 1:
      raise UserError(f'{name} has {len(columns)} columns; give one')
    own[name] = columns if name == 'controls' else ''.join(columns)
  doors.configured(config, OPTIONS, own)
  rows = audit_table.of_frame(frame, config)
  lines: list[str] = []
  with shown():
    results, measured = recipe.audit(
      config, model, rows, lines.append, against, _place(keep, model, against)
    )
  results.notes += [words for words in lines if ' are those kept in ' in words]
  doors.retell(results, audit, ARGUMENTS)
  return Audited(results, config, measured)


def _place(keep: str | os.PathLike, *models: Any) -> asking.AnswerCache | None:
  """Where answers are kept: the user's folder, or else the cache."""
  if keep:
    return asking.AnswerCache(pathlib.Path(keep), of_any=True)
  named = any(isinstance(one, str | os.PathLike) for one in models)
  room = cache.subfolder('answers') if named else None
  return asking.AnswerCache(room) if room else None


def _frame(data: Any, label: str) -> pd.DataFrame:
  """The data as a table, without a label where none is asked for."""
  if isinstance(data, str | os.PathLike):
    frame = readers.read(os.fspath(data))
    frame.attrs['path'] = os.fspath(data)
  elif (found := readers.as_frame(data)) is not None:
    frame = found.copy()
  elif (texts := readers.as_values(data)) is not None and all(
    isinstance(one, str) for one in texts
  ):
    frame = pd.DataFrame({'text': list(texts)})
  elif callable(data) or hasattr(data, 'predict'):
    raise UserError(
      'a model is given and no data; give the rows to audit it on too, as in '
      'audit(model, table)'
    )
  else:
    raise UserError(
      f'data is {type(data).__name__}; give a table, a mapping of columns, a '
      'list of records or of texts, or a file'
    )
  frame.columns = [*map(str, frame.columns)]  # groups are named by texts
  if not _no_label(label):
    return frame
  return frame.drop(columns='label', errors='ignore')


def _no_label(label: Any) -> bool:
  return label is None or (isinstance(label, str) and not label)


def _named(frame: pd.DataFrame, given: Any, field: str) -> tuple[str, ...]:
  """The names of columns; those that are given themselves join the frame."""
  if isinstance(given, str):
    return (given,) if given else ()
  if isinstance(given, Mapping):
    columns = dict(given)
  elif (table := readers.as_frame(given)) is not None:
    columns = {str(name): table[name] for name in table}
  else:
    values = readers.as_values(given)
    if values is None:
      raise UserError(
        f'{field} is {type(given).__name__}; give the names of columns, or a '
        'column itself'
      )
    names = [isinstance(one, str) for one in values]
    short = len(values) != len(frame) or len(set(map(str, values))) == len(
      values
    )
    if short and all(names) and not isinstance(given, pd.Series):
      return tuple(map(str, values))
    columns = {str(getattr(given, 'name', None) or field.rstrip('s')): values}
  for name, column in columns.items():
    values = readers.as_values(column)
    readers.whole_characters({name: () if values is None else values})
    shape = () if values is None else np.shape(values)
    if shape != (len(frame),):
      raise UserError(
        f'{field} has a column {name!r} of shape {shape} for '
        f'{len(frame):,} rows; give one value a row, or the names of columns'
      )
    if name in frame and not pd.Series(values).equals(
      frame[name].reset_index(drop=True)
    ):
      raise UserError(
        f'{field} has a column {name!r}, and so has the data, with other '
        'values; rename one'
      )
    frame[name] = values
  return tuple(columns)
