"""Losses of a tied output layer, without the array of all its logits.

The logits of n places and v tokens, x Eᵀ + b, are 50,265 numbers a place in
BART: more than all the rest of the model keeps. Here they exist for a chunk
of places at a time, and the gradients by x, E and b are summed in the same
pass as the loss, so nothing is computed twice:

    L = Σ_n w_n (logsumexp(z_n) - z_n[label_n]),   z = x Eᵀ + b
    dL/dz_n = w_n (softmax(z_n) - onehot(label_n))
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from fairjax.models.layers.gathers import own_score

CHUNK = 256  # places


def chunks(a: Array, size: int) -> Array:
  """[n, …] as [n / size, size, …], with zeros after the last."""
  n = a.shape[0]
  whole = -(-n // size) * size
  a = jnp.pad(a, [(0, whole - n)] + [(0, 0)] * (a.ndim - 1))
  return a.reshape(-1, size, *a.shape[1:])


def _logits(x, table, bias):
  z = jnp.einsum(
    'nd,vd->nv', x, table.astype(x.dtype), preferred_element_type=jnp.float32
  )
  return z + bias


def _losses(z, labels):
  return jax.nn.logsumexp(z, axis=1) - own_score(z, labels)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def weighted_loss(
  x: Float[Array, 'n d'],
  table: Float[Array, 'v d'],
  bias: Float[Array, 'v'],
  labels: Int[Array, 'n'],
  weights: Float[Array, 'n'],
  size: int = CHUNK,
) -> Float[Array, '']:
  """Σ_n w_n (-log p(label_n)), `size` places at a time."""

  def one(total, chunk):
    x, labels, weights = chunk
    return total + jnp.sum(
      weights * _losses(_logits(x, table, bias), labels)
    ), None

  parts = tuple(chunks(a, size) for a in (x, labels, weights))
  return lax.scan(one, jnp.float32(0), parts)[0]


def _forward(x, table, bias, labels, weights, size):
  def one(carry, chunk):
    x, labels, weights = chunk
    total, dtable, dbias = carry
    z = _logits(x, table, bias)
    losses = _losses(z, labels)
    hit = labels[:, None] == lax.iota(labels.dtype, z.shape[1])
    dz = weights[:, None] * (jax.nn.softmax(z, axis=1) - hit)
    small = dz.astype(x.dtype)  # the type of the products
    dx = small @ table.astype(x.dtype)
    dtable += jnp.einsum(
      'nv,nd->vd', small, x, preferred_element_type=jnp.float32
    )
    total += jnp.sum(weights * losses)
    return (total, dtable, dbias + dz.sum(0)), (dx, losses)

  zero = (  # float32: sums over all chunks
    jnp.float32(0),
    jnp.zeros(table.shape, jnp.float32),
    jnp.zeros(bias.shape, jnp.float32),
  )
  parts = tuple(chunks(a, size) for a in (x, labels, weights))
  (total, dtable, dbias), (dx, losses) = lax.scan(one, zero, parts)
  flat = lambda a: a.reshape(-1, *a.shape[2:])[: x.shape[0]]
  return total, (
    flat(dx),
    dtable.astype(table.dtype),
    dbias.astype(bias.dtype),
    flat(losses),  # the cotangent of the weights
  )


def _backward(size, saved, g):
  dx, dtable, dbias, losses = saved
  scale = lambda a: (g * a).astype(a.dtype)
  return scale(dx), scale(dtable), scale(dbias), None, g * losses


weighted_loss.defvjp(_forward, _backward)
