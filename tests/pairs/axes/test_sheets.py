"""What a reader said of the axes' words, and that its sentences come again."""

import pytest
import sheets

from fairjax.config.axes import AXES

OWN = [axis for axis in AXES if axis != 'gender']


@pytest.mark.parametrize('name', [p.stem for p in sheets.KEPT.glob('*.csv')])
def test_a_sheet_is_whole(name):
  rows = sheets.read(name)
  assert name.rstrip('_2345678') in OWN
  assert len({row['hash'] for row in rows}) == len(rows) >= 31
  for row in rows:
    assert tuple(row) == sheets.COLUMNS
    assert row['file'] in sheets.FILES | sheets.MORE
    assert row['natural'] in ('0', '1')
    assert 0 <= int(row['wrong']) <= len(row['changes'].split(' | '))


def test_figures_count_words_and_sentences():
  rows = [
    {'changes': 'a > b | c > d', 'wrong': '1', 'natural': '1'},
    {'changes': 'a > b', 'wrong': '0', 'natural': '0'},
  ]
  assert sheets.figures(rows) == {
    'words right': (2, 3),
    'sentences right': (1, 2),
    'natural': (1, 2),
  }


@pytest.mark.slow
@pytest.mark.parametrize('axis', ['disability'])
def test_sentences_are_drawn_again(axis, shared):
  """Rules that changed since draw others; then the sheet is read again."""
  said = {row['hash']: row['changes'] for row in sheets.read(f'{axis}_2')}
  again = {
    one.hash: ' | '.join(one.changes) for one in sheets.drawn(shared, axis)
  }
  assert len(again) > 40 and again.items() <= said.items()
