"""Whether texts are in English, which our own words and rules are.

A list or an axis of ours exchanges in other languages what looks English there
(Muslim, Hindu) and leaves the rest: that is said in one sentence.
"""

import os
import re
from collections.abc import Sequence

from fairjax.config.axes import AXES
from fairjax.pairs.swapping import controls, word_lists
from fairjax.pairs.word_sets import SETS

KNOWN = 0.15  # share of words known below which the language is doubted
ENOUGH = 60  # words from which on a share says something
_SEEN = 2000  # texts that are looked at
_WORD = re.compile(r'\w+')


def is_doubted(texts: Sequence[str]) -> bool:
  """Whether few of many words are common English ones, or, of few words, two
  are small words of another language and more than ours."""
  known, of = share(texts)
  if of >= ENOUGH:
    return known < KNOWN
  words = [w.lower() for t in texts for w in _WORD.findall(t)]
  theirs = sum(w in SETS.not_english for w in words)
  letters = ''.join(words)
  latin = sum(c < '\u0250' for c in letters)
  return theirs > max(1, known * of) or 2 * latin < len(letters)


def share(texts: Sequence[str]) -> tuple[float, int]:
  """The share of words that are common English ones, and of how many."""
  common = controls.partners().keys() | {'i', 'you', 'it', 'of', 'not', 'be'}
  common |= {w for row in word_lists.gender().rows for w in row}
  words = [w.lower() for t in texts[:_SEEN] for w in _WORD.findall(t)]
  return sum(w in common for w in words) / max(1, len(words)), len(words)


def doubt(
  texts: Sequence[str],
  turned: Sequence[str],
  axis: str | os.PathLike | Sequence[str],
  remedy: str,
) -> str:
  """What a reader of exchanged texts should know of their language, or ''.

  One text alone that has no word to exchange is reported where it is of another
  language: English ones that name nobody are many.
  """
  named = [axis] if isinstance(axis, str | os.PathLike) else axis
  rules = (
    'our own words are English'
    if all(one in AXES for one in named)
    else 'the words of an axis are read by rules of English'
  )
  if list(texts) == list(turned) and len(texts) > 1:
    return (
      f'none of {len(texts):,} texts has a word to exchange, so all are as '
      f'they were; {rules}: {remedy}'
    )
  if is_doubted(texts):
    known, _ = share(texts)
    return (
      f'only {known:.0%} of the words are common English ones, and {rules}: '
      f'texts of another language are exchanged in part; {remedy}'
    )
  return ''
