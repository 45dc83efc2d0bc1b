"""The sets of words that rules test for, by name, from word_sets.csv.

A row is a name and some of its words; `SETS.enders` has all of them, and of
names in two parts (`before.cause`) `SETS.before` has each by the second part.
"""

import pathlib
import types

from fairjax.core import paths


def read(path: pathlib.Path) -> types.SimpleNamespace:
  """name -> its words, or its parts -> their words."""
  found: dict[str, list[str]] = {}
  for line in paths.csv_lines(path, 'word sets'):
    if line and not line[0].startswith('#'):
      found.setdefault(line[0], []).extend(line[1].split())
  out: dict[str, object] = {}
  for name, words in found.items():
    first, _, part = name.partition('.')
    if part:
      out.setdefault(first, {})[part] = frozenset(words)
    else:
      out[name] = frozenset(words)
  return types.SimpleNamespace(**out)


SETS = read(pathlib.Path(__file__).with_name('word_sets.csv'))
