"""A quick slice of the table of tests/coverage.py, which README quotes."""

import ast
import importlib.util
import pathlib

import numpy as np
import pytest
import shapes

from fairjax.data import word_tables

SETS = 80


@pytest.fixture(scope='module')
def table():
  path = pathlib.Path(__file__).parents[1] / 'coverage.py'
  spec = importlib.util.spec_from_file_location('coverage_table', path)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  module.RESAMPLES = 400
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(shapes, 'SEES', False)  # those who assess once see them
    yield module


CELLS = word_tables.table_rows(__file__, 'coverage_cells.csv')
CELLS = [(world, ast.literal_eval(options)) for world, options in CELLS]


@pytest.mark.parametrize(('world', 'options'), CELLS)
def test_a_slice(table, world, options):
  """At least .95 less 3.3 standard errors, and a level of at most .05 + 3.3."""
  found = table.measured(getattr(table, world), SETS, **options)
  slack = 3.3 * (0.95 * 0.05 / SETS) ** 0.5
  for name, (held, level, _, _) in found.items():
    assert held >= 0.95 - slack, (name, held)
    assert level is None or level <= 0.05 + slack, (name, level)
  # Nor are intervals wider than they need to be.
  if world == 'every':
    assert np.mean([held for held, *_ in found.values()]) < 0.985


def test_an_interval_without_width_is_seen(table):
  def world(rng, how):
    return {'a share': table.ends({'low': 1.0, 'high': 1.0}, 0.98)}

  assert np.isclose(table.measured(world, 5)['a share'][0], 0)


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
