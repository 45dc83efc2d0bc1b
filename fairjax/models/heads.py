"""What stands on an encoder: classifier, masked LM, replaced-token detector.

Each model is called as `module.apply({'params': p}, batch, dropout_key)`.
"""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from fairjax.models.encoder import (
  ACTIVATIONS,
  Batch,
  Encoder,
  Shape,
  first_places,
  head_rows,
  places,
)
from fairjax.models.layers import (
  Dense,
  LayerNorm,
  Segments,
  dropout,
  fold,
  identities,
  mask_padding_gradient,
)

# Uses of the dropout key by heads, out of the way of the layers' numbers.
_HEAD = 1 << 20


class Classifier(nn.Module):
  """Logits of each example, from its first place.

  BERT: dropout(tanh(dense x)); RoBERTa and ELECTRA: dropout before and after
  the dense, with tanh and gelu. The result is float32 [b, c].
  """

  shape: Shape
  classes: int
  dtype: Any = jnp.float32
  scan: bool = False
  remat: bool = False
  heads_only: bool = True  # the last layer computes only what is read

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'b c']:
    s, rows = self.shape, head_rows(batch)
    encoder = Encoder(s, self.dtype, self.scan, self.remat, name='encoder')
    x = encoder(batch, dropout_key, self.heads_only)
    if not self.heads_only:
      x = first_places(x, batch)
    start = jnp.zeros_like(rows.segment_ids)
    identity = identities(
      jnp.asarray(batch['example']), rows.segment_ids, start
    )
    drop = lambda x, i: dropout(
      x, s.head_dropout, fold(dropout_key, _HEAD + i), identity
    )
    x = x if s.family == 'bert' else drop(x, 0)
    x = Dense(s.width, dtype=self.dtype, deviation=s.deviation, name='dense')(
      x, rows
    )
    x = ACTIVATIONS['gelu'](x) if s.family == 'electra' else jnp.tanh(x)
    # Logits are few: float32 whatever the dtype of the body.
    x = Dense(self.classes, deviation=s.deviation, name='classifier')(
      drop(x, 1), rows
    )
    return mask_padding_gradient(x[:, 0], rows.segment_ids[:, 0])


class MaskedLM(nn.Module):
  """Scores of every token at every place, float32 [r, t, v].

  dense, activation, norm, then the word embeddings as output layer (or a
  decoder of its own where the shape says the two are not tied). With
  `heads_only` the scores at one place of each example, float32 [b, 1, v]: the
  one that the batch's `cls_columns` and `cls_index` name (models/masked.py).
  Where the batch says `places` (columns [r, m] of the segments `asked`), the
  scores there and nowhere else, float32 [r, m, v].
  """

  shape: Shape
  dtype: Any = jnp.float32
  scan: bool = False
  remat: bool = False
  heads_only: bool = False

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t v']:
    s = self.shape
    rows = head_rows(batch) if self.heads_only else places(batch).rows
    encoder = Encoder(s, self.dtype, self.scan, self.remat, name='encoder')
    x = encoder(batch, dropout_key, self.heads_only)
    if 'places' in batch:
      rows = Segments(jnp.asarray(batch['asked']), rows.count)
      x = jnp.take_along_axis(x, batch['places'][:, :, None], axis=1)
    x = Dense(
      s.embedding, dtype=self.dtype, deviation=s.deviation, name='dense'
    )(x, rows)
    # RoBERTa and ELECTRA have gelu here whatever the layers have.
    kind = s.activation if s.family == 'bert' else 'gelu'
    x = LayerNorm(s.eps, self.dtype, name='norm')(ACTIVATIONS[kind](x), rows)
    if not s.tied:
      decoder = Dense(s.vocab, dtype=self.dtype, name='decoder')
      return mask_padding_gradient(
        decoder(x, rows).astype(jnp.float32), rows.segment_ids
      )
    bias = self.param('bias', nn.initializers.zeros, (s.vocab,))
    scores = encoder.word.attend(x).astype(jnp.float32) + bias
    return mask_padding_gradient(scores, rows.segment_ids)


class Discriminator(nn.Module):
  """ELECTRA: one score a place, above 0 for 'replaced', float32 [r, t]."""

  shape: Shape
  dtype: Any = jnp.float32
  scan: bool = False
  remat: bool = False

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t']:
    s, rows = self.shape, places(batch).rows
    encoder = Encoder(s, self.dtype, self.scan, self.remat, name='encoder')
    x = encoder(batch, dropout_key)
    x = Dense(s.width, dtype=self.dtype, deviation=s.deviation, name='dense')(
      x, rows
    )
    x = ACTIVATIONS[s.activation](x)
    x = Dense(1, deviation=s.deviation, name='score')(x, rows)
    return mask_padding_gradient(x[..., 0], rows.segment_ids)
