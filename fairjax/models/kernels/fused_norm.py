"""A GPU kernel: LayerNorm's backward pass and gradient norms.

Written out, XLA reads inputs and cotangents three times: for the means over
features, for the inputs' cotangents, and for the sums over places, which are
the gradients of scale and bias and, of each example, the norms of GraNd. Here
one program takes one row, a few places at a time, and does all three while
they are on chip. The statistics of a place are computed anew.

Run by: its interpreter in tests, and an H200, where it gave what the plain code
gives and a BERT-base step with both of these kernels took .82 of its time
without (2026-11-26, bench/README.md).
"""

import functools
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

WIDEST = 1024  # features
SHORTEST = 16  # places: below, a row is too little for a program
SLOTS = 16  # sums that a program keeps


def fits(t: int, width: int, dtype: Any, slots: int, centre: bool) -> bool:
  """Whether the kernel takes rows of t places, with that many sums a row."""
  if dtype != jnp.bfloat16:
    return False
  return t >= SHORTEST and width <= WIDEST and slots <= SLOTS


@functools.cache
def agrees(t: int, width: int, dtype: Any, slots: int, centre: bool) -> bool:
  """Whether the kernel gives on this GPU what the plain code gives."""
  example = functools.partial(_example, t, width, slots, centre)
  return row_kernels.agree('the norms of layers', example)


def _example(
  t: int, width: int, slots: int, centre: bool, kernel: bool
) -> tuple[np.ndarray, ...]:
  """All cotangents of a small example with `slots` examples in a row."""
  from fairjax.models.layers import exact_norms

  r = 3
  keys = jax.random.split(jax.random.key(0), 3)
  draw = lambda i, *dims: jax.random.normal(keys[i], dims, jnp.float32)
  x, g = (draw(i, r, t, width).astype(jnp.bfloat16) for i in (0, 1))
  scale, bias = draw(2, 2, width)
  first = 1 + slots * jnp.arange(r)[:, None]
  probe = jnp.zeros(r * slots), first + jnp.arange(t) * slots // t
  statistics = exact_norms.statistics(x, 1e-12, centre)
  residuals = x, *statistics, scale, bias, *probe
  way = (
    exact_norms.norm_backward_kernel
    if kernel
    else exact_norms.norm_backward_plain
  )
  out = way(1e-12, centre, slots, residuals, g)[:4]
  return tuple(np.asarray(one, np.float32) for one in out)


def backward(
  x: Float[Array, 'r t d'],
  g: Float[Array, 'r t d'],
  scale: Float[Array, 'd'],
  slot: Int[Array, 'r t'],
  slots: int,
  eps: float,
  centre: bool,
) -> tuple[Float[Array, 'r _ d'], ...]:
  """The cotangent of x, and each slot's sums of g ∘ x̂ and of g.

  A place of a slot that is not below `slots` is in no sum.
  """
  return program(slots, eps, centre)(x, g, slot, scale)


# The kernel. What is past the row's places, features and slots is masked.


def _block(slots: int) -> int:
  """Places at a time: what registers hold, and a product of slots takes."""
  return 8 if slots == 1 else 16


def _kernel(
  x_ref, g_ref, slot_ref, scale_ref, dx_ref, *sum_refs, t, d, slots, eps, centre
):
  width, rows, block = scale_ref.shape[0], sum_refs[0].shape[0], _block(slots)
  features = jnp.arange(width) < d
  scale = load(scale_ref.at[pl.ds(0, width)], features)
  mean = lambda a: jnp.sum(a, axis=-1, keepdims=True) / d

  def some(i, sums):
    places = i * block + jnp.arange(block) < t
    mask = places[:, None] & features[None]
    at = lambda ref: ref.at[pl.ds(i * block, block), pl.ds(0, width)]
    read = lambda ref: load(at(ref), mask).astype(jnp.float32)
    x, g = read(x_ref), read(g_ref)
    if centre:
      x = jnp.where(mask, x - mean(x), 0.0)
    rate = lax.rsqrt(mean(x * x) + eps)
    unit, inner = x * rate, g * scale[None]
    dx = inner - unit * mean(inner * unit)
    dx = rate * (dx - mean(inner) if centre else dx)
    store(at(dx_ref), mask, dx)
    slot = triton.load(
      slot_ref.at[pl.ds(i * block, block)], mask=places, other=slots
    )
    return tuple(
      one + slot_sums(part, slot, rows, x_ref.dtype)
      for one, part in zip(sums, (g * unit, g))
    )

  zero = jnp.zeros((rows, width), jnp.float32)
  sums = lax.fori_loop(0, pl.cdiv(t, block), some, (zero, zero))
  inside = (jnp.arange(rows) < slots)[:, None] & features[None]
  for ref, part in zip(sum_refs, sums):
    store(ref.at[pl.ds(0, rows), pl.ds(0, width)], inside, part)


def slot_sums(part: Any, slot: Any, rows: int, dtype: Any) -> Any:
  """Those of the slots below `rows`, a product where there are several."""
  if rows == 1:
    chosen = jnp.where((slot == 0)[:, None], part, 0.0)
    return jnp.sum(chosen, axis=0, keepdims=True)
  chosen = jnp.arange(rows)[:, None] == slot[None]
  return jnp.dot(
    chosen.astype(dtype), part.astype(dtype), preferred_element_type=jnp.float32
  )


@functools.lru_cache(maxsize=32)
def program(slots: int, eps: float, centre: bool):
  rule = 'r t d, r t d, r t, d -> r t d, r m d, r m d'
  read, written = rule.split('->')

  def each(*arrays):
    x = arrays[0]
    r, t, d = x.shape
    sums = jax.ShapeDtypeStruct((r, slots, d), jnp.float32)
    out = [jax.ShapeDtypeStruct(x.shape, x.dtype), sums, sums]
    block = _block(slots)
    blocks = {
      't': block * pl.cdiv(t, block),
      'd': pl.next_power_of_2(d),
      'm': 1 if slots == 1 else SLOTS,  # as tensor cores want them
    }
    call = pl.pallas_call(
      functools.partial(_kernel, t=t, d=d, slots=slots, eps=eps, centre=centre),
      out_shape=out,
      grid=(r,),
      in_specs=row_kernels.block_specs(read, arrays, blocks),
      out_specs=row_kernels.block_specs(written, out, blocks),
      compiler_params=triton.CompilerParams(
        num_warps=8 if slots == 1 else 16, num_stages=1
      ),
      interpret=row_kernels.INTERPRET,
    )
    return tuple(call(*arrays))

  return row_kernels.over_rows(each, rule)
