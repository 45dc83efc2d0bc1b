"""Beam search, step by step as transformers has it, each row on its own.

Running hypotheses carry Σ log p; a finished one of n tokens after the prompt
scores Σ log p / n^penalty. A slot is done when no running hypothesis can
enter the finished ones (as `early_stopping` estimates it), when as many are
finished as there are beams and early_stopping is True, or at its limit.
"""

import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int

from fairjax.models.decoding import infill
from fairjax.models.decoding.decode import (
  NEVER,
  Beams,
  Rules,
  State,
  constrain,
  forward,
)

LOW = -1.0e9  # instead of -inf, as transformers: sums and products stay finite


def blank(b: int, k: int, w: int) -> Beams:
  low = jnp.full((b, k), LOW, jnp.float32)
  return Beams(
    running=low.at[:, 0].set(0.0),  # the others would write the same text
    scores=low,
    tokens=jnp.zeros((b, k, w), jnp.int32),
    lengths=jnp.ones((b, k), jnp.int32),
    finished=jnp.zeros((b, k), bool),
    improvable=jnp.ones(b, bool),
  )


def pick(values: Array, at: Int[Array, 'b m']) -> Array:
  """The entries `at` of the second axis."""
  at = at.reshape(at.shape + (1,) * (values.ndim - 2))
  return jnp.take_along_axis(values, at, axis=1)


def step(module: nn.Module, params: dict, state: State, rules: Rules) -> State:
  """One more token for each running hypothesis of each slot at work."""
  beams, (b, k, w) = state.beams, state.tokens.shape
  assert beams is not None  # as `blank` made them
  logits, cache = forward(module, params, state)
  vocab = logits.shape[-1]
  each = lambda a: jnp.repeat(a, k)
  scores = constrain(
    jax.nn.log_softmax(logits).reshape(b * k, vocab),
    state.tokens.reshape(b * k, w),
    each(state.length),
    each(state.least),
    each(state.limit),
    rules,
    state.fill,
  ).reshape(b, k, vocab)
  scores = (scores + beams.running[:, :, None]).reshape(b, k * vocab)
  # Twice as many as beams, so that k remain when k of them end.
  scores, at = lax.top_k(scores, 2 * k)
  parent, token = at // vocab, (at % vocab).astype(jnp.int32)
  tokens = pick(state.tokens, parent)
  column = jnp.arange(w) == state.length[:, None, None]
  tokens = jnp.where(column, token[:, :, None], tokens)
  length = state.length + 1
  ends = (token == rules.eos) | (length >= state.limit)[:, None]

  alive = scores + jnp.where(ends, LOW, 0.0)
  _, best = lax.top_k(alive, k)
  running = pick(alive, best)
  merged = _merge(beams, state, rules, tokens, scores, ends)
  improvable = beams.improvable & _improvable(
    running[:, 0], merged, state, length, rules
  )
  full = merged.finished.all(1) & (rules.early == 1)
  done = state.done | ~improvable | full | ends.all(1)

  # Slots that were done before stay as they are, but for their cache.
  def update(new, old):
    return jnp.where(state.done.reshape(b, *[1] * (new.ndim - 1)), old, new)

  fill = state.fill
  if fill is not None and rules.spans is not None:
    of = lambda one, at: dataclasses.replace(
      one, pointer=pick(one.pointer, at), span=pick(one.span, at)
    )
    fill = of(infill.follow(of(fill, parent), token, rules.spans), best)
  new = dataclasses.replace(merged, running=running, improvable=improvable)
  rows = (jnp.arange(b)[:, None] * k + pick(parent, best)).ravel()
  return dataclasses.replace(
    state,
    tokens=update(pick(tokens, best), state.tokens),
    length=update(length, state.length),
    done=done,
    cache=jax.tree.map(lambda one: one[rows], cache),
    beams=jax.tree.map(update, new, beams),
    fill=fill,
  )


def _merge(
  beams: Beams, state: State, rules: Rules, tokens, scores, ends
) -> Beams:
  """The best k of the finished hypotheses and of those that end now."""
  k = state.tokens.shape[1]
  length = state.length + 1
  ends = ends & (jnp.arange(2 * k) < k)  # as transformers: the best k only
  generated = (length - state.prompt).astype(jnp.float32)[:, None]
  scores = scores / generated**rules.length_penalty
  full = beams.finished.all(1, keepdims=True) & (rules.early == 1)
  scores = scores + jnp.where(full, LOW, 0.0)
  scores = scores + jnp.where(beams.improvable[:, None], 0.0, LOW)
  scores = scores + jnp.where(ends, 0.0, LOW)
  join = lambda old, new: jnp.concatenate([old, new], axis=1)
  best, at = lax.top_k(join(beams.scores, scores), k)
  lengths = jnp.broadcast_to(length[:, None], ends.shape)
  return dataclasses.replace(
    beams,
    scores=best,
    tokens=pick(join(beams.tokens, tokens), at),
    lengths=pick(join(beams.lengths, lengths), at),
    finished=pick(join(beams.finished, ends), at),
  )


def _improvable(best, beams: Beams, state: State, length, rules: Rules):
  """Whether the best running hypothesis can still beat a finished one."""
  longest = (rules.early == NEVER) & (rules.length_penalty > 0.0)
  reach = jnp.where(longest, state.limit, length) - state.prompt
  hope = best / reach.astype(jnp.float32) ** rules.length_penalty
  worst = beams.scores.min(1, keepdims=True)
  bar = jnp.where(beams.finished, worst, LOW)
  return (hope[:, None] > bar).any(1)
