"""Two processes on this machine give what one gives."""

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


@pytest.mark.slow
@pytest.mark.parametrize('along', [1, 2])
def test_two_processes_equal_one(tmp_path, along):
  """Sharded over the data, and over the seeds."""
  one, two = tmp_path / 'one', tmp_path / 'two'
  run(sys.executable, '-m', 'fairjax.main', *ARGUMENTS, f'--workdir={one}')
  run(
    'bash',
    'launch/local_multiprocess.sh',
    '2',
    '--',
    *ARGUMENTS,
    f'--config.mesh.seed={along}',
    f'--workdir={two}',
  )
  tables = [pd.read_parquet(p / 'predictions.parquet') for p in (one, two)]
  assert list(tables[0]['id']) == list(tables[1]['id'])
  for name in ('p0', 'p1'):
    np.testing.assert_allclose(tables[0][name], tables[1][name], atol=1e-3)
  dp = [
    results.read(p).sets['test']['fairness']['dp']['value'] for p in (one, two)
  ]
  assert abs(dp[0] - dp[1]) < 0.02
