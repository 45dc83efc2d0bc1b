"""Which training rows widen a gap: gradient products, exact over all weights.

A step of gradient descent on row i moves the weights by −η ∇ℓ_i, and so the gap
G between two groups' scores by −η ⟨∇G, ∇ℓ_i⟩ (TracIn at one checkpoint, Pruthi
et al. 2020, arXiv:2002.08484, with the gap in place of a test loss).
`influence` is −⟨∇G, ∇ℓ_i⟩: above 0 where training on the row widens the gap.

No gradient of a row is ever made. With u = ∇G, the products of a whole batch
are the derivative of its losses along u; since our layers have backward passes
of their own, it is taken as the transpose of the backward pass.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from fairjax.data import batches as packing
from fairjax.models import Bundle


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
    parts = jax.tree.map(jnp.vdot, gradient, direction)
    return jax.tree.reduce(jnp.add, parts)

  # `back` is linear in its weights, so this is the same at any of them.
  return jax.grad(product)(jnp.zeros_like(values))


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


def _summed(function: Callable, pool: packing.Pool, size: int) -> Any:
  total = None
  for batch in _batches(pool, size):
    one = function(batch)
    total = one if total is None else jax.tree.map(jnp.add, total, one)
  return total


def _batches(pool: packing.Pool, size: int):
  layout = packing.layout(pool.tokens.lengths, size)
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
