"""A folder whose run has ended: what describes it changes with its results.

config.json, versions.json and what was found of the data say how results.json
came about. Beside results that stand they wait for those of the next run: a
call that is refused, or killed before it has results, leaves them as they were.
"""

import functools
import pathlib
from collections.abc import Callable
from typing import Any

RESULTS = 'results.json'
_WAITING: dict[pathlib.Path, list[Callable[[], None]]] = {}


def describe(write: Callable, path: pathlib.Path, *what: Any) -> None:
  """Calls write(path, *what) at once; where results stand, in `settle`."""
  now = functools.partial(write, path, *what)
  if waits(path.parent) or path.with_name(RESULTS).exists():
    _WAITING.setdefault(path.parent.absolute(), []).append(now)
  else:
    now()


def waits(folder: pathlib.Path) -> bool:
  """Whether the folder is still that of an earlier run."""
  return folder.absolute() in _WAITING


def settle(folder: pathlib.Path, refused: bool = False) -> None:
  """Writes what waits for results, or drops what a refused call left."""
  for write in _WAITING.pop(folder.absolute(), ()):
    if not refused:
      write()
