"""Shares of texts that an axis changes, against a count by hand."""

import numpy as np
import pytest

from fairjax.pairs.axes import reach

TEXTS = (
  'The Muslim nurse slept.',
  'A Mexican immigrant and her son ate.',
  'It rained on 11 years of work.',
  'He is 80 years old.',
)


def test_the_rows_that_an_axis_changes_are_counted(tmp_path, capsys):
  path = tmp_path / 'my.csv'
  path.write_text('a,b\n' + ''.join(f'"{t}",Rain.\n' for t in TEXTS))
  found = reach.reach(reach.read(f'{path}:b+a'))
  for axis, rows in (
    ('religion', [0]),
    ('nationality', [1]),
    ('race', []),
    ('race or nationality', [1]),
    ('gender', [1, 3]),
    ('age', [3]),
  ):
    assert np.flatnonzero(found[axis]).tolist() == rows, axis
  assert reach.main([f'{path}:a']) == 0
  said = capsys.readouterr().out.splitlines()
  assert said[0].endswith('my.csv:a (4)')
  (gender,) = (line for line in said if line.startswith('gender  '))
  (race,) = (line for line in said if line.startswith('race  '))
  # Half of four, and none: the exact intervals of Clopper and Pearson.
  assert '50.0 [6.8, 93.2]' in gender and '0.0 [0.0, 60.2]' in race


def test_a_file_without_a_header_is_read_by_number(tmp_path):
  path = tmp_path / 'cola.tsv'
  path.write_text('x\t1\tHe "slept.\nx\t0\tRain.\n')
  assert reach.read(f'{path}:2') == [['He "slept.', 'Rain.']]


@pytest.mark.parametrize(
  ('where', 'said'),
  [
    ('my.csv', 'my.csv names no column; say which one'),
    ('{}/my.csv:c', "has no column 'c'; it has a"),
    ('{}/none.csv:c', 'none.csv'),
  ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, where, said, capsys):
  (tmp_path / 'my.csv').write_text('a\nHe slept.\n')
  assert reach.main([where.format(tmp_path)]) == 2
  error = capsys.readouterr().err
  assert said in error and error.count('\n') == 1
