"""DeBERTa-v2 and v3 (He et al. 2021, arXiv:2006.03654 and arXiv:2111.09543).

Disentangled attention: beside content to content, the score of a query at i
and a key at j has content to position and position to content,

  (q_i·k_j + q_i·K e_δ(i,j) + k_j·Q e_δ(i,j)) / √(3 d/h)

with δ the distance i - j, exact where it is small and in logarithmic buckets
where it is large, e a table that all layers share, and Q and K the same
projections that content goes through.
"""

import dataclasses
import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float, Int, UInt32

from fairjax.models.families import bert, kinds
from fairjax.models.families.config_keys import Key, of_family, shape_class
from fairjax.models.families.family import Family, Head
from fairjax.models.families.heads import SequenceClassifier
from fairjax.models.layers.attention import (
  ACTIVATIONS,
  KeyValue,
  attention,
  dropping,
  hear,
)
from fairjax.models.layers.dropout import dropout, fold, hash32
from fairjax.models.layers.gathers import columns_of
from fairjax.models.layers.places import Batch, Places, one_each, places
from fairjax.models.layers.probed import (
  Dense,
  Embed,
  LayerNorm,
  Segments,
  is_probed,
)
from fairjax.models.layers.products import exact

KINDS = ('c2p', 'p2c')


@shape_class('deberta-v2')
class DebertaShape:
  """Everything about a DeBERTa that its parameters do not say."""

  buckets: int = 256  # of distances on either side; below 1: each its own
  farthest: int = -1  # distance that is told apart; below 1: `positions`
  attends: tuple[str, ...] = KINDS

  @property
  def longest(self) -> int:
    return self.positions

  @property
  def projects(self) -> bool:
    return self.embedding != self.width

  @property
  def reach(self) -> int:
    return self.farthest if self.farthest > 0 else self.positions

  @property
  def span(self) -> int:
    """Half of the rows of the table of distances."""
    return self.buckets if self.buckets > 0 else self.reach


def bucket_rows(shape: DebertaShape, longest: int) -> Int[np.ndarray, ' n']:
  """The table's row of each distance from 1 - longest to longest - 1."""
  distance = np.arange(1 - longest, longest)
  if shape.buckets > 0:
    middle = shape.buckets // 2
    far = np.maximum(np.abs(distance), middle).astype(np.float32)
    ratio = np.float32((shape.reach - 1) / middle)
    share = np.log(far / np.float32(middle)) / np.log(ratio)
    far = np.ceil(share * np.float32(middle - 1)) + middle
    near = np.abs(distance) <= middle
    distance = np.where(near, distance, far * np.sign(distance)).astype(int)
  return np.clip(distance + shape.span, 0, 2 * shape.span - 1)


@struct.dataclass
class Distances:
  """The table's rows that a batch can reach, and which each pair reads.

  One copy for the batch. Where per-example gradients are asked for, one for
  each example, in its own row: so a gradient by a copy is that of an example.
  """

  values: Float[Array, 's p d']  # s is 1, or the rows of the batch
  rows: Segments  # whose copy
  identity: UInt32[Array, 's p']  # for dropout
  index: Int[Array, 'r t t']  # of a query and a key


