"""Errors of rewrites, cues of benchmarks, and repairs of what was masked."""

import pathlib

import pytest

from fairjax.data.word_tables import table_rows
from fairjax.pairs import cues, recase, repair, rewrite_errors

TEXT = 'the men are duchesses.'
SPANS = [(0, 3), (4, 7), (8, 11), (12, 19), (19, 21), (21, 22)]
WORDS = [0, 1, 2, 3, 3, 4]


@pytest.mark.parametrize('piece', [3, 4])
def test_any_piece_masks_the_whole_word_and_nothing_else(piece):
  flags = [k == piece for k in range(6)]
  spans = repair.odd_words(SPANS, WORDS, flags)
  assert repair.masked(TEXT, spans).text == 'the men are <mask>.'


def test_marks_of_the_tokenizer_are_no_words():
  assert repair.odd_words([(0, 0), (0, 3)], [None, 0], [True, False]) == []


def test_masks_side_by_side_are_merged_by_choice():
  spans = repair.odd_words(SPANS, WORDS, [False, True, True, False, True, True])
  text = 'the men are  duchesses.'
  assert repair.masked(TEXT, spans).text == 'the <mask>'
  apart = repair.masked(TEXT, spans, merge=False).text
  assert apart == 'the <mask> <mask> <mask><mask>'
  assert repair.merged(text, [(4, 7), (13, 22)]) == [(4, 7), (13, 22)]
  assert repair.merged(text, [(8, 11), (13, 22)]) == [(8, 22)]


def test_what_is_filled_in_takes_the_case_of_what_stood_there():
  one = repair.masked('SHE saw Her, twice.', [(0, 3), (8, 11)])
  assert one.text == '<mask> saw <mask>, twice.'
  text = repair.filled(one, 'SHE saw Her, twice.', ['he', ' him '])
  assert text == 'HE saw Him, twice.'
  assert repair.filled(one, 'SHE saw Her, twice.', ['he', '']) == (
    'HE saw , twice.'
  )


@pytest.mark.parametrize(
  ('source', 'written', 'wanted'), table_rows(__file__, 'sheets/recase.csv')
)
def test_case_accents_and_spaces_come_back(source, written, wanted):
  assert recase.restore(source, written) == wanted


SOURCE = 'The king lost his crown and he wept .'
TWIN = 'The queen lost her crown and she wept .'


@pytest.mark.parametrize(
  ('wanted', 'rewrite'), table_rows(__file__, 'sheets/rewrite_errors.csv')
)
def test_each_kind_is_told_by_itself(wanted, rewrite):
  kinds = rewrite_errors.kinds(SOURCE, TWIN, rewrite)
  names = {k for k, has in zip(rewrite_errors.KINDS, kinds) if has}
  assert names == {*wanted.split()}


def test_a_table_has_a_row_a_text():
  table = rewrite_errors.table([(SOURCE, TWIN)] * 2, [SOURCE, TWIN])
  assert table['unchanged'].tolist() == [True, False]
  assert tuple(table) == rewrite_errors.KINDS
  assert all(v.shape == (0,) for v in rewrite_errors.table([], []).values())


ROWS = table_rows(cues.__file__, 'cues.csv')


@pytest.mark.parametrize('row', ROWS, ids=lambda row: f'{row[0]}-{row[1]}')
def test_a_cue_is_found_in_its_example(row, monkeypatch):
  cue, where, reach, body, example = row
  before, word, behind = example.split('|')
  alone = {cue: [(where, int(reach or cues.FAR), body)]}
  monkeypatch.setattr(cues, 'cue_rows', lambda: alone)
  text, start = before + word + behind, len(before)
  assert where in ('before', 'behind', 'sentence')
  assert cues.found(cue, text, start, start + len(word))
  assert not cues.found(cue, f'Someone. {word}. No one.', 9, 9 + len(word))


def test_every_cue_is_asked_for():
  folder = pathlib.Path(cues.__file__).parent
  code = ''.join(path.read_text('utf-8') for path in folder.rglob('*.py'))
  assert [row[0] for row in ROWS if f"'{row[0]}'" not in code] == []
