"""Layer operations that also give each example's squared gradient norm.

A parameter's gradient is a sum over places t of inputs a_t and output
cotangents g_t, so the squared norm of one example's is read off in the
backward pass, with no per-example gradient in memory (Goodfellow 2015,
arXiv:1510.01799; Li et al. 2022, arXiv:2110.05679):

  dense   Σ_{t,u} (a_t·a_u + 1) (g_t·g_u)     (+ 1 only with a bias)
  embed   Σ_{t,u} [id_t = id_u] (g_t·g_u)
  norm    ‖Σ_t g_t ∘ x̂_t‖² + ‖Σ_t g_t‖²          (second only with a bias)

Each function takes a zero `sq` of shape [b], and the norms come out as its
cotangent; with None nothing of this is computed.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from fairjax.core import backend
from fairjax.models.kernels import kernel_table
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers.gathers import summed_by_id
from fairjax.models.layers.products import (
  exact,
  flattened,
  gram,
  outer,
  product,
  row_major,
  summed,
)


def _squares_of_products(
  a: Float[Array, 'r t d'],
  g: Float[Array, 'r t f'],
  segment_ids: Int[Array, 'r t'],
  count: int,
  slots: int,
) -> Float[Array, 'b']:
  """‖Σ_t a_t g_tᵀ‖² over the places t of each example, made and squared.

  Each slot of a row is a product of its own, over all places of the row.
  """
  chosen, whose = _slots(segment_ids, slots)
  r, t, m = chosen.shape
  narrow, wide = sorted((a, g), key=lambda side: side.shape[2])
  # Turned before its slots part: the library takes both as they lie.
  turned = row_major(narrow.swapaxes(1, 2))[:, None]
  own = jnp.where(chosen.swapaxes(1, 2)[:, :, None], turned, 0)
  dims = ((2,), (1,)), ((0,), (0,))
  products = summed(own.reshape(r, -1, t), wide, dims, jnp.float32)
  squares = jnp.sum((products * products).reshape(r, m, -1), axis=-1)
  return jax.ops.segment_sum(squares.ravel(), whose.ravel(), count + 1)[1:]


def is_direct(t: int, d: int, f: int, slots: int) -> bool:
  """Whether a product [d, f] an example is cheaper than Gram matrices.

  Their FLOPs are slots·t·d·f and t²(d + f), and the product is written to
  memory. On a CPU, in milliseconds of float32 and of bfloat16, 16 rows of 256
  places: 256 × 256 3.9 and 2.9 against 6.9 and 4.6, 256 × 1024 17.0 and 8.4
  against 17.5 and 8.8; of 128 places, 256 × 256: 2.0 and .95 against 1.6 and
  .71. An accelerator waits for memory, where the Gram matrices are smaller.
  """
  if platform_traits().waits_for_memory or not slots:
    return False
  return t * (d + f) > 1.2 * slots * d * f  # 1.2: written to memory


def per_example(
  pairs: Float[Array, 'r t t'], segment_ids: Int[Array, 'r t'], count: int
) -> Float[Array, 'b']:
  """Sums over the pairs of places that belong to the same example."""
  same = segment_ids[:, :, None] == segment_ids[:, None, :]
  sums = jnp.sum(jnp.where(same, pairs, 0.0), axis=-1)
  sums = jax.ops.segment_sum(sums.ravel(), segment_ids.ravel(), count + 1)
  return sums[1:]  # 0 is padding


def _squares_of_sums(
  values: Float[Array, 'r t d'],
  segment_ids: Int[Array, 'r t'],
  count: int,
  slots: int,
) -> Float[Array, 'b']:
  """‖Σ_t v_t‖² over the places t of each example.

  A product with the one-hot slots of a row: of Σ_{t,u} v_t·v_u it needs
  slots/t of the FLOPs. An example's places lie side by side.
  """
  chosen, _ = _slots(segment_ids, slots)
  sums = jnp.einsum(
    'rtm,rtd->rmd',
    chosen.astype(values.dtype),
    values,
    precision=exact(values.dtype),
    preferred_element_type=jnp.float32,
  )
  return _squares(sums, segment_ids, count)


def _slot(segment_ids: Int[Array, 'r t']) -> Int[Array, 'r t']:
  """The number in its row of the example that a place belongs to."""
  changes = segment_ids[:, 1:] != segment_ids[:, :-1]
  return jnp.pad(jnp.cumsum(changes, axis=1), ((0, 0), (1, 0)))


def _squares(
  sums: Float[Array, 'r m d'], segment_ids: Int[Array, 'r t'], count: int
) -> Float[Array, 'b']:
  """‖s‖² of each example's sums, which lie in its slot of its row."""
  _, whose = _slots(segment_ids, sums.shape[1])
  squares = jnp.sum(sums * sums, axis=-1)
  return jax.ops.segment_sum(squares.ravel(), whose.ravel(), count + 1)[1:]


