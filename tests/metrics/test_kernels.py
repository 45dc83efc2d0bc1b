"""Metric kernels: one function, by numpy and as a program of jax."""

import numpy as np
import pytest

from fairjax.metrics import groups, kernels, quality
from fairjax.metrics.inference import resampling

RNG = np.random.default_rng(0)
some = lambda *shape: RNG.random(shape, np.float32)
few = lambda *shape: RNG.integers(0, 3, shape).astype(np.float32)

CASES = {
  'resampled': (resampling.resampled, (some(20, 16), few(16, 2, 3))),
  'rates_with': (
    groups.rates_with,
    (few(20, 4, 1, 3, 4), few(4, 1, 3, 4), some(20, 2, 3, *groups.PSEUDO)),
  ),
  'resampled_ranks': (
    quality.resampled_ranks,
    (
      *(some(20, 16), some(16, 3, 4, 4), few(16, 3, 4)),
      *(some(20, 3, 4), some(20, 3, 4), np.float32(2)),
    ),
  ),
}


@pytest.mark.parametrize('name', CASES)
def test_the_program_is_the_function(name):
  function, arrays = CASES[name]
  by_numpy = function(*arrays)
  program = np.asarray(kernels.jitted(function.over)(*arrays))
  assert by_numpy.shape == program.shape
  assert np.array_equal(np.isnan(by_numpy), np.isnan(program))
  np.testing.assert_allclose(by_numpy, program, rtol=2e-5, atol=1e-5)


def test_an_accelerator_takes_the_program(monkeypatch):
  taken = []
  monkeypatch.setattr(kernels, 'accelerated', lambda: True)
  monkeypatch.setattr(
    kernels, 'jitted', lambda f: taken.append(f) or (lambda *a: f(np, *a))
  )
  function, arrays = CASES['resampled']
  assert function(*arrays).shape == (20, 2, 3)
  assert taken == [function.over]
