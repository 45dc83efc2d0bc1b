"""Races: two ways to do one thing, timed in turns.

Machines change their speed while one looks, so the sides take turns A B A B in
one run, and what counts is the median over rounds of the ratio within a round.
A race is a module fairjax/bench/races/NAME.py with `run(args: list[str]) ->
dict` that reads its `options` and ends with `return report(...)`. Sides that
can share a process are plain callables:

  >>> sides = {'ours': lambda: sum(range(100)), 'peer': lambda: 4950}
  >>> same(sides['ours'](), sides['peer'](), 'the sum')
  >>> times = interleave(sides, rounds=3, warmup=1)
  >>> found = report('sum', times, unit='seconds', quiet=True)
  >>> found['race'], found['unit'], found['peer_name']
  ('sum', 'seconds', 'peer')

Thread pools of torch and XLA in one process disturb each other by factors of
two to five, so such sides live in processes of their own: a module whose
`__main__` is `serve_side(options, make)`, which `processes` starts.
"""

import argparse
import contextlib
import functools
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, cast

import numpy as np

from fairjax.core import memory
from fairjax.core.errors import UserError

Times = dict[str, list[float]]
# CPU seconds count where others use the machine too, one core a side.
CLOCKS = {'wall': time.perf_counter, 'cpu': time.process_time}
# Every side has the memory that a run of ours takes for itself (memory.py);
# that jax computes in the asking thread is set where ours imports it.
KEPT = {
  'GLIBC_TUNABLES': f'glibc.malloc.mmap_threshold={memory.MOST}:'
  f'glibc.malloc.trim_threshold={memory.MOST}'
}
PACKAGES = ('jax', 'torch', 'numpy', 'scikit-learn', 'fairlearn', 'opacus')
DEVICES = ('cpu', 'gpu')
# Options that are not what was measured.
HIDDEN = ('side', 'folder', 'sides', 'ours', 'peers', 'rounds')


class Several(NamedTuple):
  """An option of several names, with commas between: some of those known."""

  known: Sequence[str]
  default: str


