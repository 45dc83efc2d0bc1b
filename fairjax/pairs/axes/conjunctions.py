"""Conjunctions: what is joined to a word of an axis, and what it would become.

Deaf and hard of hearing people do not become blind and blind ones; gay and
lesbian people share a noun; members of the working class are none of the poor.
"""

import re
from collections.abc import Callable

from fairjax.data.axes.table import Axis, Row
from fairjax.pairs.swapping.neighbours import last_word
from fairjax.pairs.word_sets import SETS

# What is joined by and, or, a comma or a stroke.
_JOINT = r'(?:,? (?:and|or|and/or|&|as well as)|,|/)\s?'
_BEFORE = re.compile(rf'((?:[\w-]+ ){{0,3}}[\w-]+){_JOINT}(?:the |other )?$')
_BEHIND = re.compile(
  rf'(?: (?!and|or)\w+)?{_JOINT}(?:the |other )?((?:[\w-]+ ?){{1,4}})'
)


def alike(
  axis: Axis, value: int, to: Callable[[int], int]
) -> dict[str, frozenset[str]]:
  """word -> what it becomes, of words that turn to where `value` does.

  A word of `value` itself turns with it, where its target is avoided too.
  """
  out: dict[str, frozenset[str]] = {}
  for word, own, _, row in axis.words():
    if to(own) == to(value) != own:
      cells = row.cells if own == value else [row.cells[to(own)]]
      new = {c[0].text.lower() for k, c in enumerate(cells) if c}
      out[word] = out.get(word, frozenset()) | new
  return out


def is_paired(
  text: str, start: int, end: int, new: str, others: dict[str, frozenset[str]]
) -> bool:
  """Whether a word joined to it becomes the same: deaf and hard of hearing."""
  before = _BEFORE.search(text, max(0, start - 60), start)
  behind = _BEHIND.match(text, end)
  # At most one word may stand behind what is before the joint.
  words = before[1].lower().split() if before else []
  left = [' '.join(words[-k:]) for k in (1, 2, 3)]
  right = f'{behind[1].lower()} ' if behind else ''
  for word, turned in others.items():
    # blind, or blind people.
    if not any(
      f'{one} '.startswith(f'{new} ') or f'{new} '.startswith(f'{one} ')
      for one in turned
    ):
      continue
    if right.startswith(f'{word} ') or any(
      one == word or one.startswith(f'{word} ') for one in left
    ):
      return True
  return False


def is_shared(text: str, start: int, described) -> bool:
  """Whether a phrase lends its noun: gay and lesbian people."""
  before = re.search(rf'([\w-]+){_JOINT}$', text[max(0, start - 40) : start])
  word = before[1].lower() if before else ''
  return word in described or word in SETS.describing


def with_noun(axis: Axis, phrase: str) -> Row | None:
  """The row of a phrase's adjective, its noun behind each: bisexual people."""
  first, noun = phrase.split(' ', 1)
  for word, _, _, row in axis.words():
    if word == first and row.form == 'adjective':
      joined = lambda one: one._replace(text=f'{one.text} {noun}')
      return Row(row.form, tuple(tuple(map(joined, c)) for c in row.cells))
  return None


def is_pitied(text: str, start: int) -> bool:
  """His poor customer and a young poor woman are in a poor way, not poor."""
  before = last_word(text, start).lower()
  return before in SETS.possessive or before in ('young', 'old', 'little')
