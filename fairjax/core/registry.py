"""Registry entries (DATASETS, METHODS, …): an address and one line each."""

import importlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from fairjax.core.errors import UserError, nearest


class Entry(NamedTuple):
  """A function by its address, loaded only when it is asked for."""

  target: str  # 'package.module:function'
  about: str  # one line, shown by `python -m fairjax.main --list`


def find(entries: Mapping[str, Entry], kind: str, name: str) -> Callable:
  """The function registered under `name`, or a sentence with the nearest."""
  if name not in entries:
    hint = nearest(name, entries, 'run --list to see all')
    raise UserError(f'there is no {kind} named {name!r}; {hint}')
  module, function = entries[name].target.split(':')
  return getattr(importlib.import_module(module), function)
