"""Tables from the user's own files: which column is what, and the splits.

The index of a table made here is the 0-based row of its file (readers.py);
hygiene.py speaks of rows by it. A row that can be read but not used (no text,
no label) stays, as None, for hygiene.py to count.

Columns that `data` does not name are kept too, as they are. Without `data.id`
the id of a row is 'SPLIT:ROW'. Splits come from
`data.valid_path` and `data.test_path`, or the column `data.split`, or are cut
8:1:1 by seed, rows of one `data.cluster` together (splits.py).
"""

import difflib
import pathlib
import shlex

import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables import labels, readers, splits
from fairjax.data.tables.readers import read as read
from fairjax.data.tables.readers import source as source
from fairjax.data.tables.schema import OPTIONAL, REQUIRED, Tables

SPLIT_NAMES = dict.fromkeys(('train', 'training'), 'train') | {'test': 'test'}
SPLIT_NAMES |= dict.fromkeys(('valid', 'validation', 'val', 'dev'), 'valid')
_PLAIN = ('string', 'integer', 'floating', 'boolean')


def load(config, cut: bool = True) -> Tables:
  """The raw tables of `config.data.path` and its companions.

  Without `cut` nothing is trained on them, so no split is cut off: where none
  is named, every row is a test row.
  """
  data = config.data
  frames = {'train': read(data.path)}
  for split, path in (('valid', data.valid_path), ('test', data.test_path)):
    if path:
      frames[split] = read(path)
  twins = {'train': read(data.twin_path)} if data.twin_path else {}
  return to_tables(frames, data, twins, cut)


def to_tables(
  frames: dict[str, pd.DataFrame],
  data,
  twins: dict[str, pd.DataFrame] | None = None,
  cut: bool = True,
) -> Tables:
  """Columns as named by `data`, labels as numbers, missing splits cut off.

  `twins` holds, by split, the file whose row i is row i's counterfactual.
  """
  tables = {}
  for split, frame in frames.items():
    tables[split] = columns(frame, data)
    if twins and split in twins:
      tables[split]['twin'] = _twin(frame, twins[split], data)
  mapping = labels.number(tables, data.labels, data.label)
  every = [*frames.values(), *(twins or {}).values()]
  remarks = tuple(r for f in every for r in f.attrs.get('remarks', ()))
  if data.split:
    if len(frames) > 1:
      raise UserError(
        'data.split and data.valid_path or data.test_path say twice where '
        'the splits are; keep one of them'
      )
    names = split_names(frames['train'], data.split)
    tables = {
      s: tables['train'][names == s]
      for s in splits.SHARES
      if (names == s).any()
    }
    need = 'train' if cut else 'test'
    if need not in tables:
      raise UserError(
        f'{source(frames["train"])} has no {need!r} row in column '
        f'{data.split!r}; say which rows {need}, or leave data.split empty'
      )
  if not cut and 'test' not in tables:
    tables['test'] = tables.pop('train')
    if 'train' in frames:
      frames = frames | {'test': frames['train']}
  missing = tuple(s for s in splits.SHARES if s not in tables)
  if missing and cut:
    whole = tables['train']
    together = 'cluster' if data.cluster else ''
    tables |= splits.cut(whole, ('train', *missing), splits.SEED, together)
  for split, table in tables.items():
    if not data.id:
      table = table.assign(id=[f'{split}:{row}' for row in table.index])
    table.attrs |= {'source': source(frames.get(split, frames['train']))}
    table.attrs |= {'labels': mapping, 'label': data.label, 'remarks': remarks}
    table.attrs |= {'cluster': data.cluster}
    tables[split] = table
  if data.id:
    _ids_once(tables)
  return {s: tables[s] for s in splits.SHARES if s in tables}


def columns(frame: pd.DataFrame, data) -> pd.DataFrame:
  """The columns that the schema knows; labels still as they are."""
  table = pd.DataFrame(index=frame.index)
  table.attrs = dict(frame.attrs)
  if data.id:
    table['id'] = _texts(frame, data.id, 'id')
  else:
    table['id'] = ''
  table['text'] = _texts(frame, data.text, 'text')
  table['label'] = column(frame, data.label, 'data.label')
  for field in ('text_pair', 'group', 'twin'):
    name = getattr(data, field)
    if name:
      table[field] = _texts(frame, name, field)
  if 'group' in table:
    table['group'] = table['group'].fillna('')
  if data.cluster:
    table['cluster'] = column(frame, data.cluster, 'data.cluster')
  used = {data.id, data.text, data.text_pair, data.twin, data.label}
  # At once: of thousands of columns each alone would copy the table.
  others = frame[_others(frame, used | {*REQUIRED, *OPTIONAL, *table})]
  return pd.concat([table, others], axis=1)


def _others(frame: pd.DataFrame, used: set[str]) -> list[str]:
  """The columns that the schema does not know, as they are in the file.

  They may serve as groups or identity shares later. Columns of lists, of
  mixed kinds or without a name of their own are left behind.
  """
  unique = ~frame.columns.duplicated(keep=False)
  return [
    name
    for name in frame.columns[unique]
    if name not in used
    and pd.api.types.infer_dtype(frame[name], skipna=True) in _PLAIN
  ]


