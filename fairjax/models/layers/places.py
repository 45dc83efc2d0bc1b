"""Positions in packed batches: rows, positions, first tokens."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Float, Int, UInt32

from fairjax.models.layers.dropout import identities
from fairjax.models.layers.gathers import columns_of, rows_of
from fairjax.models.layers.probed import Segments

Batch = Mapping[
  str, Any
]  # arrays of JAX or numpy, as batching/batches.py has them


@struct.dataclass
class Places:
  """What the layers need to know about the places of [r, t]."""

  rows: Segments
  positions: Int[Array, 'r t']
  identity: UInt32[Array, 'r t']  # for dropout

  def at(self, columns: Int[Array, 'r m']) -> 'Places':
    """The places of the first tokens only; empty slots own nothing."""
    take = lambda a: jnp.take_along_axis(a, columns, axis=1)
    # Column 0 is a first token in slot 0 only; elsewhere it says 'none'.
    real = (columns > 0) | (jnp.arange(columns.shape[1]) == 0)
    segment_ids = jnp.where(real, take(self.rows.segment_ids), 0)
    return Places(
      Segments(segment_ids, self.rows.count),
      take(self.positions),
      take(self.identity),
    )


def places(batch: Batch) -> Places:
  example, segment_ids, positions = (
    jnp.asarray(batch[name]) for name in ('example', 'segment_ids', 'positions')
  )
  slots = batch['head_columns'].shape[1] if 'head_columns' in batch else 0
  return Places(
    Segments(segment_ids, example.shape[0], slots),
    positions,
    identities(example, segment_ids, positions),
  )


def head_rows(batch: Batch) -> Segments:
  """The rows of [b, 1, d] activations: one place an example."""
  b = batch['example'].shape[0]
  segment_ids = jnp.where(batch['example'] >= 0, jnp.arange(1, b + 1), 0)
  return Segments(segment_ids[:, None], b)


def mean_places(
  x: Float[Array, 'r t d'], rows: Segments
) -> Float[Array, 'b 1 d']:
  """The mean over each example's places."""
  ids = rows.segment_ids.ravel()
  sums = lambda a: jax.ops.segment_sum(a, ids, rows.count + 1)[1:]
  total = sums(x.reshape(-1, x.shape[-1]).astype(jnp.float32))
  count = sums(jnp.ones(ids.shape, jnp.float32))
  return (total / jnp.maximum(count, 1)[:, None]).astype(x.dtype)[:, None]


def first_places(
  x: Float[Array, 'r t d'], batch: Batch
) -> Float[Array, 'b 1 d']:
  """Each example's first place of full activations."""
  return one_each(columns_of(x, jnp.asarray(batch['head_columns'])), batch)


def one_each(x: Float[Array, 'r m d'], batch: Batch) -> Float[Array, 'b 1 d']:
  """Each example's own of the few places of a row that heads read."""
  x = x.reshape(-1, x.shape[-1])
  return rows_of(x, jnp.asarray(batch['head_index']))[:, None]


def blank_batch() -> dict[str, Array]:
  """The smallest batch, with a target for models that read one too.

  Parameters do not depend on its size.
  """
  whole = jnp.zeros((1, 2), jnp.int32)
  one = jnp.zeros((1,), jnp.int32)
  positions = jnp.arange(2, dtype=jnp.int32)[None]
  return {
    'tokens': whole,
    'segment_ids': whole + 1,
    'positions': positions,
    'head_columns': jnp.zeros((1, 1), jnp.int32),
    'head_index': one,
    'example': one,
    'label': one,
    'weight': jnp.ones((1,), jnp.float32),
    'target': whole,
    'target_segment_ids': whole + 1,
    'target_positions': positions,
  }
