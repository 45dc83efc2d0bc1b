"""Two and four processes on this machine give what one gives."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from fairjax import results

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARGUMENTS = [
  '--config=configs/quickstart.py',
  '--config.planted.rows=600',
  '--config.planted.test_rows=200',
  '--config.seeds=2',
  '--config.train.epochs=2',
  '--config.measures.resamples=200',
]


def run(*words):
  environment = os.environ | {
    'JAX_PLATFORMS': 'cpu',
    'XLA_FLAGS': '',
    'PYTHON': sys.executable,
  }
  ended = subprocess.run(
    words, cwd=ROOT, env=environment, capture_output=True, text=True
  )
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
  run(
    'bash',
    'launch/local_multiprocess.sh',
    str(count),
    '--',
    *ARGUMENTS,
    f'--config.mesh.seed={along}',
    f'--workdir={tmp_path}',
  )
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
