"""What a reader said of the axes' words, and that its sentences come again."""

import fnmatch
import json

import pytest
import sheets

from fairjax.config.axes import AXES

OWN = [axis for axis in AXES if axis != 'gender']


NAMES = [
  str(p.relative_to(sheets.KEPT).with_suffix(''))
  for p in sheets.KEPT.rglob('*.csv')
]


@pytest.mark.parametrize('name', NAMES)
def test_a_sheet_is_whole(name):
  rows = sheets.read(name)
  assert name.removeprefix('second/').rstrip('_0123456789') in OWN
  assert len({row['hash'] for row in rows}) == len(rows) >= 19
  for row in rows:
    assert tuple(row) == sheets.COLUMNS
    assert row['file'] in sheets.FILES | sheets.MORE | sheets.PUBLIC or any(
      fnmatch.fnmatch(row['file'], p) for p in [*sheets.OPEN, 'https://*']
    )
    assert row['natural'] in ('0', '1')
    assert 0 <= int(row['wrong']) <= len(row['changes'].split(' | '))


def test_sentences_of_pages_are_numbered_on_each_page_and_drawn(tmp_path):
  one, other = 'https://a.org/x', 'https://b.org/y'
  said = [
    (one, 'essay', 'Blind.'),  # too short, and still the page's first
    (one, 'essay', 'He is a deaf man from Ohio.'),
    (other, 'news', 'A blind woman lives next door.'),
    (other, 'news', 'He is a deaf man, from Ohio!'),  # said before
  ]
  lines = [json.dumps(dict(zip(('url', 'kind', 'text'), s))) for s in said]
  (tmp_path / 'disability.jsonl').write_text('\n'.join(lines))
  assert list(sheets.paged(tmp_path / 'disability.jsonl')) == [
    ('essay', one, 1, said[1][2]),
    ('news', other, 0, said[2][2]),
  ]
  found = sheets.drawn(tmp_path, 'disability', held=None)
  assert {(d.file, d.row) for d in found} == {(one, 1), (other, 0)}


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


@pytest.mark.parametrize(
  ('name', 'words', 'natural'),
  [
    # The first moved rules, the last was read of those that stand.
    ('gender_identity_5', (82, 84), (57, 78)),
    ('gender_identity_6', (201, 203), (170, 182)),
    # Of pages gathered when the rules stood.
    ('disability_11', (116, 117), (108, 113)),
  ],
)
def test_what_sheets_of_public_pages_show(name, words, natural):
  found = sheets.figures(sheets.read(name))
  assert found['words right'] == words
  assert found['natural'] == natural


def test_a_second_reader_saw_the_same_changes_and_agrees_beyond_chance():
  seen = lambda rows: [(row['hash'], row['changes']) for row in rows]
  for path in (sheets.KEPT / 'second').glob('*.csv'):
    assert seen(sheets.read(path.stem)) == seen(
      sheets.read(f'second/{path.stem}')
    )
  one, other = (sheets.read(name) for name in ('age_8', 'second/age_8'))
  natural = [[row['natural'] == '1' for row in rows] for rows in (one, other)]
  # Both say natural of 172 and neither of 15; the first alone of 9, the other
  # of 4.
  agree, chance = 0.935, 0.905 * 0.88 + 0.095 * 0.12
  assert sheets.kappa(*natural) == pytest.approx(
    (agree - chance) / (1 - chance)
  )
  assert sheets.kappa([True, False], [False, True]) == -1


@pytest.mark.slow
@pytest.mark.parametrize('axis', ['disability'])
def test_sentences_are_drawn_again(axis, shared):
  """Rules that changed since draw others; then the sheet is read again."""
  said = {row['hash']: row['changes'] for row in sheets.read(f'{axis}_12')}
  again = {
    one.hash: ' | '.join(one.changes) for one in sheets.drawn(shared, axis)
  }
  assert len(again) >= 31 and again.items() <= said.items()
