"""A lock on a run folder: one process at a time.

The lock is `flock` on the file `.lock` of the folder. The kernel lifts it when
its process ends, however it ends, so a dead process is in nobody's way. The
file says who holds it, for the error of the second process.
It lies as far as network folders support it: NFS passes the lock on to the
server; where the file system has none, the lock is skipped.
"""

import contextlib
import errno
import fcntl
import os
import pathlib
import socket
import time
from collections.abc import Iterator

from fairjax.errors import UserError

NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
_held: dict[pathlib.Path, tuple] = {}  # this process's: the file, how often


@contextlib.contextmanager
def hold(folder: str | os.PathLike) -> Iterator[None]:
  """Keeps other processes out of the folder while the block runs."""
  path = pathlib.Path(folder).absolute() / '.lock'
  file, count = _held.get(path) or (_take(path), 0)
  _held[path] = file, count + 1
  try:
    yield
  finally:
    file, count = _held.pop(path)
    if count > 1:  # a fit in the folder of its own run
      _held[path] = file, count - 1
    else:
      file.close()


def _take(path: pathlib.Path):
  """The locked file, or a sentence that says whose it is."""
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, 'a+', encoding='utf-8')
  except OSError as error:
    raise UserError(
      f'cannot write in {path.parent}: {error.strerror or error}; choose '
      'another folder with --workdir'
    ) from error
  try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
  except OSError as error:
    if error.errno in NO_LOCKS:
      return file
    file.seek(0)
    who = file.read().strip() or 'another process'
    file.close()
    if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
      raise UserError(f'cannot lock {path}: {error.strerror}') from error
    raise UserError(
      f'{path.parent} is in use by {who}; let it end, or choose another '
      'folder with --workdir'
    ) from error
  now = time.strftime('%Y-%m-%d %H:%M:%S')
  with contextlib.suppress(OSError):  # writers report a full disk
    file.truncate(0)
    file.write(f'process {os.getpid()} on {socket.gethostname()} since {now}\n')
    file.flush()
  return file
