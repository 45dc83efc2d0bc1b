"""ModernBERT (Warner et al. 2024, arXiv:2412.13663).

Pre-norm layers without biases, rotary positions, gated feed-forward (GeGLU),
and attention to all of a text in some layers, to a window around each place in
the others. Attention stays within an example and positions restart, so packed
rows are exact.
"""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.models.families import heads
from fairjax.models.families.config_keys import of_family, shape_class
from fairjax.models.families.family import Family, Head
from fairjax.models.layers.attention import (
  ACTIVATIONS,
  KeyValue,
  attention,
  dropping,
  hear,
  rotate,
  split_key_value,
)
from fairjax.models.layers.dropout import dropout, fold
from fairjax.models.layers.gathers import columns_of
from fairjax.models.layers.places import (
  Batch,
  Places,
  head_rows,
  mean_places,
  one_each,
  places,
)
from fairjax.models.layers.probed import (
  Dense,
  Embed,
  LayerNorm,
  mask_padding_gradient,
)

GLOBAL, LOCAL = 'full_attention', 'sliding_attention'


@shape_class('modernbert')
class ModernBertShape:
  """Everything about a ModernBERT that its parameters do not say."""

  layer_types: tuple[str, ...] = ()  # of each layer: GLOBAL or LOCAL
  window: int = 128  # places that a local layer sees, half on either side

  @property
  def longest(self) -> int:
    return self.positions

  @property
  def embedding(self) -> int:
    return self.width


