"""Artefacts: files of a run, written atomically and sealed by identity.

A stage writes one file (or folder) and beside it its seal, `NAME.made.json`:
the identity of everything it was made from, and a checksum of each file. A
stage whose artefact is there, of the same identity and undamaged, is not run
again: this is how runs resume and how two configs share work. A damaged or
missing artefact is one that is not there.
"""

import contextlib
import dataclasses
import errno
import fnmatch
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core import paths, strict_json
from fairjax.core.errors import UserError, brief

FORMAT = 2  # of what is written; another one is made again

# What to do where a file cannot be written, by the system's reason.
_TABLE = pathlib.Path(__file__).with_name('remedies.csv')
REMEDIES = {
  getattr(errno, reason): remedy
  for reason, remedy in paths.csv_lines(_TABLE, 'table')[1:]
}

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # of writing, never of reading


class CannotWrite(UserError):
  """The system refuses to write a file."""


def cannot_write(path: str | os.PathLike, error: OSError) -> CannotWrite:
  """The sentence for it."""
  other = 'choose another folder with --workdir'
  remedy = REMEDIES.get(error.errno or 0, other)
  why = error.strerror or error
  return CannotWrite(f'cannot write {path}: {why}; {remedy}')


@contextlib.contextmanager
def atomic(path: str | os.PathLike) -> Iterator[pathlib.Path]:
  """Yields a temporary path that becomes `path` only if the block succeeds."""
  path = pathlib.Path(path)
  # Writers choose formats by the suffix, so the name keeps it.
  part = path.with_name(f'{_owner()}.{uuid.uuid4().hex[:8]}.part{path.suffix}')
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    yield part
    if part.is_dir() and path.is_dir():  # os.replace refuses a full folder
      shutil.rmtree(path)
    os.replace(part, path)
  except OSError as error:
    raise cannot_write(path, error) from error
  except Exception as error:  # safetensors says the system's reason in words
    number = re.search(r'\(os error (\d+)\)', str(error))
    if number is None or isinstance(error, UserError):
      raise
    reason = OSError(int(number[1]), os.strerror(int(number[1])))
    raise cannot_write(path, reason) from error
  finally:
    remove(part)


def _owner() -> str:
  """The start of a temporary name: the machine and the process."""
  host = zlib.crc32(socket.gethostname().encode())
  return f'.{host:08x}.{os.getpid()}'


def sweep(folder: str | os.PathLike) -> None:
  """Removes the temporary files that killed processes left in a folder."""
  here, me = _owner().rsplit('.', 1)
  found = [
    pathlib.Path(root, name)
    for root, folders, names in os.walk(str(folder))
    for name in fnmatch.filter(folders + names, '.????????.*.????????.part*')
  ]
  for part in found:  # those of living processes stay: cells share a folder
    host, pid = part.name.split('.')[1:3]
    with contextlib.suppress(OSError, ValueError):
      old = time.time() - part.stat().st_mtime > 86_400  # of any machine
      ended = f'.{host}' == here and (pid == me or not _lives(int(pid)))
      if (old or ended) and part.is_dir():
        shutil.rmtree(part)
      elif old or ended:
        part.unlink()


def _lives(pid: int) -> bool:
  try:
    os.kill(pid, 0)  # asks, and sends nothing
  except ProcessLookupError:
    return False
  except OSError:  # somebody else's
    pass
  return True


def remove(path: str | os.PathLike) -> None:
  """Removes what is no longer needed, if it is there and the system lets us."""
  with contextlib.suppress(OSError):
    if os.path.isdir(path):
      shutil.rmtree(path, ignore_errors=True)
    else:
      os.unlink(path)


def remove_file(path: str | os.PathLike) -> None:
  """Removes a file, if it is there; one that stays would be taken for ours."""
  try:
    pathlib.Path(path).unlink(missing_ok=True)
  except OSError as error:
    raise cannot_write(path, error) from error


def keep_only(folder: pathlib.Path, kind: str, names: Collection[str]) -> None:
  """Removes files that end in `kind` but have none of these names."""
  for path in folder.glob(f'*{kind}'):
    if path.name not in names:  # an earlier run's, which would pass for ours
      remove_file(path)


def write_text(path: str | os.PathLike, text: str) -> None:
  with atomic(path) as part:
    part.write_text(text, encoding='utf-8')


def write_json(path: str | os.PathLike, value: Any) -> None:
  text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
  write_text(path, text + '\n')


def read_text(path: str | os.PathLike, errors: str = 'replace') -> str:
  with paths.reading(path):
    return pathlib.Path(path).read_text('utf-8', errors)


def read_json(path: str | os.PathLike) -> Any:
  try:
    return strict_json.parse(read_text(path, 'strict'))
  except ValueError as error:  # of its text, or of its coding
    raise UserError(f'{path} is not valid JSON: {error}') from error


def read_rows(path: str | os.PathLike) -> list[dict[str, Any]]:
  """The rows of a metrics.jsonl; a last row cut short by a kill is left out.

  A file that does not exist has no rows.
  """
  if not os.path.exists(path):
    return []
  rows, lines = [], read_text(path).split('\n')
  for k, line in enumerate(lines, 1):
    try:
      rows += [strict_json.parse(line)] if line else []
    except ValueError as error:
      if k < len(lines):  # the last is cut short by a kill
        raise UserError(
          f'{path} row {k} is not JSON; remove that row or the file'
        ) from error
  return rows


