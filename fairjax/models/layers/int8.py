"""Products of 8-bit integers, for writing and predicting on a CPU.

A weight W [features, d] is kept as integers Q with a scale for each feature;
the activations x of a place are quantised as they come, with a scale of their
own (absmax; LLM.int8() without its outliers, Dettmers et al. 2022,
arXiv:2208.07339):

  Q_f = round(W_f / s_f),  s_f = max|W_f| / 127
  x Wᵀ ≈ (round(x / a) Qᵀ) · a ∘ s,  a = max|x| / 127

The sums are exact in int32, so that a place's result depends on that place
alone. Biases, norms, attention and everything else stay float32. These weights
have no gradient.

Instructions for such products (AVX512_VNNI) take one side without a sign, so
the weights are kept as Q + 128, and 128 Σ x is taken from each sum.
"""

import functools

import jax
import jax.numpy as jnp
from flax import traverse_util
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import batching, mlir
from jaxtyping import Array, Float, Int, UInt8

LIMIT = 127  # symmetric, so that 0 is exact
SHIFT = 128
MANY = 256  # places for which the weights stand on the right
LARGE = 2048  # rows of a table; a smaller one, of positions or types, is left


def quantised(params: dict) -> dict:
  """`params` with each kernel and each large table as integers and scales."""
  flat = traverse_util.flatten_dict(params)
  for path in list(flat):
    is_table = path[-1] == 'embedding' and len(flat[path]) >= LARGE
    if path[-1] == 'kernel' or is_table:
      both = _shifted(flat.pop(path), not is_table)
      flat |= {(*path[:-1], name): one for name, one in both.items()}
  return traverse_util.unflatten_dict(flat)


@functools.partial(jax.jit, static_argnums=1)  # a program a shape, one copy
def _shifted(weights: Array, turned: bool) -> dict:
  integers, scale = rounded(weights.T if turned else weights)
  shifted = (integers.astype(jnp.int16) + SHIFT).astype(jnp.uint8)
  return {'uint8': shifted, 'uint8_scale': scale[:, 0]}


def rounded(
  x: Float[Array, 'n d'],
) -> tuple[Int[Array, 'n d'], Float[Array, 'n 1']]:
  """Each row as int8, and what its integers are to be multiplied by."""
  x = x.astype(jnp.float32)
  scale = jnp.max(jnp.abs(x), axis=-1, keepdims=True) / LIMIT
  scale = jnp.where(scale > 0, scale, 1.0)  # a row of zeros: no 0 / 0
  return jnp.round(x / scale).astype(jnp.int8), scale


def product(
  x: Float[Array, '*s d'],
  weights: UInt8[Array, 'f d'],
  scale: Float[Array, 'f'],
) -> Float[Array, '*s f']:
  """x Wᵀ in float32."""
  places, own = rounded(x.reshape(-1, x.shape[-1]))
  sums = (
    _left(places, weights) if len(places) < MANY else _right(places, weights)
  )
  return (sums * own * scale).reshape(*x.shape[:-1], -1)


def _left(places: Int[Array, 'n d'], weights: UInt8[Array, 'f d']):
  """Few places: XLA reads the left side as it lies, and copies the right."""
  n = len(places)
  if n == 1:  # without a kernel in XLA
    places = jnp.pad(places, ((0, 1), (0, 0)))
  shift = SHIFT * places.sum(-1, dtype=jnp.int32)
  return (_dot.bind(weights, places) - shift).T[:n]


def _right(places: Int[Array, 'n d'], weights: UInt8[Array, 'f d']):
  """Many places: the sums lie as they are needed (512: 4.2 ms, not 9.1)."""
  signed = lax.optimization_barrier((weights ^ SHIFT).view(jnp.int8))
  shift = SHIFT * signed.sum(-1, dtype=jnp.int32)
  places = (places.astype(jnp.int16) + SHIFT).astype(jnp.uint8)
  return _dot.bind(lax.optimization_barrier(places), signed) - shift


def rows(
  ids: Int[Array, '*s'], weights: UInt8[Array, 'f d'], scale: Float[Array, 'f']
) -> Float[Array, '*s d']:
  """Rows of a table."""
  take = lambda a: a.at[ids].get(mode='clip')
  return (take(weights).astype(jnp.float32) - SHIFT) * take(scale)[..., None]


# [*b, n, d] uint8 and [*b, m, d] int8 -> int32 [*b, n, m]; `lax.dot_general`
# would turn both sides to int32 first.
_dot = Primitive('dot_uint8_int8')


@_dot.def_impl
def _run(left, right):
  return jax.jit(_dot.bind)(left, right)


@_dot.def_abstract_eval
def _shape(left, right):
  shape = (*left.shape[:-1], right.shape[-2])
  return ShapedArray(shape, jnp.dtype('int32'))


def _lower(context, left, right):
  (out,) = context.avals_out
  batch, last = list(range(out.ndim - 2)), [out.ndim - 1]
  axes = stablehlo.DotDimensionNumbers.get(batch, batch, last, last)
  type_ = mlir.aval_to_ir_type(context.module_context, out)
  return [stablehlo.dot_general(type_, left, right, axes)]


mlir.register_lowering(_dot, _lower)


def _batched(sides, axes):
  size = next(s.shape[a] for s, a in zip(sides, axes) if a is not None)
  front = (
    jnp.broadcast_to(s, (size, *s.shape))
    if a is None
    else jnp.moveaxis(s, a, 0)
    for s, a in zip(sides, axes)
  )
  return _dot.bind(*front), 0


batching.primitive_batchers[_dot] = _batched
