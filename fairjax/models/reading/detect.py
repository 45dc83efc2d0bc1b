"""Detection of replaced tokens: by an ELECTRA, or by a masked LM.

An ELECTRA's discriminator has a logit for each token, above 0 for 'replaced'.
A masked LM that reads the text as it stands gives each token a probability p;
a tenth of the tokens that it learned from were replaced, so it doubts what
does not fit: its logit is log (1 - p) / p.
"""

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from fairjax.data.batching.tokens import Ragged
from fairjax.models import special
from fairjax.models.families import causal
from fairjax.models.layers.places import Batch
from fairjax.models.reading import token_scores

TOKENS = {'detect': 4096, 'mask': 1024}  # of a step


@functools.partial(jax.jit, static_argnames=('module', 'can'))
def _scores(
  module: Any, params: dict, batch: Batch, can: str
) -> Float[Array, 'r t']:
  scores = module.apply({'params': params}, batch)
  if can == 'detect':
    return scores
  loss = causal.token_losses(scores, batch['tokens'])
  return loss + jnp.log1p(-jnp.exp(jnp.minimum(-loss, -1e-6)))


def logits(
  module: nn.Module, params: dict, texts: Ragged, can: str = 'detect'
) -> Float[np.ndarray, ' tokens']:
  """Above 0 for 'replaced', beside `texts.flat`."""
  special.check_texts(params, texts, module.shape)
  scores = lambda batch: _scores(module, params, batch, can)
  most = token_scores.texts_of(TOKENS[can], texts)
  return token_scores.of_tokens(scores, texts, most)