def _slots(
  segment_ids: Int[Array, 'r t'], slots: int
) -> tuple[Bool[Array, 'r t m'], Int[Array, 'r m']]:
  """Which places each slot of a row has, and whose slot it is (0: nobody's).

  A row has at most `slots` examples beside its padding, which comes last.
  """
  t = segment_ids.shape[1]
  chosen = _slot(segment_ids)[:, :, None] == jnp.arange(min(slots or t, t))
  whose = jnp.max(jnp.where(chosen, segment_ids[:, :, None], 0), axis=1)
  return chosen, whose


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def dense(x, kernel, bias, sq, segment_ids, slots=0):
  flat = flattened(x)
  # The sum of a CPU's product is float32, and so is what the bias is added to.
  wide = jnp.float32 if platform_traits().by_library else x.dtype
  y = product(flat, kernel.astype(x.dtype), flat.ndim - 1, 0, wide)
  if bias is not None:
    y = y + bias.astype(wide)
  return y.astype(x.dtype).reshape(*x.shape[:-1], -1)


def _dense_forward(x, kernel, bias, sq, segment_ids, slots):
  if sq is not None and platform_traits().by_library:
    # Else XLA makes x twice, once flat and once by rows.
    x = lax.optimization_barrier(flattened(x)).reshape(x.shape)
  given = x, kernel, bias, sq, segment_ids
  return dense(*given, slots), given


def _dense_backward(slots, residuals, g):
  x, kernel, bias, sq, segment_ids = residuals
  flat = flattened(g)
  last = flat.ndim - 1
  dx = product(flat, kernel.astype(g.dtype), last, 1).reshape(x.shape)
  dkernel = outer(flattened(x), flat, kernel.dtype)
  dbias = None
  if bias is not None:
    dbias = flat.sum(tuple(range(last)), dtype=jnp.float32)  # of r · t terms
  dsq = None
  if sq is not None:
    owners = segment_ids, sq.shape[0]
    if is_direct(*x.shape[1:], g.shape[2], slots):
      dsq = _squares_of_products(x, g, *owners, slots)
      if bias is not None:
        dsq = dsq + _squares_of_sums(g, *owners, slots)
    else:
      pairs = (gram(x) + (bias is not None)) * gram(g)  # + 1: the bias's input
      dsq = per_example(pairs, *owners)
  return dx, dkernel, dbias, dsq, None


dense.defvjp(_dense_forward, _dense_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def dense_apart(x, kernel, bias, sq, segment_ids, slots=0):
  """(product, bias) of `dense`, for one who adds them in a kernel."""
  flat = flattened(x)
  y = product(flat, kernel.astype(x.dtype), flat.ndim - 1, 0)
  return y.reshape(*x.shape[:-1], -1), bias


def _dense_apart_backward(slots, residuals, g):
  dx, dkernel, _, *rest = _dense_backward(slots, residuals, g[0])
  # g[0] must be the cotangent of the sum, which the norms are of.
  return dx, dkernel, g[1], *rest


dense_apart.defvjp(
  lambda *given: (dense_apart(*given), given[:5]), _dense_apart_backward
)


def side_by_side(x, layers: list[tuple], slots: int) -> tuple[Array, Array]:
  """`dense_apart` of layers of the same x as one product, side by side."""
  kernels, biases, probes, owners = zip(*layers)
  joined = (jnp.concatenate(one, -1) for one in (kernels, biases))
  return dense_apart(x, *joined, probes[0], owners[0], slots)  # norms of all


@functools.partial(jax.custom_vjp, nondiff_argnums=(5, 6, 7))
def norm(x, scale, bias, sq, segment_ids, eps, centre, slots=0):
  return _norm_forward(x, scale, bias, sq, segment_ids, eps, centre, slots)[0]


def statistics(x, eps, centre):
  """(mean, 1 / standard deviation) of each place."""
  wide = x.astype(jnp.float32)  # bfloat16's 8 bits would lose x - mean
  mean = wide.mean(-1, keepdims=True) if centre else jnp.float32(0)
  centred = wide - mean
  return mean, lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + eps)


