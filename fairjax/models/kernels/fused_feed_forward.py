"""A GPU kernel: a feed-forward block's backward pass and gradient norms.

Between the products up and down stands the activation z = f(u). XLA writes the
cotangent of u, then reads it, and z, again for the Gram matrices of both
layers' norms (layers/exact_norms.py), which it writes as well. Here one program
takes one row, some features at a time: f and its derivative are computed where
u and the cotangent of z are on chip, and both Gram matrices stay there.

Run by: its interpreter in tests, and an H200, where it gave what the plain code
gives (2026-11-26); not timed there, so no chip's row takes it by itself.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from fairjax.models.kernels import row_kernels
from fairjax.models.kernels.row_kernels import load, store

SHORTEST, LONGEST = 16, 128  # places of a row, whose Gram matrix is on chip
CHUNK = 32  # features at a time


def gelu_and_slope(u: Float[Array, '...']) -> tuple[jax.Array, jax.Array]:
  """u Φ(u) and its derivative Φ(u) + u φ(u).

  Φ by Abramowitz and Stegun 1964, 7.1.26, to 1e-7: Triton has no erf here.
  """
  density = jnp.exp(-0.5 * u * u)  # φ √(2π)
  s = 1.0 / (1.0 + 0.3275911 * 0.5**0.5 * jnp.abs(u))
  tail = 0.0
  for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736):
    tail = (tail + factor) * s
  tail = 0.5 * (tail + 0.254829592) * s * density  # Φ(-|u|)
  below = jnp.where(u < 0.0, tail, 1.0 - tail)
  return u * below, below + u * density * (2 * math.pi) ** -0.5


# The function, and how the kernel computes it and its derivative.
ACTIVATIONS = {
  'gelu': (functools.partial(jax.nn.gelu, approximate=False), gelu_and_slope)
}


def fits(t: int, d: int, f: int, dtype: Any, activation: str) -> bool:
  """Whether the kernel takes rows of so many places."""
  if dtype != jnp.bfloat16 or activation not in ACTIVATIONS:
    return False
  return SHORTEST <= t <= LONGEST


@functools.cache
def agrees(t: int, d: int, f: int, dtype: Any, activation: str) -> bool:
  """Whether the kernel gives on this GPU what the plain code gives."""
  example = functools.partial(_example, t, d, f, activation)
  return row_kernels.agree('feed-forward norms', example)


def _example(
  t: int, d: int, f: int, activation: str, kernel: bool
) -> tuple[np.ndarray, ...]:
  keys = jax.random.split(jax.random.key(0), 4)
  draw = lambda i, wide: jax.random.normal(keys[i], (3, t, wide), jnp.bfloat16)
  arrays = draw(0, f), draw(1, f), draw(2, d), draw(3, d)
  bias = draw(0, f)[0, 0]
  ids = jnp.broadcast_to(jnp.arange(t) // 10, (3, t))
  way = backward if kernel else plain
  out = way(*arrays, ids, bias, activation)
  return tuple(np.asarray(one, np.float32) for one in out)


def plain(u, dz, x, g, segment_ids, bias, activation):
  """`backward`, written out."""
  u = u + bias
  wide = lambda a: a.astype(jnp.float32)
  z, pull = jax.vjp(ACTIVATIONS[activation][0], wide(u))
  du = pull(wide(dz))[0].astype(u.dtype)
  gram = lambda a: jnp.einsum('rtd,rud->rtu', wide(a), wide(a))
  same = segment_ids[:, :, None] == segment_ids[:, None]
  pairs = lambda a, b: jnp.sum(
    jnp.where(same, (gram(a) + 1) * gram(b), 0.0), axis=-1
  )
  return du, pairs(x, du), pairs(z.astype(u.dtype), g)


def backward(
  u: Float[Array, 'r t f'],
  dz: Float[Array, 'r t f'],
  x: Float[Array, 'r t d'],
  g: Float[Array, 'r t e'],
  segment_ids: Int[Array, 'r t'],
  bias: Float[Array, 'f'],
  activation: str,
) -> tuple[Float[Array, 'r t f'], *[Float[Array, 'r t']] * 2]:
  """The cotangent of u, and each place's share of the squares of both layers.

  x is the input of the layer up, whose output is u + bias; g the cotangent of
  the output of down, whose input is f(u + bias). A place's share is
  Σ_s (a_t·a_s + 1) (b_t·b_s) over the places s of its example.
  """
  return _call(activation)(u, dz, x, g, segment_ids, bias)


def _kernel(
  u_ref,
  dz_ref,
  x_ref,
  g_ref,
  ids_ref,
  bias_ref,
  du_ref,
  up_ref,
  down_ref,
  *,
  activation,
  sizes,
):
  t, f, d, e = sizes
  block, dtype = u_ref.shape[0], u_ref.dtype
  inside = jnp.arange(block) < t

  def features(i, size):
    return i * CHUNK + jnp.arange(CHUNK) < size

  def at(ref, i, size):
    where = ref.at[:, pl.ds(i * CHUNK, CHUNK)]
    return where, inside[:, None] & features(i, size)[None]

  def gram_of(ref, size):
    add = lambda i, sums: sums + _dot(load(*at(ref, i, size)))
    return lax.fori_loop(0, pl.cdiv(size, CHUNK), add, zero)

  def some(i, grams):
    where, mask = at(u_ref, i, f)
    bias = load(bias_ref.at[pl.ds(i * CHUNK, CHUNK)], features(i, f))
    u = (load(where, mask) + bias[None]).astype(jnp.float32)
    z, slope = ACTIVATIONS[activation][1](u)
    du = (load(*at(dz_ref, i, f)).astype(jnp.float32) * slope).astype(dtype)
    store(*at(du_ref, i, f), du)
    z = jnp.where(mask, z, 0.0).astype(dtype)
    return grams[0] + _dot(z), grams[1] + _dot(du)

  zero = jnp.zeros((block, block), jnp.float32)
  gram_z, gram_du = lax.fori_loop(0, pl.cdiv(f, CHUNK), some, (zero, zero))
  ids = triton.load(ids_ref.at[:], mask=inside, other=-1)
  same = ids[:, None] == ids[None]

  def put(ref, a, b):
    pairs = jnp.where(same, (a + 1.0) * b, 0.0)
    store(ref.at[:], inside, jnp.sum(pairs, axis=-1))

  put(down_ref, gram_z, gram_of(g_ref, e))
  put(up_ref, gram_of(x_ref, d), gram_du)


def _dot(a: jax.Array) -> jax.Array:
  """a aᵀ."""
  return jnp.dot(a, a.T, preferred_element_type=jnp.float32)


@functools.lru_cache(maxsize=32)
def _call(activation: str) -> Callable[..., Any]:
  rule = 'r t f, r t f, r t d, r t e, r t, f -> r t f, r t, r t'
  read, written = rule.split('->')

  def each(*arrays):
    u, _, x, g, *_ = arrays
    r, t, f = u.shape
    share = jax.ShapeDtypeStruct((r, t), jnp.float32)
    out = [jax.ShapeDtypeStruct(u.shape, u.dtype), share, share]
    sizes = {'t': t, 'f': f, 'd': x.shape[2], 'e': g.shape[2]}
    blocks = {name: CHUNK * pl.cdiv(sizes[name], CHUNK) for name in 'fde'}
    blocks['t'] = max(16, pl.next_power_of_2(t))
    call = pl.pallas_call(
      functools.partial(
        _kernel, activation=activation, sizes=tuple(sizes.values())
      ),
      out_shape=out,
      grid=(r,),
      in_specs=row_kernels.block_specs(read, arrays, blocks),
      out_specs=row_kernels.block_specs(written, out, blocks),
      compiler_params=triton.CompilerParams(num_warps=8, num_stages=2),
      interpret=row_kernels.INTERPRET,
    )
    return tuple(call(*arrays))

  return row_kernels.over_rows(each, rule)
