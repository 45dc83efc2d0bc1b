"""The Transformer encoder of BERT, RoBERTa and ELECTRA, on packed batches.

Post-norm layers as in Devlin et al. 2019 (arXiv:1810.04805). A batch row
holds several examples; attention stays within an example and positions
restart, so the numbers are those of the same examples padded one a row.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.errors import UserError
from fairjax.models.layers import (
  GOLDEN,
  Dense,
  Embed,
  LayerNorm,
  Segments,
  dropout,
  fold,
  hash32,
  identities,
)

Batch = Mapping[str, Any]  # arrays of JAX or numpy, as data/batches.py has them


@dataclasses.dataclass(frozen=True)
class Shape:
  """Everything about an encoder that its parameters do not say."""

  family: str = 'bert'  # 'bert', 'roberta' or 'electra'
  vocab: int = 30522
  width: int = 768
  depth: int = 12
  heads: int = 12
  hidden: int = 3072
  positions: int = 512  # rows of the position table
  types: int = 2
  position_offset: int = 0  # rows of that table before position 0
  eps: float = 1e-12
  activation: str = 'gelu'
  dropout: float = 0.1
  attention_dropout: float = 0.1
  head_dropout: float = 0.1
  embedding: int = 768  # width of the embeddings (ELECTRA: may be smaller)
  pad: int = 0
  deviation: float = 0.02  # of initial weights
  tied: bool = True  # the masked-LM head shares the word embeddings

  @property
  def longest(self) -> int:
    """The largest number of tokens of one example."""
    return self.positions - self.position_offset


def _sized(depth: int, width: int, **rest: Any) -> Shape:
  plain = {'heads': width // 64, 'hidden': 4 * width, 'embedding': width}
  return Shape(depth=depth, width=width, **(plain | rest))


_ROBERTA = {
  'family': 'roberta',
  'vocab': 50265,
  'positions': 514,
  'types': 1,
  'position_offset': 2,
  'eps': 1e-5,
  'pad': 1,
}

# Shapes without pretrained weights (as Turc et al. 2019 name them).
SIZES = ('tiny', 'mini', 'small', 'medium')

SHAPES = {
  'tiny': _sized(2, 128),
  'mini': _sized(4, 256),
  'small': _sized(4, 512),
  'medium': _sized(8, 512),
  'bert-base-uncased': _sized(12, 768),
  'bert-base-cased': _sized(12, 768, vocab=28996),
  'bert-large-uncased': _sized(24, 1024),
  'bert-large-cased': _sized(24, 1024, vocab=28996),
  'roberta-base': _sized(12, 768, **_ROBERTA),
  'roberta-large': _sized(24, 1024, **_ROBERTA),
  'distilroberta-base': _sized(6, 768, **_ROBERTA),
  'google/electra-small-discriminator': _sized(
    12, 256, family='electra', hidden=1024, embedding=128
  ),
  'google/electra-base-discriminator': _sized(12, 768, family='electra'),
}


def named_shape(name: str, vocab: int = 0) -> Shape:
  """The shape called `name`, with another vocabulary size if one is given."""
  short = name.split('/')[-1]
  found = SHAPES.get(name) or SHAPES.get(short)
  if found is None:
    if short.startswith('distilbert'):
      raise UserError(f'{name}: {_NO_DISTILBERT}')
    raise UserError(
      f'no model shape is named {name!r}; give a model folder with '
      f'--config.model=FOLDER or one of {", ".join(SHAPES)}'
    )
  return dataclasses.replace(found, vocab=vocab or found.vocab)


_NO_DISTILBERT = (
  'DistilBERT is not one of the encoders here (bert, roberta, electra); '
  'a small BERT such as MiniLM, or distilroberta-base, can take its place'
)


def shape_from_hf(config: Mapping[str, Any]) -> Shape:
  """The shape that a Hugging Face config.json describes."""
  family = config.get('model_type', '')
  if family == 'distilbert':
    raise UserError(_NO_DISTILBERT)
  if family not in ('bert', 'roberta', 'electra'):
    raise UserError(
      f'config.json has model_type {family!r}; the encoders here are bert, '
      'roberta and electra'
    )
  if config.get('position_embedding_type', 'absolute') != 'absolute':
    raise UserError(
      'config.json has position_embedding_type '
      f'{config["position_embedding_type"]!r}; only absolute is known'
    )
  if config.get('is_decoder') or config.get('add_cross_attention'):
    raise UserError('config.json describes a decoder; an encoder is needed')
  plain = {'bert': 30522, 'roberta': 50265, 'electra': 30522}[family]
  small = {'width': 256, 'heads': 4, 'hidden': 1024, 'embedding': 128}
  full = {'width': 768, 'heads': 12, 'hidden': 3072}
  default = small if family == 'electra' else full
  pad = config.get('pad_token_id')
  pad = (1 if family == 'roberta' else 0) if pad is None else pad
  width = config.get('hidden_size', default['width'])
  hidden_dropout = config.get('hidden_dropout_prob', 0.1)
  head = config.get('classifier_dropout')
  shape = Shape(
    family=family,
    vocab=config.get('vocab_size', plain),
    width=width,
    depth=config.get('num_hidden_layers', 12),
    heads=config.get('num_attention_heads', default['heads']),
    hidden=config.get('intermediate_size', default['hidden']),
    positions=config.get('max_position_embeddings', 512),
    types=config.get('type_vocab_size', 2),
    position_offset=pad + 1 if family == 'roberta' else 0,
    eps=config.get('layer_norm_eps', 1e-12),
    activation=config.get('hidden_act', 'gelu'),
    dropout=hidden_dropout,
    attention_dropout=config.get('attention_probs_dropout_prob', 0.1),
    head_dropout=hidden_dropout if head is None else head,
    embedding=config.get('embedding_size', default.get('embedding', width))
    if family == 'electra'
    else width,
    pad=pad,
    deviation=config.get('initializer_range', 0.02),
    tied=config.get('tie_word_embeddings', True),
  )
  if shape.activation not in ACTIVATIONS:
    raise UserError(
      f'config.json has hidden_act {shape.activation!r}; known are '
      f'{", ".join(ACTIVATIONS)}'
    )
  if shape.width % shape.heads:
    raise UserError(
      f'config.json has hidden_size {shape.width}, which its '
      f'{shape.heads} attention heads do not divide'
    )
  return shape


@jax.custom_vjp
def gelu(x: Float[Array, '*s']) -> Float[Array, '*s']:
  """x Φ(x); its derivative is recomputed from x, nothing else is kept."""
  return (0.5 * x * (1.0 + jax.lax.erf(x * np.sqrt(0.5).item()))).astype(
    x.dtype
  )


def _gelu_backward(x, g):
  below = 0.5 * (1.0 + jax.lax.erf(x * np.sqrt(0.5).item()))
  bell = jnp.exp(-0.5 * x * x) * (1.0 / np.sqrt(2.0 * np.pi).item())
  return ((g * (below + x * bell)).astype(x.dtype),)


gelu.defvjp(lambda x: (gelu(x), x), _gelu_backward)

ACTIVATIONS = {
  'gelu': gelu,
  'gelu_new': lambda x: jax.nn.gelu(x, approximate=True),
  'gelu_pytorch_tanh': lambda x: jax.nn.gelu(x, approximate=True),
  'relu': jax.nn.relu,
  'silu': jax.nn.silu,
}


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
  return Places(
    Segments(segment_ids, example.shape[0]),
    positions,
    identities(example, segment_ids, positions),
  )


def head_rows(batch: Batch) -> Segments:
  """The rows of [b, 1, d] activations: one place an example."""
  b = batch['example'].shape[0]
  segment_ids = jnp.where(batch['example'] >= 0, jnp.arange(1, b + 1), 0)
  return Segments(segment_ids[:, None], b)


class KeyValue(NamedTuple):
  """The keys and values of attention, heads first: as the products read them.

  A cache that lies otherwise is turned in memory at each step of decoding.
  """

  keys: Float[Array, 'r h k e']
  values: Float[Array, 'r h k e']


def split_key_value(key_value: Float[Array, 'r k d'], heads: int) -> KeyValue:
  """The keys and values that one product gives side by side."""
  r, k, d = key_value.shape
  both = key_value.reshape(r, k, 2, heads, d // heads // 2)
  return KeyValue(both[:, :, 0].swapaxes(1, 2), both[:, :, 1].swapaxes(1, 2))


def attention(
  query: Float[Array, 'r q d'],
  seen: KeyValue,
  visible: Bool[Array, 'r q k'],
  drop: Any,
) -> Float[Array, 'r q d']:
  """softmax(q·k / √(d/h)) v; `drop` is applied to the softmax."""
  r, heads, _, e = seen.keys.shape
  query = query.reshape(r, -1, heads, e) * e**-0.5
  scores = jnp.einsum('rqhe,rhke->rhqk', query, seen.keys).astype(jnp.float32)
  scores = scores + jnp.where(visible, 0.0, -1e9)[:, None]
  weights = drop(jax.nn.softmax(scores, axis=-1)).astype(seen.values.dtype)
  mixed = jnp.einsum('rhqk,rhke->rqhe', weights, seen.values)
  return mixed.reshape(r, -1, heads * e)


def drop_weights(
  weights: Float[Array, 'r h q k'],
  rate: float,
  key: UInt32[Array, ''] | None,
  identity: UInt32[Array, 'r q'],
  positions: Int[Array, 'r k'],
) -> Float[Array, 'r h q k']:
  """Dropout of attention that knows example, head and positions only."""
  head = jnp.arange(weights.shape[1], dtype=jnp.uint32) * jnp.uint32(GOLDEN)
  who = hash32(identity[:, None, :] + head[:, None])
  where = positions[:, None, None, :].astype(jnp.uint32)
  return dropout(weights, rate, key, who, where)


class Layer(nn.Module):
  """Attention and feed-forward, each with dropout, residual and norm."""

  shape: Shape
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self,
    x: Float[Array, 'r t d'],
    number: Int[Array, ''] | int,
    key: UInt32[Array, ''] | None,
    places: Places,
    cls_columns: Int[Array, 'r m'] | None = None,
  ) -> tuple[Float[Array, 'r q d'], None]:
    """The layer at all places, or at the columns `cls_columns` only.

    The None beside the result is what nn.scan asks for.
    """
    s = self.shape
    dense = lambda features, name: Dense(
      features, dtype=self.dtype, deviation=s.deviation, name=name
    )
    norm = lambda name: LayerNorm(s.eps, self.dtype, name=name)
    read, at = x, places
    if cls_columns is not None:
      read = jnp.take_along_axis(x, cls_columns[:, :, None], axis=1)
      at = places.at(cls_columns)
    use = lambda kind: fold(key, 3 * number + kind)
    drop = lambda y, kind: dropout(y, s.dropout, use(kind), at.identity)

    drop_seen = lambda w: drop_weights(
      w, s.attention_dropout, use(1), at.identity, places.positions
    )
    visible = (
      at.rows.segment_ids[:, :, None] == places.rows.segment_ids[:, None, :]
    )
    query = dense(s.width, 'query')(read, at.rows)
    key_value = dense(2 * s.width, 'key_value')(x, places.rows)
    y = attention(
      query, split_key_value(key_value, s.heads), visible, drop_seen
    )
    y = dense(s.width, 'attention_out')(y, at.rows)
    y = norm('attention_norm')(read + drop(y, 2), at.rows)

    z = ACTIVATIONS[s.activation](dense(s.hidden, 'up')(y, at.rows))
    z = dense(s.width, 'down')(z, at.rows)
    return norm('norm')(y + drop(z, 3), at.rows), None


class Encoder(nn.Module):
  """Tokens to vectors.

  With `scan` the first depth - 1 layers are one compiled body over stacked
  parameters `layers`; the last stands alone as `layer_{depth-1}`, since for a
  classifier it computes only what the head reads.
  """

  shape: Shape
  dtype: Any = jnp.float32
  scan: bool = False
  remat: bool = False

  def setup(self):
    s = self.shape
    embed = lambda count: Embed(count, s.embedding, self.dtype, s.deviation)
    self.word = embed(s.vocab)
    self.position = embed(s.positions)
    self.type = embed(s.types)
    self.norm = LayerNorm(s.eps, self.dtype)
    if s.embedding != s.width:
      self.project = Dense(s.width, dtype=self.dtype, deviation=s.deviation)
    body = nn.remat(Layer, prevent_cse=False) if self.remat else Layer
    alone = range(s.depth)
    if self.scan and s.depth > 1:
      self.layers = nn.scan(
        body,
        variable_axes={'params': 0, 'probes': 0, 'calls': 0},
        split_rngs={'params': True},
        in_axes=(0, nn.broadcast, nn.broadcast),
        length=s.depth - 1,
      )(s, self.dtype)
      alone = range(s.depth - 1, s.depth)
    for i in alone:
      setattr(self, f'layer_{i}', body(s, self.dtype))

  def __call__(
    self,
    batch: Batch,
    key: UInt32[Array, ''] | None = None,
    heads_only: bool = False,
  ) -> Float[Array, 'r t d']:
    """[r, t, d], or with `heads_only` each example's first place [b, 1, d]."""
    s = self.shape
    at = places(batch)
    x = self.embed(batch, key, at)
    last = s.depth - 1
    if self.scan and s.depth > 1:
      x, _ = self.layers(x, jnp.arange(last), key, at)
    else:
      for i in range(last):
        x, _ = getattr(self, f'layer_{i}')(x, i, key, at)
    cls_columns = jnp.asarray(batch['cls_columns']) if heads_only else None
    x, _ = getattr(self, f'layer_{last}')(x, last, key, at, cls_columns)
    if not heads_only:
      return x
    return x.reshape(-1, s.width)[batch['cls_index']][:, None]

  def embed(
    self, batch: Batch, key: UInt32[Array, ''] | None, at: Places
  ) -> Float[Array, 'r t d']:
    s, rows = self.shape, at.rows
    types = batch.get('types') if s.types > 1 else None
    types = jnp.zeros_like(rows.segment_ids) if types is None else types
    x = self.word(jnp.asarray(batch['tokens']), rows)
    x = x + self.position(at.positions + s.position_offset, rows)
    x = self.norm(x + self.type(jnp.asarray(types), rows), rows)
    # Layers use the numbers 1 … 3 depth of the key, the embeddings 0.
    x = dropout(x, s.dropout, fold(key, 0), at.identity)
    return self.project(x, rows) if s.embedding != s.width else x


def first_places(
  x: Float[Array, 'r t d'], batch: Batch
) -> Float[Array, 'b 1 d']:
  """Each example's first place of full activations."""
  x = jnp.take_along_axis(x, batch['cls_columns'][:, :, None], axis=1)
  return x.reshape(-1, x.shape[-1])[batch['cls_index']][:, None]


def blank_batch() -> dict[str, Array]:
  """The smallest batch; parameters do not depend on its size."""
  whole = jnp.zeros((1, 2), jnp.int32)
  one = jnp.zeros((1,), jnp.int32)
  return {
    'tokens': whole,
    'segment_ids': whole + 1,
    'positions': jnp.arange(2, dtype=jnp.int32)[None],
    'cls_columns': jnp.zeros((1, 1), jnp.int32),
    'cls_index': one,
    'example': one,
    'label': one,
    'weight': jnp.ones((1,), jnp.float32),
  }
