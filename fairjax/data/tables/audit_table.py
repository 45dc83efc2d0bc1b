"""The table of an audit: rows with groups, and optional texts and labels.

An audit needs less than training does: there may be no label (then what needs
none is measured), and no text where predictions are given. Rows keep their
order and get the id of the file, or their number.

`groups` are columns; a numeric one is cut into bands, at the given edges
('age:18/30' is below 18, 18 to below 30, from 30 on) or else at its quartiles.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, count
from fairjax.core.registry import find
from fairjax.data.tables import group_names, labels, readers, splits
from fairjax.data.tables.answers import numeric
from fairjax.data.tables.files import column, source, split_names
from fairjax.data.tables.join import MADE

MOST = 300  # groups of a column
UNREAD = {  # columns of a training's config
  'text_pair': 'an audit asks for one text a row: the model does not see it',
  'twin': 'an audit takes twins by --config.audit.swaps=column:{0}',
}
DISTINCT = 10  # values of a numeric column above which it is cut into bands


class Rows(NamedTuple):
  """What is audited, and what a threshold is chosen on."""

  table: pd.DataFrame  # id, perhaps text and label, and all other columns
  valid: pd.DataFrame | None
  classes: tuple[str, ...]  # the labels' names; () without labels
  remarks: list[str]


def read(config) -> Rows:
  """The rows that `config.data` names."""
  data, (first, *others) = config.data, config.measures.sets
  from fairjax.data import TEST_SETS, load_tables

  if others or first not in (*TEST_SETS, 'test'):
    raise UserError(
      f'measures.sets is {", ".join(config.measures.sets)}; an audit reads one '
      "set: 'test', the rows of --config.data.path, or one of "
      f'{", ".join(TEST_SETS)}'
    )
  if first in TEST_SETS:
    table = find(TEST_SETS, 'test set', first)(config)
    names = tuple(table.attrs.get('classes', ())) or ('0', '1')
    labels.choose_positive(config, names)
    return Rows(table.reset_index(drop=True), None, names, [])
  if data.name == 'file':
    return of_frame(readers.read(data.path), config)

  tables, report, _ = load_tables(config)
  table = tables.get('test', tables['train']).reset_index(drop=True)
  valid = tables.get('valid')
  return Rows(table, valid, tuple(report['classes']), report['warnings'])


def of_frame(frame: pd.DataFrame, config) -> Rows:
  """A user's frame: its columns checked, its labels numbered."""
  data = config.data
  frame.attrs.setdefault('source', 'the table')
  readers.whole_characters(pd.DataFrame(frame))  # which leaves attrs out
  table = frame.reset_index(drop=True)
  # One text: pandas copies attrs, deeply, for each column that is taken.
  own = '\0'.join(map(str, frame.columns))
  table.attrs = dict(frame.attrs) | {'columns': own}
  remarks = list(frame.attrs.get('remarks', ()))
  if not len(table):
    raise UserError(f'{source(frame)} has no rows to audit')
  table = _named(table, data.text, 'text')
  table = _named(table, data.label, 'label')
  for field, remedy in UNREAD.items():
    if name := getattr(data, field):
      column(frame, name, f'data.{field}')
      remarks.append(f'data.{field} is {name!r}, and {remedy.format(name)}')
  table = _ids(table, data.id)
  if 'text' in table:
    table, dropped = _texts(table, data.on_bad)
    remarks += dropped
  classes: tuple[str, ...] = ()
  valid = _validation(data)
  if valid is not None and 'text' in valid and config.audit.choose:
    valid, dropped = _texts(valid, data.on_bad)
    remarks += _of_validation(dropped)
  both = {'test': table} if valid is None else {'test': table, 'valid': valid}
  both = {name: one for name, one in both.items() if 'label' in one}
  if both:  # numbered together: one class alone says less than two
    labels.number(both, data.labels, data.label)
  if 'valid' in both:
    valid, _, dropped = _labels(both['valid'], data)
    remarks += _of_validation(dropped)
  if 'label' in table:
    table, classes, dropped = _labels(both['test'], data)
    remarks += dropped
  labels.choose_positive(config, classes)
  if len(classes) == 2 and not (data.labels or ''.join(classes).isdigit()):
    remarks.append(
      f'of the labels {classes[1]!r} is read as class 1, the one to detect, '
      f'and {classes[0]!r} as class 0'
    )
  rows, valid = _split(table, valid, data, config.audit.choose)
  if config.data.limit and len(rows) > config.data.limit:
    rng = np.random.default_rng(splits.SEED)
    sample = np.sort(rng.permutation(len(rows))[: config.data.limit])
    remarks.append(f'{config.data.limit} of {len(rows)} rows, drawn by seed')
    rows = rows.iloc[sample].reset_index(drop=True)
  return Rows(rows, valid, classes, remarks)


