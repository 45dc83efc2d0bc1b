"""A quick slice of the table of tests/coverage.py, which README quotes."""

import importlib.util
import pathlib

import numpy as np
import pytest

SETS = 80


@pytest.fixture(scope='module')
def table():
  path = pathlib.Path(__file__).parents[1] / 'coverage.py'
  spec = importlib.util.spec_from_file_location('coverage_table', path)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  module.RESAMPLES = 400
  return module


# Coverage at c3433a7: .88 at n = 40; .07, and 0 with three seeds; .88; .85
# and .67; .90; tests of five groups rejected a true null in .11.
CELLS = [
  ('shares', {'n': 40, 'p': 0.02}),
  ('sizes', {'n': 60, 'differ': 0.1}),
  ('sizes', {'n': 60, 'differ': 0.1, 'seeds': 3}),
  ('bounded', {'n': 40, 'kind': 'few changes'}),
  ('clustered', {'groups': 8, 'p': 0.5, 'icc': 0.1}),
  ('clustered', {'groups': 8, 'p': 0.02, 'icc': 0.05}),
  ('ranked', {'n': 120, 'positive': 0.3, 'copies': 3}),
  ('alike', {'n': 300, 'groups': 5}),
  ('ranked', {'n': 200, 'positive': 0.25, 'auc': 0.99}),
  ('shares', {'n': 1000, 'p': 0.7, 'seeds': 2, 'sd': 0.3}),
  ('shares', {'n': 1000, 'p': 0.7, 'seeds': 5, 'sd': 0.3}),
  ('two_runs', {'n': 400, 'seeds': 3}),
  # Seen at 15a7680a: .90, .88 with a level of .11, .85, .78, a level of .085.
  ('clustered', {'groups': 20, 'dominant': True}),
  ('own_of_clusters', {'groups': 8, 'shared': False}),
  ('alike', {'n': 1000, 'groups': 12}),
  ('closed', {'n': 300}),
  # A level of .82: models whose gaps are of one size, to either side.
  ('closed', {'n': 1000, 'mirrored': 0.02}),
  ('many_contrasts', {'groups': 8, 'rows': 100, 'others': 100}),
  ('correlated', {'n': 60, 'r': 0.9, 'tails': 'heavy'}),
  ('every', {'n': 1000}),
  ('equalized', {'n': 400, 'criterion': 'equal_opportunity'}),
  ('chosen', {'n': 1000, 'positive': 0.05}),
  ('two_sizes', {'n': 300, 'ours': 0.02, 'theirs': -0.02}),  # a level of .48
]


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
