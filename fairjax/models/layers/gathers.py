"""Rows and places read by number, whose cotangents are sums in a fixed order.

JAX gives back what was gathered by a scatter that adds, and a GPU adds in the
order in which its threads happen to come. Here few places come back by a
product with their one-hot numbers, and a table's rows in the order of the ids:
sorted, summed within each id, and written once.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from fairjax.models.layers.products import exact


@jax.custom_vjp
def columns_of(
  x: Float[Array, 'r t d'], columns: Int[Array, 'r m']
) -> Float[Array, 'r m d']:
  """A few columns of each row."""
  return jnp.take_along_axis(x, columns[:, :, None], axis=1)


def _columns_backward(given, g):
  columns, like = given
  chosen = jax.nn.one_hot(columns, like.shape[0], dtype=g.dtype)
  dx = jnp.einsum('rmt,rmd->rtd', chosen, g, precision=exact(g.dtype))
  return dx, None


columns_of.defvjp(
  # Of x its number of places is kept, as a shape.
  lambda x, columns: (
    columns_of(x, columns),
    (columns, jnp.zeros(x.shape[1], bool)),
  ),
  _columns_backward,
)


def rows_of(
  x: Float[Array, 'n d'], ids: Int[Array, 'b']
) -> Float[Array, 'b d']:
  """A few rows."""
  return columns_of(x[None], ids[None])[0]


def own_score(
  scores: Float[Array, '*s c'], labels: Int[Array, '*s']
) -> Float[Array, '*s']:
  """Each one's score of its own label."""
  own = labels[..., None] == lax.iota(labels.dtype, scores.shape[-1])
  return jnp.sum(jnp.where(own, scores, 0), axis=-1)


def summed_by_id(
  ids: Int[Array, 'n'], values: Float[Array, 'n d'], count: int
) -> Float[Array, 'count d']:
  """Σ of the values of each id below `count`."""
  n = ids.shape[0]
  ids = jnp.minimum(ids, count)  # out of the table: dropped below
  order = jnp.argsort(ids, stable=True)  # so the order of each sum is fixed
  ids, values = ids[order], values[order]
  changes = ids[1:] != ids[:-1]
  first = jnp.concatenate([jnp.ones(1, bool), changes])[:, None]
  last = jnp.concatenate([changes, jnp.ones(1, bool)])

  def join(left, right):
    begins = left[0] | right[0]
    return begins, jnp.where(right[0], right[1], left[1] + right[1])

  _, sums = lax.associative_scan(join, (first, values))
  # All but an id's last place go to rows that are not there, each its own.
  rows = jnp.where(last, ids, count + 1 + jnp.arange(n))
  table = jnp.zeros((count, values.shape[1]), values.dtype)
  return table.at[rows].set(sums, mode='drop', unique_indices=True)
