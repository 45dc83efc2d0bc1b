"""Decoding on the device: many rows of different lengths in one loop.

A `State` holds b slots. A slot is a text that is being written (`done` is
false) or waits to be read out and filled anew (`done` is true), so the loop
never knows how many texts there are; decoding/decode_texts.py feeds it. A model
brings `remember` (what is computed once for a source), `blank_cache` and
`step` (scores after a few tokens, with a static cache).

The rules are those of transformers: lengths count the first token and a
prompt, a forced token or a forbidden n-gram acts on the scores before the
choice. Equal scores go to the smaller token. What is drawn is drawn after them.
"""

import dataclasses
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.core.errors import UserError
from fairjax.models.decoding import infill, sample
from fairjax.models.decoding.infill import Fill, FillerSpans
from fairjax.models.layers.argmax import argmax

NONE = -1  # no forced token
NEVER = 2  # early_stopping = 'never', beside 0 and 1
# Options that would contradict a source that is copied.
_FREE = (
  *('min_length', 'min_new_tokens', 'no_repeat_ngram_size'),
  *('forced_bos_token_id', 'forced_eos_token_id'),
)


@dataclasses.dataclass(frozen=True)
class Options:
  """How to decode; the names and meanings are those of transformers."""

  max_length: int = 0  # tokens with the first and a prompt; 0: all positions
  max_new_tokens: int = 0  # or: tokens after the prompt
  min_length: int = 0
  min_new_tokens: int = 0
  num_beams: int = 1
  length_penalty: float = 1.0
  early_stopping: bool | str = False  # True, False or 'never'
  no_repeat_ngram_size: int = 0
  forced_bos_token_id: int | None = None
  forced_eos_token_id: int | None = None
  do_sample: bool = False  # draw each token (sample.py) instead of the best
  temperature: float = 1.0
  top_k: int = 0  # of the k likeliest; 0: of all
  top_p: float = 1.0  # of the likeliest that have this probability together
  # Infilling: all is copied but this token, and spans stand in its place.
  mask: int | None = None
  min_span: int = 0  # tokens in place of a mask
  max_span: int = 10
  never: tuple[int, ...] = ()  # tokens that no span may have

  def validate(self) -> None:
    if self.num_beams < 1:
      raise UserError(f'num_beams is {self.num_beams}; at least 1 is needed')
    if self.early_stopping not in (True, False, 'never'):
      raise UserError(
        f'early_stopping is {self.early_stopping!r}; it can be True, False or '
        "'never'"
      )
    self._validate_draws()
    whole = ('max_length', 'max_new_tokens', *_FREE, 'min_span')
    for name in (*whole, 'top_k'):
      if (getattr(self, name) or 0) < 0:
        raise UserError(f'{name} is {getattr(self, name)}; 0 is the least')
    if self.mask is None:
      return
    if not 1 <= self.max_span >= self.min_span:
      raise UserError(
        f'max_span is {self.max_span}; 1 and min_span ({self.min_span}) are '
        'the least'
      )
    for name in ('max_length', 'max_new_tokens', *_FREE):
      if getattr(self, name) != getattr(Options, name):
        raise UserError(
          f'{name} is {getattr(self, name)}, but infilling copies its source; '
          'leave it at its default'
        )

  def _validate_draws(self) -> None:
    if not self.do_sample:
      return
    if self.num_beams > 1 or self.mask is not None:
      raise UserError(
        'do_sample is on, which draws token by token; leave num_beams at 1, '
        'and write instead of filling masks'
      )
    if not 0 < self.temperature < float('inf'):
      raise UserError(
        f'temperature is {self.temperature}; a number above 0 is needed '
        '(greedy decoding is do_sample off)'
      )
    if not 0 < self.top_p <= 1:
      raise UserError(
        f'top_p is {self.top_p}; a number above 0 and at most 1 is needed'
      )


@struct.dataclass
class Rules:
  """The options that are numbers: another value compiles nothing."""

  eos: Int[Array, '']
  forced_bos_token_id: Int[Array, '']
  forced_eos_token_id: Int[Array, '']
  length_penalty: Float[Array, '']
  early: Int[Array, '']
  spans: FillerSpans | None  # of infilling
  warp: sample.Warp | None  # of sampling
  no_repeat_ngram_size: int = struct.field(pytree_node=False)


def rules(options: Options, shape: Any) -> Rules:
  token = lambda one: jnp.int32(NONE if one is None else one)
  stop = options.early_stopping
  return Rules(
    token(shape.eos),
    token(options.forced_bos_token_id),
    token(options.forced_eos_token_id),
    jnp.float32(options.length_penalty),
    jnp.int32(NEVER if stop == 'never' else int(stop)),
    _spans(options, shape),
    sample.warp(options.temperature, options.top_p, options.top_k)
    if options.do_sample
    else None,
    options.no_repeat_ngram_size,
  )


def _spans(options: Options, shape: Any) -> FillerSpans | None:
  if options.mask is None:
    return None
  ends = {options.mask, shape.pad, shape.bos, shape.eos, shape.start}
  return FillerSpans(
    jnp.int32(options.mask),
    jnp.int32(options.min_span),
    jnp.int32(options.max_span),
    jnp.array(sorted(ends | set(options.never)), jnp.int32),
  )


