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


def start(folder, **options):
  environment = os.environ | {'JAX_PLATFORMS': 'cpu', 'XLA_FLAGS': ''}
  return subprocess.Popen(
    [*COMMAND, f'--workdir={folder}'],
    cwd=ROOT,
    env=environment,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    **options,
  )


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path):
  calm = start(tmp_path / 'calm')
  began = time.monotonic()
  assert calm.wait() == 0
  whole = time.monotonic() - began
  rng = random.Random(0)
  kills = 0
  while kills < 20:
    run = start(tmp_path / 'killed')
    try:
      run.wait(timeout=rng.uniform(0.2, 1.0) * whole)
      assert run.returncode == 0, run.stderr.read()
      break  # it got through before its time
    except subprocess.TimeoutExpired:
      run.send_signal(signal.SIGKILL)
      run.wait()
      kills += 1
  last = start(tmp_path / 'killed')
  assert last.wait() == 0, last.stderr.read()
  print(f'{kills} kills')
  results = [
    json.loads((tmp_path / name / 'results.json').read_text())
    for name in ('calm', 'killed')
  ]
  assert results[0] == results[1]
  tables = [
    pd.read_parquet(tmp_path / name / 'predictions.parquet')
    for name in ('calm', 'killed')
  ]
  pd.testing.assert_frame_equal(*tables)
  metrics = [
    (tmp_path / name / 'metrics.jsonl').read_text()
    for name in ('calm', 'killed')
  ]
  assert metrics[0] == metrics[1]


def test_sigterm_saves_and_says_so(tmp_path):
  """Code 75, then the same command again goes on and ends."""
  run = start(tmp_path / 'run')
  log = tmp_path / 'run' / 'log.txt'
  end = time.monotonic() + 300
  while time.monotonic() < end and run.poll() is None:
    if log.exists() and 'step' in log.read_text():
      break
    time.sleep(0.1)
  run.send_signal(signal.SIGTERM)
  assert run.wait() == 75, run.stderr.read()
  assert b'run again' in run.stderr.read()
  again = start(tmp_path / 'run')
  assert again.wait() == 0, again.stderr.read()
  assert (tmp_path / 'run' / 'report.html').exists()