def _named(table: pd.DataFrame, name: str, field: str) -> pd.DataFrame:
  """The user's column under our name; missing is fine unless it was named."""
  if name not in table and name == field:
    return table
  if not name:  # there is none, whatever the column is called
    return table.drop(columns=field, errors='ignore')
  values = column(table, name, f'data.{field}')
  if name != field and field in table:
    table = table.rename(columns={field: f'{field} (of the file)'})
  return table.assign(**{field: values})


def _ids(table: pd.DataFrame, name: str) -> pd.DataFrame:
  if not name and 'id' not in table:
    table = table.assign(id=[str(i) for i in range(len(table))])
    table.attrs['ids'] = MADE
    return table
  ids = column(table, name or 'id', 'data.id').astype(str)
  twice = ids.duplicated()
  if twice.any():
    raise UserError(
      f'{source(table)} has id {ids[twice].iloc[0]!r} twice; each row needs '
      'its own'
    )
  table.attrs['key'] = name
  return table.assign(id=ids)


def _texts(table: pd.DataFrame, on_bad: str) -> tuple[pd.DataFrame, list[str]]:
  text = table['text']
  wrong = ~text.map(lambda v: isinstance(v, str) and bool(v.strip()))
  if not wrong.any():
    return table, []
  row = int(wrong.to_numpy().argmax())
  if on_bad != 'drop' or wrong.all():
    raise UserError(
      f'{source(table)} has {text[row]!r} for a text in row {row}; give it '
      'one, or drop such rows with --config.data.on_bad=drop'
    )
  texts = table[~wrong].reset_index(drop=True)
  texts.attrs = table.attrs
  return texts, [f'{count(int(wrong.sum()), "row")} without a text dropped']


def _labels(table: pd.DataFrame, data) -> tuple:
  """Labels as whole numbers, and the names of the classes."""
  missing = table['label'].isna()
  remarks = []
  if missing.any():
    row = int(missing.to_numpy().argmax())
    if data.on_bad != 'drop' or missing.all():
      raise UserError(
        f'{source(table)} has no label in row {row}; give it one, drop such '
        'rows with --config.data.on_bad=drop, or audit without labels with '
        '--config.data.label=""'
      )
    attrs = table.attrs
    table = table[~missing].reset_index(drop=True)
    table.attrs = attrs
    remarks.append(f'{count(int(missing.sum()), "row")} without label dropped')
  names = tuple(table.attrs.get('classes', ()))
  most = int(table['label'].max())
  names = names or tuple(map(str, range(most + 1)))
  if len(names) == 1 and labels.side(names[0]) is None:
    remarks.append(
      f'all rows have the label {names[0]!r}, which is read as class 0; where '
      f'it is the class to detect, say so with '
      f'{labels.flag({"OTHER": 0, names[0]: 1})}'
    )
  return table.assign(label=table['label'].astype(np.int64)), names, remarks


def _validation(data) -> pd.DataFrame | None:
  """The rows of `data.valid_path`, labels still as they are."""
  if data.split or not data.valid_path:
    return None
  valid = readers.read(data.valid_path).reset_index(drop=True)
  for name, field in ((data.text, 'text'), (data.label, 'label')):
    valid = _named(valid, name, field)
  return _ids(valid, data.id)


def _of_validation(remarks: Sequence[str]) -> list[str]:
  return [f'validation rows: {one}' for one in remarks]


