"""Attention: activations, keys and values, weight dropout, rotary positions."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers.dropout import GOLDEN, hash32, survives
from fairjax.models.layers.products import exact, summed


@jax.custom_vjp
def gelu(x: Float[Array, '*s']) -> Float[Array, '*s']:
  """x Φ(x); its derivative is recomputed from x, nothing else is kept."""
  # A CPU rounds after each operation of bfloat16: less exact, 2-3 × as long.
  wide = x.astype(jnp.float32)
  y = 0.5 * wide * (1.0 + jax.lax.erf(wide * np.sqrt(0.5).item()))
  return y.astype(x.dtype)


def _gelu_backward(x, g):
  wide = x.astype(jnp.float32)
  below = 0.5 * (1.0 + jax.lax.erf(wide * np.sqrt(0.5).item()))
  bell = jnp.exp(-0.5 * wide * wide) * (1.0 / np.sqrt(2.0 * np.pi).item())
  return ((g.astype(jnp.float32) * (below + wide * bell)).astype(x.dtype),)


gelu.defvjp(lambda x: (gelu(x), x), _gelu_backward)

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
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
  r, k, _ = key_value.shape
  return KeyValue(
    *(
      half.reshape(r, k, heads, -1).swapaxes(1, 2)
      for half in jnp.split(key_value, 2, axis=-1)
    )
  )


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def softmax(
  scores: Float[Array, '*s'], dtype: Any = jnp.float32
) -> Float[Array, '*s']:
  """Softmax over the last axis; the backward pass reads it in `dtype`."""
  return jax.nn.softmax(scores, axis=-1)


def _softmax_forward(scores, dtype):
  weights = jax.nn.softmax(scores, axis=-1)
  return weights, weights.astype(dtype)  # the largest array that a layer keeps


def _softmax_backward(dtype, weights, g):
  weights = weights.astype(g.dtype)
  inner = jnp.sum(weights * g, axis=-1, keepdims=True)
  return (weights * (g - inner),)


softmax.defvjp(_softmax_forward, _softmax_backward)


def _batched(a, b, over: int, dtype=None):
  """a·b over the last axis of a and one of b, the first two being batches."""
  return summed(a, b, (((3,), (over,)), ((0, 1), (0, 1))), dtype)


@jax.custom_vjp
def by_rows(
  a: Float[Array, 'r h q e'], b: Float[Array, 'r h k e']
) -> Float[Array, 'r h q k']:
  """a bᵀ on a CPU, summed in float32."""
  return _batched(a, b, 3, jnp.float32)


def _by_rows_backward(given, g):
  a, b = given
  g = g.astype(a.dtype)
  return _batched(g, b, 2), _batched(g.swapaxes(2, 3), a, 2)


by_rows.defvjp(lambda a, b: (by_rows(a, b), (a, b)), _by_rows_backward)


@jax.custom_vjp
def by_columns(
  a: Float[Array, 'r h q k'], b: Float[Array, 'r h k e']
) -> Float[Array, 'r h q e']:
  """a b on a CPU, summed in float32."""
  return _batched(a, b, 2)


def _by_columns_backward(given, g):
  a, b = given
  return _batched(g, b, 3), _batched(a.swapaxes(2, 3), g, 2)


by_columns.defvjp(lambda a, b: (by_columns(a, b), (a, b)), _by_columns_backward)


def _scores(
  query: Float[Array, 'r q d'],
  keys: Float[Array, 'r h k e'],
  visible: Bool[Array, 'r q k'],
  bias: Float[Array, '#r h q k'] | None,
) -> Float[Array, 'r h q k']:
  """q·k / √(d/h) + bias, in float32."""
  r, heads, _, e = keys.shape
  query = query.reshape(r, -1, heads, e) * e**-0.5
  if platform_traits().by_library:
    scores = by_rows(query.swapaxes(1, 2), keys)
  else:
    rule, precision = 'rqhe,rhke->rhqk', exact(query.dtype)
    scores = jnp.einsum(rule, query, keys, precision=precision)
  scores = scores.astype(jnp.float32)
  scores = scores if bias is None else scores + bias
  return scores + jnp.where(visible, 0.0, -1e9)[:, None]  # finite: no NaN


def attention(
  query: Float[Array, 'r q d'],
  memory: KeyValue,
  visible: Bool[Array, 'r q k'],
  drop: Callable | None,
  bias: Float[Array, '#r h q k'] | None = None,
) -> Float[Array, 'r q d']:
  """softmax(q·k / √(d/h) + bias) v; `drop` is applied to the softmax."""
  values = memory.values
  weights = softmax(_scores(query, memory.keys, visible, bias), values.dtype)
  if drop is not None:
    weights = drop(weights)
  weights = weights.astype(values.dtype)
  if platform_traits().by_library:
    mixed = by_columns(weights, values).swapaxes(1, 2)
  else:
    rule, precision = 'rhqk,rhke->rqhe', exact(query.dtype)
    mixed = jnp.einsum(rule, weights, values, precision=precision)
  return mixed.reshape(query.shape)


RECEIVED = 'received'  # the collection that `hear` writes into


def hear(
  module: nn.Module,
  query: Float[Array, 'r q d'],
  memory: KeyValue,
  visible: Bool[Array, 'r q k'],
  bias: Float[Array, '#r h q k'] | None = None,
) -> None:
  """Leaves what `received` says in the module's collection, if it is asked."""
  if is_heard(module):  # kernels of `attention` never hold the weights
    module.sow(RECEIVED, 'received', received(query, memory, visible, bias))


