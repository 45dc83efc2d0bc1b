"""Start-up: one run cold, and again with its programs cached.

  python -m fairjax.bench compiling [--rounds=1] [arguments of fairjax.main]

Each side runs `fairjax.main` in a new process and a new folder, by default the
quickstart at a small size; `cold` finds no compiled program, `cached` those of
the run before. Printed beside the wall clock: the seconds that jax spent
tracing, lowering, compiling, and reading what was compiled.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from fairjax.bench import race
from fairjax.core.errors import UserError

SMALL = [
  '--config=configs/quickstart.py',
  '--config.planted.rows=600',
  '--config.planted.test_rows=200',
  '--config.seeds=2',
  '--config.train.epochs=1',
  '--config.measures.resamples=500',
]
EVENTS = {
  '/jax/core/compile/jaxpr_trace_duration': 'tracing',
  '/jax/core/compile/jaxpr_to_mlir_module_duration': 'lowering',
  '/jax/core/compile/backend_compile_duration': 'compiling',
  '/jax/compilation_cache/cache_retrieval_time_sec': 'reading',
}


def run(args: list[str]) -> dict:
  parser = argparse.ArgumentParser(
    'fairjax.bench compiling',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('--rounds', type=int, default=1)
  chosen, rest = parser.parse_known_args(args)
  times: race.Times = {'cached': [], 'cold': []}
  parts: dict[str, dict] = {}
  for _ in range(chosen.rounds):
    with tempfile.TemporaryDirectory() as name:
      folder = pathlib.Path(name)
      for side in ('cold', 'cached'):
        began = time.perf_counter()
        parts[side] = process(rest or SMALL, folder, side)
        times[side].append(time.perf_counter() - began)
  print(f'{"seconds of the last round":28} {"cached":>16} {"cold":>16}')
  for part in EVENTS.values():
    both = ''.join(f'{parts[s].get(part, 0.0):17.2f}' for s in times)
    print(f'{part:28}{both}')
  return race.report(
    'compiling', times, unit='seconds', parts=parts, arguments=rest or SMALL
  )


def process(args: list[str], folder: pathlib.Path, side: str) -> dict:
  """Seconds of each part of one run, as its own process counted them."""
  out = folder / f'{side}.json'
  completed = subprocess.run(
    [
      *(sys.executable, '-m', 'fairjax.bench.ablations.compiling', str(out)),
      *(*args, f'--workdir={folder / side}'),
    ],
    env={
      **os.environ,
      'FAIRJAX_CACHE': str(folder / 'cache'),
      'JAX_COMPILATION_CACHE_DIR': '',  # else it would be jax's own
    },
    capture_output=True,
    text=True,
  )
  if completed.returncode:
    last = (completed.stderr.strip() or 'it said nothing').splitlines()[-1]
    raise UserError(f'the {side} run ended with {completed.returncode}: {last}')
  return json.loads(out.read_text())


def side(out: str, args: list[str]) -> None:
  """fairjax.main with jax's own counts of its compiling, written to `out`."""
  import jax
  from absl import app

  from fairjax import main

  seconds: dict[str, float] = {}

  def count(event: str, duration: float, **_) -> None:
    if event in EVENTS:
      name = EVENTS[event]
      seconds[name] = seconds.get(name, 0.0) + duration

  jax.monitoring.register_event_duration_secs_listener(count)
  sys.argv = ['fairjax', *args]
  try:
    app.run(main.main, flags_parser=main.parse)
  finally:
    pathlib.Path(out).write_text(json.dumps(seconds))


if __name__ == '__main__':
  side(sys.argv[1], sys.argv[2:])
