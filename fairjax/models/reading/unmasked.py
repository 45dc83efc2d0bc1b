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

from fairjax.core import announce
from fairjax.data.batching import batches as packing
from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import HERE, Placement
from fairjax.models import special
from fairjax.models.layers.attention import RECEIVED
from fairjax.models.reading import masked, token_scores

BLOCK = 1 << 25  # scores of a vocabulary held in memory


@functools.partial(jax.jit, static_argnames='module')
def _read(
  module: Any, params: dict, batch: dict
) -> tuple[Float[Array, 'r t'], Float[Array, 'r t']]:
  """log p of each token, and the attention it receives, a layer on average."""
  scores, heard = module.apply({'params': params}, batch, mutable=[RECEIVED])
  logs = jax.nn.log_softmax(scores)
  token = jnp.asarray(batch['tokens'])[..., None]
  layers = [
    leaf.reshape(-1, *token.shape[:2]) for leaf in jax.tree.leaves(heard)
  ]
  own = jnp.take_along_axis(logs, token, axis=2)[..., 0]
  return own, jnp.concatenate(layers).mean(0)


def token_logs(
  module: Any, params: dict, texts: Ragged, placement: Placement = HERE
) -> tuple[np.ndarray, np.ndarray]:
  """(log p, α) beside `texts.flat`, of every token."""
  special.check_fits(params, module.shape.vocab)
  special.check_known(texts, module.shape.vocab)
  special.check_lengths(texts.lengths, module.shape, 'text')
  logs, alpha = np.empty((2, len(texts.flat)), np.float32)
  n = len(texts.lengths)
  if not n:
    return logs, alpha
  most = BLOCK // module.shape.vocab // int(texts.lengths.max())
  step = int(np.clip(most, 1, min(masked.BATCH, n)))
  label = np.zeros(n, np.int32)
  pool = packing.Pool(texts, label, label.astype(np.float32))
  layout = packing.layout_of_sweep(texts.lengths, step, placement.rows)
  params = placement.params(params)
  sweep = packing.sweep(pool, np.arange(n), layout)
  for host in announce.rounds(sweep, len(sweep), 'texts read: batch'):
    both = placement.fetch(_read(module, params, placement.batch(host)))
    row, column = np.nonzero(host['segment_ids'])
    text = host['example'][host['segment_ids'][row, column] - 1]
    at = texts.offsets[text] + host['positions'][row, column]
    logs[at], alpha[at] = (np.asarray(one)[row, column] for one in both)
  return logs, alpha / np.repeat(texts.lengths, texts.lengths)


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
