"""Make or reuse: a stage's artefact in the run's folder."""

import pathlib
from collections.abc import Callable
from typing import Any

import pandas as pd

from fairjax.core import artefacts
from fairjax.train import mesh
from fairjax.train.progress import Log


def stage(
  path: pathlib.Path,
  made_from: str,
  make: Callable[[pathlib.Path], Any],
  load: Callable[[pathlib.Path], Any],
  log: Log | None = None,
  reuse: str = '',
) -> Any:
  """artefacts.stage for all processes: they agree on whether to make it."""
  source: Any = artefacts.finished(path, made_from, reuse)
  if not mesh.any_process(source is None):
    if log:
      log.line(f'{path.parent.name}/{path.name}: taken from {source}')
    return load(source)
  if mesh.is_main():
    artefacts.seal_path(path).unlink(missing_ok=True)  # half-made is not whole
  make(path)  # by all processes; the main one writes
  if mesh.is_main():
    artefacts.seal(path, made_from)
  mesh.wait_for_all(str(path))
  return load(path)


def write_table(path: pathlib.Path, table: pd.DataFrame) -> None:
  """By the main process alone."""
  if mesh.is_main():
    artefacts.write_table(path, table)


def write_json(path: pathlib.Path, value: Any) -> None:
  """By the main process alone."""
  if mesh.is_main():
    artefacts.write_json(path, value)
