"""Labels as numbers: a mapping, a threshold, or what the column says."""

import re

import numpy as np
import pandas as pd

from fairjax.data.schema import Tables
from fairjax.errors import UserError

# Cells that mean "no label" unless the mapping names them.
MISSING = frozenset(
  ('', 'nan', 'NaN', 'NA', 'N/A', '#N/A', 'null', 'NULL', 'None')
)
SPREADSHEET = re.compile(
  r'\s*#(NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!|N/A|SPILL!|CALC!)\s*'
)
MOST = 1000  # classes; more is no label column


def number(tables: Tables, rule: str, name: str) -> dict[str, int] | str:
  """Turns each table's `label` into Int64 (missing: NA), in place.

  `rule` is 'BAD=1,NOT_BAD=0', a threshold '>0.5' or '>=0.5', or '' for whole
  numbers as they are and else the sorted classes of all tables as 0, 1, ….
  Returns what was applied, for the report.
  """
  rule = rule.strip()
  if rule[:1] == '>':
    for table in tables.values():
      table['label'] = _above(table, rule, name)
    return rule
  cells = {s: _cells(t, rule) for s, t in tables.items()}
  mapping = _parse(rule) if rule else _guess(tables, cells, name)
  for split, table in tables.items():
    unknown = cells[split].notna() & ~cells[split].isin(mapping)
    if unknown.any():
      row = table.index[unknown.to_numpy().argmax()]
      raise UserError(
        f'{_source(table)} has {cells[split][row]!r} in column {name!r} of '
        f'row {row}, which data.labels does not map ({rule}); add it there'
      )
    table['label'] = cells[split].map(mapping).astype('Int64')
  return mapping


def _source(table: pd.DataFrame) -> str:
  return table.attrs.get('source', 'the table')


def _cells(table: pd.DataFrame, rule: str) -> pd.Series:
  """Label cells as literal strings; None where there is no label."""
  values = table['label']
  missing = values.isna()
  if pd.api.types.is_float_dtype(values):
    whole = missing | (values == np.floor(values))
    if whole.all():
      values = values.astype('Int64')
  cells = values.astype(object).map(str).str.strip()
  named = {p.rpartition('=')[0].strip() for p in rule.split(',') if rule}
  missing |= cells.isin(MISSING - named)
  missing |= cells.str.fullmatch(SPREADSHEET.pattern) & ~cells.isin(named)
  return cells.where(~missing, None)


def _parse(rule: str) -> dict[str, int]:
  mapping = {}
  for part in rule.split(','):
    name, equals, value = part.rpartition('=')
    if not equals or not re.fullmatch(r'\s*\d+\s*', value):
      raise UserError(
        f'data.labels has {part.strip()!r} in {rule!r}; write '
        "NAME=NUMBER,NAME=NUMBER (as 'BAD=1,NOT_BAD=0') or a threshold "
        "(as '>0.5')"
      )
    mapping[name.strip()] = int(value)
  numbers = sorted(set(mapping.values()))
  if numbers != list(range(len(numbers))):
    raise UserError(
      f'data.labels is {rule!r} and its numbers are {numbers}; classes '
      'count 0, 1, 2, … without gaps'
    )
  return mapping


def _above(table: pd.DataFrame, rule: str, name: str) -> pd.Series:
  match = re.fullmatch(r'>(=?)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)', rule)
  try:
    limit = float(match[2])
  except (TypeError, ValueError) as error:
    raise UserError(
      f"data.labels is {rule!r}; write a threshold such as '>0.5' or '>=0.5'"
    ) from error
  cells = _cells(table, '')
  numbers = pd.to_numeric(cells, errors='coerce').astype(float)
  wrong = cells.notna() & ~np.isfinite(numbers)
  if wrong.any():
    row = table.index[wrong.to_numpy().argmax()]
    raise UserError(
      f'{_source(table)} has {cells[row]!r} in column {name!r} of row {row}, '
      f'which is no number to hold against {rule!r}; map the names with '
      "--config.data.labels='NAME=1,NAME=0'"
    )
  above = numbers >= limit if match[1] else numbers > limit
  return above.astype('Int64').where(cells.notna(), pd.NA)


def _guess(
  tables: Tables, cells: dict[str, pd.Series], name: str
) -> dict[str, int]:
  """Whole numbers are themselves; other cells are numbered in sorted order."""
  all_cells = pd.concat(list(cells.values())).dropna()
  values = sorted(all_cells.unique())
  where = _source(next(iter(tables.values())))
  if not values:
    raise UserError(
      f'{where} has no label in any cell of column {name!r}; name the right '
      'column with --config.data.label'
    )
  many = (
    f'{where} has {len(values)} different labels in column {name!r}, such as '
    f"{values[-1]!r}; give a threshold (--config.data.labels='>=0.5') or "
    'another column (--config.data.label)'
  )
  if len(values) > MOST:
    raise UserError(many)
  if all(re.fullmatch(r'-?\d+(\.0*)?', v) for v in values):
    mapping = {v: int(float(v)) for v in values}
    numbers = sorted(set(mapping.values()))
    if numbers[-1] >= MOST:
      raise UserError(many)
    if numbers[0] < 0 or (numbers[0] > 0 and len(numbers) > 1):
      remedy = ','.join(f'{n}={i}' for i, n in enumerate(numbers))
      raise UserError(
        f'{where} has the labels {numbers} in column {name!r}; classes count '
        f"from 0: add --config.data.labels='{remedy}'"
      )
    return mapping
  if all(map(_is_number, values)):
    raise UserError(
      f'{where} has fractions in column {name!r}, such as {values[-1]!r}; '
      "give a threshold with --config.data.labels='>=0.5'"
    )
  return {v: i for i, v in enumerate(values)}


def _is_number(cell: str) -> bool:
  try:
    float(cell)
  except ValueError:
    return False
  return True
