"""A GPU kernel: attention of short rows, with our dropout.

Written out, a layer's attention moves its scores, weights and their cotangents
through memory, and turns queries, keys and values to put heads first: 3.4 of
10.6 GB a layer of BERT-base at 64 rows of 128 places and five seeds. Here one
program takes one head of one row, whose scores stay on chip; the backward pass
computes them again (Dao et al. 2022, arXiv:2205.14135, without its tiles,
since a row's keys fit). Queries, keys and values are read as one product lays
them, side by side. Dropout is that of layers/dropout.py: it knows example, head
and positions only.

Run by: its interpreter in tests, and the compiler for an H100; no device yet.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int, UInt32

from fairjax.models.kernels import row_kernels
from fairjax.models.kernels.row_kernels import load, store
from fairjax.models.layers.dropout import survives

LONGEST = 128  # places of a row: all scores of a head are on chip at once
WIDTHS = (16, 32, 64, 128)  # of a head


def fits(places: int, width: int, dtype: Any = jnp.bfloat16) -> bool:
  """Whether the kernel takes rows of that many places, heads of that width."""
  narrow = jnp.dtype(dtype) == jnp.bfloat16
  return narrow and places <= LONGEST and width in WIDTHS


@functools.cache
def agrees(places: int, width: int, dtype: Any = jnp.bfloat16) -> bool:
  """Whether the kernel gives on this GPU what plain attention gives.

  Tried once a shape, with its gradients.
  """
  example = functools.partial(_example, places, width)
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
  (y,) = _forward_call(heads, rate)(qkv, visible, starts, positions, bias)
  return y


def _attention_forward(heads, rate, *arrays):
  return attention(heads, rate, *arrays), arrays


def _attention_backward(heads, rate, arrays, g):
  *rows, bias = arrays
  dthree, sums = _backward_call(heads, rate)(*rows, g, bias)
  return dthree, None, None, None, sums.sum(0).astype(bias.dtype)


attention.defvjp(_attention_forward, _attention_backward)


# The kernels. Blocks are of a power of two; places past the row's are masked.


def _columns(ref: Any, first: Any, t: int, width: int):
  """(where, mask) of a head's columns in a row's array."""
  inside = (jnp.arange(ref.shape[0]) < t)[:, None] & (jnp.arange(width) >= 0)[
    None
  ]
  return ref.at[:, pl.ds(first * width, width)], inside


def _weights(query, keys, visible_ref, starts_ref, positions_ref, t, rate):
  """(softmax, what dropout multiplies it by or None) of one head of a row."""
  inside = jnp.arange(len(query)) < t
  both = inside[:, None] & inside[None]
  visible = triton.load(visible_ref.at[:, :], mask=both, other=0)
  scores = jnp.dot(query, keys.T, preferred_element_type=jnp.float32)
  scores = scores * query.shape[1] ** -0.5
  scores = scores + jnp.where(visible != 0, 0.0, -1e9)
  scores = jnp.where(inside[None], scores, -2e9)  # no key at all
  weights = jnp.exp(scores - scores.max(-1, keepdims=True))
  weights = weights / weights.sum(-1, keepdims=True)
  if not rate:
    return weights, None
  starts = triton.load(starts_ref.at[:], mask=inside, other=0)
  positions = triton.load(positions_ref.at[:], mask=inside, other=0)
  keep = survives(starts, positions.astype(jnp.uint32)[None], rate)
  return weights, jnp.where(keep, 1.0 / (1.0 - rate), 0.0)


class _Head(NamedTuple):
  """What both kernels read of the head that a program takes."""

  at: Any  # (ref, which head of it) -> (where, mask)
  number: Any
  query: Any
  keys: Any
  values: Any
  weights: Any  # softmax
  factor: Any  # what dropout multiplies them by; None without


def _head(rows, bias_ref, heads, rate, t) -> _Head:
  three_ref, *masks = rows
  width = three_ref.shape[1] // (3 * heads)
  head = pl.program_id(0)
  at = functools.partial(_columns, t=t, width=width)
  bias = lambda first: bias_ref[pl.ds(first * width, width)]
  query, keys, values = (
    load(*at(three_ref, first)) + bias(first).astype(three_ref.dtype)
    for first in (head, heads + head, 2 * heads + head)
  )
  weights, factor = _weights(query, keys, *masks, t, rate)
  return _Head(at, head, query, keys, values, weights, factor)


def _forward_kernel(*refs, heads, rate, t):
  *rows, bias_ref, out_ref = refs
  one = _head(rows, bias_ref, heads, rate, t)
  weights = one.weights if one.factor is None else one.weights * one.factor
  store(*one.at(out_ref, one.number), _dot(weights, one.values))


def _backward_kernel(*refs, heads, rate, t):
  *rows, g_ref, bias_ref, dthree_ref, sums_ref = refs
  one = _head(rows, bias_ref, heads, rate, t)
  g, width = load(*one.at(g_ref, one.number)), one.query.shape[1]
  dweights = jnp.dot(g, one.values.T, preferred_element_type=jnp.float32)
  dropped = one.weights
  if one.factor is not None:
    dropped, dweights = dropped * one.factor, dweights * one.factor

  def put(which, value):
    head = which * heads + one.number
    store(*one.at(dthree_ref, head), value)
    sums_ref[pl.ds(head * width, width)] = jnp.sum(value, axis=0)

  put(2, _dot(dropped.T, g))
  inner = jnp.sum(one.weights * dweights, axis=-1, keepdims=True)
  dscores = one.weights * (dweights - inner) * width**-0.5
  put(0, _dot(dscores, one.keys))
  put(1, _dot(dscores.T, one.query))


def _dot(a, b):
  return jnp.dot(a.astype(b.dtype), b, preferred_element_type=jnp.float32)


# How they are called


@functools.lru_cache(maxsize=32)
def _forward_call(heads: int, rate: float):
  kernel = functools.partial(_forward_kernel, heads=heads, rate=rate)
  rule = 'r t e, r q k, r h q, r p, e -> r t d'
  return _over_rows(
    kernel, rule, lambda r, t, e, like: [((r, t, e // 3), like)]
  )


@functools.lru_cache(maxsize=32)
def _backward_call(heads: int, rate: float):
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
