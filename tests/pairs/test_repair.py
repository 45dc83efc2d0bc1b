"""Repair of swapped texts: masks as the papers mean and as their code writes.

Golden facts 15 to 18 are of the papers' code, run on these pieces.
"""

import numpy as np
import pytest

from fairjax.pairs import recase, repair

PIECES = ['the', 'men', 'are', 'duchess', '##es']
TEXT = 'the men are duchesses.'
SPANS = [(0, 3), (4, 7), (8, 11), (12, 19), (19, 21), (21, 22)]
WORDS = [0, 1, 2, 3, 3, 4]


def odd(*names):
  return [piece in names for piece in PIECES]


def test_the_reference_masks_a_word_by_its_first_piece():
  assert repair.reference(PIECES, odd('duchess')) == 'the men are <mask>'


def test_the_reference_s_mask_swallows_the_full_stop():
  pieces, flags = [*PIECES, '.'], [*odd('duchess'), False]
  assert repair.reference(pieces, flags) == 'the men are <mask>'


def test_the_reference_passes_over_a_flagged_continuation():
  assert repair.reference(PIECES, odd('##es')) == 'the men are duchesses'


def test_the_reference_masks_marks_and_keeps_masks_apart():
  pieces = ['[CLS]', *PIECES, '[SEP]', '[PAD]']
  flags = [True, False, True, True, False, False, False, True]
  expected = '<mask> the <mask> <mask> duchesses <mask>'
  assert repair.reference(pieces, flags) == expected


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


@pytest.mark.parametrize(
  ('logit', 'scale', 'threshold', 'expected'),
  [
    (-0.999, 'logit', -1, True),
    (-1.001, 'logit', -1, False),
    (-0.999, 'probability', 0.26894, True),
    (-1.001, 'probability', 0.26894, False),
    (0.01, 'probability', 0.5, True),
  ],
)
def test_thresholds_are_logits_or_probabilities(
  logit, scale, threshold, expected
):
  """Golden fact 18: logit −1 is P(replaced) = .26894."""
  flags = repair.flagged(np.array([logit]), threshold, scale)
  assert flags.tolist() == [expected]


def test_what_is_filled_in_takes_the_case_of_what_stood_there():
  one = repair.masked('SHE saw Her, twice.', [(0, 3), (8, 11)])
  assert one.text == '<mask> saw <mask>, twice.'
  text = repair.filled(one, 'SHE saw Her, twice.', ['he', ' him '])
  assert text == 'HE saw Him, twice.'
  assert repair.filled(one, 'SHE saw Her, twice.', ['he', '']) == (
    'HE saw , twice.'
  )


@pytest.mark.parametrize(
  ('source', 'written', 'expected'),
  [
    ('He met José,  twice.', 'she met jose , twice .', 'She met José,  twice.'),
    ('Mr. Smith left.', 'mrs . smith left .', 'Mrs. Smith left.'),
    ("He's here", "she ' s here", "She's here"),
    ('KING and boy', 'queen and the girl', 'QUEEN and the girl'),
    ('a b', 'a b', 'a b'),
    ('He left.\n', 'she left .', 'She left.\n'),
  ],
)
def test_case_accents_and_spaces_come_back(source, written, expected):
  assert recase.restore(source, written) == expected
