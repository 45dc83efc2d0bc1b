"""BART (Lewis et al. 2020, arXiv:1910.13461): text in, text out.

Post-norm layers as in the encoder, and a decoder that sees itself to the left
and the encoder's output across. The word embeddings are also the output
layer. A batch holds source and target side by side: `tokens, segment_ids,
positions` [r, t] and `target, target_segment_ids, target_positions` [r, u],
where the k-th example has segment id k in both; `target` are the labels, and
what the decoder reads is the target shifted right by one.

For decoding, `remember` runs the encoder once and `step` adds a few tokens to
a static cache; decoding/decode.py drives the two.
"""

from typing import Any, NamedTuple

import flax.linen as nn
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.models.families import causal
from fairjax.models.families.config_keys import of_family, shape_class
from fairjax.models.families.family import Family, Head
from fairjax.models.layers import probed
from fairjax.models.layers.attention import (
  ACTIVATIONS,
  KeyValue,
  attention,
  dropping,
  split_key_value,
)
from fairjax.models.layers.dropout import dropout, fold, identities
from fairjax.models.layers.places import Batch, Places, places

EPS = 1e-5  # of every norm; BART's configs do not name it
_DECODER = 1 << 16  # the decoder's numbers of the dropout key start here


@shape_class('bart')
class BartShape:
  """Everything about a BART that its parameters do not say."""

  longest: int = 1024  # tokens of a source, and of a target
  position_offset: int = 2  # rows of the position tables before position 0
  attention_dropout: float = 0.1
  activation_dropout: float = 0.1

  @property
  def positions(self) -> int:
    """Rows of either position table."""
    return self.longest + self.position_offset


def sized(depth: int, width: int, places: int = 1024) -> BartShape:
  """As many layers on either side."""
  heads, hidden = width // 64, 4 * width
  return BartShape(
    width=width,
    depth=depth,
    decoder_depth=depth,
    heads=heads,
    decoder_heads=heads,
    hidden=hidden,
    decoder_hidden=hidden,
    longest=places,
  )


class Source(NamedTuple):
  """What the decoder sees of the encoder's side."""

  segment_ids: Int[Array, 'r t']
  positions: Int[Array, 'r t']
  seen: tuple[KeyValue, ...]  # of each decoder layer


