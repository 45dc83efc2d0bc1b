"""What a reader said of the axes' words, and that its sentences come again."""

import pytest
import sheets

from fairjax.config.axes import AXES

OWN = [axis for axis in AXES if axis != 'gender']


@pytest.mark.parametrize('axis', OWN)
def test_a_sheet_is_whole(axis):
  rows = sheets.read(axis)
  assert len({row['hash'] for row in rows}) == len(rows) >= 40
  for row in rows:
    assert tuple(row) == sheets.COLUMNS
    assert row['file'] in sheets.FILES and row['natural'] in ('0', '1')
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
  said = [(row['hash'], row['changes']) for row in sheets.read(axis)]
  again = sheets.drawn(shared, axis)
  assert [(one.hash, ' | '.join(one.changes)) for one in again] == said
