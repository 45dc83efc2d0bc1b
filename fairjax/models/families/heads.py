"""Heads: classifier, masked LM, replaced-token detector, tagger.

A head takes its encoder and does not make it; the family's record says which
options go with it (models/families). Each model is called as
`module.apply({'params': p}, batch, dropout_key)`.
"""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from fairjax.models.layers import probed
from fairjax.models.layers.attention import ACTIVATIONS
from fairjax.models.layers.dropout import dropout, fold, identities
from fairjax.models.layers.gathers import columns_of
from fairjax.models.layers.places import Batch, first_places, head_rows, places

# Uses of the dropout key by heads, out of the way of the layers' numbers.
_HEAD = 1 << 20


def encoder_shape(head: Any) -> Any:
  """A head's shape is its encoder's."""
  return head.encoder.shape


def drop_head(
  x: Float[Array, 'b 1 d'],
  batch: Batch,
  rate: float,
  key: UInt32[Array, ''] | None,
  number: int = 1,
) -> Float[Array, 'b 1 d']:
  """Dropout of what a text became; `number` tells a head's uses apart."""
  rows = head_rows(batch)
  start = jnp.zeros_like(rows.segment_ids)
  identity = identities(jnp.asarray(batch['example']), rows.segment_ids, start)
  return dropout(x, rate, fold(key, _HEAD + number), identity)


def asked_places(
  x: Float[Array, 'r t d'], batch: Batch, heads_only: bool
) -> tuple[Float[Array, 'r m d'], probed.Segments]:
  """The places at which a masked LM is asked, and whose they are."""
  rows = head_rows(batch) if heads_only else places(batch).rows
  if 'places' in batch:
    rows = probed.Segments(jnp.asarray(batch['asked']), rows.count)
    x = columns_of(x, jnp.asarray(batch['places']))
  return x, rows


class SequenceClassifier(nn.Module):
  """Logits of each example, from its first place, float32 [b, c].

  dropout, dense, activation, dropout, dense; the first dropout only with
  `drop_first` (RoBERTa and ELECTRA).
  """

  encoder: nn.Module
  classes: int
  activation: str = 'tanh'
  drop_first: bool = False
  dtype: Any = jnp.float32
  heads_only: bool = True  # the last layer computes only what is read

  shape = property(encoder_shape)

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'b c']:
    s, rows = self.shape, head_rows(batch)
    x = self.encoder(batch, dropout_key, self.heads_only)
    if not self.heads_only:
      x = first_places(x, batch)
    drop = lambda x, i: drop_head(x, batch, s.head_dropout, dropout_key, i)
    x = drop(x, 0) if self.drop_first else x
    x = probed.Dense(
      s.width, dtype=self.dtype, deviation=s.deviation, name='dense'
    )(x, rows)
    x = ACTIVATIONS[self.activation](x)
    # Logits are few: float32 whatever the dtype of the body.
    x = probed.Dense(self.classes, deviation=s.deviation, name='classifier')(
      drop(x, 1), rows
    )
    return probed.mask_padding_gradient(x[:, 0], rows.segment_ids[:, 0])


class MaskedLM(nn.Module):
  """Scores of every token at every place, float32 [r, t, v].

  dense, activation, norm (or a `transform` of the family's), then the word
  embeddings as output layer (or a decoder of its own where the shape says the
  two are not tied). With
  `heads_only` the scores at one place of each example, float32 [b, 1, v]: the
  one that the batch's `head_columns` and `head_index` name (reading/masked.py).
  Where the batch says `places` (columns [r, m] of the segments `asked`), the
  scores there and nowhere else, float32 [r, m, v].
  """

  encoder: nn.Module
  activation: str = ''  # the layers' own where nothing is said
  dtype: Any = jnp.float32
  heads_only: bool = False
  transform: Any = None  # transform(shape, dtype)(x, rows)

  shape = property(encoder_shape)

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t v']:
    s = self.shape
    x = self.encoder(batch, dropout_key, self.heads_only)
    x, rows = asked_places(x, batch, self.heads_only)
    if self.transform:
      x = self.transform(s, self.dtype, name='head')(x, rows)
    else:
      x = probed.Dense(
        s.embedding, dtype=self.dtype, deviation=s.deviation, name='dense'
      )(x, rows)
      x = ACTIVATIONS[self.activation or s.activation](x)
      x = probed.LayerNorm(s.eps, self.dtype, name='norm')(x, rows)
    bias = getattr(s, 'decoder_bias', True)
    if s.tied:
      scores = self.encoder.word.attend(x).astype(jnp.float32)
      if bias:
        zeros = nn.initializers.zeros
        scores = scores + self.param('bias', zeros, (s.vocab,))
    else:
      decoder = probed.Dense(s.vocab, bias, self.dtype, name='decoder')
      scores = decoder(x, rows).astype(jnp.float32)
    return probed.mask_padding_gradient(scores, rows.segment_ids)


class ElectraDiscriminator(nn.Module):
  """ELECTRA: one score a place, above 0 for 'replaced', float32 [r, t]."""

  encoder: nn.Module
  dtype: Any = jnp.float32

  shape = property(encoder_shape)

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t']:
    s, rows = self.shape, places(batch).rows
    x = self.encoder(batch, dropout_key)
    x = probed.Dense(
      s.width, dtype=self.dtype, deviation=s.deviation, name='dense'
    )(x, rows)
    x = ACTIVATIONS[s.activation](x)
    x = probed.Dense(1, deviation=s.deviation, name='score')(x, rows)
    return probed.mask_padding_gradient(x[..., 0], rows.segment_ids)


class WordTagger(nn.Module):
  """One score a place from what a left-to-right model has read, [r, t].

  float32, above 0 for yes. Places see what stands before them alone, so a text
  that is to be tagged by all of it stands in the prompt twice.
  """

  encoder: nn.Module
  classes: int = 1  # transformers has two where nothing is said
  dtype: Any = jnp.float32

  shape = property(encoder_shape)

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t']:
    rows = places(batch).rows
    x = self.encoder.states(batch, dropout_key)
    x = probed.Dense(
      self.classes, deviation=self.shape.deviation, name='score'
    )(x, rows)
    return probed.mask_padding_gradient(x[..., 0], rows.segment_ids)
