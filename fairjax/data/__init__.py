"""Data sets by name; adding one is one file and one line here.

A data set's function returns raw tables, which may hold rows without a text
or label; `load_tables` is the one way in that gives tables to work with.
"""

from fairjax.registry import Entry, find

# Each is load(config: fairjax.config.Config) -> fairjax.data.schema.Tables
DATASETS = {
  'planted': Entry(
    'fairjax.data.planted:load', 'made by code, with a known planted bias'
  ),
  'file': Entry('fairjax.data.files:load', 'your csv, tsv, jsonl or parquet'),
}


def load_tables(config):
  """Loads, cleans and checks the data set of `config.data`.

  Returns (tables, report, bad rows): tables that obey data/schema.py, the
  hygiene report, and a DataFrame of the rows that were left out.
  """
  from fairjax.data import hygiene, schema, splits  # pandas is slow to import

  data = config.data
  tables = find(DATASETS, 'data set', data.name)(config)
  tables, report, bad = hygiene.clean(tables, data.on_bad)
  tables = splits.draw(tables, data.limit, data.split_seed)
  return schema.check(tables), report, bad