def is_heard(module: nn.Module) -> bool:
  asked = module.is_mutable_collection(RECEIVED)
  return asked and not module.is_initializing()


def received(
  query: Float[Array, 'r q d'],
  memory: KeyValue,
  visible: Bool[Array, 'r q k'],
  bias: Float[Array, '#r h q k'] | None = None,
) -> Float[Array, 'r k']:
  """The attention that each place receives: Σ_q mean_h softmax(q·k / √e)."""
  return softmax(_scores(query, memory.keys, visible, bias)).mean(1).sum(1)


def self_attention(
  qkv: Float[Array, 'r t e'],
  bias: Float[Array, 'e'],
  heads: int,
  visible: Bool[Array, 'r t t'],
  drop: 'Dropping | None',
) -> Float[Array, 'r t d']:
  """`attention` in one kernel of a GPU, of queries, keys and values in a row.

  `qkv` is their product; their bias is added in the kernel.
  """
  from fairjax.models.kernels import fused_attention

  r, t, _ = qkv.shape
  rate, starts = 0.0, jnp.zeros((r, heads, t), jnp.uint32)
  positions = jnp.zeros((r, t), jnp.int32)
  if drop is not None:
    rate, starts, positions = drop.rate, drop.starts(heads), drop.positions
  return fused_attention.attention(
    heads, rate, qkv, visible.astype(jnp.int8), starts, positions, bias
  )


@struct.dataclass
class Dropping:
  """Dropout of weights, which knows example, head and positions only."""

  rate: float = struct.field(pytree_node=False)
  key: UInt32[Array, '']
  identity: UInt32[Array, 'r q']
  positions: Int[Array, 'r k']

  def starts(self, heads: int) -> UInt32[Array, 'r h q']:
    """What the bits of each query and head begin with."""
    head = jnp.arange(heads, dtype=jnp.uint32) * jnp.uint32(GOLDEN)
    who = hash32(self.identity[:, None, :] + head[:, None])
    return hash32(who ^ self.key)

  def __call__(
    self, weights: Float[Array, 'r h q k']
  ) -> Float[Array, 'r h q k']:
    where = self.positions[:, None, None, :].astype(jnp.uint32)
    keep = survives(self.starts(weights.shape[1]), where, self.rate)
    return jnp.where(keep, weights * (1.0 / (1.0 - self.rate)), 0)


def dropping(
  rate: float,
  key: UInt32[Array, ''] | None,
  identity: UInt32[Array, 'r q'],
  positions: Int[Array, 'r k'],
) -> Dropping | None:
  """What dropout does to weights; None where it does nothing."""
  if key is None or rate == 0.0:
    return None
  return Dropping(rate, key, identity, positions)


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
