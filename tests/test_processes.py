"""Two and four processes on this machine give what one gives."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import programs
import pytest

from fairjax import results

ARGUMENTS = [
  '--config=configs/quickstart.py',
  '--config.planted.rows=600',
  '--config.planted.test_rows=200',
  '--config.seeds=2',
  '--config.train.epochs=2',
  '--config.measures.resamples=200',
]


def launcher(count):
  return ['bash', 'launch/local_multiprocess.sh', str(count), '--']


def run(*words):
  ended = programs.run(words, XLA_FLAGS='', PYTHON=sys.executable)
  assert ended.returncode == 0, ended.stderr[-2000:]


@pytest.fixture(scope='module')
def one(tmp_path_factory):
  folder = tmp_path_factory.mktemp('one')
  run(sys.executable, '-m', 'fairjax.main', *ARGUMENTS, f'--workdir={folder}')
  return folder


@pytest.mark.slow
@pytest.mark.parametrize('count, along', [(2, 1), (2, 2), (4, 2)])
def test_several_processes_equal_one(one, tmp_path, count, along):
  """Sharded over the data, over the seeds, and over both."""
  where = f'--config.mesh.seed={along}', f'--workdir={tmp_path}'
  run(*launcher(count), *ARGUMENTS, *where)
  tables = [pd.read_parquet(p / 'predictions.parquet') for p in (one, tmp_path)]
  assert list(tables[0]['id']) == list(tables[1]['id'])
  apart = {}
  for name in ('p0', 'p1'):
    apart[name] = np.abs(tables[0][name] - tables[1][name]).max()
    assert apart[name] < 1e-6, apart
  print(f'{count} processes, {along} along the seeds: {apart}')
  dp = [
    results.read(p).sets['test']['fairness']['dp']['value']
    for p in (one, tmp_path)
  ]
  assert abs(dp[0] - dp[1]) < 1e-6


@pytest.mark.slow
def test_two_processes_compile_the_same_programs(tmp_path):
  """In the same order, of two devices each: else they would wait for ever."""
  python, folder = tmp_path / 'python', tmp_path / 'programs'
  python.write_text(
    '#!/usr/bin/env bash\n'
    f'export JAX_DUMP_IR_TO={folder}/$$ JAX_DUMP_IR_MODES=stablehlo\n'
    f'mkdir -p $JAX_DUMP_IR_TO\nexec {sys.executable} "$@"\n'
  )
  python.chmod(0o755)
  words = [ARGUMENTS[0], '--config.planted.rows=200', '--config.seeds=2']
  words += ['--config.planted.test_rows=80', *short(tmp_path / 'run', 1)]
  ended = programs.run(
    [*launcher(2), *words],
    PYTHON=str(python),
    XLA_FLAGS='--xla_force_host_platform_device_count=2',
  )
  assert ended.returncode == 0, ended.stderr[-2000:]
  each = [
    [path.read_text() for path in sorted(process.iterdir())]
    for process in folder.iterdir()
  ]
  # What one process makes for itself, as of a live line, keeps nobody waiting.
  all_four = lambda texts: [t for t in texts if 'num_partitions = 4' in t]
  first, second = map(all_four, filter(None, each))  # the launcher asks, too
  assert first == second and len(first) > 10


def short(folder, epochs):
  words = [f'--config.train.epochs={epochs}', '--config.model=tiny']
  return [*words, '--config.measures.resamples=50', f'--workdir={folder}']


def until_it_trains(folder, process) -> None:
  log = folder / 'log.txt'
  end = time.monotonic() + 200
  while time.monotonic() < end and process.poll() is None:
    if log.exists() and '  step ' in log.read_text():
      break
    time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize('victim', [0, 1])
@pytest.mark.parametrize('by', [signal.SIGKILL, signal.SIGTERM])
def test_one_that_ends_takes_the_other_along(victim, by, tmp_path):
  """One sentence, code 75 within seconds, and a folder to go on from."""
  words = [*ARGUMENTS[:-2], *short(tmp_path, 40)]
  environment = os.environ | {'JAX_PLATFORMS': 'cpu', 'XLA_FLAGS': ''}
  launched = subprocess.Popen(
    [*launcher(2), *words],
    cwd=programs.ROOT,
    env=environment | {'PYTHON': sys.executable},
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
  )
  until_it_trains(tmp_path, launched)
  children = subprocess.check_output(
    ['pgrep', '-P', str(launched.pid), '-f', f'process_id={victim}'], text=True
  )
  os.kill(int(children), by)
  _, said = launched.communicate(timeout=60)
  assert launched.returncode == 75, said[-2000:]
  assert 'Traceback' not in said and 'terminate called' not in said
  told = [line for line in said.splitlines() if line.startswith('fairjax: ')]
  if by == signal.SIGKILL:
    # Or the launcher's SIGTERM was quicker, outside a fit.
    assert len(told) == 1 and told[0].endswith('run again to go on')
  words = [*ARGUMENTS[:-2], *short(tmp_path, 1)]
  run(sys.executable, '-m', 'fairjax.main', *words)
