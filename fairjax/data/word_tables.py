"""Tables of words beside the modules that read them.

Of sets of words a row is a name and some of its words; of names in two parts
(`before.cause`) a set has each by the second part. `_` is a blank in a phrase.
"""

import pathlib
import types

from fairjax.core import paths


def table_rows(module: str, name: str) -> list[list[str]]:
  """The lines of a table beside a module, without its header and comments."""
  lines = paths.csv_lines(pathlib.Path(module).parent / name, 'table')
  return [line for line in lines[1:] if line and not line[0].startswith('#')]


def read(module: str, table: str) -> types.SimpleNamespace:
  """name -> its words, or its parts -> their words."""
  found: dict[str, list[str]] = {}
  for name, words in table_rows(module, table):
    each = [word.replace('_', ' ') for word in words.split()]
    found.setdefault(name, []).extend(each)
  out: dict[str, object] = {}
  for name, words in found.items():
    first, _, part = name.partition('.')
    if part:
      out.setdefault(first, {})[part] = frozenset(words)
    else:
      out[name] = frozenset(words)
  return types.SimpleNamespace(**out)
