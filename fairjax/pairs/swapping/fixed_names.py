"""Names and phrases that stay as they are: bands, artists, idioms.

A first name before the surname of a person known to all stays with it: "Lisa
Trump" is nobody. They are fixed_names.csv, one a line; what is written there in
small letters (a grandfather clock) stays however it is written, plural too.
"""

import functools
import re

from fairjax.data.word_tables import table_rows

LONGEST = 40  # letters of a name


@functools.cache
def places() -> dict[str, list[tuple[str, str, list[int]]]]:
  """word -> what is before it, it with what is behind, of each name.

  And where its capitals are: none are a phrase's, and phrases come first.
  """
  found: dict[str, list[tuple[str, str, list[int]]]] = {}
  rows = table_rows(__file__, 'fixed_names.csv')
  for (written,) in sorted(rows, key=lambda row: not row[0].islower()):
    name = _folded(written)
    capitals = [i for i, letter in enumerate(written) if letter.isupper()]
    for one in re.finditer(r'[^\W_]+', name):
      at = one.start()
      found.setdefault(one[0], []).append((name[:at], name[at:], capitals))
  return found


@functools.cache
def _pattern(low: str) -> re.Pattern:
  """All names that hold a word, from there on, a group each."""
  ahead = lambda before: f'(?<={re.escape(before)})' if before else ''
  each = (
    f'({ahead(before)}{re.escape(rest)}{"" if capitals else "s?"})'
    for before, rest, capitals in places()[low]
  )
  return re.compile(rf'(?:{"|".join(each)})(?![^\W_])')


def _folded(text: str) -> str:
  """In small letters, with a blank for a hyphen: a king-size bed."""
  return text.lower().replace('-', ' ').replace('’', "'")


def any_in(text: str) -> bool:
  words = re.finditer(r'[^\W_]+', text)
  return any(has(text, one.start(), one[0].lower()) for one in words)


def has(text: str, start: int, low: str, small: bool = True) -> bool:
  """Whether a word, in small letters `low`, is part of such a name there.

  Sister Nancy is an artist, and my sister Nancy is none. A name in small
  letters is one where these are allowed; "Fathers and sons came" has none.
  """
  if low not in places():
    return False
  first = max(0, start - LONGEST)
  near = _folded(text[first : start + LONGEST])
  match = _pattern(low).match(near, start - first)
  if not match:
    return False
  before, _, capitals = places()[low][(match.lastindex or 0) - 1]
  begin = start - len(before)
  if begin and text[begin - 1].isalnum():
    return False
  if small or not capitals:
    return not capitals or text[begin].isupper() or text[start].islower()
  return all(text[begin + at].isupper() for at in capitals)
