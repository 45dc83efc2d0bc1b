"""A BART that repeats its source but for a few tokens."""

import jax
import jax.numpy as jnp

from fairjax.models.families import bart, causal


class NearCopy(bart.Bart):
  """A BART at its full cost whose choice is the source, but for a few tokens.

  A token of `swaps` is written as the next one. Without training, it is what a
  generator of counterfactuals does.
  """

  swaps: tuple[int, ...] = ()

  def remember(self, tokens, segment_ids):
    return super().remember(tokens, segment_ids), tokens, segment_ids

  def step(self, tokens, at, cache, source):
    source, text, segment_ids = source
    logits, cache = super().step(tokens, at, cache, source)
    here = causal.step_places(at, tokens.shape[1]).positions
    last = segment_ids.sum(1, keepdims=True) - 1
    there = jnp.minimum(here, last)
    copied = jnp.take_along_axis(text, there, axis=1)
    swapped = jnp.isin(copied, jnp.array(self.swaps, jnp.int32))
    target = jnp.where(swapped, copied + 1, copied)
    return logits + 1e4 * jax.nn.one_hot(target, logits.shape[-1]), cache
