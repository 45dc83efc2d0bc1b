"""Counter-based dropout: bits that are a hash of the key, place and feature.

So they cost little beside a product, and where a text lies in a batch does not
matter (Salmon et al. 2011 on counter-based random numbers).
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int, UInt32

GOLDEN = 0x9E3779B9  # 2³² / golden ratio: spreads consecutive counters


def hash32(z: UInt32[Array, '*s']) -> UInt32[Array, '*s']:
  """A bijective avalanche of 32 bits (Wellons' lowbias32)."""
  z = (z ^ (z >> 16)) * jnp.uint32(0x7FEB352D)
  z = (z ^ (z >> 15)) * jnp.uint32(0x846CA68B)
  return z ^ (z >> 16)


def fold(key: Array | None, number: int | Array) -> Array | None:
  """The key of the number-th use of `key`; None stays None."""
  if key is None:
    return None
  return hash32(
    key + jnp.asarray(number).astype(jnp.uint32) * jnp.uint32(GOLDEN)
  )


def identities(
  example: Int[Array, 'b'],
  segment_ids: Int[Array, 'r t'],
  positions: Int[Array, 'r t'],
) -> UInt32[Array, 'r t']:
  """A number for each place that knows only its example and position."""
  who = jnp.take(example, segment_ids - 1, mode='clip').astype(jnp.uint32)
  where = positions.astype(jnp.uint32) * jnp.uint32(GOLDEN)
  return hash32(hash32(who) + where)


def dropout(
  x: Float[Array, '*s d'],
  rate: float,
  key: UInt32[Array, ''] | None,
  identity: UInt32[Array, '...'],
  feature: UInt32[Array, '...'] | None = None,
) -> Float[Array, '*s d']:
  """Zeroes a share `rate` of x, by hash of (key, identity, feature).

  `identity` has the leading axes of x (or broadcasts to them), `feature`
  its last (default: the index); so where a place lies in the batch does not
  matter. A None key is evaluation.
  """
  if key is None or rate == 0.0:
    return x
  if feature is None:
    feature = lax.iota(jnp.uint32, x.shape[-1])
  keep = survives(hash32(identity ^ key), feature, rate)
  return jnp.where(keep, x * (1.0 / (1.0 - rate)), jnp.zeros_like(x))


def survives(
  starts: UInt32[Array, '...'], feature: UInt32[Array, '...'], rate: float
) -> Bool[Array, '...']:
  """Whether dropout keeps each feature of the places that `starts` are of."""
  bits = hash32(starts[..., None] + feature * jnp.uint32(GOLDEN))
  return bits < jnp.uint32(int((1.0 - rate) * 2**32))
