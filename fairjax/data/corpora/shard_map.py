"""A function over every shard of a folder: locally or by dask.

A shard is a file. Its output appears whole or not at all (temporary name, then
`os.replace`), and beside it a small json says what it was made from and what
was counted; a finished shard is not made again, so a killed job is resumed by
the same command. An engine only decides where shards run: the bytes are the
same from `local` processes and a `dask` cluster.
"""

import functools
import glob
import os
import pathlib
import uuid
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairjax.core import announce, artefacts, paths
from fairjax.core.errors import UserError
from fairjax.data.corpora import shards

ATTEMPTS = 3  # of a pool whose worker was killed

# Reads a shard, writes the second path, returns counts.
Work = Callable[[pathlib.Path, pathlib.Path], dict[str, int]]


def find_shards(folder: str | os.PathLike) -> list[str]:
  """Paths of the shards under `folder`, relative to it, sorted."""
  folder = pathlib.Path(folder)
  if not folder.is_dir():
    raise UserError(f'{folder} is not a folder; name the folder of the corpus')
  result = sorted(
    str(path.relative_to(folder))
    for path in folder.rglob('*')
    if path.suffix in shards.KINDS
    and not path.is_dir()
    and not any(p.startswith('.') for p in path.relative_to(folder).parts)
  )
  for name in result:
    paths.place(folder / name)
  if not result:
    raise UserError(
      f'{folder} holds no shard; files must end in {", ".join(shards.KINDS)}'
    )
  return result


def shard_map(
  work: Work,
  source: str | os.PathLike,
  names: Sequence[str],
  out: str | os.PathLike,
  made_from: str = '',
  backend: str = 'local',
  workers: int = 0,
) -> list[dict]:
  """Runs `work` on each named shard of `source` that `out` does not have.

  Returns a row for each shard, in order: shard, status ('made', 'kept' or
  'failed'), error, and the counts that `work` returned.
  """
  if backend not in ('local', 'dask') and '://' not in backend:
    need = "'local', 'dask' or the address of a dask scheduler is needed"
    raise UserError(where='backend', got=backend, expected=need)
  task = ShardTask(work, os.fspath(source), os.fspath(out), made_from)
  names = list(names)
  finished = {name: task.sealed_row(name) for name in names}
  todo = [name for name in names if finished[name] is None]
  local = backend == 'local'
  where = '' if backend == 'dask' else backend
  run = _local if local else functools.partial(_dask, where=where)
  results = run(task, todo, workers) if todo else []
  for shard in (pathlib.Path(out) / name for name in names):
    # What workers that were killed have left of it.
    for part in shard.parent.glob(f'.{glob.escape(shard.name)}.*.part'):
      artefacts.remove_file(part)
  rows = finished | dict(zip(todo, results))
  return [rows[name] for name in names]


def note(out: str | os.PathLike, name: str) -> pathlib.Path:
  """The seal of a shard; without it the shard is made again."""
  return pathlib.Path(out) / '.made' / f'{name}.json'


class ShardTask(NamedTuple):
  """All that a worker needs to make a shard, on whatever machine."""

  work: Work
  source: str
  out: str
  made_from: str

  def __call__(self, name: str) -> dict:
    """The row of one shard, which is made unless it is there already."""
    row = {'shard': name, 'status': 'failed', 'error': ''}
    read, write = (
      pathlib.Path(self.source) / name,
      pathlib.Path(self.out) / name,
    )
    try:
      finished = self.sealed_row(name)
      if finished:
        return finished
      stamp = self.stamp(name)
      write.parent.mkdir(parents=True, exist_ok=True)
      part = write.with_name(f'.{write.name}.{uuid.uuid4().hex[:8]}.part')
      try:
        counts = self.work(read, part)
        self.note(name).unlink(missing_ok=True)  # it seals an older shard
        os.replace(part, write)
      finally:
        part.unlink(missing_ok=True)
      artefacts.seal(write, stamp, self.note(name), counts=counts)
      return {**row, 'status': 'made', **counts}
    except Exception as error:  # whatever it is, the other shards go on
      if isinstance(error, OSError) and error.errno in artefacts.FULL:
        error = artefacts.cannot_write(write, error)
      message = str(error) if isinstance(error, UserError) else repr(error)
      return {
        **row,
        'error': message if name in message else f'{read}: {message}',
      }

  def note(self, name: str) -> pathlib.Path:
    return note(self.out, name)

  def stamp(self, name: str) -> str:
    source = pathlib.Path(self.source) / name
    return artefacts.fingerprint(self.made_from, artefacts.content(source))

  def sealed_row(self, name: str) -> dict | None:
    """The row of a shard that is made from this source by these options."""
    path = pathlib.Path(self.out) / name
    record = artefacts.sealed(path, self.stamp(name), self.note(name))
    if record is None:
      return None
    return {'shard': name, 'status': 'kept', 'error': '', **record['counts']}


def cores() -> int:
  """Those that this process may use (taskset, a container's)."""
  if hasattr(os, 'sched_getaffinity'):
    return len(os.sched_getaffinity(0))
  return os.cpu_count() or 1


def _local(task: ShardTask, names: list[str], workers: int) -> list:
  """Processes of this machine; a killed worker costs only its shard's time."""
  import concurrent.futures as futures
  import multiprocessing

  workers = workers or cores()
  if workers == 1 or len(names) == 1:
    return [task(name) for name in announce.rounds(names, len(names), 'shards')]
  results: dict[str, dict] = {}
  for _ in range(ATTEMPTS):
    todo = [name for name in names if name not in results]
    if not todo:
      break
    # spawn: a fork of a process with threads (JAX) may hang
    with futures.ProcessPoolExecutor(
      min(workers, len(todo)), multiprocessing.get_context('spawn')
    ) as pool:
      pending = {pool.submit(task.__call__, name): name for name in todo}
      done = futures.as_completed(pending)
      for job in announce.rounds(done, len(todo), 'shards'):
        try:
          results[pending[job]] = job.result()
        except futures.process.BrokenProcessPool:
          continue  # tried again in the next round
  killed = {
    'status': 'failed',
    'error': f'its worker was killed {ATTEMPTS} times (out of memory?)',
  }
  return [results.get(name, {'shard': name, **killed}) for name in names]


def _dask(task: ShardTask, names: list[str], workers: int, where: str) -> list:
  """A dask cluster at an address, or one of this machine."""
  try:
    import distributed
  except ImportError as error:
    raise UserError(
      "the dask back end is not installed; run pip install 'fairjax[dask]'"
    ) from error
  own = {
    'n_workers': workers or cores(),
    'threads_per_worker': 1,
    'dashboard_address': None,
  }
  with distributed.Client(where or None, **({} if where else own)) as client:
    jobs = client.map(task, names, pure=False, retries=ATTEMPTS)
    return client.gather(jobs)


def refuse_failed(rows: Sequence[dict], out: str | os.PathLike) -> None:
  """Names shards that could not be made, when the rest is done."""
  failed = [row for row in rows if row['status'] == 'failed']
  if failed:
    others = f' (the others are in {out})' if len(failed) < len(rows) else ''
    raise UserError(
      f'{len(failed)} of {len(rows)} shards are not done '
      f'({", ".join(row["shard"] for row in failed[:5])}); fix what the table '
      f'says of them and run the same command again{others}'
    )