class DebertaLayer(nn.Module):
  """Attention and feed-forward, each with dropout, residual and norm."""

  shape: DebertaShape
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self,
    x: Float[Array, 'r t d'],
    keys: UInt32[Array, '4'] | None,
    places: Places,
    table: Distances,
    head_columns: Int[Array, 'r m'] | None = None,
  ) -> Float[Array, 'r q d']:
    """The layer at all places, or at the columns `head_columns` only."""
    s = self.shape
    dense = lambda features, name: Dense(
      features, dtype=self.dtype, deviation=s.deviation, name=name
    )
    norm = lambda name: LayerNorm(s.eps, self.dtype, name=name)
    use = lambda kind: None if keys is None else keys[kind]
    read, at, index = x, places, table.index
    if head_columns is not None:
      columns = head_columns[:, :, None]
      read = columns_of(x, head_columns)
      at = places.at(head_columns)
      index = jnp.take_along_axis(index, columns, axis=1)
    drop = lambda y, kind: dropout(y, s.dropout, use(kind), at.identity)
    drop_seen = dropping(
      s.attention_dropout, use(0), at.identity, places.positions
    )

    values = dropout(table.values, s.dropout, use(3), table.identity)
    table = dataclasses.replace(table, values=values)
    query, far_query = _both(dense(s.width, 'query'), read, at.rows, table)
    key, far_key = _both(dense(s.width, 'key'), x, places.rows, table)
    value = dense(s.width, 'value')(x, places.rows)
    query, far_query, key, far_key, value = (
      _heads(a, s.heads) for a in (query, far_query, key, far_key, value)
    )
    scale = (len(s.attends) + 1) ** -0.5  # attention divides by √e itself
    bias = _bias(s, query, key, far_query, far_key, index)
    visible = (
      at.rows.segment_ids[:, :, None] == places.rows.segment_ids[:, None, :]
    )
    flat = query.swapaxes(1, 2).reshape(*read.shape)
    memory = KeyValue(key * scale, value)
    hear(self, flat, memory, visible, bias)
    y = attention(flat, memory, visible, drop_seen, bias)
    y = dense(s.width, 'attention_out')(y, at.rows)
    y = norm('attention_norm')(read + drop(y, 1), at.rows)

    z = ACTIVATIONS[s.activation](dense(s.hidden, 'up')(y, at.rows))
    z = dense(s.width, 'down')(z, at.rows)
    return norm('norm')(y + drop(z, 2), at.rows)


