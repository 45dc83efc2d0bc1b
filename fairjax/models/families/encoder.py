"""The post-norm encoder of BERT and its relatives, on packed batches.

Post-norm layers as in Devlin et al. 2019 (arXiv:1810.04805). A batch row
holds several examples; attention stays within an example and positions
restart, so the numbers are those of the same examples padded one a row.
"""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from fairjax.models.families.config_keys import shape_class
from fairjax.models.kernels import kernel_table
from fairjax.models.layers.attention import (
  ACTIVATIONS,
  attention,
  dropping,
  hear,
  is_heard,
  self_attention,
  split_key_value,
)
from fairjax.models.layers.dropout import dropout, fold
from fairjax.models.layers.exact_norms import side_by_side
from fairjax.models.layers.gathers import columns_of
from fairjax.models.layers.places import Batch, Places, one_each, places
from fairjax.models.layers.probed import (
  Dense,
  Embed,
  LayerNorm,
  Segments,
  is_probed,
)


@shape_class('bert')
class EncoderShape:
  """Everything about an encoder that its parameters do not say."""

  types: int = 2  # 0: tokens have no types
  position_offset: int = 0  # rows of the position table before position 0
  buckets: int = 0  # of distances, each with a bias a head (MPNet)
  embedding: int = 768  # width of the embeddings (ELECTRA: may be smaller)

  @property
  def longest(self) -> int:
    """The largest number of tokens of one example."""
    return self.positions - self.position_offset

  @property
  def projects(self) -> bool:
    return self.embedding != self.width


class EncoderLayer(nn.Module):
  """Attention and feed-forward, each with dropout, residual and norm."""

  shape: EncoderShape
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self,
    x: Float[Array, 'r t d'],
    keys: UInt32[Array, '3'] | None,
    places: Places,
    bias: Float[Array, 's h t t'] | None = None,
    head_columns: Int[Array, 'r m'] | None = None,
  ) -> Float[Array, 'r q d']:
    """The layer at all places, or at the columns `head_columns` only.

    `keys` are those of its three dropouts; `bias` is added to the attention
    scores.
    """
    s = self.shape
    dense = lambda features, name: Dense(
      features, dtype=self.dtype, deviation=s.deviation, name=name
    )
    norm = lambda name: LayerNorm(s.eps, self.dtype, name=name)
    read, at = x, places
    if head_columns is not None:
      read = columns_of(x, head_columns)
      at = places.at(head_columns)
      if bias is not None:
        bias = queries_of(bias, head_columns)
    use = lambda kind: None if keys is None else keys[kind]
    drop = lambda y, kind: dropout(y, s.dropout, use(kind), at.identity)

    drop_seen = dropping(
      s.attention_dropout, use(0), at.identity, places.positions
    )
    visible = (
      at.rows.segment_ids[:, :, None] == places.rows.segment_ids[:, None, :]
    )
    fused = (
      read is x  # the kernel's queries are all places
      and bias is None  # it adds none to the scores
      and not is_heard(self)  # its weights never leave the chip
      and kernel_table.takes(
        'attention', x.shape[1], s.width // s.heads, self.dtype
      )
    )
    query, key_value = dense(s.width, 'query'), dense(2 * s.width, 'key_value')
    if fused:
      both = [one(x, at.rows, arrays=True) for one in (query, key_value)]
      qkv = side_by_side(x, both, at.rows.slots)
      y = self_attention(*qkv, s.heads, visible, drop_seen)
    else:
      memory = split_key_value(key_value(x, places.rows), s.heads)
      asked = query(read, at.rows)
      hear(self, asked, memory, visible, bias)
      y = attention(asked, memory, visible, drop_seen, bias)
    y = dense(s.width, 'attention_out')(y, at.rows)
    y = norm('attention_norm')(read + drop(y, 1), at.rows)

    up, down = dense(s.hidden, 'up'), dense(s.width, 'down')
    z = down(ACTIVATIONS[s.activation](up(y, at.rows)), at.rows)
    return norm('norm')(y + drop(z, 2), at.rows)


