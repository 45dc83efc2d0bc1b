"""A run killed at twenty random moments ends as an undisturbed one."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = [
  sys.executable,
  '-m',
  'fairjax.main',
  '--config=configs/quickstart.py',
  '--config.planted.rows=800',
  '--config.planted.test_rows=200',
  '--config.seeds=2',
  '--config.train.epochs=12',
  '--config.train.save_every=5',
  '--config.measures.resamples=200',
]


SHORT = [
  '--config.planted.rows=240',
  '--config.model=tiny',
  '--config.seeds=1',
  '--config.train.epochs=6',
]


def start(folder, *more):
  return subprocess.Popen(
    [*COMMAND, *more, f'--workdir={folder}'],
    cwd=ROOT,
    env=os.environ | {'JAX_PLATFORMS': 'cpu'},
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
  )


def outcome(folder: pathlib.Path):
  """Everything that a run says, but for the clock."""
  return (
    json.loads((folder / 'results.json').read_text()),
    pd.read_parquet(folder / 'predictions.parquet').to_dict(),
    (folder / 'metrics.jsonl').read_text(),
  )


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path):
  """A run that gets through is compared, and the next one is killed."""
  began = time.monotonic()
  assert start(tmp_path / 'calm').wait() == 0
  whole = time.monotonic() - began
  rng, kills, runs = random.Random(0), 0, 0
  while kills < 20:
    folder = tmp_path / f'killed_{runs}'
    run = start(folder)
    try:
      run.wait(timeout=rng.uniform(0.1, 0.9) * whole)
    except subprocess.TimeoutExpired:
      run.send_signal(signal.SIGKILL)
      run.wait()
      kills += 1
      continue
    assert run.returncode == 0, run.stderr.read()
    assert outcome(folder) == outcome(tmp_path / 'calm')
    runs += 1
  last = start(tmp_path / f'killed_{runs}')
  assert last.wait() == 0, last.stderr.read()
  assert outcome(tmp_path / f'killed_{runs}') == outcome(tmp_path / 'calm')
  print(f'{kills} kills over {runs + 1} runs')


def test_sigterm_saves_and_says_so(tmp_path):
  """Code 75, then the same command again goes on and ends."""
  run = start(tmp_path / 'run', *SHORT)
  log = tmp_path / 'run' / 'log.txt'
  end = time.monotonic() + 300
  while time.monotonic() < end and run.poll() is None:
    if log.exists() and 'step' in log.read_text():
      break
    time.sleep(0.1)
  run.send_signal(signal.SIGTERM)
  assert run.wait() == 75, run.stderr.read()
  assert b'run again' in run.stderr.read()
  again = start(tmp_path / 'run', *SHORT)
  assert again.wait() == 0, again.stderr.read()
  assert (tmp_path / 'run' / 'report.html').exists()
