"""Argmax of long rows, as fast as reading them."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from fairjax.models.kernels.platform_traits import platform_traits

FEW = 256  # scores; of a vocabulary there are more


def argmax(scores: Float[Array, '*s v']) -> Int[Array, '*s']:
  """`jnp.argmax` over the last axis, the first of equal ones, in int32.

  On a CPU XLA carries value and place through one loop, at 5 ns a score: for
  16 × 50,265 scores 4.3 ms, of 20 that a BART-base takes for a token in
  integers. The largest value and then the first place that has it take 0.6.
  """
  count = scores.shape[-1]
  if count < FEW or not platform_traits().by_library:
    return jnp.argmax(scores, axis=-1).astype(jnp.int32)
  largest = lax.optimization_barrier(scores.max(-1, keepdims=True))
  places = jnp.arange(count, dtype=jnp.int32)
  return jnp.where(scores == largest, places, count - 1).min(-1)
