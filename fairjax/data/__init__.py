"""Data sets by name; adding one is one file and one row of a table.

A data set's function returns raw tables, which may hold rows without a text
or label; `load_tables` is the one way in that gives tables to work with.
"""

from fairjax.core.registry import Entry, find, installed, listed, table
from fairjax.data.word_tables import table_rows

# Each is load(config: fairjax.config.Config) ->
# fairjax.data.tables.schema.Tables
DATASETS = table(__file__, 'data_sets') | {
  row[0]: Entry('fairjax.data.sets.datasets:load', row[1])
  for row in table_rows(__file__, 'sets/published.csv')
}

# Each is load(config) -> DataFrame with `group`; `measures.sets` names them
TEST_SETS = table(__file__, 'test_sets')
installed('data', DATASETS, listed)
installed('test_sets', TEST_SETS, listed)


def load_tables(config, trains: bool = True):
  """Loads, cleans and checks the data set of `config.data`.

  Where nothing `trains` on it, a file whose splits are not named is a test set.

  Returns (tables, report, bad rows): tables that obey tables/schema.py, the
  hygiene report, and a DataFrame of the rows that were left out.
  """
  # pandas is slow to import
  from fairjax.data.tables import (
    group_names,
    hygiene,
    labels,
    schema,
    splits,
    terms,
  )

  data, groups = config.data, config.measures.groups
  if groups.startswith('terms:'):  # errors are raised here, not at assessment
    terms.read_terms(groups.removeprefix('terms:'), 'measures.groups')
  load = find(DATASETS, 'data set', data.name)
  whole = not trains and data.name == 'file'
  tables = load(config, cut=False) if whole else load(config)
  usable, bad = hygiene.usable(tables, data.on_bad)
  remarks = [r for t in usable.values() for r in t.attrs.get('remarks', ())]
  if trains:
    remarks += labels.check(usable)
  for column in dict.fromkeys(('group', groups)):
    theirs = data.group if column == 'group' else column
    remarks += group_names.tidy(usable, column, theirs)
  used = splits.draw(usable, data.limit, splits.SEED)
  if trains:
    remarks += labels.unseen(usable, used)
  report = hygiene.report(tables, usable, used, bad)
  report['classes'] = list(labels.class_names(usable))
  labels.choose_positive(config, report['classes'])
  report['warnings'] = [*dict.fromkeys(remarks), *report['warnings']]
  return schema.check(used), report, bad
