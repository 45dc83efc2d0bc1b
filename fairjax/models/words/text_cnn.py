"""The convolutional network of Dixon et al. 2018 (doi 10.1145/3278721.3278729).

  3 × [convolution of 5 words, 128 filters, relu; max-pooling by 5, 5, 40]
  → dropout 0.3 → dense 128, relu → scores

Convolutions and pools keep the length as Keras' 'same' does. A convolution is
a Dense layer over windows of five neighbours, so that gradient norms are exact
(layers/probed.py). A window never reaches into another example:
word_level.unpack gives each one a row of its own.

A row is 250 places, most of them padding of one and the same vector, which the
network reads too. Where all five words of a window are padding its outputs are
equal, so such places are left out of the first layer, which has nine tenths of
the work, and `refill` puts their maxima back.
"""

import dataclasses
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from fairjax.models.layers.places import Batch, head_rows
from fairjax.models.words import word_level
from fairjax.models.words.word_level import glorot

POOLS = (5, 5, 40)
KERNEL = 5


class TextCNN(nn.Module):
  """Logits float32 [b, c] of each example's words."""

  shape: word_level.WordShape
  filters: int = 128
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'b c']:
    blocks = spare(self.shape.length, batch['tokens'].shape[-1])
    keep = self.shape.length - blocks * POOLS[0]
    x, rows = word_level.read(batch, self.shape, self.dtype, keep)
    own = rows.segment_ids[:, :1]
    for k, size in enumerate(POOLS):
      x = neighbours(x, KERNEL)
      x = glorot(self.filters, x, self.dtype, f'conv_{k}')(x, rows)
      x = pool(jax.nn.relu(x), size)
      if k == 0:
        x = refill(x, blocks)
      places = jnp.broadcast_to(own, x.shape[:2])
      rows = dataclasses.replace(rows, segment_ids=places)
    x = x.reshape(x.shape[0], 1, -1)
    x = word_level.dropout(x, batch, self.shape, dropout_key)
    x = glorot(self.filters, x, self.dtype, 'dense')(x, head_rows(batch))
    return word_level.scores(jax.nn.relu(x), batch, self.shape)


def spare(length: int, longest: int) -> int:
  """Blocks of the first pool that are padding alone, but for one at least.

  No text has more than `longest` words. The first block sees zeros
  before it; the next one, and two windows after it, are 12 places of padding.
  """
  return max(0, length - longest - 12) // POOLS[0]


def refill(x: Float[Array, 'b m d'], blocks: int) -> Float[Array, 'b n d']:
  """Puts back `blocks` that are like the second."""
  same = jnp.repeat(x[:, 1:2], blocks, axis=1)
  return jnp.concatenate([x[:, :1], same, x[:, 1:]], axis=1)


def neighbours(x: Float[Array, 'b l d'], size: int) -> Float[Array, 'b l e']:
  """Each place with its size - 1 neighbours, zeros beyond the ends.

  A kernel [size, d, f] of a convolution is [size·d, f] here.
  """
  length, before = x.shape[1], (size - 1) // 2
  wide = jnp.pad(x, ((0, 0), (before, size - 1 - before), (0, 0)))
  parts = [wide[:, k : k + length] for k in range(size)]
  return jnp.concatenate(parts, axis=-1)


def pool(x: Float[Array, 'b l d'], size: int) -> Float[Array, 'b m d']:
  """Maxima of blocks of `size` places; the ends are padded evenly."""
  b, length, width = x.shape
  missing = -length % size
  before = missing // 2
  x = jnp.pad(
    x,
    ((0, 0), (before, missing - before), (0, 0)),
    constant_values=-jnp.inf,  # never the largest
  )
  return x.reshape(b, -1, size, width).max(2)
