"""Log probability of every token of texts under a language model.

Left to right (GPT-2) a text's log-likelihood is Σ_t log p(w_t | w_<t). Masked
(BERT, RoBERTa) it is the pseudo-log-likelihood Σ_t log p(w_t | w_≠t), each
token scored with itself alone masked (Salazar et al. 2020, arXiv:1910.14659);
CrowS-Pairs sums over the tokens that two sentences share (arXiv:2010.00133).
"""

import functools
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from fairjax.core import announce
from fairjax.data.batching import batches as packing
from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import HERE, Placement
from fairjax.models import special
from fairjax.models.families import causal
from fairjax.models.layers.places import Batch, places
from fairjax.models.reading import masked

Eraser = tuple[Float[Array, 'd d'], Float[Array, 'd']]
SCORES = 1 << 26  # scores of a step held in memory, places times vocabulary


@functools.partial(jax.jit, static_argnames='module')
def _next_logs(
  module: Any, params: dict, batch: Batch, eraser: Eraser | None
) -> Float[Array, 'r t']:
  """log p of each token given those before it; NaN where none is before."""
  label, segment_ids = causal.following(batch)
  if eraser is None:
    scores = module.apply({'params': params}, batch)
  else:
    matrix, shift = eraser
    x = module.apply({'params': params}, batch, method='states')
    x, at = x @ matrix + shift, places(batch)
    scores = module.apply({'params': params}, x, at, method='scores')
  losses = causal.token_losses(scores, label)
  # The loss of a place is that of the token after it.
  logs = jnp.where(segment_ids > 0, -losses, jnp.nan)
  return jnp.roll(logs, 1, axis=1)


def causal_logs(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  bos: int | None = None,
  placement: Placement = HERE,
  eraser: Eraser | None = None,
) -> Float[np.ndarray, ' tokens']:
  """log p of every token, beside `texts.flat`, from left to right.

  A text's first token has nothing before it, so it is NaN (transformers'
  loss leaves it out too), unless `bos` stands before every text. An `eraser`
  (A, b) stands before the output layer: x ← x A + b.
  """
  if bos is not None:
    longer = behind(texts, np.array([bos]), 0)
    every = causal_logs(module, params, longer, None, placement, eraser)
    return np.delete(every, longer.offsets[:-1])  # without the start tokens
  special.check_texts(params, texts, module.shape)
  params = placement.params(params)
  logs = lambda batch: _next_logs(module, params, batch, eraser)
  most = texts_of(SCORES // module.shape.vocab, texts)
  return of_tokens(logs, texts, most, placement)


def behind(texts: Ragged, more: np.ndarray, at: int) -> Ragged:
  """Texts with `more` before their token `at`."""
  places = np.repeat(texts.offsets[:-1] + at, len(more))
  flat = np.insert(texts.flat, places, np.tile(more, len(texts.lengths)))
  steps = len(more) * np.arange(len(texts.offsets))
  return Ragged(flat.astype(np.int32), texts.offsets + steps)


def texts_of(most: int, texts: Ragged) -> int:
  """How many of the texts have about `most` tokens."""
  length = texts.lengths.mean() if len(texts.lengths) else 1
  return int(max(most, 1) // max(length, 1))


def of_tokens(
  function: Callable[[Batch], Float[Array, 'r t ...']],
  texts: Ragged,
  batch: int,
  placement: Placement = HERE,
) -> Float[np.ndarray, 'tokens ...']:
  """function(batch) at every token, beside `texts.flat`, of `batch` at once."""
  n, out = len(texts.lengths), np.empty(len(texts.flat), np.float32)
  if not n:
    return out
  batch = int(np.clip(batch, 1, n))
  # Texts of like length share rows: padding costs next to nothing.
  layout = packing.layout_of_sweep(texts.lengths, batch, placement.rows)
  sweep = packing.sweep(packing.of_texts(texts), np.arange(n), layout)
  for host in announce.rounds(sweep, len(sweep), 'texts scored: batch'):
    scores = np.asarray(placement.fetch(function(placement.batch(host))))
    if out.shape[1:] != scores.shape[2:]:
      out = np.empty((len(out), *scores.shape[2:]), np.float32)
    at, row, column = packing.flat_places(texts, host)
    out[at] = scores[row, column]
  return out


def masked_logs(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  mask: int,
  chosen: Bool[np.ndarray, ' tokens'],
  batch: int = masked.BATCH,
  placement: Placement = HERE,
) -> Float[np.ndarray, ' tokens']:
  """log p of every `chosen` token with itself alone masked; NaN elsewhere."""
  out = np.full(len(texts.flat), np.nan, np.float32)
  copies = masked.every_place(texts, chosen)
  token = texts.flat[chosen][:, None]
  out[chosen] = masked.log_p(
    module, params, texts, copies, token, mask, batch, placement
  )[:, 0]
  return out


def inner(
  texts: Ragged, before: int = 1, after: int = 1
) -> Bool[np.ndarray, ' tokens']:
  """All tokens but the first and last ones, which a tokenizer adds."""
  length = np.repeat(texts.lengths, texts.lengths)
  at = np.arange(len(texts.flat)) - np.repeat(texts.offsets[:-1], texts.lengths)
  return (at >= before) & (at < length - after)
