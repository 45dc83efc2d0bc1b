"""A folder whose run has ended: what describes it changes with its results.

config.json, versions.json and what was found of the data say how results.json
came about. Beside results that stand they wait for those of the next run: a
call that is refused, or killed before it has results, leaves them as they were.
"""

import pathlib
from collections.abc import Callable

RESULTS = 'results.json'
_WAITING: dict[pathlib.Path, list[Callable[[], None]]] = {}


def describe(folder: pathlib.Path, write: Callable[[], None]) -> None:
  """Calls `write` at once, or beside results of an earlier run in `settle`."""
  if waits(folder) or (folder / RESULTS).exists():
    _WAITING.setdefault(folder.absolute(), []).append(write)
  else:
    write()


def waits(folder: pathlib.Path) -> bool:
  """Whether the folder is still that of an earlier run."""
  return folder.absolute() in _WAITING


def settle(folder: pathlib.Path) -> None:
  """Writes what waits, as the folder's new results are there."""
  for write in forget(folder):
    write()


def forget(folder: pathlib.Path) -> list[Callable[[], None]]:
  """Drops, and returns, what waits: a run begins, and another was refused."""
  return _WAITING.pop(folder.absolute(), [])
