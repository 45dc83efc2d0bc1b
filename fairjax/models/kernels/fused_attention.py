"""A GPU kernel: attention of short rows, with our dropout.

Written out, a layer's attention moves its scores, weights and their cotangents
through memory, and turns queries, keys and values to put heads first: 3.4 of
10.6 GB a layer of BERT-base at 64 rows of 128 places and five seeds. Here one
program takes one head of one row, whose scores stay on chip; the backward pass
computes them again (Dao et al. 2022, arXiv:2205.14135, without its tiles,
since a row's keys fit). Queries, keys and values are read as one product lays
them, side by side. Dropout is that of layers/dropout.py: it knows example, head
and positions only.

Run by: its interpreter in tests, and an H200, where it gave what the plain code
gives and a BERT-base step with both of these kernels took .82 of its time
without (2026-11-26, bench/README.md).
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int, UInt32

from fairjax.models.kernels import row_kernels
from fairjax.models.kernels.row_kernels import load, store
from fairjax.models.layers.dropout import survives

LONGEST = 128  # places of a row: all scores of a head are on chip at once
WIDTHS = (16, 32, 64, 128)  # of a head
QUERIES = 32  # places that ask at a time, in the backward pass


def fits(places: int, width: int, dtype: Any = jnp.bfloat16) -> bool:
  """Whether the kernel takes rows of that many places, heads of that width."""
  narrow = jnp.dtype(dtype) == jnp.bfloat16
  return narrow and places <= LONGEST and width in WIDTHS


@functools.cache
def agrees(places: int, width: int, dtype: Any = jnp.bfloat16) -> bool:
  """Whether the kernel gives on this GPU what plain attention gives."""
  example = functools.partial(_example, places, width)  # with its gradients
  return row_kernels.agree('short attention', example)


def _example(t: int, width: int, kernel: bool) -> tuple[np.ndarray, ...]:
  """Gradients of a small example with dropout, and what is attended to."""
  from fairjax.models.layers import attention as house

  heads = 2
  keys = jax.random.split(jax.random.key(0), 3)
  draw = lambda i, *dims: jax.random.normal(keys[i], dims, jnp.bfloat16)
  d = heads * width
  arrays = draw(0, 2, t, 3 * d), draw(1, 3 * d)
  segment_ids = jnp.broadcast_to(jnp.arange(t) // 10, (2, t))
  visible = segment_ids[:, :, None] == segment_ids[:, None, :]
  identity = jnp.arange(2 * t, dtype=jnp.uint32).reshape(2, t)
  where = jnp.broadcast_to(jnp.arange(t) % 10, (2, t))
  drop = house.dropping(0.25, jnp.uint32(7), identity, where)

  def loss(qkv, bias):
    if kernel:
      y = house.self_attention(qkv, bias, heads, visible, drop)
    else:
      query, key_value = jnp.split(qkv + bias, [d], axis=-1)
      memory = house.split_key_value(key_value, heads)
      y = house.attention(query, memory, visible, drop)
    y = y.astype(jnp.float32)
    return jnp.sum(y * draw(2, 2, t, d)), y

  grads, y = jax.grad(loss, (0, 1), has_aux=True)(*arrays)
  return tuple(np.asarray(one, np.float32) for one in (*grads, y))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def attention(
  heads: int,
  rate: float,
  qkv: Float[Array, 'r t e'],
  visible: Int[Array, 'r t t'],
  starts: UInt32[Array, 'r h t'],
  positions: Int[Array, 'r t'],
  bias: Float[Array, 'e'],
) -> Float[Array, 'r t d']:
  """softmax(q·k / √(d/h)) v of each head; a share `rate` of weights is zero.

  Which, says dropout's hash of `starts` (of a query's place and head) and a
  key's position. `qkv` has all heads' queries, then all keys, then all
  values; their bias is added here.
  """
  (y,) = forward_call(heads, rate)(qkv, visible, starts, positions, bias)
  return y


def _attention_forward(heads, rate, *arrays):
  return attention(heads, rate, *arrays), arrays


def _attention_backward(heads, rate, arrays, g):
  *rows, bias = arrays
  dthree, sums = backward_call(heads, rate)(*rows, g, bias)
  return dthree, None, None, None, sums.sum(0).astype(bias.dtype)


attention.defvjp(_attention_forward, _attention_backward)


# The kernels. Blocks are of a power of two; places past the row's are masked.
# The backward pass takes QUERIES places at a time: whole, its four arrays of
# scores are more than a program's registers, which would go through memory.


class _Head(NamedTuple):
  """One head of one row: what a program reads, and where it writes."""

  three: Any  # the row's queries, keys and values, of all heads
  visible: Any
  starts: Any
  positions: Any
  bias: Any
  number: Any
  heads: int
  rate: float
  t: int

  @property
  def width(self) -> int:
    return self.three.shape[1] // (3 * self.heads)

  def at(self, ref: Any, places: Any, first: Any, which: int = 0):
    """(where, mask) of some places' columns: of queries, keys or values."""
    rows, width = len(places), self.width
    column = (which * self.heads + self.number) * width
    where = ref.at[pl.ds(first, rows), pl.ds(column, width)]
    return where, (places < self.t)[:, None] & (jnp.arange(width) >= 0)[None]

  def read(self, places: Any, first: Any, which: int) -> jax.Array:
    """Queries (0), keys (1) or values (2) with their bias."""
    column = (which * self.heads + self.number) * self.width
    bias = self.bias[pl.ds(column, self.width)].astype(self.three.dtype)
    return load(*self.at(self.three, places, first, which)) + bias


