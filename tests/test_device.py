"""On an accelerator: the same numbers as on the CPU (pytest --device)."""

import json
import pathlib

import numpy as np
import pandas as pd
import programs
import pytest

COMMAND = [
  *('-m', 'fairjax.main'),
  '--config=configs/quickstart_diet.py',
  '--config.planted.rows=300',
  '--config.planted.test_rows=100',
  '--config.seeds=2',
  '--config.net.precision=float32',
  '--config.scoring.names=ge,el2n,grand',
  '--config.train.epochs=1',
  '--config.measures.resamples=200',
]


def run(folder: pathlib.Path, platform: str) -> tuple[list, pd.DataFrame, str]:
  """Losses of the evaluations, the scores, and what they were computed on."""
  exact = {'JAX_PLATFORMS': platform, 'JAX_DEFAULT_MATMUL_PRECISION': 'highest'}
  flags = {'XLA_FLAGS': ''}  # one device, not the four of conftest.py
  programs.printed(*COMMAND, f'--workdir={folder}', **exact, **flags)
  lines = (folder / 'metrics.jsonl').read_text().splitlines()
  losses = [json.loads(line)['loss'] for line in lines]
  backend = json.loads((folder / 'versions.json').read_text())['backend']
  return losses, pd.read_parquet(folder / 'scores.parquet'), backend


@pytest.mark.device
def test_a_run_on_the_device_is_the_run_on_the_cpu(tmp_path):
  """Dropout, order, packing and GraNd do not depend on the machine."""
  ours, scores, backend = run(tmp_path / 'device', '')
  if backend == 'cpu':
    pytest.skip('no accelerator on this machine')
  theirs, expected, _ = run(tmp_path / 'cpu', 'cpu')
  np.testing.assert_allclose(ours, theirs, rtol=2e-3)
  for name in expected.columns.drop('id'):
    a, b = (t[name].to_numpy(float) for t in (scores, expected))
    np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-3, err_msg=name)


KERNEL = """
import jax
if jax.default_backend() == 'gpu':
  import jax.numpy as jnp
  from fairjax.models.kernels import fused_attention
  from fairjax.models.kernels import fused_norm
  of = jnp.dtype('bfloat16')
  heads = [(80, 16), (80, 32), (80, 64), (128, 64), (80, 128)]
  found = [fused_attention.agrees(*one, of) for one in heads]
  rows = [(t, w, of, m, True) for t, w in ((80, 384), (128, 768), (128, 1024))
          for m in (1, 5)]
  found += [fused_norm.agrees(*one) for one in rows]
  print(found)
"""


@pytest.mark.device
def test_the_kernels_agree_on_this_gpu():
  """Where one does not, a process warns and takes the plain code."""
  done = programs.python('-c', KERNEL, JAX_PLATFORMS='', XLA_FLAGS='')
  assert done.returncode == 0, done.stderr
  if not done.stdout:
    pytest.skip('no GPU on this machine')
  assert done.stdout.strip() == str([True] * 11), done.stderr
