"""A quick slice of the release's table of coverage (tests/coverage.py).

Cells in which the forms of c3433a7 held the truth in 0 to .8 of sets. Of 60
sets a right form is below .85 once in 500 cells, and the draws are fixed.
"""

import importlib.util
import pathlib

import pytest

PATH = pathlib.Path(__file__).parents[1] / 'coverage.py'

CELLS = [
  ('shares', {'n': 60, 'p': 0.98}),  # .73, by percentiles of the rows
  ('sizes', {'n': 60, 'differ': 0.1}),  # .07, by percentiles of |x|
  ('sizes', {'n': 60, 'differ': 0.1, 'seeds': 3}),  # 0
  ('bounded', {'n': 40, 'kind': 'few changes'}),  # .68
  ('clustered', {'groups': 5, 'p': 0.5, 'icc': 0.1}),  # .77
  ('correlated', {'n': 60, 'r': 0.5, 'tails': 'heavy'}),  # .80
]


@pytest.fixture(scope='module')
def table():
  spec = importlib.util.spec_from_file_location('table_of_coverage', PATH)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  module.RESAMPLES = 300
  return module


@pytest.mark.parametrize('world, options', CELLS)
def test_a_slice_of_the_table_holds(table, world, options):
  found = table.measured(getattr(table, world), 60, **options)
  for name, (held, level, without, apart) in found.items():
    assert held >= 0.85, (name, held)
    assert level is None or level <= 0.15, (name, level)
    assert not without and not apart, (name, without, apart)


def test_the_table_in_markdown(table):
  rows = {
    ('rate', 'seeds 2'): [(0.95, None), (0.93, 0.04)],
    ('gap', ''): [(0.96, 0.05)],
  }
  lines = table.markdown(rows).splitlines()
  assert lines[2:] == [
    '| rate | seeds 2 | 2 | 0.930 to 0.950 | 0.040 |',
    '| gap |  | 1 | 0.960 | 0.050 |',
  ]
  of = {table.row_of(options) for _, options in table.table()}
  assert {'clusters 8', 'groups 5, true gap 0.3', 'seeds 5', 'edge: p 1'} & of
