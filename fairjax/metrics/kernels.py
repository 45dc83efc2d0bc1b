"""Metric kernels: jitted where an accelerator is there, else plain numpy.

A kernel is a function of arrays over an array module, `xp`. On a CPU numpy is
that module: the products are as fast, and an audit of predictions has ended
before jax would be imported. Where this process has an accelerator, one
program computes all groups, thresholds and resamples at once.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def kernel(function: Callable[..., Any]) -> Any:
  """function(xp, *arrays) as a function of numpy arrays.

  >>> double = kernel(lambda xp, x: xp.where(x > 0, 2 * x, 0))
  >>> double(np.array([-1.0, 2.0])).tolist()
  [0.0, 4.0]
  """

  def compute(*arrays: Any) -> Any:
    if not accelerated():
      with np.errstate(divide='ignore', invalid='ignore'):
        return function(np, *arrays)
    return np.asarray(jitted(function)(*arrays))

  made: Any = functools.update_wrapper(compute, function)
  made.over = function
  return made


@functools.lru_cache
def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
  """The program of a kernel, its products in full float32."""
  import jax
  import jax.numpy as jnp

  with_jnp = functools.partial(function, jnp)

  def program(*arrays: Any) -> Any:
    with jax.default_matmul_precision('highest'):
      return with_jnp(*arrays)

  return jax.jit(program)


def accelerated() -> bool:
  """Whether jax is in use here, on another platform than a CPU."""
  if 'jax' not in sys.modules:
    return False
  from fairjax.core import backend

  return backend.platform() != 'cpu'