def _weights(one: _Head, query, keys, places, first):
  """(softmax, what dropout multiplies it by or None) of some queries."""
  asks, inside = places < one.t, jnp.arange(len(keys)) < one.t
  visible = triton.load(
    one.visible.at[pl.ds(first, len(places)), :],
    mask=asks[:, None] & inside[None],
    other=0,
  )
  scores = jnp.dot(query, keys.T, preferred_element_type=jnp.float32)
  scores = scores * one.width**-0.5
  scores = scores + jnp.where(visible != 0, 0.0, -1e9)  # finite: no NaN
  scores = jnp.where(inside[None], scores, -2e9)  # no key at all
  weights = jnp.exp(scores - scores.max(-1, keepdims=True))
  weights = weights / weights.sum(-1, keepdims=True)
  if not one.rate:
    return weights, None
  starts = triton.load(
    one.starts.at[pl.ds(first, len(places))], mask=asks, other=0
  )
  positions = triton.load(one.positions.at[:], mask=inside, other=0)
  keep = survives(starts, positions.astype(jnp.uint32)[None], one.rate)
  return weights, jnp.where(keep, 1.0 / (1.0 - one.rate), 0.0)


def _forward_kernel(*refs, heads, rate, t):
  *rows, bias_ref, out_ref = refs
  one = _Head(*rows, bias_ref, pl.program_id(0), heads, rate, t)
  places = jnp.arange(out_ref.shape[0])
  query, keys, values = (one.read(places, 0, which) for which in range(3))
  weights, factor = _weights(one, query, keys, places, 0)
  weights = weights if factor is None else weights * factor
  store(*one.at(out_ref, places, 0), product(weights, values))


def _backward_kernel(*refs, heads, rate, t):
  *rows, g_ref, bias_ref, dthree_ref, sums_ref = refs
  one = _Head(*rows, bias_ref, pl.program_id(0), heads, rate, t)
  block = g_ref.shape[0]
  some = min(QUERIES, block)
  everywhere = jnp.arange(block)
  keys, values = (one.read(everywhere, 0, which) for which in (1, 2))

  def add(i, sums):
    first = i * some
    places = first + jnp.arange(some)
    query = one.read(places, first, 0)
    g = load(*one.at(g_ref, places, first))
    weights, factor = _weights(one, query, keys, places, first)
    dweights = jnp.dot(g, values.T, preferred_element_type=jnp.float32)
    dropped = weights
    if factor is not None:
      dropped, dweights = weights * factor, dweights * factor
    dvalues = sums[2] + product(dropped.T, g)
    inner = jnp.sum(weights * dweights, axis=-1, keepdims=True)
    dscores = weights * (dweights - inner) * one.width**-0.5
    dquery = product(dscores, keys)
    store(*one.at(dthree_ref, places, first), dquery)
    return (
      sums[0] + jnp.sum(dquery, axis=0),
      sums[1] + product(dscores.T, query),
      dvalues,
    )

  zero = jnp.zeros((block, one.width), jnp.float32)
  sums = jnp.zeros(one.width, jnp.float32), zero, zero
  of_queries, dkeys, dvalues = lax.fori_loop(0, block // some, add, sums)
  store(*one.at(dthree_ref, everywhere, 0, 1), dkeys)
  store(*one.at(dthree_ref, everywhere, 0, 2), dvalues)
  for which, total in enumerate(
    (of_queries, jnp.sum(dkeys, axis=0), jnp.sum(dvalues, axis=0))
  ):
    column = (which * heads + one.number) * one.width
    sums_ref[pl.ds(column, one.width)] = total


def product(a, b):
  return jnp.dot(a.astype(b.dtype), b, preferred_element_type=jnp.float32)


# How they are called


@functools.lru_cache(maxsize=32)
def forward_call(heads: int, rate: float):
  kernel = functools.partial(_forward_kernel, heads=heads, rate=rate)
  rule = 'r t e, r q k, r h q, r p, e -> r t d'
  return _over_rows(
    kernel, rule, lambda r, t, e, like: [((r, t, e // 3), like)]
  )


@functools.lru_cache(maxsize=32)
def backward_call(heads: int, rate: float):
  kernel = functools.partial(_backward_kernel, heads=heads, rate=rate)
  rule = 'r t e, r q k, r h q, r p, r t d, e -> r t e, r e'
  return _over_rows(
    kernel, rule, lambda r, t, e, like: [((r, t, e), like), ((r, e), 'float32')]
  )


def _over_rows(kernel: Any, rule: str, results: Callable[..., list]):
  """The kernel over rows and heads; `results` are their shapes and types."""
  read, written = rule.split('->')

  def each(*arrays):
    qkv, starts = arrays[0], arrays[2]
    r, t, e = qkv.shape
    out = [jax.ShapeDtypeStruct(*one) for one in results(r, t, e, qkv.dtype)]
    blocks = dict.fromkeys('tqkp', max(16, pl.next_power_of_2(t)))
    call = pl.pallas_call(
      functools.partial(kernel, t=t),
      out_shape=out,
      grid=(starts.shape[1], r),
      in_specs=row_kernels.block_specs(read, arrays, blocks, ('h', 'r')),
      out_specs=row_kernels.block_specs(written, out, blocks, ('h', 'r')),
      compiler_params=triton.CompilerParams(num_warps=8, num_stages=1),
      interpret=row_kernels.INTERPRET,
    )
    return tuple(call(*arrays))

  return row_kernels.over_rows(each, rule)
