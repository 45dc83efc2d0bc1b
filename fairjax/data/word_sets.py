"""Sets of words by name, from a csv: a row is a name and some of its words.

Of names in two parts (`before.cause`) a set has each by the second part. `_` is
a blank in a phrase.
"""

import pathlib
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
