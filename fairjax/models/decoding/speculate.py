"""Copy-speculative greedy decoding: drafts from the source, verified at once.

A rewritten text copies most of its source. The place of the source to copy
from is the one whose tokens before it agree longest with the last tokens
written (ties: nearest to where copying is expected to go on); the tokens that
follow there are the draft. One step scores the last token and the whole draft;
every drafted token that equals the greedy choice is kept, and the first that
differs is replaced by that choice. So the text is exactly the greedy one
(Leviathan et al. 2023, arXiv:2211.17192, with a copy in place of a model).

How many tokens a row wishes to draft follows from its acceptance: about twice
as many after a draft was kept whole, else half of the way down to as many as
were kept. Where a row drafts nothing, one token that the source would have
had right wakes it. A step verifies for all rows the smallest of `DRAFTS` that
holds their mean wish; where products wait for memory it verifies as many as it
may, since idle places cost no time there and every size is the model compiled
once more (SmolLM2 for an H200: 53 CPU s of five sizes, 11 of one).
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int

from fairjax.models.decoding import infill
from fairjax.models.decoding.decode import (
  DRAFTS,
  Draft,
  Rules,
  State,
  constrain,
  last_tokens,
)
from fairjax.models.decoding.infill import Fill
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers.argmax import argmax

SUFFIX = 4  # a longer agreement than this is as good
FIRST = 3.0  # tokens of the first draft


def longest(rows: int) -> int:
  """How many tokens a row should draft at most, beside so many rows.

  A step reads all weights once, whatever it verifies, until computing takes
  as long. BART base on two cores, near-copies of 32 tokens, against greedy:
  one row and drafts of 15 2.7 times as fast; 4 rows and drafts of 7 1.4 (of
  15 1.0); 8 rows and drafts of 3 1.1 (of 7 .9); 16 rows and drafts of 3 .9.
  An H200 balances at 184 places (peak / bandwidth: counted, not measured), so
  an accelerator gets somewhat fewer.
  """
  most = min(platform_traits().verified // rows, DRAFTS[-1])
  return most if most > 2 else 0


def blank(source: Int[Array, 'b t'], segment_ids: Int[Array, 'b t']) -> Draft:
  zeros = jnp.zeros_like(source[:, 0])
  wish = jnp.full(zeros.shape, FIRST, jnp.float32)
  return Draft(source, segment_ids, zeros, wish)


def align(
  draft: Draft, tokens: Int[Array, 'b w'], length: Int[Array, 'b']
) -> Int[Array, 'b']:
  """The place of each source to copy from."""
  source = draft.source
  places = jnp.arange(source.shape[1])
  agree, run = jnp.zeros_like(source), jnp.ones(source.shape, bool)
  for i in range(1, SUFFIX + 1):
    at = (length - i)[:, None]
    generated = jnp.take_along_axis(tokens, jnp.maximum(at, 0), axis=1)
    run &= (
      (jnp.roll(source, i, axis=1) == generated) & (places >= i) & (at >= 0)
    )
    agree += run
  near = -jnp.abs(places - draft.pointer[:, None])
  merit = agree * source.shape[1] + near
  low = jnp.iinfo(jnp.int32).min
  return jnp.argmax(jnp.where(draft.segment_ids > 0, merit, low), axis=1)


def step(module: nn.Module, params: dict, state: State, rules: Rules) -> State:
  """At least one more token for each slot at work."""
  if platform_traits().waits_for_memory:
    return _verify(module, params, state, rules, rules.draft)
  working = ~state.done
  wishes = jnp.sum(jnp.where(working, state.draft.wish, 0))
  mean = wishes / jnp.maximum(working.sum(), 1)
  known = [count for count in DRAFTS if count <= rules.draft]
  if known[-1] < rules.draft:
    known.append(rules.draft)
  branch = jnp.minimum(
    jnp.searchsorted(jnp.array(known, jnp.float32), mean), len(known) - 1
  )
  sizes = [
    lambda state, count=count: _verify(module, params, state, rules, count)
    for count in known
  ]
  return lax.switch(branch, sizes, state)


def _verify(
  module: nn.Module, params: dict, state: State, rules: Rules, count: int
) -> State:
  """Drafts `count` tokens, keeps those that are greedy, and one more."""
  b, _, w = state.tokens.shape
  rows, steps = jnp.arange(b)[:, None], jnp.arange(count + 1)
  tokens, length, draft = state.tokens[:, 0], state.length, state.draft
  fill = state.fill
  start = align(draft, tokens, length) if fill is None else fill.pointer[:, 0]
  at = start[:, None] + jnp.arange(max(count, 1))
  ahead = jnp.take_along_axis(draft.source, at, axis=1, mode='clip')
  guess = ahead[:, :count]
  columns = length[:, None] + steps
  inputs = jnp.concatenate([last_tokens(state), guess], axis=1)
  logits, cache = module.apply(
    {'params': params},
    inputs,
    length - 1,
    state.cache,
    state.source,
    method='step',
  )
  tried = tokens.at[rows, columns[:, :count]].set(guess, mode='drop')

  def choose(scores, i):
    at = fill  # after i drafted tokens, all of them of the source
    if fill is not None:
      span = jnp.where(i == 0, fill.span, 0)
      at = fill.replace(pointer=fill.pointer + i, span=span)
    return argmax(
      constrain(scores, tried, length + i, state.least, state.limit, rules, at)
    )

  choice = jax.vmap(choose, (1, 0), 1)(logits, steps)

  accepted = jnp.cumprod(guess == choice[:, :count], axis=1).sum(1)
  ended = jnp.cumsum(choice == rules.eos, axis=1) > 0
  before = jnp.sum(~ended, axis=1) + 1  # tokens up to the first that ends
  new = jnp.minimum(jnp.minimum(accepted + 1, before), state.limit - length)
  new = jnp.where(state.done, 0, jnp.minimum(new, w - length))
  put = jnp.where(steps < new[:, None], columns, w)
  tokens = tokens.at[rows, put].set(choice, mode='drop')
  length = length + new
  last = jnp.take_along_axis(tokens, (length - 1)[:, None], axis=1)[:, 0]
  done = state.done | (last == rules.eos) | (length >= state.limit)
  right = ahead[:, 0] == choice[:, 0]
  whole = right & (accepted >= count)
  wish = jnp.where(whole, 2.0 * count + 1, (draft.wish + accepted) / 2)
  # Below a half there is nothing to draft.
  wish = jnp.where(wish < 0.5, 0.0, wish)
  if fill is not None:  # what is copied is known
    fill = _moved(fill, new, last, rules)
    wish = infill.copied(fill, rules.spans).astype(jnp.float32)
  draft = draft.replace(
    pointer=jnp.where(state.done, draft.pointer, start + new),
    wish=jnp.minimum(wish, jnp.float32(rules.draft)),
  )
  return state.replace(
    tokens=tokens[:, None],
    length=length,
    done=done,
    cache=cache,
    draft=draft,
    fill=fill,
  )


def _moved(
  fill: Fill, new: Int[Array, 'b'], last: Int[Array, 'b'], rules: Rules
) -> Fill:
  """The places after `new` tokens, all but the last of them of the source."""
  copies = jnp.maximum(new - 1, 0)[:, None]
  before = fill.replace(
    pointer=fill.pointer + copies, span=jnp.where(copies > 0, 0, fill.span)
  )
  after = infill.follow(before, last[:, None], rules.spans)
  keep = lambda a, b: jnp.where(new[:, None] > 0, a, b)
  return fill.replace(
    pointer=keep(after.pointer, fill.pointer), span=keep(after.span, fill.span)
  )
