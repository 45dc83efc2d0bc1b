"""Seeded trials: a fault at a random call of a run, then the run again.

    python tests/chaos/trials.py PLACE COUNT [SEED]

Each trial's run is forked from one process that has loaded everything, under
faulty.c (LD_PRELOAD): the n-th open, write, read, fsync, rename, unlink or
mkdir below its folder fails, is short, or the process is killed there; or the
clock jumps, an artefact is torn, the cache is torn, or two runs share a folder.
It may end as it would have, or with one sentence; the same command after it
must leave what a calm run leaves, to the bit. PLACE/trials.jsonl has a row a
trial, from which a stopped series goes on.
"""

import atexit
import collections
import ctypes
import errno
import functools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback

import faults

KINDS = ('open', 'write', 'read', 'fsync', 'rename', 'unlink', 'mkdir')
ALL = range(len(KINDS))
COUNT, FAIL, SHORT, KILL, CLOCK = range(5)
ERRORS = (
  *('ENOSPC', 'EIO', 'EINTR', 'EDQUOT', 'EACCES', 'EMFILE', 'EROFS', 'EFBIG'),
)
# How often each is drawn.
JOBS = dict.fromkeys(faults.JOBS, 1) | {'predictions': 200, 'train': 9}


class Told(ctypes.Structure):
  _fields_ = [
    ('counts', ctypes.c_long * len(KINDS)),
    ('hits', ctypes.c_long),
    ('where', ctypes.c_char * 512),
  ]


def words(job: str, place: pathlib.Path) -> list[str]:
  if job == 'predictions':
    table = place / 'sources' / 'people.csv'
    return [
      'audit',
      str(place / 'scores.csv'),
      str(table),
      '--groups=gender',
      '--config.measures.resamples=50',
    ]
  return faults.filled(job, place)