class Encoder(nn.Module):
  """Tokens to vectors."""

  shape: EncoderShape
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    embed = lambda count: Embed(count, s.embedding, self.dtype, s.deviation)
    self.word = embed(s.vocab)
    self.position = embed(s.positions)
    if s.types:
      self.type = embed(s.types)
    if s.buckets:
      self.distance = Embed(s.buckets, s.heads, deviation=s.deviation)
    self.norm = LayerNorm(s.eps, self.dtype)
    if s.projects:
      self.project = Dense(s.width, dtype=self.dtype, deviation=s.deviation)
    for i in range(s.depth):
      setattr(self, f'layer_{i}', EncoderLayer(s, self.dtype))

  def __call__(
    self,
    batch: Batch,
    key: UInt32[Array, ''] | None = None,
    heads_only: bool = False,
  ) -> Float[Array, 'r t d']:
    """[r, t, d], or with `heads_only` each example's first place [b, 1, d]."""
    if 'states' in batch:  # of an encoder that stays: known
      return jnp.asarray(batch['states'])[:, None]
    s = self.shape
    at = places(batch)
    # All at once: each alone would be an op of its own on an accelerator.
    keys = fold(key, jnp.arange(3 * s.depth + 1))
    x = self.embed(batch, None if keys is None else keys[0], at)
    bias = self.bias_of_distances(batch, at) if s.buckets else None
    own = None if keys is None else keys[1:].reshape(s.depth, 3)
    use, last = lambda i: None if own is None else own[i], s.depth - 1
    for i in range(last):
      x = getattr(self, f'layer_{i}')(x, use(i), at, bias)
    head_columns = jnp.asarray(batch['head_columns']) if heads_only else None
    layer = getattr(self, f'layer_{last}')
    x = layer(x, use(last), at, bias, head_columns)
    return one_each(x, batch) if heads_only else x

  def embed(
    self, batch: Batch, key: UInt32[Array, ''] | None, at: Places
  ) -> Float[Array, 'r t d']:
    s, rows = self.shape, at.rows
    x = self.word(jnp.asarray(batch['tokens']), rows)
    x = x + self.position(at.positions + s.position_offset, rows)
    if s.types:
      types = batch.get('types') if s.types > 1 else None
      types = jnp.zeros_like(rows.segment_ids) if types is None else types
      x = x + self.type(jnp.asarray(types), rows)
    x = self.norm(x, rows)
    x = dropout(x, s.dropout, key, at.identity)
    return self.project(x, rows) if s.projects else x

  def bias_of_distances(
    self, batch: Batch, at: Places
  ) -> Float[Array, 's h t t']:
    """What each head adds to the score of a query and a key, by distance.

    An example's places lie side by side, so that its distances are those of
    columns, and one bias serves all rows. Where per-example norms are asked
    for, each example reads a copy of the table of its own.
    """
    s, t = self.shape, at.positions.shape[1]
    index = jnp.asarray(bucket_of(s.buckets, t))[None]
    owner = jnp.ones((1, 1), jnp.int32)
    if is_probed(self):
      owner = at.at(jnp.asarray(batch['head_columns'])).rows.segment_ids
      mine = at.rows.segment_ids[:, :, None] == owner[:, None, :]
      copy = jnp.argmax(mine, axis=2).astype(jnp.int32)
      index = index + s.buckets * copy[:, :, None]
    copies = owner.shape[1]
    rows = Segments(jnp.repeat(owner, s.buckets, axis=1), at.rows.count, copies)
    ids = jnp.tile(jnp.arange(s.buckets), copies)
    values = self.distance(jnp.broadcast_to(ids, rows.segment_ids.shape), rows)
    flat = index.reshape(index.shape[0], t * t, 1)
    read = jnp.take_along_axis(values, flat, axis=1)
    return jnp.moveaxis(read.reshape(-1, t, t, s.heads), 3, 1)


def bucket_of(buckets: int, t: int) -> Int[np.ndarray, 't t']:
  """The bucket of the distance of a key (column) from a query (row).

  Half of them are for keys behind the query. Of each half the first half are
  of one distance each, the others grow by a factor up to 128 (Raffel et al.
  2020, arXiv:1910.10683).
  """
  half, exact = buckets // 2, buckets // 4
  behind = np.arange(t)[None] - np.arange(t)[:, None]
  far = np.abs(behind)
  # As torch rounds: float32 throughout.
  ratio = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact))
  steps = ratio / np.float32(np.log(128 / exact)) * np.float32(half - exact)
  large = np.minimum(exact + steps.astype(np.int32), half - 1)
  bucket = np.where(far < exact, far, large)
  return (bucket + half * (behind > 0)).astype(np.int32)


def queries_of(
  bias: Float[Array, 's h t t'], columns: Int[Array, 'r m']
) -> Float[Array, 'r h m t']:
  """The bias of the queries at these columns of each row."""
  r = columns.shape[0]
  bias = jnp.broadcast_to(bias, (r, *bias.shape[1:]))
  return jnp.take_along_axis(bias, columns[:, None, :, None], axis=2)
