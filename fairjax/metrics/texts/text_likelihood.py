"""Perplexity of texts, from the log-probabilities of their tokens.

Perplexity over n texts with log-likelihoods l_i of c_i tokens has two forms

  per_text        exp(mean_i(-l_i / c_i)), each text alike: what papers print
  token_weighted  exp(-Σ l_i / Σ c_i), each token alike

and each has a bootstrap interval over texts, or over clusters of them: texts
that are equal, or belong together otherwise, have one weight.
"""

import numpy as np
from jaxtyping import Float, Int

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.inference import intervals, ratios
from fairjax.metrics.inference.estimates import Estimates
from fairjax.metrics.inference.sample import RowSample


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
  log: Float[np.ndarray, ' n'], count: Int[np.ndarray, ' n'], options: RowSample
) -> Estimates:
  """Both perplexities as estimates; texts without a token are left out.

  Where no texts belong together each is a cluster: weights of few texts would
  vary too little (of 8 texts intervals held the value in .87 of sets).
  """
  real = count > 0
  if not real.any():
    raise UserError(
      'no text has a token that can be scored; a text needs two at least'
    )
  each = options.over(options.units(len(log))).of(real)
  log, count = log[real], count[real]
  loss = np.stack([-log / count, -log, np.ones(len(log)), count], axis=1)
  sums, _ = ratios.resampled(loss[None], each, halves=True)
  draws = np.exp(sums[..., :2] / sums[..., 2:])
  values = np.exp(loss[:, :2].sum(0) / loss[:, 2:].sum(0))
  return {
    name: intervals.of_mean(
      values[i : i + 1], draws[..., i] if options.resamples else None, options
    )
    for i, name in enumerate(('per_text', 'token_weighted'))
  }