def _split(
  table: pd.DataFrame, valid: pd.DataFrame | None, data, rule: str
) -> tuple:
  """The rows to audit, and those a threshold is chosen on."""
  if data.split:
    names = split_names(table, data.split)
    rows = table[names == 'test'].reset_index(drop=True)
    if not len(rows):
      raise UserError(
        f'{source(table)} has no test row in column {data.split!r}; an audit '
        'reads the test rows'
      )
    valid = table[names == 'valid'].reset_index(drop=True)
    return rows, valid if len(valid) else None
  if rule and valid is None:
    raise UserError(
      f'audit.choose is {rule!r}, but there are no validation rows to choose '
      'the threshold on; name a file with --config.data.valid_path, or the '
      'column that says train, valid or test with --config.data.split'
    )
  return table, valid


# Groups


def columns_of(
  table: pd.DataFrame, asked: Sequence[str], field: str = 'audit.groups'
) -> tuple[dict[str, np.ndarray], list[str]]:
  """{attribute: each row's group, '' for none}, and what there is to say."""
  out: dict[str, np.ndarray] = {}
  remarks: list[str] = []
  for one in asked:
    if one.startswith('terms:'):
      continue
    name, edges = (one, []) if one in table else _edges(one, field)
    values = column(table, name, field)
    out[name], more = grouped(values, name, field, edges)
    remarks += more
  return out, remarks


def grouped(
  values: pd.Series, name: str, field: str, edges: Sequence[float] = ()
) -> tuple[np.ndarray, list[str]]:
  """Each row's group in a column, '' for none, and what there is to say.

  Numbers are cut at `edges`, or where they are many at their quartiles.
  """
  values = numeric(values)
  types = pd.api.types
  is_number = types.is_numeric_dtype(values) and not (
    types.is_bool_dtype(values) or types.is_complex_dtype(values)
  )
  many = is_number and values.nunique() > DISTINCT
  if is_number and np.isinf(values.to_numpy(float, na_value=np.nan)).any():
    raise UserError(
      f'column {name!r} of {field} holds infinite numbers; leave them empty'
    )
  if edges and not is_number:
    raise UserError(
      f'{field} cuts {name!r} into bands, but it is no column of numbers '
      f'({values.dropna().iloc[0]!r}); leave the edges out'
    )
  if edges:
    return np.array(group_names.bands(values, edges), object), []
  if many:
    quarters = np.unique(values.dropna().quantile([0.25, 0.5, 0.75]))
    cuts = [float(f'{q:.4g}') for q in quarters]
    shown = ', '.join(f'{e:g}' for e in cuts)
    return np.array(group_names.bands(values, cuts), object), [
      f'{name} has {values.nunique():,} values and is cut at its quartiles, '
      f'{shown}; choose others with {field}={name}:EDGE/EDGE'
    ]
  groups, remarks = group_names.tidied(name, values)
  count = len(set(groups) - {''})
  if count > MOST:
    raise UserError(
      f'column {name!r} of {field} has {count:,} values, and at most '
      f'{MOST} groups are compared; name another column, or join its values'
    )
  if not count:
    raise UserError(f'column {name!r} of {field} is empty in every row')
  return groups, remarks


def as_known(values: Sequence, known: Iterable[str]) -> np.ndarray:
  """Each row's group by the names that groups have: 1.0 is 1, 31 in its band.

  A name that none of them has stays.
  """
  values, folded = numeric(pd.Series(values)), {n.casefold(): n for n in known}
  number = pd.api.types.is_numeric_dtype(values)
  if number and all(map(group_names.BAND.fullmatch, folded)):
    ends = re.findall(group_names.NUMBER, ' '.join(folded))
    cuts = sorted({*map(float, ends)})
    return np.array(group_names.bands(values, cuts), object)
  names, _ = group_names.tidied('groups', values)
  return np.array([folded.get(n.casefold(), n) for n in names], object)


def _edges(asked: str, field: str) -> tuple[str, list[float]]:
  name, colon, text = asked.rpartition(':')
  if not colon:
    return asked, []
  try:
    edges = [float(part) for part in re.split(r'[/;]', text)]
  except ValueError as error:
    raise UserError(
      f'{field} has {asked!r}; write COLUMN or COLUMN:EDGE/EDGE, as in '
      "'age:18/30'"
    ) from error
  if sorted(set(edges)) != edges or not np.isfinite(edges).all():
    raise UserError(f'{field} has {asked!r}; its edges must be finite and rise')
  return name, edges
