"""A cache between runs, of what can be made again.

FAIRJAX_CACHE names the folder; by default it is ~/.cache/fairjax. A run never
ends for want of it: where it cannot be used that is said once, and the run
goes on without. Compiled programs in it are loaded and run, so a folder that
somebody else may write is not used.
"""

import atexit
import functools
import os
import pathlib
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from fairjax.core import artefacts
from fairjax.core.errors import UserError

ROOM = 2**26  # bytes that must be free: a few dozen compiled programs


def root() -> pathlib.Path:
  """The folder that is meant, whether or not it can be used."""
  named = os.environ.get('FAIRJAX_CACHE') or '~/.cache/fairjax'
  return pathlib.Path(os.path.expanduser(named))  # which never raises


def subfolder(room: str) -> pathlib.Path | None:
  """A folder of the cache that can be used; None, said once, without one."""
  return usable(root()) and usable(root() / room)


def usable(path: pathlib.Path) -> pathlib.Path | None:
  """The folder itself, or None, said once."""
  trouble = _trouble(path)
  if trouble:
    say(trouble)
  return None if trouble else path


def folder(room: str) -> pathlib.Path:
  """The same, or else a folder that goes when the process ends."""
  return subfolder(room) or _passing() / room


def stage(
  room: str,
  name: str,
  made_from: str,
  make: Callable[[pathlib.Path], Any],
  load: Callable[[pathlib.Path], Any],
) -> Any:
  """artefacts.stage in a room; where the disk is full, in a passing folder."""
  try:
    return artefacts.stage(folder(room) / name, made_from, make, load)
  except artefacts.CannotWrite as error:
    say(str(error).partition(';')[0])
  return artefacts.stage(_passing() / room / name, made_from, make, load)


@functools.cache
def say(trouble: str) -> None:
  """Once for each reason."""
  print(
    f'fairjax: nothing is kept for the next run: {trouble}; name a folder of '
    'your own with FAIRJAX_CACHE',
    file=sys.stderr,
  )


def _trouble(path: pathlib.Path) -> str:
  """Why a folder cannot be used as a cache; '' where it can."""
  try:
    if not path.is_dir():
      path.parent.mkdir(parents=True, exist_ok=True)
      path.mkdir(mode=0o700, exist_ok=True)  # its programs are run: ours alone
    with tempfile.TemporaryFile(dir=path):
      facts, disk = path.stat(), shutil.disk_usage(path)
  except (OSError, ValueError) as error:
    return f'{path} cannot be written ({getattr(error, "strerror", error)})'
  if hasattr(os, 'geteuid'):  # Windows has rights of its own
    if facts.st_uid not in (0, os.geteuid()):
      return f'{path} belongs to somebody else'
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
      return f'others may write in {path} (chmod go-w takes that from them)'
  if disk.total and disk.free < ROOM:
    return f'the disk of {path} is full'
  return ''


@functools.cache
def _passing() -> pathlib.Path:
  try:
    path = tempfile.mkdtemp(prefix='fairjax-')
  except OSError as error:
    raise UserError(
      f'neither {root()} nor a temporary folder can be written; name one with '
      'FAIRJAX_CACHE'
    ) from error
  atexit.register(shutil.rmtree, path, ignore_errors=True)
  return pathlib.Path(path)