class ModernBertLayer(nn.Module):
  """x + attention(norm x), then x + gated feed-forward(norm x)."""

  shape: ModernBertShape
  number: int
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self,
    x: Float[Array, 'r t d'],
    key: UInt32[Array, ''] | None,
    places: Places,
    head_columns: Int[Array, 'r m'] | None = None,
  ) -> Float[Array, 'r q d']:
    """The layer at all places, or at the columns `head_columns` only."""
    s = self.shape
    whole = s.layer_types[self.number] == GLOBAL
    # What is added to the residual starts smaller the more layers there are.
    less = s.deviation * (2 * s.depth) ** -0.5
    dense = lambda features, name, bias, deviation=s.deviation: Dense(
      features, bias, self.dtype, deviation, name=name
    )
    norm = lambda name: LayerNorm(s.eps, self.dtype, s.norm_bias, name=name)
    use = lambda kind: fold(key, 3 * self.number + kind)
    first = lambda a: columns_of(a, head_columns)

    # The embeddings' norm stands before the first layer.
    y = norm('attention_norm')(x, places.rows) if self.number else x
    y = dense(3 * s.width, 'attend', s.attention_bias)(y, places.rows)
    query, key_value = y[..., : s.width], y[..., s.width :]
    at, residual = places, x
    if head_columns is not None:
      at, residual, query = places.at(head_columns), first(x), first(query)
    theta = s.global_theta if whole else s.local_theta
    memory = split_key_value(key_value, s.heads)
    memory = KeyValue(
      rotate(memory.keys, places.positions[:, None], theta), memory.values
    )
    drop = dropping(s.attention_dropout, use(1), at.identity, places.positions)
    visible = _visible(at, places, None if whole else s.window // 2)
    query = _turned(query, s.heads, at, theta)
    hear(self, query, memory, visible)
    y = attention(query, memory, visible, drop)
    y = dense(s.width, 'attention_out', s.attention_bias, less)(y, at.rows)
    x = residual + dropout(y, s.attention_dropout, use(2), at.identity)

    z = norm('hidden_norm')(x, at.rows)
    z = dense(2 * s.hidden, 'up', s.hidden_bias)(z, at.rows)
    z, gate = jnp.split(z, 2, axis=-1)
    z = ACTIVATIONS[s.activation](z) * gate
    z = dropout(z, s.hidden_dropout, use(3), at.identity)
    return x + dense(s.width, 'down', s.hidden_bias, less)(z, at.rows)


def _turned(
  query: Float[Array, 'r q d'], heads: int, at: Places, theta: float
) -> Float[Array, 'r q d']:
  """The query with each head's features turned by the places' positions."""
  r, q, d = query.shape
  each = query.reshape(r, q, heads, d // heads)
  return rotate(each, at.positions[:, :, None], theta).reshape(r, q, d)


def _visible(
  at: Places, places: Places, reach: int | None
) -> Bool[Array, 'r q t']:
  """Places of the same example, no further than `reach` away."""
  side = lambda a, b: (a[:, :, None], b[:, None, :])
  mine, theirs = side(at.rows.segment_ids, places.rows.segment_ids)
  same = mine == theirs
  if reach is None:
    return same
  here, there = side(at.positions, places.positions)
  return same & (jnp.abs(here - there) <= reach)


class ModernBertEncoder(nn.Module):
  """Tokens to vectors."""

  shape: ModernBertShape
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    self.word = Embed(s.vocab, s.width, self.dtype, s.deviation)
    norm = lambda: LayerNorm(s.eps, self.dtype, s.norm_bias)
    self.norm, self.final_norm = norm(), norm()
    for i in range(s.depth):
      setattr(self, f'layer_{i}', ModernBertLayer(s, i, self.dtype))

  def __call__(
    self,
    batch: Batch,
    key: UInt32[Array, ''] | None = None,
    heads_only: bool = False,
  ) -> Float[Array, 'r t d']:
    """[r, t, d], or with `heads_only` each example's first place [b, 1, d]."""
    s, at = self.shape, places(batch)
    x = self.norm(self.word(jnp.asarray(batch['tokens']), at.rows), at.rows)
    # Layers use the numbers 1 … 3 depth of the key, the embeddings 0.
    x = dropout(x, s.embedding_dropout, fold(key, 0), at.identity)
    for i in range(s.depth - 1):
      x = getattr(self, f'layer_{i}')(x, key, at)
    last = getattr(self, f'layer_{s.depth - 1}')
    if not heads_only:
      return self.final_norm(last(x, key, at), at.rows)
    x = last(x, key, at, jnp.asarray(batch['head_columns']))
    return self.final_norm(one_each(x, batch), head_rows(batch))


class ModernBertClassifier(nn.Module):
  """Logits of each example, from its first place or the mean of all.

  dense, activation, norm, dropout, dense. The result is float32 [b, c].
  """

  encoder: nn.Module
  classes: int
  dtype: Any = jnp.float32

  shape = property(heads.encoder_shape)

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'b c']:
    s, rows = self.shape, head_rows(batch)
    if s.pooling == 'mean':
      x = mean_places(self.encoder(batch, dropout_key), places(batch).rows)
    else:
      x = self.encoder(batch, dropout_key, heads_only=True)
    x = Prediction(s, self.dtype, name='head')(x, rows)
    x = heads.drop_head(x, batch, s.head_dropout, dropout_key)
    x = Dense(self.classes, deviation=s.width**-0.5, name='classifier')(x, rows)
    return mask_padding_gradient(x[:, 0], rows.segment_ids[:, 0])


class Prediction(nn.Module):
  """dense, activation, norm: what both heads begin with."""

  shape: ModernBertShape
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(self, x: Float[Array, 'r t d'], rows: Any) -> Any:
    s = self.shape
    less = s.deviation * (2 * s.depth) ** -0.5
    x = Dense(s.width, s.head_bias, self.dtype, less, name='dense')(x, rows)
    x = ACTIVATIONS[s.head_activation](x)
    return LayerNorm(s.eps, self.dtype, s.norm_bias, name='norm')(x, rows)


def _pattern(values: dict[str, Any]) -> tuple[str, ...]:
  """Every n-th layer sees all, from the first on."""
  every = values['every']
  return tuple(LOCAL if i % every else GLOBAL for i in range(values['depth']))


def derive(values: Any) -> dict[str, Any]:
  types = values['layer_types']
  return {'layer_types': _pattern(values) if types is None else types}


def wrong(values: Any) -> str:
  if len(values['layer_types']) != values['depth']:
    return (
      f'has {len(values["layer_types"])} layer_types for num_hidden_layers '
      f'{values["depth"]}; it must name one for each layer'
    )
  if values['width'] // values['heads'] % 2:
    return (
      f'has hidden_size {values["width"]} and num_attention_heads '
      f'{values["heads"]}; rotary positions need heads of an even size'
    )
  return ''


def sized(
  depth: int, width: int, places: int = 8192, **rest: Any
) -> ModernBertShape:
  plain = {'heads': width // 64, 'hidden': width * 3 // 2}
  types = _pattern({'depth': depth, 'every': 3})
  return ModernBertShape(
    depth=depth,
    width=width,
    positions=places,
    layer_types=types,
    **(plain | rest),
  )


FAMILY = Family(
  name='modernbert',
  shape=ModernBertShape,
  keys=of_family('modernbert'),
  body=ModernBertEncoder,
  tensors='modernbert',
  prefix='model.',
  heads={
    'classify': Head(
      'ModernBertForSequenceClassification',
      'modernbert.classify',
      ModernBertClassifier,
    ),
    'mask': Head(
      'ModernBertForMaskedLM',
      'modernbert.mask',
      heads.MaskedLM,
      {'transform': Prediction},
    ),
    'embed': Head('ModernBertModel'),
  },
  sized=sized,
  derive=derive,
  wrong=wrong,
)
