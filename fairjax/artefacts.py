"""Artefacts: what a stage leaves in the run's folder, whole or not at all.

A stage writes one file (or folder) and beside it `NAME.made.json` with the
fingerprint of everything it was computed from. A stage whose artefact is there
with the same fingerprint is not run again: this is how runs resume and how two
configs share work.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import shutil
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from fairjax.errors import UserError


def cache_folder() -> pathlib.Path:
  """FAIRJAX_CACHE: where all that can be made again is kept between runs."""
  return pathlib.Path(
    os.environ.get('FAIRJAX_CACHE') or '~/.cache/fairjax'
  ).expanduser()


@contextlib.contextmanager
def atomic(path: str | os.PathLike) -> Iterator[pathlib.Path]:
  """Yields a temporary path that becomes `path` only if the block succeeds.

  The temporary name keeps the suffix, since writers choose formats by it.
  """
  path = pathlib.Path(path)
  part = path.with_name(f'.{uuid.uuid4().hex[:8]}.part{path.suffix}')
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    yield part
    if part.is_dir() and path.is_dir():
      shutil.rmtree(path)
    os.replace(part, path)
  except OSError as error:
    raise UserError(
      f'cannot write {path}: {error.strerror or error}; free some space or '
      'choose another folder with --workdir'
    ) from error
  finally:
    if part.is_dir():
      shutil.rmtree(part, ignore_errors=True)
    else:
      part.unlink(missing_ok=True)


def remove(path: str | os.PathLike) -> None:
  """Removes a folder that is no longer needed, if it is there."""
  shutil.rmtree(path, ignore_errors=True)


def write_text(path: str | os.PathLike, text: str) -> None:
  with atomic(path) as part:
    part.write_text(text, encoding='utf-8')


def write_json(path: str | os.PathLike, value: Any) -> None:
  text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
  write_text(path, text + '\n')


def read_json(path: str | os.PathLike) -> Any:
  try:
    return json.loads(pathlib.Path(path).read_text(encoding='utf-8'))
  except FileNotFoundError as error:
    raise UserError(f'{path} does not exist') from error
  except json.JSONDecodeError as error:
    raise UserError(f'{path} is not valid JSON: {error}') from error


def write_table(path: str | os.PathLike, table: pd.DataFrame) -> None:
  with atomic(path) as part:
    table.to_parquet(part, index=False)


def read_table(path: str | os.PathLike) -> pd.DataFrame:
  try:
    return pd.read_parquet(path)
  except FileNotFoundError as error:
    raise UserError(f'{path} does not exist') from error
  except Exception as error:  # pyarrow has many kinds for one fact
    raise UserError(
      f'{path} is not a readable parquet file: {error}'
    ) from error


def _plain(value: Any) -> Any:
  """JSON for the few kinds of value that json does not know."""
  if isinstance(value, np.ndarray):
    return value.tolist()
  if isinstance(value, np.generic):
    return value.item()
  if dataclasses.is_dataclass(value) and not isinstance(value, type):
    return dataclasses.asdict(value)
  if isinstance(value, os.PathLike):
    return os.fspath(value)
  raise TypeError(f'{type(value).__name__} has no JSON form')


def fingerprint(*parts: Any) -> str:
  """A hash of arrays, tables and plain values, equal for equal content."""
  digest = hashlib.sha256()
  for part in parts:
    if isinstance(part, pd.DataFrame):
      digest.update(json.dumps([str(c) for c in part.columns]).encode())
      digest.update(
        pd.util.hash_pandas_object(part, index=False).to_numpy().tobytes()
      )
    elif isinstance(part, np.ndarray):
      digest.update(f'{part.dtype}{part.shape}'.encode())
      digest.update(np.ascontiguousarray(part).tobytes())
    else:
      digest.update(json.dumps(part, sort_keys=True, default=_plain).encode())
    digest.update(b'|')
  return digest.hexdigest()[:16]


@functools.lru_cache(64)
def _content(path: str, size: int, changed: int) -> str:
  with open(path, 'rb') as file:
    return hashlib.file_digest(file, 'sha256').hexdigest()[:16]


def content(path: str | os.PathLike) -> str:
  """A hash of what a user's file holds, read once as long as it stays."""
  if not path:
    return ''
  try:
    found = os.stat(pathlib.Path(path).expanduser())
    path = os.path.realpath(pathlib.Path(path).expanduser())
    return _content(path, found.st_size, found.st_mtime_ns)
  except OSError as error:
    raise UserError(f'cannot read {path}: {error.strerror}') from error


def stage(
  path: str | os.PathLike,
  made_from: str,
  make: Callable[[], Any],
  write: Callable[[os.PathLike, Any], None],
  read: Callable[[os.PathLike], Any],
  reuse: str = '',
) -> Any:
  """Returns the artefact at `path`, made only where it is missing or stale.

  `made_from` is the fingerprint of everything the artefact depends on. With
  `reuse`, an artefact of the same name and fingerprint in that other run's
  folder is read instead of made.
  """
  path = pathlib.Path(path)
  places = [path] + ([pathlib.Path(reuse) / path.name] if reuse else [])
  for place in places:
    stamp = place.with_name(place.name + '.made.json')
    if place.exists() and stamp.exists():
      with contextlib.suppress(UserError):
        if read_json(stamp).get('made_from') == made_from:
          return read(place)
  value = make()
  path.with_name(path.name + '.made.json').unlink(missing_ok=True)
  write(path, value)
  write_json(path.with_name(path.name + '.made.json'), {'made_from': made_from})
  return read(path)
