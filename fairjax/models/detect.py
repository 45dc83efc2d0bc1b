"""Which tokens of texts look replaced: by an ELECTRA, or by a masked LM.

An ELECTRA's discriminator has a logit for each token, above 0 for 'replaced'.
A masked LM that reads the text as it stands gives each token a probability p;
a tenth of the tokens that it learned from were replaced, so it doubts what
does not fit: its logit is log (1 - p) / p.
"""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from fairjax.data import batches as packing
from fairjax.data.placement import HERE, Placement
from fairjax.data.tokens import Ragged
from fairjax.models import causal, special
from fairjax.models.places import Batch

TOKENS = {'detect': 4096, 'mask': 1024}  # of a step


@functools.partial(jax.jit, static_argnames=('module', 'can'))
def _scores(
  module: nn.Module, params: dict, batch: Batch, can: str
) -> Float[Array, 'r t']:
  scores = module.apply({'params': params}, batch)
  if can == 'detect':
    return scores
  loss = causal.token_losses(scores, batch['tokens'])
  return loss + jnp.log1p(-jnp.exp(jnp.minimum(-loss, -1e-6)))


def logits(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  placement: Placement = HERE,
  can: str = 'detect',
) -> Float[np.ndarray, ' tokens']:
  """Above 0 for 'replaced', beside `texts.flat`; texts of like length share
  rows, so padding costs next to nothing.
  """
  special.check_fits(params, module.shape.vocab)
  special.check_known(texts, module.shape.vocab)
  special.check_lengths(texts.lengths, module.shape, 'text')
  n, lengths = len(texts.lengths), texts.lengths
  if not n:
    return np.zeros(0, np.float32)
  params = placement.params(params)
  batch = int(np.clip(TOKENS[can] // max(lengths.mean(), 1), 1, n))
  label = np.zeros(n, np.int32)
  pool = packing.Pool(texts, label, label.astype(np.float32))
  layout = packing.layout(lengths, batch, rows_multiple=placement.rows)
  steps = packing.sweep(pool, np.arange(n), layout)
  out = np.empty(len(texts.flat), np.float32)
  for i in range(len(steps)):
    host = steps[i]
    scores = _scores(module, params, placement.batch(host), can)
    scores = np.asarray(placement.fetch(scores))
    row, column = np.nonzero(host['segment_ids'])
    text = host['example'][host['segment_ids'][row, column] - 1]
    at = texts.offsets[text] + host['positions'][row, column]
    out[at] = scores[row, column]
  return out


def padded(texts: Ragged, pad: int, batch: int = 300) -> Ragged:
  """Texts as the papers' code hands them over: padding to the longest of a
  batch, which the model then reads like any token (no attention mask).
  """
  lengths = texts.lengths
  wide = [
    int(lengths[k : k + batch].max()) for k in range(0, len(lengths), batch)
  ]
  width = np.repeat(wide, batch)[: len(lengths)].astype(np.int64)
  offsets = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
  flat = np.full(offsets[-1], pad, np.int32)
  at = np.arange(len(texts.flat))
  at = at + np.repeat(offsets[:-1] - texts.offsets[:-1], lengths)
  flat[at] = texts.flat
  return Ragged(flat, offsets)
