"""Attention of long rows by cuDNN's fused kernel, which keeps no weights.

At 512 places a fifth of the traffic of plain code. Its own dropout would depend
on where a text lies, so it is for programs without.

Run by: the compiler for an H100 (no device yet).
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

LONG = 256  # places
FUSED = 'cudnn'


def fits(t: int, dtype: Any) -> bool:
  """Whether rows of t places of that type are for it."""
  return t >= LONG and jnp.dtype(dtype) == jnp.bfloat16


def agrees(t: int, dtype: Any) -> bool:
  """A library's kernel, which its own tests have tried."""
  return True


def attention(
  query: Float[Array, 'r q d'],
  keys: Float[Array, 'r h k e'],
  values: Float[Array, 'r h k e'],
  visible: Bool[Array, 'r q k'],
) -> Float[Array, 'r q d']:
  (r, heads, _, e), (_, q, d) = keys.shape, query.shape
  y = jax.nn.dot_product_attention(
    query.reshape(r, q, heads, e),
    keys.swapaxes(1, 2),
    values.swapaxes(1, 2),
    mask=visible[:, None],
    implementation=FUSED,
  )
  return y.reshape(r, q, d)