def _heads(x: Float[Array, 'r t d'], heads: int) -> Float[Array, 'r h t e']:
  r, t, d = x.shape
  return x.reshape(r, t, heads, d // heads).swapaxes(1, 2)


def _both(
  project: Dense, x: Float[Array, 'r t d'], rows: Segments, table: Distances
) -> tuple[Float[Array, 'r t f'], Float[Array, 's p f']]:
  """A projection of content and of distances.

  Where each row has copies of its own both go through at once, side by side:
  an example's gradient is the sum of the two products, and the probe reads it
  as that of one sequence.
  """
  if not is_probed(project):
    return project(x, rows), project(table.values, table.rows)
  t = x.shape[1]
  owners = (rows.segment_ids, table.rows.segment_ids)
  y = project(
    jnp.concatenate([x, table.values], axis=1),
    Segments(jnp.concatenate(owners, axis=1), rows.count),
  )
  return y[:, :t], y[:, t:]


def _bias(
  s: DebertaShape,
  query: Float[Array, 'r h q e'],
  key: Float[Array, 'r h k e'],
  far_query: Float[Array, 's h p e'],
  far_key: Float[Array, 's h p e'],
  index: Int[Array, 'r q k'],
) -> Float[Array, 'r h q k']:
  """Content to position and position to content, over √((1 + kinds) e)."""
  # matmul leaves a single copy where it is.
  product = lambda a, far: jnp.matmul(
    a, far.swapaxes(2, 3), precision=exact(a.dtype)
  ).astype(jnp.float32)
  read = lambda scores, at: jnp.take_along_axis(scores, at[:, None], axis=3)
  total = jnp.zeros((), jnp.float32)
  if 'c2p' in s.attends:
    total += read(product(query, far_key), index)
  if 'p2c' in s.attends:
    turned = read(product(key, far_query), index.swapaxes(1, 2))
    total += turned.swapaxes(2, 3)
  return total * ((len(s.attends) + 1) * query.shape[-1]) ** -0.5


class DebertaEncoder(nn.Module):
  """Tokens to vectors."""

  shape: DebertaShape
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    table = lambda count, width: Embed(count, width, self.dtype, s.deviation)
    self.word = table(s.vocab, s.embedding)
    self.distance = table(2 * s.span, s.width)
    if s.types:
      self.type = table(s.types, s.embedding)
    if s.projects:
      self.project = Dense(s.width, False, self.dtype, s.deviation)
    norm = lambda: LayerNorm(s.eps, self.dtype)
    self.norm, self.distance_norm = norm(), norm()
    for i in range(s.depth):
      setattr(self, f'layer_{i}', DebertaLayer(s, self.dtype))

  def __call__(
    self,
    batch: Batch,
    key: UInt32[Array, ''] | None = None,
    heads_only: bool = False,
  ) -> Float[Array, 'r t d']:
    """[r, t, d], or with `heads_only` each example's first place [b, 1, d]."""
    s, at = self.shape, places(batch)
    keys = fold(key, jnp.arange(4 * s.depth + 1))
    own = None if keys is None else keys[1:].reshape(s.depth, 4)
    use = lambda i: None if own is None else own[i]
    x = self.word(jnp.asarray(batch['tokens']), at.rows)
    if s.types:
      types = batch.get('types') if s.types > 1 else None
      types = jnp.zeros_like(at.rows.segment_ids) if types is None else types
      x = x + self.type(jnp.asarray(types), at.rows)
    if s.projects:
      x = self.project(x, at.rows)
    x = self.norm(x, at.rows)
    x = dropout(x, s.dropout, None if keys is None else keys[0], at.identity)
    table = self.distances(batch, at)
    last = s.depth - 1
    for i in range(last):
      x = getattr(self, f'layer_{i}')(x, use(i), at, table)
    columns = jnp.asarray(batch['head_columns']) if heads_only else None
    x = getattr(self, f'layer_{last}')(x, use(last), at, table, columns)
    return one_each(x, batch) if heads_only else x

  def distances(self, batch: Batch, at: Places) -> Distances:
    """The rows of the table that texts of this length reach, normed."""
    longest = at.positions.shape[1]
    row_of = bucket_rows(self.shape, longest)
    first, count = int(row_of.min()), int(row_of.max() - row_of.min() + 1)
    apart = at.positions[:, :, None] - at.positions[:, None, :]
    apart = jnp.clip(apart, 1 - longest, longest - 1) + longest - 1
    index = jnp.asarray(row_of - first, jnp.int32)[apart]
    owner = jnp.ones((1, 1), jnp.int32)
    if is_probed(self):
      owner = at.at(jnp.asarray(batch['head_columns'])).rows.segment_ids
      mine = at.rows.segment_ids[:, :, None] == owner[:, None, :]
      index += count * jnp.argmax(mine, axis=2).astype(jnp.int32)[:, :, None]
    copies = owner.shape[1]
    rows = Segments(jnp.repeat(owner, count, axis=1), at.rows.count, copies)
    ids = jnp.tile(jnp.arange(first, first + count), copies)
    ids = jnp.broadcast_to(ids, rows.segment_ids.shape)
    values = self.distance_norm(self.distance(ids, rows), rows)
    return Distances(values, rows, hash32(ids.astype(jnp.uint32)), index)


def _kinds(value: Any) -> tuple[str, ...]:
  parts = value.split('|') if isinstance(value, str) else value
  return tuple(sorted({str(part).strip().lower() for part in parts}))


# What DeBERTa-v3 and the smaller v2 have. It is read only to be checked; what
# transformers takes where config.json does not say it is another network.
REQUIRED = {
  **{'relative_attention': True, 'share_att_key': True},
  **{'position_biased_input': False, 'norm_rel_ebd': 'layer_norm'},
}
KEYS = (
  *of_family('deberta-v2'),
  Key(
    'attends',
    'pos_att_type',
    (),
    kinds.Allowed(
      'made of c2p and p2c',
      lambda v: isinstance(v, str | list) and set(_kinds(v)) <= set(KINDS),
      _kinds,
    ),
    null=True,
  ),
)


def wrong(values: Any) -> str:
  for theirs, ours in REQUIRED.items():
    if values[theirs] != ours:
      return (
        f'has {theirs} {kinds.shown(values[theirs])} (or does not say it); of '
        f'this family only networks with {kinds.shown(ours)} are known here, '
        'as DeBERTa-v3 and the smaller v2 are'
      )
  return ''


sized = functools.partial(bert.sized, kind=DebertaShape)


FAMILY = Family(
  name='deberta-v2',
  shape=DebertaShape,
  keys=KEYS,
  body=DebertaEncoder,
  tensors='deberta-v2',
  prefix='deberta.',
  heads={
    'classify': Head(
      'DebertaV2ForSequenceClassification',
      'deberta-v2.classify',
      SequenceClassifier,
      {'activation': 'gelu'},
    ),
    'embed': Head('DebertaV2Model'),
  },
  sized=sized,
  wrong=wrong,
  extra=lambda shape: REQUIRED,
)
