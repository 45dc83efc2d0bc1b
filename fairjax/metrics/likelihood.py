"""How likely a language model finds texts: perplexity, left to right or masked.

Left to right (GPT-2) a text's log-likelihood is Σ_t log p(w_t | w_<t). Masked
(BERT, RoBERTa) it is the pseudo-log-likelihood Σ_t log p(w_t | w_≠t), each
token scored with itself alone masked (Salazar et al. 2020, arXiv:1910.14659);
CrowS-Pairs sums over the tokens that two sentences share (arXiv:2010.00133).

Perplexity over n texts with log-likelihoods l_i of c_i tokens has two forms

  per_text        exp(mean_i(-l_i / c_i)), each text alike: what papers print
  token_weighted  exp(-Σ l_i / Σ c_i), each token alike

and each has a bootstrap interval over texts.
"""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from fairjax.config import Mesh
from fairjax.data import batches as packing
from fairjax.data.tokens import Ragged
from fairjax.errors import UserError
from fairjax.metrics import intervals
from fairjax.metrics.intervals import IntervalOptions
from fairjax.models import causal, masked, special
from fairjax.models.bart import check_lengths
from fairjax.models.encoder import Batch
from fairjax.train import mesh

SCORES = 1 << 26  # scores of a step held in memory, places times vocabulary


@functools.partial(jax.jit, static_argnames='module')
def _next_logs(
  module: nn.Module, params: dict, batch: Batch
) -> Float[Array, 'r t']:
  """log p of each token given those before it; NaN where none is before."""
  label, segment_ids = causal.following(batch)
  losses = causal.token_losses(module.apply({'params': params}, batch), label)
  # The loss of a place is that of the token after it.
  logs = jnp.where(segment_ids > 0, -losses, jnp.nan)
  return jnp.roll(logs, 1, axis=1)


def causal_logs(
  module: nn.Module, params: dict, texts: Ragged, bos: int | None = None
) -> Float[np.ndarray, ' tokens']:
  """log p of every token, beside `texts.flat`, from left to right.

  A text's first token has nothing before it, so it is NaN (transformers'
  loss leaves it out too), unless `bos` stands before every text.
  """
  special.check_fits(params, module.shape.vocab)
  special.check_known(texts, module.shape.vocab)
  if bos is not None:
    first = texts.offsets[:-1]
    longer = Ragged(
      np.insert(texts.flat, first, bos).astype(np.int32),
      texts.offsets + np.arange(len(texts.offsets)),
    )
    logs = causal_logs(module, params, longer)
    return np.delete(logs, longer.offsets[:-1])
  check_lengths(texts.lengths, module.shape, 'text')
  n, lengths = len(texts.lengths), texts.lengths
  if not n:
    return np.zeros(0, np.float32)
  device_mesh = mesh.make(Mesh(), 1)
  params = mesh.replicate(device_mesh, params)
  most = max(SCORES // module.shape.vocab, 1)
  batch = int(np.clip(most // max(lengths.mean(), 1), 1, n))
  label = np.zeros(n, np.int32)
  pool = packing.Pool(texts, label, label.astype(np.float32))
  layout = packing.layout(
    lengths, batch, rows_multiple=device_mesh.shape['data']
  )
  steps = packing.sweep(pool, np.arange(n), layout)
  out = np.empty(len(texts.flat), np.float32)
  for i in range(len(steps)):
    host = steps[i]
    on_device = mesh.put_batch(device_mesh, host, stacked=False)
    logs = np.asarray(mesh.to_host(_next_logs(module, params, on_device)))
    row, column = np.nonzero(host['segment_ids'])
    text = host['example'][host['segment_ids'][row, column] - 1]
    at = texts.offsets[text] + host['positions'][row, column]
    out[at] = logs[row, column]
  return out


def masked_logs(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  mask: int,
  chosen: Bool[np.ndarray, ' tokens'],
  batch: int = masked.BATCH,
) -> Float[np.ndarray, ' tokens']:
  """log p of every `chosen` token with itself alone masked; NaN elsewhere."""
  out = np.full(len(texts.flat), np.nan, np.float32)
  copies = masked.every_place(texts, chosen)
  out[chosen] = masked.masked_logs(module, params, texts, copies, mask, batch)
  return out


def inner(
  texts: Ragged, before: int = 1, after: int = 1
) -> Bool[np.ndarray, ' tokens']:
  """All tokens but the first and last ones, which a tokenizer adds."""
  length = np.repeat(texts.lengths, texts.lengths)
  at = np.arange(len(texts.flat)) - np.repeat(texts.offsets[:-1], texts.lengths)
  return (at >= before) & (at < length - after)


def totals(
  logs: Float[np.ndarray, ' tokens'], texts: Ragged
) -> tuple[Float[np.ndarray, ' n'], Int[np.ndarray, ' n']]:
  """Σ log p of each text and how many tokens it is the sum of."""
  n = len(texts.lengths)
  text = np.repeat(np.arange(n), texts.lengths)
  known = ~np.isnan(logs)
  total = np.bincount(text, np.where(known, logs, 0).astype(np.float64), n)
  return total, np.bincount(text[known], minlength=n)


def perplexity(
  log: Float[np.ndarray, ' n'],
  count: Int[np.ndarray, ' n'],
  options: IntervalOptions,
) -> dict[str, dict]:
  """Both perplexities as estimates; texts without a token are left out."""
  real = count > 0
  if not real.any():
    raise UserError(
      'no text has a token that can be scored; a text needs two at least'
    )
  log, count = log[real], count[real]
  items = intervals.blocks(len(log), options.seed)
  loss = np.stack([-log / count, np.ones(len(log)), -log, count], axis=1)
  weights = intervals.draw(items, options.resamples, options.seed)
  sums = np.stack(
    [np.bincount(items.item, each, len(items.size)) for each in loss.T], 1
  )
  # Centred first, so that float32 sums of large losses keep their digits.
  centre = np.array([sums[:, 0].sum() / len(log), log.sum() / -count.sum()])
  sums[:, 0] -= centre[0] * sums[:, 1]
  sums[:, 2] -= centre[1] * sums[:, 3]
  draws = np.asarray(
    intervals.resampled(weights, intervals.pad(sums)), np.float64
  )
  out = {}
  for i, name in enumerate(('per_text', 'token_weighted')):
    draw = np.exp(centre[i] + draws[:, 2 * i] / draws[:, 2 * i + 1])
    value = np.exp(centre[i : i + 1])
    out[name] = intervals.of_mean(
      value, draw[:, None] if options.resamples else None, options
    )
  return out
