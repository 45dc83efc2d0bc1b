"""Tables of a run: loaded, mitigated, grouped."""

import pathlib

import pandas as pd

from fairjax import data
from fairjax.config import Config
from fairjax.core import artefacts, ended, escape
from fairjax.core.errors import UserError, nearest
from fairjax.core.registry import find
from fairjax.data.sets.templates import TEST_SETS
from fairjax.data.tables import labels, schema
from fairjax.data.tables.schema import Tables
from fairjax.data.tables.terms import read_terms, term_members
from fairjax.methods import METHODS, ON_TEST_SETS, chain
from fairjax.metrics.groups import Groups, of_columns, of_masks
from fairjax.train.progress import Log


def load(
  config: Config, folder: pathlib.Path, log: Log, trains: bool = True
) -> Tables:
  """The tables, clean and checked; what was found wrong is written down."""
  from fairjax.train import mesh

  tables, report, bad = data.load_tables(config, trains)
  if mesh.is_main():
    bad_rows = escape.csv(bad)
    ended.describe(artefacts.write_json, folder / 'hygiene.json', report)
    ended.describe(artefacts.write_text, folder / 'bad_rows.csv', bad_rows)
  if len(bad):
    log.line(f'{len(bad)} rows dropped; see {folder / "bad_rows.csv"}')
  sizes = ', '.join(f'{len(t)} {name}' for name, t in tables.items())
  log.line(f'data {config.data.name}: {sizes}')
  log.line(labels.sentence(tables, config.measures.positive))
  for warning in report['warnings']:
    log.line(warning)
  return tables


def mitigate(config: Config, tables: Tables, log: Log) -> Tables:
  """The tables after the config's data-side methods, one after the other."""
  for name in chain(config.method.name):
    before, remarks = len(tables['train']), notes(tables)
    tables = schema.check(find(METHODS, 'method', name)(tables, config))
    log.line(
      f'method {name}: {before} training rows became {len(tables["train"])}'
    )
    for note in notes(tables):
      if note not in remarks:
        log.line(note)
  return tables


def notes(tables: Tables) -> list[str]:
  """What a method has to say about the tables that it made."""
  return [n for table in tables.values() for n in table.attrs.get('notes', ())]


def as_read(config: Config, sets: Tables) -> Tables:
  """Test sets as the model reads them; a blind one reads blind texts."""
  for name in chain(config.method.name):
    if name in ON_TEST_SETS:
      sets = find(METHODS, 'method', name)(sets, config)
  return sets


def test_sets(config: Config, tables: Tables) -> Tables:
  """The tables that the config measures on: splits, or made test sets."""
  sets = {
    name: tables[name]
    if name in tables
    else find(TEST_SETS, 'test set', name)(config)
    for name in config.measures.sets
  }
  classes = schema.classes(tables)
  if config.measures.positive >= classes:
    raise UserError(
      f'measures.pos_label is {config.measures.positive}, but the labels are '
      f'0 to {classes - 1}'
    )
  column = config.measures.groups
  if column and not column.startswith('terms:'):
    known = {c for table in sets.values() for c in table}
    if column not in known:
      names = ', '.join(sorted(known))
      hint = nearest(column, known, f'there are {names}')
      raise UserError(
        f'measures.groups is {column!r}, and no test set has such a column; '
        f'{hint}'
      )
  for name, table in sets.items():  # mistakes end a run before it trains
    groups, own = groups_of(config, table), column or 'group'
    if own in table and not groups.names:
      flag = 'measures.groups' if column else 'data.group'
      named = column or config.data.group or own
      raise UserError(
        f'column {named!r} of {flag} is empty in every row of {name}, so there '
        f'are no groups to measure; fill it in, or set --config.{flag}='
      )
  return sets


def groups_of(config: Config, table: pd.DataFrame) -> Groups:
  """Those of a column or of terms that the config compares."""
  if config.measures.groups.startswith('terms:'):
    path = config.measures.groups.removeprefix('terms:')
    terms = read_terms(path, 'measures.groups')
    return of_masks(term_members(list(table['text']), terms), terms, 'terms')
  column = config.measures.groups or 'group'
  known = {column: table[column]} if column in table else {}
  return of_columns(known, len(table))