def options(
  race: str,
  about: str | None,
  args: Sequence[str],
  need: Sequence[str] = (),
  **known: Any,
) -> argparse.Namespace:
  """The options of a race, each by its default, and those of all races.

  A tuple holds all that an option may be, its default first; False is a flag,
  [] takes many words; those of `need` have no default.
  """
  parser = argparse.ArgumentParser(
    f'fairjax.bench {race}',
    description=about,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  for name in need:
    parser.add_argument(f'--{name}', required=True)
  known = {'rounds': 3, 'clock': (*CLOCKS,), 'side': '', 'folder': ''} | known
  for name, one in known.items():
    how: dict[str, Any] = {'default': one, 'type': type(one)}
    if one is False:
      how = {'action': 'store_true'}
    elif isinstance(one, Several):
      how = {'default': one.default}
    elif isinstance(one, tuple):
      how = {'default': one[0], 'type': type(one[0]), 'choices': one}
    elif isinstance(one, list):
      how = {'default': one, 'nargs': '*'}
    parser.add_argument(f'--{name}', **how)
  chosen = parser.parse_args(args)
  for name, one in known.items():
    if isinstance(one, Several):
      names = [word for word in getattr(chosen, name).split(',') if word]
      setattr(chosen, name, names)
      if wrong := [word for word in names if word not in one.known]:
        raise UserError(f'--{name} has {wrong[0]!r}; there are {[*one.known]}')
  return chosen


def interleave(
  sides: Mapping[str, Callable[[], Any]],
  rounds: int = 7,
  warmup: int = 1,
  clock: str = 'wall',
) -> Times:
  """Seconds of each side in each round, the sides taking turns.

  A `Process` times itself, so that the pipe is not counted; any other side is
  timed here by `clock`, and must wait for its own device before it returns.
  """
  times: Times = {name: [] for name in sides}
  now = CLOCKS[clock]
  for turn in range(warmup + rounds):
    for name, side in sides.items():
      start = now()
      result = side()
      seconds = now() - start
      if turn >= warmup:
        times[name].append(result if isinstance(side, Process) else seconds)
  return times


def same(ours: Any, peer: Any, what: str, tolerance: float = 1e-5) -> None:
  """Stops a race whose sides do not compute the same thing."""
  ours, peer = np.asarray(ours, float), np.asarray(peer, float)
  if ours.shape != peer.shape or not np.allclose(
    ours, peer, rtol=tolerance, atol=tolerance, equal_nan=True
  ):
    raise UserError(
      f'the sides of this race disagree in {what}: {_few(ours)} against '
      f'{_few(peer)}; times would mean nothing'
    )


def agree(
  sides: Mapping[str, 'Process'],
  fact: str,
  what: str,
  tolerance: float | Callable[[str], float] = 1e-5,
) -> None:
  """Stops a race of processes whose facts differ from those of the first."""
  first, *others = sides
  for name in others:
    wide = tolerance(name) if callable(tolerance) else tolerance
    one, other = (sides[side].facts[fact] for side in (first, name))
    same(one, other, f'{what} ({name})', wide)


def _few(values: np.ndarray) -> str:
  return np.array2string(values.ravel()[:4], precision=6, threshold=8)


def missing(*packages: str) -> list[str]:
  """Packages of peers that are not installed, named on the screen."""
  absent = [p for p in packages if importlib.util.find_spec(p) is None]
  for package in absent:
    print(f'{package} is not installed: its side is skipped', flush=True)
  return absent


def report(
  race: str,
  times: Times,
  chosen: argparse.Namespace | None = None,
  *,
  unit: str,
  items: float = 1.0,
  ours: str = '',
  quiet: bool = False,
  **facts: Any,
) -> dict:
  """Prints a table, and returns what the last line says.

  `chosen` are the race's options, which are kept beside the numbers. `ours`
  is the first side unless named. The peer is the fastest of the others;
  `ratio` says how many times faster ours is, whatever the unit: 'seconds'
  and 'ms' are time for a round, any other unit is `items` over seconds.
  """
  ours = ours or next(iter(times))
  others = [name for name in times if name != ours]
  pairs = {
    name: [b / a for a, b in zip(times[ours], times[name])] for name in others
  }
  median = {name: statistics.median(one) for name, one in times.items()}
  if unit in ('seconds', 'ms'):
    value = lambda s: s * (1000 if unit == 'ms' else 1)
  else:
    value = lambda s: items / s
  peer = min(others, key=lambda name: median[name]) if others else None
  known = vars(chosen) if chosen else {}
  if not quiet:
    _table(race, times, median, pairs, value, unit, ours)
  return {
    'race': race,
    'ours': value(median[ours]),
    'peer': value(median[peer]) if peer else None,
    'ratio': statistics.median(pairs[peer]) if peer else None,
    'unit': unit,
    'peer_name': peer,
    'ratios': {name: statistics.median(one) for name, one in pairs.items()},
    'sides': {name: value(one) for name, one in median.items()},
    'rounds': len(times[ours]),
    **{name: one for name, one in known.items() if name not in HIDDEN},
    **facts,
    'machine': machine(),
    'versions': versions(),
  }


def _table(race, times, median, pairs, value, unit, ours) -> None:
  print(f'{race}: {len(times[ours])} rounds in turns, medians')
  print(f'{"side":28} {unit:>16} {"ours is faster":>16}   (worst … best)')
  for name in times:
    line = f'{name:28} {value(median[name]):16.5g}'
    if name in pairs:
      low, mid, high = (f(pairs[name]) for f in (min, statistics.median, max))
      line += f' {mid:15.2f}×   ({low:.2f} … {high:.2f})'
    print(line, flush=True)


def machine() -> dict:
  """What the numbers were measured on."""
  from fairjax.core import backend

  cores = os.cpu_count()
  if hasattr(os, 'sched_getaffinity'):
    cores = len(os.sched_getaffinity(0))
  return {**backend.processor().described(), 'cores': cores}


def versions() -> dict:
  """Python, and the packages that races are about."""
  out = {'python': platform.python_version()}
  for package in PACKAGES:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
      out[package] = importlib.metadata.version(package)
  return out


def serve(unit: Callable[[], Any], clock: str = 'wall', **request: Any) -> None:
  """A side in a process of its own: answers 'go' with the seconds of a unit.

  On a machine that others use, one core a side, `time.process_time` says what
  each side takes of the core.

  Lines of JSON on the standard output: first `facts` (whatever the race wants
  to compare), then one for each 'go' on the standard input until 'quit'.
  What else is printed meanwhile goes to the standard error.
  """
  now = CLOCKS[clock]
  answer = functools.partial(print, file=sys.stdout, flush=True)
  with contextlib.redirect_stdout(sys.stderr):
    unit()  # compiles
    answer(json.dumps({'ready': True, **request}))
    for line in sys.stdin:
      if line.strip() != 'go':
        break
      start = now()
      unit()
      seconds = now() - start
      answer(json.dumps({'seconds': seconds, 'peak_mb': peak_mb()}))


def serve_side(
  options: Callable[[list[str]], argparse.Namespace],
  make: Callable[[argparse.Namespace], tuple[Callable[[], Any], dict]],
) -> None:
  """The `__main__` of a race: makes the unit of --side and serves it."""
  try:
    chosen = options(sys.argv[1:])
    unit, facts = make(chosen)
  except UserError as error:
    sys.exit(f'fairjax.bench: {error}')
  serve(unit, chosen.clock, **facts)


def peak_mb() -> float:
  """The most memory this process held: of its accelerator, if it has one."""
  if torch := sys.modules.get('torch'):  # a side imports one of the two
    if torch.cuda.is_initialized():
      return torch.cuda.max_memory_allocated() / 2**20
  elif (jax := sys.modules.get('jax')) and jax.default_backend() != 'cpu':
    return jax.devices()[0].memory_stats()['peak_bytes_in_use'] / 2**20
  import resource  # absent on Windows

  peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
  return peak / (2**20 if sys.platform == 'darwin' else 2**10)


def _path() -> str:
  """A PYTHONPATH on which the side finds the package that we run from."""
  here = str(pathlib.Path(__file__).resolve().parents[2])
  return os.pathsep.join(filter(None, [here, os.environ.get('PYTHONPATH')]))


@contextlib.contextmanager
def processes(
  race: str,
  args: Sequence[str],
  names: Sequence[str],
  environment: Mapping[str, str] | None = None,
  prepare: Callable[[str], Any] | None = None,
) -> Iterator[dict[str, 'Process']]:
  """The sides that a race serves with --side=NAME, one after the other.

  They share --folder=FOLDER, in which `prepare` may put what all of them read.
  """
  with contextlib.ExitStack() as stack:
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    if prepare:
      prepare(folder)
    command = ['-m', f'fairjax.bench.races.{race}', *args, f'--folder={folder}']
    own = lambda name: (name, [*command, f'--side={name}'], environment)
    yield {name: stack.enter_context(Process(*own(name))) for name in names}


def pin(cores: int) -> None:
  """Has this side so many cores: thread pools are made to their number."""
  if hasattr(os, 'sched_setaffinity'):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def on(device: str) -> dict[str, str]:
  """The environment of a side that runs on 'cpu', whatever else is there."""
  return {'JAX_PLATFORMS': 'cpu'} if device == 'cpu' else {}


class Process:
  """A side that `serve` runs in another Python process."""

  def __init__(
    self,
    name: str,
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
  ):
    self.name, self.peak_mb = name, 0.0
    self.process = subprocess.Popen(
      [sys.executable, *command],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      text=True,
      env={
        'XLA_PYTHON_CLIENT_PREALLOCATE': 'false',  # sides share an accelerator
        **KEPT,
        **os.environ,
        'PYTHONPATH': _path(),
        **(environment or {}),
      },
    )
    # Pipes, as asked for above.
    self.stdin = cast(IO[str], self.process.stdin)
    self.stdout = cast(IO[str], self.process.stdout)
    try:
      self.facts = self._answer()
    except UserError:
      self.close()
      raise

  def __call__(self) -> float:
    """Seconds of one unit, as the other process measured them."""
    try:
      self.stdin.write('go\n')
      self.stdin.flush()
    except BrokenPipeError:
      pass  # the answer, or its absence, says more
    answer = self._answer()
    self.peak_mb = answer['peak_mb']
    return float(answer['seconds'])

  def _answer(self) -> dict:
    for line in self.stdout:
      if line.startswith('{'):
        return json.loads(line)
    code = self.process.wait()
    raise UserError(
      f'the side {self.name!r} of the race ended with code {code}; its own '
      'message stands above'
    )

  def close(self) -> None:
    """Asks the process to end, and waits until it has."""
    if self.process.poll() is None:
      with contextlib.suppress(BrokenPipeError):
        self.stdin.write('quit\n')
        self.stdin.close()
      try:
        self.process.wait(timeout=20)
      except subprocess.TimeoutExpired:
        self.process.kill()
        self.process.wait()
    self.stdout.close()

  def __enter__(self) -> 'Process':
    return self

  def __exit__(self, *_: Any) -> None:
    self.close()