class BartLayer(nn.Module):
  """Self-attention, with `cross` also attention to a source, feed-forward."""

  shape: BartShape
  heads: int
  hidden: int
  cross: bool = False
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    dense = lambda features: probed.Dense(
      features, dtype=self.dtype, deviation=s.deviation
    )
    norm = lambda: probed.LayerNorm(EPS, self.dtype)
    self.attend, self.attention_out = dense(3 * s.width), dense(s.width)
    self.attention_norm = norm()
    if self.cross:
      self.query, self.key_value = dense(s.width), dense(2 * s.width)
      self.cross_mix, self.cross_norm = dense(s.width), norm()
    self.up, self.down, self.norm = dense(self.hidden), dense(s.width), norm()

  def __call__(
    self,
    x: Float[Array, 'r t d'],
    at: Places,
    visible: Bool[Array, 'r t k'],
    key: UInt32[Array, ''] | None = None,
    source: Source | None = None,
    number: int = 0,
    cache: KeyValue | None = None,
  ) -> tuple[Float[Array, 'r t d'], KeyValue | None]:
    s, rows = self.shape, at.rows
    drop = lambda y, kind, rate=s.dropout: dropout(
      y, rate, fold(key, kind), at.identity
    )
    qkv, rate = self.attend(x, rows), s.attention_dropout
    y, cache = causal.attend(
      qkv, self.heads, at, visible, rate, fold(key, 0), cache
    )
    x = self.attention_norm(x + drop(self.attention_out(y, rows), 1), rows)
    if source is not None:
      y = self.across(x, at, fold(key, 2), source, source.seen[number])
      x = self.cross_norm(x + drop(self.cross_mix(y, rows), 3), rows)
    z = ACTIVATIONS[s.activation](self.up(x, rows))
    z = self.down(drop(z, 4, s.activation_dropout), rows)
    return self.norm(x + drop(z, 5), rows), cache

  def across(
    self,
    x: Float[Array, 'n q d'],
    at: Places,
    key: UInt32[Array, ''] | None,
    source: Source,
    memory: KeyValue,
  ) -> Float[Array, 'n q d']:
    """Attention to the source; n / b beams of a text share its source."""
    (n, q, d), b = x.shape, memory.keys.shape[0]
    beside = lambda a: a.reshape(b, n // b * q, *a.shape[2:])
    drop_seen = dropping(
      self.shape.attention_dropout, key, beside(at.identity), source.positions
    )
    visible = (
      beside(at.rows.segment_ids)[:, :, None] == source.segment_ids[:, None, :]
    )
    query = beside(self.query(x, at.rows))
    y = attention(query, memory, visible, drop_seen)
    return y.reshape(n, q, d)


class Stack(nn.Module):
  """Positions, norm and layers of one side."""

  shape: BartShape
  depth: int
  heads: int
  hidden: int
  cross: bool = False
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    self.position = probed.Embed(s.positions, s.width, self.dtype, s.deviation)
    self.norm = probed.LayerNorm(EPS, self.dtype)
    for i in range(self.depth):
      layer = BartLayer(s, self.heads, self.hidden, self.cross, self.dtype)
      setattr(self, f'layer_{i}', layer)

  def __call__(
    self,
    x: Float[Array, 'r t d'],
    at: Places,
    visible: Bool[Array, 'r t k'],
    key: UInt32[Array, ''] | None = None,
    source: Source | None = None,
    cache: tuple | None = None,
  ) -> tuple[Float[Array, 'r t d'], tuple]:
    s = self.shape
    x = x + self.position(at.positions + s.position_offset, at.rows)
    x = self.norm(x, at.rows)
    x = dropout(x, s.dropout, fold(key, 0), at.identity)
    caches = []
    for i in range(self.depth):
      old = None if cache is None else cache[i]
      layer, use = getattr(self, f'layer_{i}'), fold(key, i + 1)
      x, new = layer(x, at, visible, use, source, i, old)
      caches.append(new)
    return x, tuple(caches)

  def sees(
    self, memory: Float[Array, 'r t d'], rows: probed.Segments
  ) -> tuple[KeyValue, ...]:
    """What each layer's attention sees of the encoder's output."""
    layers = [getattr(self, f'layer_{i}') for i in range(self.depth)]
    return tuple(
      split_key_value(layer.key_value(memory, rows), self.heads)
      for layer in layers
    )


class Bart(nn.Module):
  """Scores of every token at every place of the target, float32 [r, u, v]."""

  shape: BartShape
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    self.word = probed.Embed(s.vocab, s.width, self.dtype, s.deviation)
    self.encoder = Stack(s, s.depth, s.heads, s.hidden, False, self.dtype)
    self.decoder = Stack(
      s, s.decoder_depth, s.decoder_heads, s.decoder_hidden, True, self.dtype
    )
    self.bias = self.param('bias', nn.initializers.zeros, (1, s.vocab))

  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r u v']:
    return self.decode(batch, self.encode(batch, dropout_key), dropout_key)

  def encode(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Source:
    at = places(batch)
    x = self.encoded(batch, dropout_key)
    segment_ids = at.rows.segment_ids
    return Source(segment_ids, at.positions, self.decoder.sees(x, at.rows))

  def encoded(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t d']:
    """The encoder's states."""
    at = places(batch)
    segment_ids = at.rows.segment_ids
    x = self._embed(jnp.asarray(batch['tokens']), at.rows)
    same = segment_ids[:, :, None] == segment_ids[:, None, :]
    return self.encoder(x, at, same, dropout_key)[0]

  def decode(
    self,
    batch: Batch,
    source: Source,
    dropout_key: UInt32[Array, ''] | None = None,
  ) -> Float[Array, 'r u v']:
    """Teacher-forced scores of the target's tokens."""
    x = self.states(batch, source, dropout_key)
    segment_ids = jnp.asarray(batch['target_segment_ids'])
    return probed.mask_padding_gradient(self._scores(x), segment_ids)

  def written(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r u d']:
    """The decoder's states, of which the scores are a linear function."""
    x = self.states(batch, self.encode(batch, dropout_key), dropout_key)
    segment_ids = jnp.asarray(batch['target_segment_ids'])
    return probed.mask_padding_gradient(x, segment_ids)

  def states(
    self,
    batch: Batch,
    source: Source,
    dropout_key: UInt32[Array, ''] | None = None,
  ) -> Float[Array, 'r u d']:
    segment_ids, positions, example = (
      jnp.asarray(batch[name])
      for name in ('target_segment_ids', 'target_positions', 'example')
    )
    at = Places(
      probed.Segments(segment_ids, example.shape[0]),
      positions,
      identities(example, segment_ids, positions),
    )
    x = self._embed(shift_right(batch, self.shape.start), at.rows)
    key = fold(dropout_key, _DECODER)
    x, _ = self.decoder(x, at, causal.causal(segment_ids), key, source)
    return x

  def remember(
    self, tokens: Int[Array, 'b t'], segment_ids: Int[Array, 'b t']
  ) -> Source:
    """The encoder's side of b sources, one a row; pads have segment id 0."""
    at = causal.step_places(jnp.zeros_like(tokens[:, 0]), tokens.shape[1])
    batch = {
      'tokens': tokens,
      'segment_ids': segment_ids,
      'positions': at.positions,
      'example': jnp.arange(tokens.shape[0]),
    }
    return self.encode(batch)

  def blank_cache(self, rows: int, width: int) -> tuple:
    s = self.shape
    return causal.blank_cache(
      s.decoder_depth, rows, width, s.decoder_heads, s.width, self.dtype
    )

  def step(
    self,
    tokens: Int[Array, 'n q'],
    at: Int[Array, 'n'],
    cache: tuple,
    source: Source,
  ) -> tuple[Float[Array, 'n q v'], tuple]:
    """Scores after each of q tokens, the first of them at position `at`."""
    here = causal.step_places(at, tokens.shape[1])
    visible = causal.cached(here.positions, causal.width(cache))
    x = self._embed(tokens, here.rows)
    x, cache = self.decoder(x, here, visible, None, source, cache)
    return self._scores(x), cache

  def _embed(
    self, tokens: Int[Array, 'r t'], rows: probed.Segments
  ) -> Float[Array, 'r t d']:
    scale = self.shape.width**0.5 if self.shape.scaled else 1.0
    return self.word(tokens, rows) * scale

  def _scores(self, x: Float[Array, 'r t d']) -> Float[Array, 'r t v']:
    # A constant of the checkpoint, never trained (as in transformers).
    bias = lax.stop_gradient(self.bias)
    return self.word.attend(x).astype(jnp.float32) + bias


def shift_right(batch: Batch, start: int) -> Int[Array, 'r u']:
  """What the decoder reads: each target one place later, after `start`."""
  target = jnp.asarray(batch['target'])
  first = jnp.asarray(batch['target_positions']) == 0
  return jnp.where(first, start, jnp.roll(target, 1, axis=1))


_LM = Head('BartForConditionalGeneration', 'bart.write')

FAMILY = Family(
  name='bart',
  shape=BartShape,
  keys=of_family('bart'),
  body=Bart,
  tensors='bart',
  prefix='model.',
  heads={'write': _LM, 'infill': _LM},
  sized=sized,
  extra=lambda shape: {
    'is_encoder_decoder': True,
    # transformers takes token 2 where nothing is said, whatever that is.
    'forced_eos_token_id': shape.eos,
  },
)
