"""A run that was killed and then stopped ends as an undisturbed one.

tests/chaos/trials.py kills every recipe, at random calls of the system.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = [
  '--config.planted.rows=240',
  '--config.planted.test_rows=60',
  '--config.model=tiny',
  '--config.seeds=1',
  '--config.train.save_every=5',
  '--config.measures.resamples=50',
]
TINY = ['--config=configs/quickstart.py', *SMALL, '--config.train.epochs=6']


def start(folder, words):
  return subprocess.Popen(
    [sys.executable, '-m', 'fairjax.main', *words, f'--workdir={folder}'],
    cwd=ROOT,
    env=os.environ | {'JAX_PLATFORMS': 'cpu'},
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
  )


def outcome(folder: pathlib.Path):
  """Everything that a run says, but for the clock."""
  return (
    (folder / 'metrics.jsonl').read_text(),
    json.loads((folder / 'results.json').read_text()),
    pd.read_parquet(folder / 'predictions.parquet').to_dict(),
  )


def until_it_steps(run, log: pathlib.Path, more: int) -> None:
  """Waits until the log has `more` lines of evaluations than now."""
  steps = lambda: log.read_text().count('  step ') if log.exists() else 0
  enough, end = steps() + more, time.monotonic() + 300
  while time.monotonic() < end and run.poll() is None and steps() < enough:
    time.sleep(0.02)


@pytest.mark.slow
def test_a_kill_and_a_sigterm_change_nothing(tmp_path):
  """Killed, then asked to stop (code 75: run again), then left to end."""
  calm = start(tmp_path / 'calm', TINY)
  run = start(tmp_path / 'run', TINY)
  log = tmp_path / 'run' / 'log.txt'
  until_it_steps(run, log, 2)
  run.send_signal(signal.SIGKILL)
  run.wait()
  run = start(tmp_path / 'run', TINY)
  until_it_steps(run, log, 1)
  run.send_signal(signal.SIGTERM)
  assert run.wait() == 75, run.stderr.read()
  assert b'run again' in run.stderr.read()
  made = json.loads((tmp_path / 'run/versions.json').read_text())
  assert made['seconds'] > 0  # the hours of a report are of all its parts
  again = start(tmp_path / 'run', TINY)
  assert again.wait() == 0, again.stderr.read()
  assert (tmp_path / 'run' / 'report.html').exists()
  assert calm.wait() == 0
  assert outcome(tmp_path / 'run') == outcome(tmp_path / 'calm')
