"""The neighbours of a scan's candidates, vectorised.

Most first names stand after a mark or a word in small letters and before a
mark, such a word or a surname, and most pronouns before a noun. Where the
rules of persons.py and pronouns.py know none of these neighbours there is
nothing for them to read: the arrays of the scan tell as much, and the same.
"""

import functools

import numpy as np

from fairjax.pairs.swapping import persons, pronouns, scan
from fairjax.pairs.swapping.neighbours import ALONE, FAMILY, FREE, NOUN

_BLANK, _LINE, _DOT, _OF, _S = map(ord, ' \n.fs')
_LONG = 20  # letters; `last_word` sees no more than 24


@functools.cache
def _known() -> np.ndarray:
  """Hash of a word -> a bit for each list of the rules that has it."""
  lists = (
    persons.KNOWN_BEFORE,
    persons.KNOWN_BEFORE_FAMILIES,
    persons.KNOWN_AFTER,
    persons.KNOWN_CAPITALS,
    pronouns.KNOWN_BEFORE,
    pronouns.KNOWN_AFTER,
  )
  table = np.zeros(1 << scan.BITS, np.uint8)
  for bit, words in enumerate(lists):
    table[scan.hashes(filter(str.isalpha, words))] |= 1 << bit
  return table


@functools.cache
def _upper() -> np.ndarray:
  """Code point -> whether it is a capital letter."""
  return np.char.isupper(np.arange(1 << 16, dtype=np.uint32).view('U1'))


def _is(codes: np.ndarray, *chars: str) -> np.ndarray:
  return functools.reduce(np.bitwise_or, (codes == ord(c) for c in chars))


def _is_upper(codes: np.ndarray) -> np.ndarray:
  return _upper().take(codes, mode='clip')


def flags(block: scan.Runs, at: np.ndarray, opens: np.ndarray) -> np.ndarray:
  """ALONE, FAMILY, NOUN and FREE of the runs `at` of a block.

  `opens` says which of them begin a row.
  """
  before_name, before_family, before_pronoun = _before(block, at, opens)
  codes, lower, end = block.codes, block.lower, block.ends[at]
  right = np.minimum(at + 1, len(block.starts) - 1)
  first, stop = block.starts[right], block.ends[right]
  mark, behind, joint = codes[end], codes[end + 1], codes[stop]
  word = (mark == _BLANK) & (first == end + 1)
  word &= ~(_is(joint, *"'’_") | (joint >= 0xFFFF))  # don't is one word
  # A combining mark is part of a word here, and of none for the rules.
  marks = np.flatnonzero(lower == scan.COMBINING) - 1
  if len(marks):
    word &= np.searchsorted(marks, first) == np.searchsorted(marks, stop)
  known = _known()[block.hashes(right)]
  upper = _is_upper(codes[first])
  family = word & upper & (known & 8 == 0)
  word &= ~upper
  alone = word & (known & 4 == 0)
  alone |= _is(mark, *',;:!?)') | (mark == _DOT) & (behind == _BLANK)
  alone |= _is(mark, *"'’") & (behind == _S)
  adverb = (lower[stop - 1] == ord('l')) & (lower[stop] == ord('y'))
  noun = word & (known & 32 == 0) & ~adverb
  noun &= codes[block.starts[at] - 2] != _OF  # a friend of his
  result = np.zeros(len(at), np.uint8)
  result[before_name & alone] |= ALONE
  result[before_family & family] |= FAMILY
  result[noun] |= NOUN
  result[before_pronoun] |= FREE
  return result


def _before(
  block: scan.Runs, at: np.ndarray, opens: np.ndarray
) -> list[np.ndarray]:
  """Whether no rule knows what is before: of a name, of a name with a surname
  after it, and of a pronoun."""
  codes, start = block.codes, block.starts[at]
  # The last run stands for the one before the first: it is no neighbour.
  first, stop = block.starts[at - 1], block.ends[at - 1]
  behind = codes[first - 1]
  word = (stop + 1 == start) & (start - first <= _LONG)
  word &= (behind == _BLANK) | (behind == _LINE)
  known = _known()[block.hashes(at - 1)]
  small = ~_is_upper(codes[first])
  unknown = [small & (known & 1 == 0), known & 2 == 0, known & 16 == 0]
  blank = codes[start - 1] == _BLANK
  mark = _is(codes[start - 2], *',;:!?)')
  return [blank & (mark | word & one) | opens for one in unknown]
