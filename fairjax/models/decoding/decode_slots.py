"""Decoding slots on the device: filled, stepped, widened.

A state of b slots is one program's; which text is in which slot is known to
the caller alone (decode_texts.py).
"""

import dataclasses
import functools
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Int, UInt32

from fairjax.models.decoding import beam, decode, infill
from fairjax.models.decoding.decode import Rules, State


@functools.partial(jax.jit, static_argnames='module', donate_argnames='state')
def advance(
  module: nn.Module, params: dict, state: State, rules: Rules, want: Array
) -> State:
  """Steps until `want` slots are done, or one has no room for a token."""
  one = decode.step if state.beams is None else beam.step
  width = state.tokens.shape[2]

  def going(state):
    room = jnp.all(state.done | (state.length < width))
    return room & (state.done.sum() < want) & ~state.done.all()

  def body(state):
    return one(module, params, state, rules)

  return lax.while_loop(going, body, state)


@functools.partial(jax.jit, static_argnames='width')
def grow(state: State, width: int) -> State:
  """The same slots with room for `width` tokens."""

  def pad(a, axis=-2):
    room = [(0, 0)] * a.ndim
    room[axis] = (0, width - a.shape[axis])
    return jnp.pad(a, room)

  beams = state.beams
  if beams is not None:
    beams = dataclasses.replace(beams, tokens=pad(beams.tokens, 2))
  return dataclasses.replace(
    state,
    tokens=pad(state.tokens, 2),
    cache=jax.tree.map(pad, state.cache),  # keys and values of each layer
    beams=beams,
  )


class Entries(NamedTuple):
  """Texts that enter slots; a slot beyond the last one is no slot.

  Several texts of one source, as samples are, have it once.
  """

  slots: Int[Array | np.ndarray, 'm']
  source: Int[Array | np.ndarray, 'm']  # the row of each text's source
  tokens: Int[Array | np.ndarray, 'u t']
  segment_ids: Int[Array | np.ndarray, 'u t']  # 1, or 0 on padding
  length: Int[Array | np.ndarray, 'm']  # of what is given of the output
  least: Int[Array | np.ndarray, 'm']
  limit: Int[Array | np.ndarray, 'm']
  keys: UInt32[Array | np.ndarray, 'm 2']


@functools.partial(jax.jit, static_argnames='module', donate_argnames='state')
def admit(module: nn.Module, params: dict, state: State, new: Entries) -> State:
  """The state with texts put into slots, their sources encoded once."""
  write = lambda old, one: old.at[new.slots].set(one, mode='drop')
  run = functools.partial(module.apply, {'params': params})
  own = lambda tree: jax.tree.map(lambda a: a[new.source], tree)
  source = run(new.tokens, new.segment_ids, method='remember')
  (u, _), m = new.tokens.shape, new.slots.shape[0]
  k, w = state.tokens.shape[1:]
  start, cache = module.shape.start, state.cache
  if start is None:  # the prompt goes through the model here
    at = jnp.zeros(u, jnp.int32)
    _, prompt_state = run(
      new.tokens, at, module.blank_cache(u, w), source, method='step'
    )
    prompt_state, tokens = own((prompt_state, new.tokens))
    # Every beam begins with the prompt.
    rows = (new.slots[:, None] * k + jnp.arange(k)).ravel()
    cache = jax.tree.map(
      lambda old, one: old.at[rows].set(jnp.repeat(one, k, 0), mode='drop'),
      cache,
      prompt_state,
    )
    first = jnp.pad(tokens, [(0, 0), (0, w - tokens.shape[1])])
  else:
    first = jnp.full((m, w), start, jnp.int32)
  beams, fill = state.beams, state.fill
  if beams is not None:
    beams = jax.tree.map(write, beams, beam.blank(m, k, w))
  if fill is not None:
    fill = jax.tree.map(
      write, fill, infill.blank(own(new.tokens), own(new.segment_ids), k)
    )
  return dataclasses.replace(
    state,
    tokens=write(state.tokens, jnp.repeat(first[:, None], k, axis=1)),
    length=write(state.length, new.length),
    prompt=write(state.prompt, new.length),
    least=write(state.least, new.least),
    limit=write(state.limit, new.limit),
    done=write(state.done, False),
    cache=cache,
    source=jax.tree.map(write, state.source, own(source)),
    beams=beams,
    fill=fill,
    keys=None if state.keys is None else write(state.keys, new.keys),
  )


@functools.partial(
  jax.jit, static_argnames=('module', 'k', 'filling', 'drawing', *'btw')
)
def empty(
  module: nn.Module,
  params: dict,
  k: int,
  filling: bool,
  drawing: bool,
  b: int,
  t: int,
  w: int,
) -> State:
  """b idle slots of k beams, for sources of t tokens, with room for w."""
  whole, one = jnp.zeros((b, t), jnp.int32), jnp.ones(b, jnp.int32)
  source = jax.eval_shape(
    functools.partial(module.apply, method='remember'),
    {'params': params},
    whole,
    whole,
  )
  return State(
    tokens=jnp.zeros((b, k, w), jnp.int32),
    length=one,
    prompt=one,
    least=one,
    limit=one,
    done=jnp.ones(b, bool),
    cache=module.blank_cache(b * k, w),
    source=jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), source),
    beams=beam.blank(b, k, w) if k > 1 else None,
    fill=infill.blank(whole, whole, k) if filling else None,
    keys=jnp.zeros((b, 2), jnp.uint32) if drawing else None,
  )
