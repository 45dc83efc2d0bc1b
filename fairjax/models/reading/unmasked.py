"""Texts read by a masked LM as they stand, no token masked: AUL and AULA.

Kaneko and Bollegala 2022 (arXiv:2104.07496). Of the tokens w_i of a text S but
those that the tokenizer adds,

  AUL(S)  = 1/|S| Σ_i log P(w_i | S)
  AULA(S) = 1/|S| Σ_i α_i log P(w_i | S)

where α_i is the attention that w_i receives, averaged over the layers, their
heads and all places of S, the added ones too; it is not scaled to sum to 1
(`calculate_aul` of the authors' evaluate.py). One forward pass a text, where a
pseudo-likelihood takes one a token.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import HERE, Placement
from fairjax.models import special
from fairjax.models.layers.attention import RECEIVED
from fairjax.models.reading import masked, token_scores

BLOCK = 1 << 25  # scores of a vocabulary held in memory


@functools.partial(jax.jit, static_argnames='module')
def _read(module: Any, params: dict, batch: dict) -> Float[Array, 'r t 2']:
  """log p of each token, and the attention it receives, a layer on average."""
  scores, heard = module.apply({'params': params}, batch, mutable=[RECEIVED])
  logs = jax.nn.log_softmax(scores)
  token = jnp.asarray(batch['tokens'])[..., None]
  layers = jnp.stack(jax.tree.leaves(heard))
  own = jnp.take_along_axis(logs, token, axis=2)[..., 0]
  return jnp.stack([own, layers.mean(0)], -1)


def token_logs(
  module: Any, params: dict, texts: Ragged, placement: Placement = HERE
) -> tuple[np.ndarray, np.ndarray]:
  """(log p, α) beside `texts.flat`, of every token."""
  special.check_texts(params, texts, module.shape)
  params = placement.params(params)
  most = BLOCK // module.shape.vocab // int(texts.lengths.max(initial=1))
  read = lambda batch: _read(module, params, batch)
  step = min(most, masked.BATCH)
  both = token_scores.of_tokens(read, texts, step, placement)
  logs, alpha = both.reshape(-1, 2).T
  return logs, alpha / np.repeat(texts.lengths, texts.lengths)  # over all of S


def scores(
  module: Any,
  params: dict,
  texts: Ragged,
  added: int,
  placement: Placement = HERE,
) -> tuple[Float[np.ndarray, ' n'], Float[np.ndarray, ' n']]:
  """AUL and AULA of each text; `added` tokens are the tokenizer's own."""
  logs, alpha = token_logs(module, params, texts, placement)
  inner = token_scores.inner(texts, (added + 1) // 2, added // 2)
  owner = np.repeat(np.arange(len(texts.lengths)), texts.lengths)[inner]
  count = np.bincount(owner, minlength=len(texts.lengths))
  mean = lambda values: (
    np.bincount(owner, values[inner], len(count)) / np.maximum(count, 1)
  )
  return mean(logs.astype(np.float64)), mean(alpha.astype(np.float64) * logs)
