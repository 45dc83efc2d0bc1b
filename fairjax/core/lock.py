"""A lock on a run folder: one process at a time.

The lock is filelock's, of the file `.lock` of the folder. The system lifts it
when its process ends, however it ends, so a dead process is in nobody's way.
`.owner` says who holds it, for the error of the second process.
It lies as far as network folders support it: NFS passes the lock on to the
server; where the file system has none, the lock is skipped.
"""

import contextlib
import errno
import os
import pathlib
import socket
import time
from collections.abc import Iterator

import filelock

from fairjax.core.errors import UserError

NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
OWNER = '.owner'
held: dict[pathlib.Path, tuple] = {}  # this process's: the lock, how often


@contextlib.contextmanager
def hold(folder: str | os.PathLike) -> Iterator[None]:
  """Keeps other processes out of the folder while the block runs."""
  path = pathlib.Path(folder).absolute() / '.lock'
  lock, count = held.get(path) or (_take(path), 0)
  held[path] = lock, count + 1
  try:
    yield
  finally:
    lock, count = held.pop(path)
    if count > 1:  # a fit in the folder of its own run
      held[path] = lock, count - 1
    elif lock:
      with contextlib.suppress(OSError):
        path.with_name(OWNER).unlink()
      lock.release()


def _take(path: pathlib.Path) -> filelock.FileLock | None:
  """The lock, taken, or a sentence that says whose it is."""
  owner = path.with_name(OWNER)
  # Without a lock of the system, a file that is there would be one: a killed
  # process would leave it.
  lock = filelock.FileLock(path, thread_local=False, fallback_to_soft=False)
  try:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock.acquire(blocking=False)
  except filelock.Timeout as error:
    who = 'another process'
    with contextlib.suppress(OSError):
      who = owner.read_text('utf-8', 'replace').strip() or who
    raise UserError(
      f'{path.parent} is in use by {who}; let it end, or choose another '
      'folder with --workdir'
    ) from error
  except NotImplementedError:
    return None
  except OSError as error:
    if error.errno in NO_LOCKS:
      return None
    raise UserError(
      f'cannot write in {path.parent}: {error.strerror or error}; choose '
      'another folder with --workdir'
    ) from error
  now = time.strftime('%Y-%m-%d %H:%M:%S')
  with contextlib.suppress(OSError):  # writers report a full disk
    owner.write_text(
      f'process {os.getpid()} on {socket.gethostname()} since {now}\n',
      encoding='utf-8',
    )
  return lock
