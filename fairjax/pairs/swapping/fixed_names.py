"""Names that stay as they are: of bands, of artists, of persons known to all.

A first name before the surname of such a person stays with it: "Lisa Trump" is
nobody. The names are fixed_names.csv, a name a line.
"""

import functools
import pathlib
import re

from fairjax.core import paths


@functools.cache
def places() -> dict[str, re.Pattern]:
  """word -> the word where it stands in one of the names."""
  path = pathlib.Path(__file__).with_name('fixed_names.csv')
  found: dict[str, list[str]] = {}
  for line in paths.csv_lines(path, 'names')[1:]:
    name = line[0].lower()
    for one in () if name.startswith('#') else re.finditer(r'[^\W_]+', name):
      before, behind = name[: one.start()], name[one.end() :]
      place = f'(?<={re.escape(before)}){one[0]}{re.escape(behind)}'
      found.setdefault(one[0], []).append(place)
  either = lambda each: re.compile(f'(?:{"|".join(each)})(?![^\\W_])', re.I)
  return {word: either(each) for word, each in found.items()}


def has(text: str, start: int, low: str) -> bool:
  """Whether a word, in small letters `low`, is part of such a name there."""
  return low in places() and places()[low].match(text, start) is not None
