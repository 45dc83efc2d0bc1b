"""Names that stay as they are: of bands, of artists, of persons known to all.

A first name before the surname of such a person stays with it: "Lisa Trump" is
nobody. The names are fixed_names.csv, a name a line.
"""

import functools
import re

from fairjax.data.word_tables import table_rows


@functools.cache
def places() -> dict[str, list[tuple[str, str]]]:
  """word -> what is before it, and it with what is behind, of each name."""
  found: dict[str, list[tuple[str, str]]] = {}
  for (written,) in table_rows(__file__, 'fixed_names.csv'):
    name = written.lower()
    for one in re.finditer(r'[^\W_]+', name):
      at = one.start()
      found.setdefault(one[0], []).append((name[:at], name[at:]))
  return found


def any_in(text: str) -> bool:
  words = re.finditer(r'[^\W_]+', text)
  return any(has(text, one.start(), one[0].lower()) for one in words)


def has(text: str, start: int, low: str) -> bool:
  """Whether a word, in small letters `low`, is part of such a name there.

  Sister Nancy is an artist, and my sister Nancy is none.
  """
  for before, rest in places().get(low, ()):
    begin, end = start - len(before), start + len(rest)
    same = begin >= 0 and text[begin:end].lower() == before + rest
    if same and not text[end : end + 1].isalnum():
      if text[begin].isupper() or text[start].islower():
        return True
  return False