def column(frame: pd.DataFrame, name: str, flag: str) -> pd.Series:
  """The column `name`, or a sentence with the nearest name there is.

  `flag` is the config field that names it, such as data.label.
  """
  count = list(frame.columns).count(name)
  if count == 1:
    return frame[name]
  if count:
    raise UserError(
      f'{source(frame)} has {count} columns named {name!r}; rename one'
    )
  own = frame.attrs.get('columns') or '\0'.join(map(str, frame))
  own = own.split('\0')  # without ours
  near = difflib.get_close_matches(name, own, n=1, cutoff=0.6)
  columns = ', '.join(readers.short(c) for c in own[:12])
  hint = (
    f'did you mean --config.{flag}={_in_a_shell(near[0])}?'
    if near
    else f'name one with --config.{flag}=NAME'
  )
  raise UserError(
    f'{source(frame)} has no column {name!r}, its columns are {columns}; {hint}'
  )


def _in_a_shell(name: str) -> str:
  """A name as bash reads it; what nobody sees is written in numbers."""
  if name.isprintable():
    return shlex.quote(name)
  letters = (
    c if c.isprintable() and c not in "\\'" else f'\\U{ord(c):08x}'
    for c in name
  )
  return f"$'{''.join(letters)}'"


def _texts(frame: pd.DataFrame, name: str, field: str) -> pd.Series:
  """A column of texts; missing cells are None. Ids may be whole numbers."""
  values = column(frame, name, f'data.{field}')
  missing = values.isna()
  kind = pd.api.types.infer_dtype(values, skipna=True)
  if kind == 'categorical':
    values = values.astype(object)
    kind = pd.api.types.infer_dtype(values, skipna=True)
  if field in ('id', 'group') and kind in ('integer', 'boolean'):
    values = values.astype(str)
  elif kind not in ('string', 'empty'):
    wrong = ~(missing | values.map(lambda v: isinstance(v, str)))
    why = 'which is no text; choose a column of texts with --config.data.'
    readers.refuse(frame, values, wrong, name, why + field)
  return values.astype(object).where(~missing, None)


def texts(data) -> pd.DataFrame:
  """Ids and texts of `data.path` alone, for what needs no labels.

  Of a .txt file each line is a text. A row without one stops with a sentence,
  or is dropped where `data.on_bad` says so.
  """
  if pathlib.Path(data.path).suffix.lower() == '.txt':
    table = pd.DataFrame({'text': readers.lines(data.path)})
    table.attrs['source'] = data.path
    table['id'] = [str(row) for row in table.index]
  else:
    frame = read(data.path)
    table = pd.DataFrame({'text': _texts(frame, data.text, 'text')})
    table.attrs['source'] = source(frame)
    table['id'] = [str(row) for row in frame.index]
    if data.id:
      table['id'] = _texts(frame, data.id, 'id')
      _ids_once({'read': table})
    if data.cluster:
      table['cluster'] = column(frame, data.cluster, 'data.cluster')
  blank = table['text'].isna() | (table['text'].fillna('').str.strip() == '')
  if blank.any() and data.on_bad == 'error':
    row = table.index[blank.to_numpy().argmax()]
    raise UserError(
      f'{data.path} has no text in row {row} (from 0); give it one, or drop '
      'such rows with --config.data.on_bad=drop'
    )
  return table[~blank].reset_index(drop=True)


def _twin(frame: pd.DataFrame, twins: pd.DataFrame, data) -> pd.Series:
  if len(frame) != len(twins):
    raise UserError(
      f'{source(twins)} has {len(twins)} rows and {source(frame)} has '
      f'{len(frame)}; row i of one must be the twin of row i of the other'
    )
  return _texts(twins, data.text, 'text')


def split_names(frame: pd.DataFrame, name: str) -> pd.Series:
  values = column(frame, name, 'data.split')
  names = values.map(lambda v: SPLIT_NAMES.get(str(v).strip().lower()))
  why = 'which is no split; use train, valid or test'
  readers.refuse(frame, values, names.isna(), name, why)
  return names


def _ids_once(tables: Tables) -> None:
  repeated = (
    pd.concat([t[['id']].assign(split=s) for s, t in tables.items()])
    .rename_axis('row')
    .reset_index()
  )
  none = repeated['id'].fillna('').astype(str).str.strip() == ''
  twice = repeated['id'].duplicated(keep=False) & ~none
  if none.any():
    where = repeated[none].iloc[0]
    raise UserError(
      f'{source(tables[where.split])} has no id in row {where.row}; fill it '
      'in, or leave --config.data.id empty to number the rows'
    )
  if not twice.any():
    return
  value = repeated['id'][twice].iloc[0]
  first, second = repeated[repeated['id'] == value].iloc[:2].itertuples()
  raise UserError(
    f'id {readers.short(value)} is in row {first.row} of '
    f'{source(tables[first.split])} and in row {second.row} of '
    f'{source(tables[second.split])}; ids must be different, or leave '
    'data.id empty to number the rows'
  )
