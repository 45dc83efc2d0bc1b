"""Random keys, derived from seed, stream and step: no state is carried.

`key(seed, stream, step)` is the same on every run, so a resumed run is the
same run and seed s of a stacked run is the single run of seed s.
"""

import jax
import jax.numpy as jnp

INIT, DROPOUT = 1, 2  # streams


def key(seed, stream, step=0) -> jax.Array:
  """fold_in(fold_in(key(seed), stream), step)."""
  first = jax.random.fold_in(jax.random.key(seed), stream)
  return jax.random.fold_in(first, step)


def dropout(seed, step) -> jax.Array:
  """The uint32 that the counter-based dropout hash starts from."""
  return jax.random.bits(key(seed, DROPOUT, step), (), jnp.uint32)
