"""Influence of training rows on a gap: what training without them would do.

To first order, weights that were fitted without row i differ by
(1/n) (H + λ)⁻¹ ∇ℓ_i, and so the gap G between two groups' scores by
(1/n) ⟨∇G, (H + λ)⁻¹ ∇ℓ_i⟩ (Koh and Liang 2017, arXiv:1703.04730). `influence`
is n times its negative: above 0 where the row widens the gap. H is the
Gauss-Newton matrix of the mean training loss, Σ_i J_iᵀ (diag p − p pᵀ) J_i / n
(Martens 2010), and u = (H + λ)⁻¹ ∇G comes from conjugate gradients: each step
is two backward passes of the training rows, and no matrix is made. On a
logistic model H is the Hessian and the ranking that of leaving rows out; with
the plain product, λ = ∞, it was not (rank correlation .33 to .47).

No gradient of a row is ever made. The products of a whole batch are the
derivative of its losses along u; since our layers have backward passes of
their own, it is taken as the transpose of the backward pass.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from fairjax.data.batching import batches as packing
from fairjax.models import Bundle

MOST = 1024  # rows that the curvature is taken of
DAMPING = 0.01
STEPS = 12  # of conjugate gradients, each two backward passes of those rows


def losses(model: Bundle, params, batch) -> Float[Array, ' b']:
  logits = model.apply(params, batch)
  return optax.softmax_cross_entropy_with_integer_labels(
    logits, jnp.asarray(batch['label'])
  )


def along(model: Bundle, params, direction, batch) -> Float[Array, ' b']:
  """⟨direction, ∇ℓ_i⟩ of every example of a batch."""
  values, back = jax.vjp(lambda p: losses(model, p, batch), params)

  def product(weights):
    (gradient,) = back(weights)
    return dot(gradient, direction)

  # `back` is linear in its weights, so this is the same at any of them.
  return jax.grad(product)(jnp.zeros_like(values))


def curvature(model: Bundle, params, v, batch) -> Any:
  """Σ_i J_iᵀ (diag p − p pᵀ) J_i v over the examples of a batch."""
  logits, back = jax.vjp(lambda p: model.apply(p, batch), params)

  def product(weights):
    (gradient,) = back(weights)
    return dot(gradient, v)

  moved = jax.grad(product)(jnp.zeros_like(logits))  # J v
  p = jax.nn.softmax(logits, -1)
  moved = p * (moved - jnp.sum(p * moved, -1, keepdims=True))
  real = jnp.asarray(batch['example']) >= 0  # others fill up the batch
  return back(moved * real[:, None])[0]


def dot(a, b) -> jax.Array:
  parts = jax.tree.map(jnp.vdot, a, b)
  return jax.tree.reduce(jnp.add, parts)


def conjugate_gradients(
  product: Callable[[Any], Any], u: Any, damping: float, steps: int
) -> Any:
  """(A + λ)⁻¹ u of a tree, A v = product(v) (Hestenes and Stiefel 1952)."""
  add = lambda a, b, c: jax.tree.map(lambda x, y: x + c * y, a, b)
  x = jax.tree.map(jnp.zeros_like, u)
  residual = along_ = u  # x begins at 0
  size = first = float(dot(u, u))
  for _ in range(steps):
    if size <= 1e-6 * first:  # squares: the residual is a thousandth of u
      break
    image = add(product(along_), along_, damping)
    rate = size / float(dot(along_, image))
    x, residual = add(x, along_, rate), add(residual, image, -rate)
    before, size = size, float(dot(residual, residual))
    along_ = add(residual, along_, size / before)
  return x


def preconditioned(
  model: Bundle, params, u: Any, pool: packing.Pool, *, size: int = 64
) -> Any:
  """(H + λ)⁻¹ u, H of at most MOST rows of the pool, drawn evenly."""
  rows = np.linspace(0, len(pool.label) - 1, min(MOST, len(pool.label)))
  rows = np.unique(rows.astype(np.int32))
  run = jax.jit(lambda p, v, batch: curvature(model, p, v, batch))

  def product(v):
    total = _summed(lambda batch: run(params, v, batch), pool, size, rows)
    return jax.tree.map(lambda leaf: leaf / len(rows), total)

  scale = float(dot(u, product(u)) / dot(u, u))  # λ = DAMPING · uᵀHu / uᵀu
  return conjugate_gradients(product, u, DAMPING * scale, STEPS)


def gap_gradient(
  model: Bundle, params, pool: packing.Pool, label: int, size: int = 64
) -> Any:
  """∇ of Σ_i w_i P(label | text i), w the pool's weights."""

  @jax.jit
  def part(params, batch):
    def total(p):
      chance = jax.nn.softmax(model.apply(p, batch), -1)[:, label]
      # Examples that fill up a batch have weight 0.
      return jnp.sum(jnp.asarray(batch['weight']) * chance)

    return jax.grad(total)(params)

  return _summed(lambda batch: part(params, batch), pool, size)


def _summed(
  function: Callable,
  pool: packing.Pool,
  size: int,
  rows: np.ndarray | None = None,
) -> Any:
  total = None
  for batch in _batches(pool, size, rows):
    one = function(batch)
    total = one if total is None else jax.tree.map(jnp.add, total, one)
  return total


def _batches(pool: packing.Pool, size: int, rows: np.ndarray | None = None):
  layout = packing.layout(pool.tokens.lengths, size)
  if rows is None:
    rows = np.arange(len(pool.label), dtype=np.int32)
  sweep = packing.sweep(pool, rows, layout)
  return (sweep[i] for i in range(len(sweep)))


def influence(
  model: Bundle, params, direction, pool: packing.Pool, size: int = 64
) -> Float[np.ndarray, ' n']:
  """−⟨direction, ∇ℓ_i⟩ of every row of the pool."""
  run = jax.jit(lambda p, u, batch: along(model, p, u, batch))
  out = np.zeros(len(pool.label))
  for batch in _batches(pool, size):
    values = np.asarray(run(params, direction, batch))
    real = batch['example'] >= 0
    out[batch['example'][real]] = -values[real]
  return out
