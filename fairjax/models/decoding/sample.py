"""Sampling: the next token by temperature, top-k and top-p, without a sort.

A draw is the token of largest p_v / e_v with e_v from Exp(1): that is v with
probability p_v (the exponential race, Gumbel's maximum on another scale). e_v
is a hash of the text's key, the place and v alone, so neither a batch nor what
else is in it changes a draw, and what rounding does to the p changes one with
a probability of its own size.

The nucleus (Holtzman et al. 2020, arXiv:1904.09751) are the likeliest tokens
up to the one at which their sum reaches `top_p`: v is in it where those before
it sum to less. The race is run among all tokens; where its winner is outside,
so are all behind it, and it is run again among those before it, with the same
e. The winner that is inside has won among the nucleus: one or two passes over
the scores, where a sort of 32 × 50,257 of them takes XLA 790 ms on a CPU.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax
from jaxtyping import Array, Bool, Float, Int, Integer, UInt32

from fairjax.models.layers.argmax import argmax
from fairjax.models.layers.dropout import GOLDEN, hash32

LAST = 1 - 2.0**-24  # the largest number below 1


@struct.dataclass
class Warp:
  """What is done to scores; the numbers compile nothing anew."""

  temperature: Float[Array, '']
  top_p: Float[Array, '']
  top_k: Int[Array, '']
  by_mass: bool = struct.field(pytree_node=False)  # top_p is below 1
  by_rank: bool = struct.field(pytree_node=False)  # top_k is above 0


def warp(temperature: float, top_p: float, top_k: int) -> Warp:
  return Warp(
    jnp.float32(temperature),
    jnp.float32(top_p),
    jnp.int32(top_k),
    top_p < 1,
    top_k > 0,
  )


def draw(
  scores: Float[Array, 'n v'],
  keys: UInt32[Array, 'n 2'],
  place: Int[Array, 'n'],
  how: Warp,
) -> Int[Array, 'n']:
  """The token at `place` of each text."""
  scores = scores / how.temperature
  if how.by_rank:
    kth = _largest(scores, how.top_k)
    scores = jnp.where(scores < kth, -jnp.inf, scores)
  p = jax.nn.softmax(scores, axis=-1)
  race = p / waits(keys, place, scores.shape[-1])
  winner = argmax(race)
  if not how.by_mass:
    return winner

  def ahead_of(token):  # the likelier, and of equal ones the smaller
    own = jnp.take_along_axis(scores, token[:, None], axis=1)
    first = jnp.arange(scores.shape[-1]) < token[:, None]
    return (scores > own) | ((scores == own) & first)

  def inside(token, before) -> Bool[Array, 'n']:
    mass = jnp.sum(jnp.where(before, p, 0.0), axis=-1)
    return (mass < how.top_p) | ~before.any(-1)

  def again(state):
    token, _ = state
    before = ahead_of(token)
    fine = inside(token, before)
    # Of what is behind the winner nothing is inside.
    other = argmax(jnp.where(before, race, -1.0))  # below any p / e
    return jnp.where(fine, token, other), fine

  nobody = jnp.zeros(winner.shape, bool)
  return lax.while_loop(lambda s: ~s[1].all(), again, (winner, nobody))[0]


def waits(
  keys: UInt32[Array, 'n 2'], place: Int[Array, 'n'], vocab: int
) -> Float[Array, 'n v']:
  """−log u of each token, u in (0, 1) a hash of key, place and token."""
  start = hash32(keys[:, 0] + place.astype(jnp.uint32) * jnp.uint32(GOLDEN))
  other = hash32(keys[:, 1] ^ start)
  token = jnp.arange(vocab, dtype=jnp.uint32) * jnp.uint32(GOLDEN)
  bits = hash32(hash32(token + start[:, None]) ^ other[:, None])
  u = (bits.astype(jnp.float32) + 0.5) * 2.0**-32  # above 0, for the log
  return -jnp.log(jnp.minimum(u, LAST))


def _largest(
  scores: Float[Array, 'n v'], k: Int[Array, '']
) -> Float[Array, 'n 1']:
  """The k-th largest score of each row, bit by bit."""
  number = lax.bitcast_convert_type(scores, jnp.int32)
  # In the order of the scores: the bits of negative ones count downwards.
  number = number ^ ((number >> 31) & 0x7FFFFFFF)
  ordered = lax.bitcast_convert_type(number, jnp.uint32) ^ jnp.uint32(1 << 31)

  def set_bit(i, least):
    tried = least | (jnp.uint32(1 << 31) >> i.astype(jnp.uint32))
    enough = jnp.sum(ordered >= tried, axis=-1, keepdims=True) >= k
    return jnp.where(enough, tried, least)

  least = jnp.zeros((scores.shape[0], 1), jnp.uint32)
  least = lax.fori_loop(0, 32, set_bit, least)
  number = lax.bitcast_convert_type(least ^ jnp.uint32(1 << 31), jnp.int32)
  number = number ^ ((number >> 31) & 0x7FFFFFFF)  # its own inverse
  return lax.bitcast_convert_type(number, jnp.float32)


# On the host.


class Streams(NamedTuple):
  """The texts to write: of which source each is, and its key."""

  source: Integer[np.ndarray, ' n']
  keys: UInt32[np.ndarray, 'n 2']


def streams(seed: int, ids: Sequence[str], samples: int) -> Streams:
  """`samples` texts of each source; a key knows seed, id and number alone."""
  keys = [
    hashlib.sha256(f'{seed}\0{number}\0{name}'.encode()).digest()[:8]
    for name in ids
    for number in range(samples)
  ]
  flat = np.frombuffer(b''.join(keys), '<u4').astype(np.uint32)
  source = np.repeat(np.arange(len(ids)), samples)
  return Streams(source, flat.reshape(-1, 2))