def _norm_forward(x, scale, bias, sq, segment_ids, eps, centre, slots):
  mean, rate = statistics(x, eps, centre)
  y = (x.astype(jnp.float32) - mean) * rate * scale
  y = (y if bias is None else y + bias).astype(x.dtype)
  one_kernel = norm_in_one_kernel(x, sq, slots, centre)
  if platform_traits().recomputes and not one_kernel:
    # Else XLA computes them anew in the backward pass, in a kernel whose
    # products it writes out in float32 before it sums them.
    mean, rate = lax.optimization_barrier((mean, rate))
  return y, (x, mean, rate, scale, bias, sq, segment_ids)


def _norm_backward(eps, centre, slots, residuals, g):
  x, sq = residuals[0], residuals[5]
  one_kernel = norm_in_one_kernel(x, sq, slots, centre)
  way = norm_backward_kernel if one_kernel else norm_backward_plain
  return way(eps, centre, slots, residuals, g)


def norm_backward_plain(eps, centre, slots, residuals, g):
  x, mean, rate, scale, bias, sq, segment_ids = residuals
  g = g.astype(jnp.float32)
  unit = (x.astype(jnp.float32) - mean) * rate
  inner, scaled = g * scale, g * unit
  dx = inner - unit * (inner * unit).mean(-1, keepdims=True)
  dx = rate * (dx - inner.mean(-1, keepdims=True) if centre else dx)
  over = tuple(range(g.ndim - 1))
  dbias = None if bias is None else g.sum(over)
  dsq = None
  if sq is not None:
    # ‖Σ_t v_t‖² of scale and bias.
    parts = [scaled] if bias is None else [scaled, g]
    if platform_traits().waits_for_memory:  # one product of both
      parts = [jnp.concatenate(parts, -1)]
    dsq = sum(
      _squares_of_sums(part.astype(x.dtype), segment_ids, sq.shape[0], slots)
      for part in parts
    )
  return dx.astype(x.dtype), scaled.sum(over), dbias, dsq, None


def norm_in_one_kernel(x, sq, slots: int, centre: bool) -> bool:
  """Whether its backward pass is taken in one kernel."""
  if x.ndim != 3:
    return False
  shape = *x.shape[1:], x.dtype, _norm_slots(x, sq, slots), centre
  return kernel_table.takes('norm', *shape)


def _norm_slots(x, sq, slots: int) -> int:
  """Sums over places that each row keeps apart: of its examples, or one."""
  return 1 if sq is None else min(slots or x.shape[1], x.shape[1])


def norm_backward_kernel(eps, centre, slots, residuals, g):
  from fairjax.models.kernels import fused_norm

  x, _, _, scale, bias, sq, segment_ids = residuals
  slots = _norm_slots(x, sq, slots)
  slot = jnp.zeros(x.shape[:2], jnp.int32) if sq is None else _slot(segment_ids)
  dx, *sums = fused_norm.backward(x, g, scale, slot, slots, eps, centre)
  sums = sums if bias is not None else sums[:1]
  dsq = None
  if sq is not None:
    parts = jnp.concatenate(sums, axis=-1)
    dsq = _squares(parts, segment_ids, sq.shape[0])
  dscale, dbias = [*(one.sum((0, 1)) for one in sums), None][:2]
  return dx, dscale, dbias, dsq, None


norm.defvjp(_norm_forward, _norm_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def embed(table, ids, sq, segment_ids, dtype=None):
  return table.at[ids].get(mode='clip').astype(dtype or table.dtype)


def _embed_forward(table, ids, sq, segment_ids, dtype):
  y = embed(table, ids, sq, segment_ids, dtype)
  return y, (table, ids, sq, segment_ids)


def _embed_backward(dtype, residuals, g):
  table, ids, sq, segment_ids = residuals
  flat = g.reshape(-1, g.shape[-1])
  if table.shape[0] <= 32:  # a product is cheaper than a scatter into few rows
    chosen = jax.nn.one_hot(ids.ravel(), table.shape[0], dtype=g.dtype)
    dtable = product(chosen, flat, 0, 0, jnp.float32)
  else:
    flat = flat.astype(table.dtype)
    if backend.repeats():  # a scatter adds in any order
      dtable = summed_by_id(ids.ravel(), flat, table.shape[0])
    else:
      dtable = jnp.zeros_like(table).at[ids.ravel()].add(flat, mode='drop')
  dsq = None
  if sq is not None:
    pairs = jnp.where(ids[:, :, None] == ids[:, None, :], gram(g), 0.0)
    dsq = per_example(pairs, segment_ids, sq.shape[0])
  return dtable, None, dsq, None


embed.defvjp(_embed_forward, _embed_backward)
