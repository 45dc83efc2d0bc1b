"""A BART that decodes from encoder states moved to the other group.

Representation-to-text counterfactuals (after Avitan, Cotterell, Goldberg and
Ravfogel 2024, arXiv:2402.11355, who invert a sentence encoder): with m₀ and m₁
the mean states of the texts of two groups, every state of a text becomes

  x + α (m_other − m_own)

and the decoder writes what it sees. Which group a text is of is read from its
own mean state, by the side of the midpoint between m₀ and m₁ it lies on, so
the writer needs no label. No word list has a part in it.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jaxtyping import Array, Float, Int

from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import Bundle
from fairjax.models.decoding import decode_texts
from fairjax.models.families import bart

ROWS = 32  # texts of a step


class MovedBart(bart.Bart):
  """Its `gap` is m₁ − m₀, and `middle` what lies between the groups."""

  alpha: float = 1.0

  def setup(self):
    super().setup()
    zeros = nn.initializers.zeros
    self.gap = self.param('gap', zeros, (self.shape.width,))
    self.middle = self.param('middle', zeros, (1,))

  def encoded(
    self, batch: dict, dropout_key: Any = None
  ) -> Float[Array, 'r t d']:
    """The moved states; each row of the batch is one text."""
    x = super().encoded(batch, dropout_key)
    mean = text_means(x, jnp.asarray(batch['segment_ids']))
    side = jnp.sign(mean @ self.gap - self.middle)
    return x - self.alpha * side[:, None, None] * self.gap.astype(x.dtype)


def text_means(
  x: Float[Array, 'r t d'], segment_ids: Int[Array, 'r t']
) -> Float[Array, 'r d']:
  """The mean state of each row's text, in float32."""
  real = (segment_ids > 0)[..., None]
  total = jnp.where(real, x.astype(jnp.float32), 0).sum(1)
  return total / jnp.maximum(real.sum(1), 1)


def pooled(model: Bundle, texts: Sequence[str]) -> Float[np.ndarray, 'n d']:
  """The mean encoder state of each text, cut to the model's positions."""
  read = tokens.encode(model.tokenizer, list(texts), model.longest)

  @jax.jit
  def means(params, ids, segment_ids):
    batch = {
      'tokens': ids,
      'segment_ids': segment_ids,
      'positions': jnp.broadcast_to(jnp.arange(ids.shape[1]), ids.shape),
      'example': jnp.arange(len(ids)),
    }
    x = model.module.apply({'params': params}, batch, method='encoded')
    return text_means(x, segment_ids)

  out = np.empty((len(texts), model.module.shape.width), np.float32)
  for width, rows in decode_texts.buckets(read.lengths, ROWS):
    for low in range(0, len(rows), ROWS):
      part = rows[low : low + ROWS]
      ids = np.zeros((ROWS, width), np.int32)
      segment_ids = np.zeros_like(ids)
      for k, i in enumerate(part):
        own = read.flat[read.offsets[i] : read.offsets[i + 1]]
        ids[k, : len(own)], segment_ids[k, : len(own)] = own, 1
      states = means(model.params, ids, segment_ids)
      out[part] = np.asarray(states)[: len(part)]
  return out


def moved(
  model: Bundle, texts: Sequence[str], group: np.ndarray, alpha: float
) -> Bundle:
  """The model that moves states by α gaps of the groups (0, 1) of texts."""
  if not isinstance(model.module, bart.Bart):
    raise UserError(
      f'rewriters.states moves the encoder of a BART, and the generator is a '
      f'{model.family}; name a BART with --config.rewriters.generator'
    )
  x, group = pooled(model, texts), np.asarray(group)
  first, second = (x[group == k].mean(0) for k in (0, 1))
  gap = second - first
  middle = gap @ (first + second) / 2
  module = MovedBart(model.module.shape, model.module.dtype, alpha=alpha)
  params = {**model.params, 'gap': gap, 'middle': middle[None]}
  return model.replace(module=module, params=params)
