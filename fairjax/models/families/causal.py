"""What left-to-right models share: body, causal mask, cache, token losses.

The cache of a layer is static: the keys and values of w places, [n, h, w, e].
Each row has its own count of places that are valid, so
rows at different lengths decode side by side; what lies beyond a row's count is
never visible, and is overwritten before it would be.
"""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.models.layers import probed
from fairjax.models.layers.attention import (
  KeyValue,
  attention,
  dropping,
  split_key_value,
)
from fairjax.models.layers.dropout import dropout, fold
from fairjax.models.layers.gathers import own_score
from fairjax.models.layers.places import Batch, Places, places


class LeftToRight(nn.Module):
  """Scores of the token after each place, float32 [r, t, v].

  Word embeddings, layers of the family, a norm, and as output layer the word
  embeddings or a matrix of its own. `module.apply` scores every place of a
  packed batch, of which `following` are the labels. `remember` and `step`
  decode with a static cache, the prompt being the source.
  """

  layer: Any  # layer(shape, dtype)(x, at, visible, key, cache)
  shape: Any
  dtype: Any = jnp.float32
  learned_positions: bool = False
  centred: bool = True  # the norm; else RMSNorm

  def setup(self):
    s = self.shape
    embed = lambda count: probed.Embed(count, s.width, self.dtype, s.deviation)
    self.word = embed(s.vocab)
    if self.learned_positions:
      self.position = embed(s.positions)
    for i in range(s.depth):
      setattr(self, f'layer_{i}', self.layer(s, self.dtype))
    self.norm = probed.LayerNorm(s.eps, self.dtype, self.centred, self.centred)
    if not s.tied:
      self.decoder = probed.Dense(s.vocab, False, self.dtype, s.deviation)

  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t v']:
    at, x = places(batch), self.states(batch, dropout_key)
    return probed.mask_padding_gradient(self.scores(x, at), at.rows.segment_ids)

  def states(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t d']:
    """What the scores are a linear function of."""
    at = places(batch)
    tokens, visible = jnp.asarray(batch['tokens']), causal(at.rows.segment_ids)
    return self._layers(tokens, at, visible, dropout_key)[0]

  def remember(self, tokens: Int[Array, 'b t'], segment_ids: Int[Array, 'b t']):
    """Nothing: the prompt is in the cache."""
    return ()

  def blank_cache(self, rows: int, width: int) -> tuple:
    s = self.shape
    features = s.groups * s.head_width
    return blank_cache(s.depth, rows, width, s.groups, features, self.dtype)

  def step(
    self,
    tokens: Int[Array, 'n q'],
    at: Int[Array, 'n'],
    cache: tuple,
    source: tuple = (),
  ) -> tuple[Float[Array, 'n q v'], tuple]:
    """Scores after each of q tokens, the first of them at position `at`."""
    here = step_places(at, tokens.shape[1])
    visible = cached(here.positions, width(cache))
    x, cache = self._layers(tokens, here, visible, None, cache)
    return self.scores(x, here), cache

  def _layers(self, tokens, at, visible, key, cache=None):
    s, x = self.shape, self.word(tokens, at.rows)
    if self.learned_positions:
      x = x + self.position(at.positions, at.rows)
      x = dropout(x, s.embedding_dropout, fold(key, 0), at.identity)
    caches = []
    for i in range(s.depth):
      old = None if cache is None else cache[i]
      layer = getattr(self, f'layer_{i}')
      x, new = layer(x, at, visible, fold(key, i + 1), old)
      caches.append(new)
    return self.norm(x, at.rows), tuple(caches)

  def scores(
    self, x: Float[Array, 'r t d'], at: Places
  ) -> Float[Array, 'r t v']:
    if self.shape.tied:
      return self.word.attend(x).astype(jnp.float32)
    return self.decoder(x, at.rows).astype(jnp.float32)


def causal(segment_ids: Int[Array, 'r t']) -> Bool[Array, 'r t t']:
  """Each place sees those of its example up to itself."""
  same = segment_ids[:, :, None] == segment_ids[:, None, :]
  at = jnp.arange(segment_ids.shape[1])
  return same & (at[:, None] >= at[None, :])


def cached(at: Int[Array, 'n q'], width: int) -> Bool[Array, 'n q w']:
  """A place at position p sees the cache up to p."""
  return jnp.arange(width) <= at[:, :, None]


def write(cache: KeyValue, new: KeyValue, at: Int[Array, 'n q']) -> KeyValue:
  """The cache with `new` at the columns `at`; columns beyond it are lost."""
  row = jnp.arange(at.shape[0])[:, None]

  def put(old, one):
    one = one.swapaxes(1, 2).astype(old.dtype)
    return old.at[row, :, at].set(one, mode='drop')

  return KeyValue(*map(put, cache, new))


def blank_cache(
  depth: int, rows: int, width: int, heads: int, features: int, dtype
) -> tuple[KeyValue, ...]:
  """An empty cache of `depth` layers."""
  blank = jnp.zeros((rows, heads, width, features // heads), dtype)
  return tuple(KeyValue(blank, blank) for _ in range(depth))


def width(cache: tuple[KeyValue, ...]) -> int:
  """How many places a cache has room for."""
  return cache[0].keys.shape[-2]


def attend(
  qkv: Float[Array, 'r t d'],
  heads: int,
  at: Places,
  visible: Bool[Array, 'r t k'],
  rate: float,
  key: UInt32[Array, ''] | None,
  cache: KeyValue | None,
) -> tuple[Float[Array, 'r t e'], KeyValue | None]:
  """Attention of one product's query, keys and values; the cache after it."""
  width = qkv.shape[-1] // 3
  query, memory = (qkv[..., :width], split_key_value(qkv[..., width:], heads))
  drop = dropping(rate, key, at.identity, at.positions)
  if cache is not None:
    cache = memory = write(cache, memory, at.positions)
    drop = None  # decoding drops nothing
  return attention(query, memory, visible, drop), cache


def step_places(at: Int[Array, 'n'], count: int) -> Places:
  """The places of `count` new tokens of each row, the first at position at."""
  positions = at[:, None] + jnp.arange(count)
  ones = jnp.ones_like(positions)
  nobody = jnp.zeros(positions.shape, jnp.uint32)
  return Places(probed.Segments(ones, at.shape[0]), positions, nobody)


def token_losses(
  logits: Float[Array, 'r t v'], labels: Int[Array, 'r t']
) -> Float[Array, 'r t']:
  """-log p(label) at each place, in float32."""
  logits = logits.astype(jnp.float32)
  return jax.nn.logsumexp(logits, axis=-1) - own_score(logits, labels)


def following(batch: Batch) -> tuple[Int[Array, 'r t'], Int[Array, 'r t']]:
  """The next token at each place, and its segment id: 0 at an example's end."""
  tokens, segment_ids = (
    jnp.asarray(batch['tokens']),
    jnp.asarray(batch['segment_ids']),
  )
  after = jnp.roll(segment_ids, -1, axis=1).at[:, -1].set(0)
  return jnp.roll(tokens, -1, axis=1), jnp.where(
    after == segment_ids, segment_ids, 0
  )