@struct.dataclass
class Beams:
  """The finished hypotheses of each slot, best first, and running scores."""

  running: Float[Array, 'b k']
  scores: Float[Array, 'b k']  # of finished ones, by length
  tokens: Int[Array, 'b k w']
  lengths: Int[Array, 'b k']
  finished: Bool[Array, 'b k']
  improvable: Bool[Array, 'b']


@struct.dataclass
class State:
  """b slots of k beams (1 in greedy decoding) and room for w tokens."""

  tokens: Int[Array, 'b k w']
  length: Int[Array, 'b']
  prompt: Int[Array, 'b']  # tokens that were given
  least: Int[Array, 'b']  # below this length nothing ends
  limit: Int[Array, 'b']  # at this length everything ends
  done: Bool[Array, 'b']
  cache: tuple
  source: Any
  beams: Beams | None
  fill: Fill | None
  keys: UInt32[Array, 'b 2'] | None  # of sampling


def banned(
  tokens: Int[Array, 'n w'], length: Int[Array, 'n'], size: int, vocab: int
) -> Int[Array, 'n m']:
  """Tokens that would repeat an n-gram of `size`; `vocab` says 'none'."""
  starts = max(tokens.shape[1] - size + 1, 0)
  window = lambda j: tokens[:, j : j + starts]
  ends = length - (size - 1)  # where the last size - 1 tokens begin
  same = jnp.arange(starts) + size <= length[:, None]  # within what is written
  for j in range(size - 1):
    at = jnp.maximum(ends + j, 0)[:, None]  # short rows: same is false
    same &= window(j) == jnp.take_along_axis(tokens, at, axis=1)
  return jnp.where(same, window(size - 1), vocab)


def constrain(
  scores: Float[Array, 'n v'],
  tokens: Int[Array, 'n w'],
  length: Int[Array, 'n'],
  least: Int[Array, 'n'],
  limit: Int[Array, 'n'],
  rules: Rules,
  fill: Fill | None = None,
) -> Float[Array, 'n v']:
  """Scores of the next token of rows of `length`, as the rules have them."""
  vocab = jnp.arange(scores.shape[1])
  if rules.no_repeat_ngram_size:
    out = banned(tokens, length, rules.no_repeat_ngram_size, scores.shape[1])
    row = jnp.arange(scores.shape[0])[:, None]
    scores = scores.at[row, out].set(-jnp.inf, mode='drop')  # v is no token
  short = (length < least)[:, None] & (vocab == rules.eos)
  scores = jnp.where(short, -jnp.inf, scores)
  for token, when in (
    (rules.forced_bos_token_id, length == 1),
    (rules.forced_eos_token_id, length == limit - 1),
  ):
    # A forced token is taken even where it is banned above.
    only = jnp.where(vocab == token, 0.0, -jnp.inf)
    force = (when & (token != NONE))[:, None]
    scores = jnp.where(force, only, scores)
  if fill is not None and rules.spans is not None:
    literal, free = infill.wanted(fill, rules.spans)
    scores = infill.allow(scores, literal.ravel(), free.ravel(), rules.spans)
  return scores


def last_tokens(state: State) -> Int[Array, 'b k']:
  at = (state.length - 1)[:, None, None]
  return jnp.take_along_axis(state.tokens, at, axis=2)[:, :, 0]


def forward(
  module: Any, params: dict, state: State
) -> tuple[Float[Array, 'b k v'], tuple]:
  """Scores after the last token of every beam, and the cache with it."""
  b, k, _ = state.tokens.shape
  last = last_tokens(state).reshape(b * k, 1)
  at = jnp.repeat(state.length - 1, k)
  logits, cache = module.apply(
    {'params': params}, last, at, state.cache, state.source, method='step'
  )
  return logits.reshape(b, k, -1), cache


def step(module: nn.Module, params: dict, state: State, rules: Rules) -> State:
  """One more token for each slot at work: the best one, or one drawn."""
  b, _, w = state.tokens.shape
  logits, cache = forward(module, params, state)
  scores = constrain(
    logits[:, 0],
    state.tokens[:, 0],
    state.length,
    state.least,
    state.limit,
    rules,
    state.fill,
  )
  if state.keys is None or rules.warp is None:
    best = argmax(scores)
  else:
    best = sample.draw(scores, state.keys, state.length, rules.warp)
  # There is no column w: what is done is written no more.
  column = jnp.where(state.done, w, state.length)
  length = jnp.where(state.done, state.length, state.length + 1)
  fill = state.fill
  if fill is not None and rules.spans is not None:
    fill = infill.follow(fill, best[:, None], rules.spans)
  return dataclasses.replace(
    state,
    tokens=state.tokens.at[jnp.arange(b), 0, column].set(best, mode='drop'),
    length=length,
    done=state.done | (best == rules.eos) | (length >= state.limit),
    cache=cache,
    fill=fill,
  )
