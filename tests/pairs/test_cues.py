"""Each row of the table of cues is found where its example says."""

import pathlib

import pytest

from fairjax.data.word_tables import table_rows
from fairjax.pairs import cues

ROWS = table_rows(cues.__file__, 'cues.csv')


@pytest.mark.parametrize('row', ROWS, ids=lambda row: f'{row[0]}-{row[1]}')
def test_a_cue_is_found_in_its_example(row, monkeypatch):
  cue, where, reach, body, example = row
  before, word, behind = example.split('|')
  alone = {cue: [(where, int(reach or cues.FAR), body)]}
  monkeypatch.setattr(cues, '_rows', lambda: alone)
  text, start = before + word + behind, len(before)
  assert where in ('before', 'behind', 'sentence')
  assert cues.found(cue, text, start, start + len(word))
  assert not cues.found(cue, f'Someone. {word}. No one.', 9, 9 + len(word))


def test_every_cue_is_asked_for():
  folder = pathlib.Path(cues.__file__).parent
  code = ''.join(path.read_text('utf-8') for path in folder.rglob('*.py'))
  assert [row[0] for row in ROWS if f"'{row[0]}'" not in code] == []