def forked(run, folder: pathlib.Path, cache, armed, end='.said') -> int:
  """The child's number; its words on stderr are in FOLDER.said."""
  if child := os.fork():
    return child
  code = 1
  try:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    said = os.open(f'{folder}{end}', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(nowhere, 0), os.dup2(nowhere, 1), os.dup2(said, 2)
    import jax

    from fairjax import main

    os.environ['FAIRJAX_CACHE'] = str(cache)
    jax.config.update('jax_compilation_cache_dir', str(cache / 'xla'))
    sys.argv = ['fairjax', *run, f'--workdir={folder}']
    ctypes.CDLL(None).arm(*armed)
    main.command()
    code = 0
  except SystemExit as left:
    code = left.code or 0
  except BaseException:
    traceback.print_exc()
  atexit._run_exitfuncs()
  os._exit(code)


def ended(child: int, folder: pathlib.Path, end='.said') -> tuple[int, str]:
  latest = time.monotonic() + faults.LONGEST
  while True:
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
      break
    if time.monotonic() > latest:
      os.kill(child, signal.SIGKILL)
      os.waitpid(child, 0)
      raise subprocess.TimeoutExpired('trial', faults.LONGEST)
    time.sleep(0.02)
  said = pathlib.Path(f'{folder}{end}').read_text(errors='replace')
  return os.waitstatus_to_exitcode(status), said


class Series:
  """Calm runs of the jobs, and trials of them."""

  def __init__(self, place: pathlib.Path, seed: int):
    self.place, self.seed = place, seed
    self.told = ctypes.CDLL(None).what_was
    self.told.restype = ctypes.POINTER(Told)
    self.calm = functools.cache(self.calm_run)
    (place / 'cache').mkdir(exist_ok=True)
    faults.sources(place)
    lines = [f'{i},{(i * 7 % 120) / 120}' for i in range(120)]
    (place / 'scores.csv').write_text('id,score\n' + '\n'.join(lines))

  def calm_run(self, job: str) -> tuple[dict, list[int]]:
    """The files of a run without a fault, and how often each kind is called."""
    for _ in range(2):  # the second has its programs compiled
      shutil.rmtree(self.place / job, ignore_errors=True)
      code, said = self.run(job, self.place / job)
      assert code == 0, said
    return faults.files(self.place / job), [*self.told().contents.counts]

  def run(self, job, folder, armed=(COUNT, 0, 0), value=0, stays=0, cache=None):
    where = str(cache or folder).encode()
    what = (where, *armed, ctypes.c_long(value), stays)
    own = cache or self.place / 'cache'
    return ended(forked(words(job, self.place), folder, own, what), folder)

  def judged(self, job, folder, code: int, said: str, wanted) -> str:
    """After what happened: the same command again, and what it left."""
    if fault := faults.told(code, said, wanted):
      return fault
    if code:
      again = faults.told(*self.run(job, folder), (0,))
      if again:
        return f'again: {again}'
    return faults.others(faults.files(folder), self.calm(job)[0])

  def trial(self, k: int) -> dict:
    rng = random.Random(f'{self.seed} {k}')
    job = rng.choices(list(JOBS), JOBS.values())[0]
    style = rng.choices(
      ('fails', 'short', 'killed', 'stopped', 'clock', 'torn', 'cache', 'two'),
      (40, 6, 14, 6, 8, 14, 6, 6),
    )[0]
    scratch = self.place / f'trial_{k}'
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    self.calm(job)
    began = time.monotonic()
    try:
      fault, what = getattr(self, style)(job, scratch / 'run', rng)
    except subprocess.TimeoutExpired:
      fault, what = f'FAULT: no end within {faults.LONGEST} s', ''
    if fault:
      shutil.rmtree(self.place / f'kept_{k}', ignore_errors=True)
      scratch.rename(self.place / f'kept_{k}')
    else:
      shutil.rmtree(scratch)
    row = {'trial': k, 'job': job, 'style': style, 'what': what}
    return row | {'fault': fault, 'seconds': round(time.monotonic() - began, 1)}

  def at(self, job, rng, kinds=ALL) -> tuple[int, int]:
    """A kind of call that the job makes, and one of its numbers."""
    counts = self.calm(job)[1]
    kind = rng.choice([k for k in kinds if counts[k]])
    return kind, rng.randint(1, counts[kind])

  def met(self, job, folder, armed, value, stays, wanted):
    code, said = self.run(job, folder, armed, value, stays)
    where = self.told().contents.where.decode(errors='replace')
    where = where.replace(str(folder), '.')
    last = ' '.join(said.split()[-30:]) if code else ''
    what = f'{KINDS[armed[1]]} {armed[2]} {where}: {value}: {code} {last}'
    return self.judged(job, folder, code, said, wanted), what

  def fails(self, job, folder, rng):
    kind, at = self.at(job, rng)
    number = getattr(errno, rng.choice(ERRORS))
    stays = int(rng.random() < 0.3 and number != errno.EINTR)  # PEP 475
    return self.met(job, folder, (FAIL, kind, at), number, stays, (0, 2))

  def short(self, job, folder, rng):
    kind, at = self.at(job, rng, (1, 2))
    return self.met(job, folder, (SHORT, kind, at), 0, 1, (0, 2))

  def killed(self, job, folder, rng):
    armed, number = (KILL, *self.at(job, rng)), signal.SIGKILL
    return self.met(job, folder, armed, number, 0, (-9, 0))

  def stopped(self, job, folder, rng):
    armed, number = (KILL, *self.at(job, rng)), signal.SIGTERM
    return self.met(job, folder, armed, number, 0, (75, -15, 0))

  def clock(self, job, folder, rng):
    jump = rng.choice((-1, 1)) * rng.choice((1, 3600, 86_400 * 40, 3 * 10**8))
    return self.met(job, folder, (CLOCK, *self.at(job, rng)), jump, 0, (0,))

  def torn(self, job, folder, rng):
    """A file of a run that had ended is cut, flipped, emptied or gone."""
    shutil.copytree(self.place / job, folder)
    what, config = tear(folder, rng), faults.files(folder).get('config.json')
    ended = self.run(job, folder)
    for path in folder.glob('configs/*'):  # what was torn may be a config, too
      path.read_bytes() == config and path.unlink()
    return self.judged(job, folder, *ended, (0, 2)), what

  def cache(self, job, folder, rng):
    cache = folder.with_name('cache')
    shutil.copytree(self.place / 'cache', cache)
    whole = rng.random() < 0.5  # the n-th call in it fails, or files are torn
    what = ', '.join(tear(cache, rng) for _ in range(3))
    armed = (
      (FAIL, rng.randrange(3), rng.randint(1, 20)) if whole else (COUNT, 0, 0)
    )
    code, said = self.run(job, folder, armed, errno.ENOSPC, 1, cache)
    return self.judged(job, folder, code, said, (0, 2)), what

  def two(self, job, folder, rng):
    """Of two in one folder one ends, and the other is told."""
    both, later = [], rng.uniform(0, 2)
    run = words(job, self.place)
    armed = (str(folder).encode(), COUNT, 0, 0, ctypes.c_long(0), 0)
    both.append(forked(run, folder, self.place / 'cache', armed))
    time.sleep(later)
    both.append(forked(run, folder, self.place / 'cache', armed, '.2'))
    first, other = ended(both[0], folder), ended(both[1], folder, '.2')
    fault = faults.told(*first, (0, 2)) or faults.told(*other, (0, 2))
    if not fault and first[0] and other[0]:
      fault = 'FAULT: neither ended'
    code, said = self.run(job, folder)
    what = f'{later:.1f} s apart: {first[0]}, {other[0]}'
    return fault or self.judged(job, folder, code, said, (0,)), what


def tear(folder: pathlib.Path, rng) -> str:
  found = sorted(p for p in folder.rglob('*') if p.is_file())
  path = rng.choice([p for p in found if p.name != '.lock'])
  raw, style = (
    bytearray(path.read_bytes()),
    rng.choice('cut flip zero no'.split()),
  )
  at = rng.randrange(len(raw)) if raw else 0
  if style == 'no':
    path.unlink()
  elif style == 'cut':
    path.write_bytes(raw[:at])
  elif style == 'zero':
    path.write_bytes(bytes(len(raw)))
  elif raw:
    raw[at] ^= 1 << rng.randrange(8)
    path.write_bytes(raw)
  return f'{style} {path.relative_to(folder)} at {at}'


def main(where: str, count: int, seed: int) -> int:
  place = pathlib.Path(where).absolute()
  place.mkdir(parents=True, exist_ok=True)
  library = place / 'faulty.so'
  if str(library) != os.environ.get('LD_PRELOAD'):
    code = pathlib.Path(__file__).with_name('faulty.c')
    compiled = ['cc', '-shared', '-fPIC', '-O2', '-o', library, code, '-ldl']
    subprocess.run(compiled, check=True)
    own = {'LD_PRELOAD': str(library), 'OPENBLAS_NUM_THREADS': '1'}
    own |= {'JAX_PLATFORMS': 'cpu', 'PYTHONHASHSEED': '0'}
    os.environ.pop('JAX_COMPILATION_CACHE_DIR', None)
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | own)
  os.chdir(faults.ROOT)
  from fairjax import main, recipes, stages  # noqa: F401
  from fairjax.recipes.audit import recipe  # noqa: F401

  series, path = Series(place, seed), place / 'trials.jsonl'
  rows = path.read_text().splitlines() if path.exists() else []
  for k in range(len(rows), count):
    row = series.trial(k)
    rows.append(json.dumps(row))
    with open(path, 'a', encoding='utf-8') as file:
      file.write(rows[-1] + '\n')
    if row['fault']:
      print(rows[-1], flush=True)
  table = collections.Counter()
  for row in map(json.loads, rows):
    table[row['style'], row['fault'][:5] or 'held'] += 1
  for (style, fault), n in sorted(table.items()):
    print(f'{style:8} {fault:6} {n}')
  return int(any(fault != 'held' for _, fault in table))


if __name__ == '__main__':
  if '--help' in sys.argv:
    sys.exit(print(__doc__))
  seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
  sys.exit(main(sys.argv[1], int(sys.argv[2]), seed))
