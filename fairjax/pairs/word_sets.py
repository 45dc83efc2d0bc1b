"""The sets of words that rules test for, by name, from word_sets.csv.

A row is a name and some of its words; `SETS.enders` has all of them, and of
names in two parts (`before.cause`) `SETS.before` has each by the second part.
`_` is a blank in a phrase, and a star stands for the rest of a word.
"""

import functools
import pathlib
import re
import types

from fairjax.core import paths


def read(path: pathlib.Path) -> types.SimpleNamespace:
  """name -> its words, or its parts -> their words."""
  found: dict[str, list[str]] = {}
  for line in paths.csv_lines(path, 'word sets'):
    if line and not line[0].startswith('#'):
      words = [word.replace('_', ' ') for word in line[1].split()]
      found.setdefault(line[0], []).extend(words)
  out: dict[str, object] = {}
  for name, words in found.items():
    first, _, part = name.partition('.')
    if part:
      out.setdefault(first, {})[part] = frozenset(words)
    else:
      out[name] = frozenset(words)
  return types.SimpleNamespace(**out)


SETS = read(pathlib.Path(__file__).with_name('word_sets.csv'))


@functools.cache
def pattern(words: frozenset[str]) -> re.Pattern:
  """Finds any of the words or phrases, whole and in any case."""
  ordered = sorted(words, key=len, reverse=True)
  body = '|'.join(re.escape(word).replace(r'\*', r'\w*') for word in ordered)
  # Of no words it finds nothing.
  return re.compile(rf'(?<!\w)(?:{body or "(?!)"})(?!\w)', re.IGNORECASE)
