"""Attention: activations, keys and values, weight dropout, rotary positions."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.models.dropout import GOLDEN, dropout, hash32
from fairjax.models.layers import exact


@jax.custom_vjp
def gelu(x: Float[Array, '*s']) -> Float[Array, '*s']:
  """x Φ(x); its derivative is recomputed from x, nothing else is kept."""
  return (0.5 * x * (1.0 + jax.lax.erf(x * np.sqrt(0.5).item()))).astype(
    x.dtype
  )


def _gelu_backward(x, g):
  below = 0.5 * (1.0 + jax.lax.erf(x * np.sqrt(0.5).item()))
  bell = jnp.exp(-0.5 * x * x) * (1.0 / np.sqrt(2.0 * np.pi).item())
  return ((g * (below + x * bell)).astype(x.dtype),)


gelu.defvjp(lambda x: (gelu(x), x), _gelu_backward)

ACTIVATIONS = {
  'gelu': gelu,
  'gelu_new': lambda x: jax.nn.gelu(x, approximate=True),
  'gelu_pytorch_tanh': lambda x: jax.nn.gelu(x, approximate=True),
  'relu': jax.nn.relu,
  'silu': jax.nn.silu,
  'tanh': jnp.tanh,
}


class KeyValue(NamedTuple):
  """The keys and values of attention, heads first: as the products read them.

  A cache that lies otherwise is turned in memory at each step of decoding.
  """

  keys: Float[Array, 'r h k e']
  values: Float[Array, 'r h k e']


def split_key_value(key_value: Float[Array, 'r k d'], heads: int) -> KeyValue:
  """The keys and values that one product gives side by side."""
  r, k, d = key_value.shape
  both = key_value.reshape(r, k, 2, heads, d // heads // 2)
  return KeyValue(both[:, :, 0].swapaxes(1, 2), both[:, :, 1].swapaxes(1, 2))


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def softmax(
  scores: Float[Array, '*s'], dtype: Any = jnp.float32
) -> Float[Array, '*s']:
  """Softmax over the last axis; the backward pass reads it in `dtype`.

  In float32 it would be the largest array that a layer keeps.
  """
  return jax.nn.softmax(scores, axis=-1)


def _softmax_forward(scores, dtype):
  weights = jax.nn.softmax(scores, axis=-1)
  return weights, weights.astype(dtype)


def _softmax_backward(dtype, weights, g):
  weights = weights.astype(g.dtype)
  inner = jnp.sum(weights * g, axis=-1, keepdims=True)
  return (weights * (g - inner),)


softmax.defvjp(_softmax_forward, _softmax_backward)


def attention(
  query: Float[Array, 'r q d'],
  memory: KeyValue,
  visible: Bool[Array, 'r q k'],
  drop: Any,
  bias: Float[Array, 'r h q k'] | None = None,
) -> Float[Array, 'r q d']:
  """softmax(q·k / √(d/h) + bias) v; `drop` is applied to the softmax."""
  r, heads, _, e = memory.keys.shape
  query = query.reshape(r, -1, heads, e) * e**-0.5
  product = functools.partial(jnp.einsum, precision=exact(query.dtype))
  scores = product('rqhe,rhke->rhqk', query, memory.keys).astype(jnp.float32)
  scores = scores if bias is None else scores + bias
  scores = scores + jnp.where(visible, 0.0, -1e9)[:, None]
  dtype = memory.values.dtype
  weights = drop(softmax(scores, dtype)).astype(dtype)
  mixed = product('rhqk,rhke->rqhe', weights, memory.values)
  return mixed.reshape(r, -1, heads * e)


def drop_weights(
  weights: Float[Array, 'r h q k'],
  rate: float,
  key: UInt32[Array, ''] | None,
  identity: UInt32[Array, 'r q'],
  positions: Int[Array, 'r k'],
) -> Float[Array, 'r h q k']:
  """Dropout of attention that knows example, head and positions only."""
  head = jnp.arange(weights.shape[1], dtype=jnp.uint32) * jnp.uint32(GOLDEN)
  who = hash32(identity[:, None, :] + head[:, None])
  where = positions[:, None, None, :].astype(jnp.uint32)
  return dropout(weights, rate, key, who, where)


def rotate(
  x: Float[Array, '*s e'], positions: Int[Array, '...'], theta: float
) -> Float[Array, '*s e']:
  """Rotary positions (Su et al. 2021, arXiv:2104.09864).

  Feature i and feature i + e/2 turn together by position · θ^(-2i/e), so that
  a product of a query and a key knows the difference of their positions only.
  `positions` broadcasts to the leading axes of x.
  """
  e = x.shape[-1]
  rate = theta ** (-jnp.arange(0, e, 2, dtype=jnp.float32) / e)
  angle = positions[..., None].astype(jnp.float32) * rate
  angle = jnp.concatenate([angle, angle], axis=-1)
  wide = x.astype(jnp.float32)
  first, second = wide[..., : e // 2], wide[..., e // 2 :]
  rotated = jnp.concatenate([-second, first], axis=-1)
  return (wide * jnp.cos(angle) + rotated * jnp.sin(angle)).astype(x.dtype)
