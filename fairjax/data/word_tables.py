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
  found: dict[str, dict[str, frozenset[str]]] = {}
  for name, words in table_rows(module, table):
    first, _, part = name.partition('.')
    each = frozenset(word.replace('_', ' ') for word in words.split())
    parts = found.setdefault(first, {})
    parts[part] = parts.get(part, frozenset()) | each
  return types.SimpleNamespace(
    **{name: parts.get('', parts) for name, parts in found.items()}
  )