def write_table(path: str | os.PathLike, table: pd.DataFrame) -> None:
  """Parquet whose pages carry checksums, which read_table verifies."""
  with atomic(path) as part:
    table.to_parquet(part, index=False, write_page_checksum=True)


@contextlib.contextmanager
def _readable(path: str | os.PathLike, kind: str) -> Iterator[None]:
  paths.refuse_pipe(path)
  try:
    yield
  except FileNotFoundError as error:
    raise UserError(f'{path} does not exist') from error
  except Exception as error:  # pyarrow and zip have many kinds for one fact
    why = f'{path} is not a readable {kind} file: {brief(error)}'
    raise UserError(why) from error


def read_table(path: str | os.PathLike) -> pd.DataFrame:
  with _readable(path, 'parquet'):
    return pd.read_parquet(path, page_checksum_verification=True)


def read_arrays(path: str | os.PathLike) -> Any:
  """The array of a .npy file, or those of an .npz by name."""
  with _readable(path, 'numpy'):
    found = np.load(path)
    return found if isinstance(found, np.ndarray) else dict(found)


def _plain(value: Any) -> Any:
  """JSON for the few kinds of value that json does not know."""
  if isinstance(value, np.ndarray | np.generic):
    return value.tolist()
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
    digest.update(b'|')  # 'a', 'bc' is not 'ab', 'c'
  return digest.hexdigest()[:16]


@functools.lru_cache(4096)
def sha256_of(path: str, size: int, changed: int) -> str:
  with open(path, 'rb') as file:
    return hashlib.file_digest(file, 'sha256').hexdigest()[:16]


def _checksum(path: pathlib.Path) -> str:
  """A hash of a file's bytes, read once as long as the file stays."""
  paths.refuse_pipe(path)
  facts = os.stat(path)
  return sha256_of(os.path.realpath(path), facts.st_size, facts.st_mtime_ns)


def _files(path: pathlib.Path, skip: tuple[str, ...] = ()) -> dict[str, str]:
  """{name: checksum} of a file, or of all files of a folder."""
  if not path.is_dir():
    return {'': _checksum(path)}
  result = {}
  for root, folders, names in os.walk(path):
    folders[:] = sorted(f for f in folders if f not in skip)
    for name in sorted(names):
      file = pathlib.Path(root) / name
      result[file.relative_to(path).as_posix()] = _checksum(file)
  return result


def content(path: str | os.PathLike) -> str:
  """A hash of the bytes of a user's file, or of all files of a folder."""
  return fingerprint(_read(pathlib.Path(path).expanduser())) if path else ''


def _read(path: pathlib.Path, skip: tuple[str, ...] = ()) -> dict[str, str]:
  with paths.reading(path):
    return _files(path, skip)


def seal_path(path: str | os.PathLike) -> pathlib.Path:
  path = pathlib.Path(path)
  return path.with_name(path.name + '.made.json')


SCRATCH = ('checkpoints',)  # folders of an artefact that are not part of it


def seal(
  path: str | os.PathLike,
  made_from: str,
  at: pathlib.Path | None = None,
  **facts: Any,
) -> None:
  """Writes down what an artefact was made from, its checksums, and facts.

  The seal is beside the artefact, or `at` another path.
  """
  value = {
    'made_from': made_from,
    'format': FORMAT,
    'files': _read(pathlib.Path(path), SCRATCH),
    **facts,
  }
  write_json(at or seal_path(path), value)


def sealed(
  path: str | os.PathLike, made_from: str, at: pathlib.Path | None = None
) -> dict | None:
  """The seal, if `path` was made from just that and is as it was written."""
  path = pathlib.Path(path)
  try:
    notes = read_json(at or seal_path(path))
    same = (
      isinstance(notes, dict)
      and notes.get('made_from') == made_from
      and notes.get('format') == FORMAT
      and notes.get('files') == _files(path, SCRATCH)
    )
    return notes if same else None
  except (UserError, OSError):
    return None


def whole(path: str | os.PathLike) -> bool:
  """Whether an artefact is as its seal says, whatever it was made from."""
  try:
    made_from = read_json(seal_path(path))['made_from']
  except (UserError, OSError, KeyError, TypeError):
    return False
  return sealed(path, made_from) is not None


def finished(
  path: str | os.PathLike, made_from: str, reuse: str = ''
) -> pathlib.Path | None:
  """Where a sealed artefact is: at `path`, or in the run that is reused."""
  path = pathlib.Path(path)
  places = [path]
  if reuse:
    root = pathlib.Path(reuse).expanduser()
    places += sorted(
      seal.with_name(path.name) for seal in root.rglob(seal_path(path).name)
    )
  return next((one for one in places if sealed(one, made_from)), None)


def stage(
  path: str | os.PathLike,
  made_from: str,
  make: Callable[[pathlib.Path], Any],
  load: Callable[[pathlib.Path], Any],
) -> Any:
  """load() of the artefact at `path`, made only where it is not there.

  `made_from` is the identity of everything the artefact depends on, and
  `make(path)` writes it: a file, or a folder whose making may be resumed.
  """
  path = pathlib.Path(path)
  if sealed(path, made_from) is None:
    remove_file(seal_path(path))  # else a half-made one would look whole
    make(path)
    seal(path, made_from)
  return load(path)
