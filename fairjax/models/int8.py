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
"""

import jax
import jax.numpy as jnp
from flax import traverse_util
from jax import lax
from jaxtyping import Array, Float, Int

LIMIT = 127  # symmetric, so that 0 is exact
LARGE = 2048  # rows of a table; a smaller one, of positions or types, is left
# Places for which XLA's product is faster with the weights on its left: with
# them on the right it packs all of them anew. Measured on AVX512_VNNI.
LEFT = (*range(1, 13), *range(25, 33))


def quantised(params: dict) -> dict:
  """`params` with each kernel and each large table as integers and scales."""
  flat = traverse_util.flatten_dict(params)
  for path in list(flat):
    if path[-1] == 'kernel':
      weights = flat.pop(path).T
    elif path[-1] == 'embedding' and len(flat[path]) >= LARGE:
      weights = flat.pop(path)
    else:
      continue
    integers, scale = rounded(weights)
    flat[*path[:-1], 'int8'] = integers
    flat[*path[:-1], 'int8_scale'] = scale[:, 0]
  return traverse_util.unflatten_dict(flat)


def rounded(
  x: Float[Array, 'n d'],
) -> tuple[Int[Array, 'n d'], Float[Array, 'n 1']]:
  """Each row as int8, and what its integers are to be multiplied by."""
  x = x.astype(jnp.float32)
  scale = jnp.max(jnp.abs(x), axis=-1, keepdims=True) / LIMIT
  scale = jnp.where(scale > 0, scale, 1.0)
  return jnp.round(x / scale).astype(jnp.int8), scale


def product(
  x: Float[Array, '*s d'], weights: Int[Array, 'f d'], scale: Float[Array, 'f']
) -> Float[Array, '*s f']:
  """x Wᵀ in float32."""
  places, own = rounded(x.reshape(-1, x.shape[-1]))
  n = places.shape[0]
  if n == 1:  # XLA has no fast product of a matrix and a vector of integers
    places = jnp.pad(places, ((0, 1), (0, 0)))
  places = lax.optimization_barrier(places)
  sides = (weights, places) if n in LEFT else (places, weights)
  sums = lax.dot_general(
    *sides, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32
  )
  sums = lax.optimization_barrier(sums)
  sums = sums.T[:n] if n in LEFT else sums
  return (sums * own * scale).reshape(*x.shape[:-1], -1)


def rows(
  ids: Int[Array, '*s'], weights: Int[Array, 'f d'], scale: Float[Array, 'f']
) -> Float[Array, '*s d']:
  """Rows of a table."""
  take = lambda a: a.at[ids].get(mode='clip')
  return take(weights) * take(scale)[..., None]
