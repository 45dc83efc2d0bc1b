"""Optimisers, learning rates, and the parameters that they update.

The rate depends on the run's length. Kept out of the transform it is a traced
number, so that runs of different lengths (forty diets) share one compilation.
"""

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from fairjax.config import Train
from fairjax.models.layers import layer_params

BETA1 = 0.9  # decay of the first moment, as Kingma and Ba (2015) have it
STEP_OPTIONS = (  # read here; runs that agree in them share a program
  *('lr', 'optimizer', 'warmup', 'schedule', 'weight_decay'),
  *('beta2', 'eps', 'max_grad_norm'),
)


def transform(train: Train) -> optax.GradientTransformation:
  """Clipping and the direction of the step, its size still to be given."""
  clip = clip_by_norm(train.max_grad_norm) if train.max_grad_norm else None
  if train.optimizer == 'rmsprop':
    # As in Keras: the mean of squares starts at 0, eps outside the root.
    direction = optax.scale_by_rms(
      decay=0.9, eps=1e-7, eps_in_sqrt=False, initial_scale=0.0
    )
  else:
    direction = optax.scale_by_adam(BETA1, train.beta2, train.eps)
  decay = (
    optax.add_decayed_weights(train.weight_decay, decays)
    if train.weight_decay
    else None
  )
  held = held_factor() if train.schedule == 'plateau' else None
  chain = clip, direction, decay, held  # AdamW: decay is not scaled by Adam
  return optax.chain(*(t for t in chain if t is not None))


class Held(NamedTuple):
  """A factor of the step's size that the host sets between steps."""

  factor: jax.Array


def held_factor() -> optax.GradientTransformation:
  """The step times a number that stays until `lowered` changes it."""

  def update(direction, state, params=None):
    return jax.tree.map(lambda d: d * state.factor, direction), state

  return optax.GradientTransformation(lambda _: Held(jnp.ones(())), update)


_times = jax.jit(jnp.multiply)


def lowered(opt, factor: jax.Array | np.ndarray):
  """The state of optimisers with each seed's rate times its factor [s]."""
  held = lambda part: isinstance(part, Held)
  lower = lambda one: Held(_times(one.factor, factor)) if held(one) else one
  return jax.tree.map(lower, opt, is_leaf=held)


def clip_by_norm(most: float) -> optax.GradientTransformation:
  """g · most / max(most, ‖g‖), as optax.clip_by_global_norm."""

  def clip(grads, state, params=None):
    # One factor fuses with what follows; optax writes a clipped copy.
    factor = most / jnp.maximum(most, optax.tree.norm(grads))
    return jax.tree.map(lambda g: g * factor, grads), state

  return optax.GradientTransformation(lambda params: optax.EmptyState(), clip)


def decays(params):
  """For each leaf whether weight decay shrinks it, by its name."""
  return jax.tree_util.tree_map_with_path(
    lambda path, _: layer_params.decays(path), params
  )


def rate(train: Train, step, total) -> jax.Array:
  """lr · min(step/warm, 1) · (total - step)/(total - warm), from step 0.

  The last factor only with the linear schedule, and only after the warm-up,
  as in the reference's trainer. What a plateau takes is a part of the
  optimiser's state (`lowered`).
  """
  step = jnp.asarray(step, jnp.float32)
  total = jnp.asarray(total, jnp.float32)
  warm = jnp.floor(train.warmup * total)
  rising = jnp.where(step < warm, step / jnp.maximum(warm, 1.0), 1.0)
  falling = jnp.ones_like(step)
  if train.schedule == 'linear':
    rest = (total - step) / jnp.maximum(total - warm, 1.0)
    falling = jnp.where(step < warm, 1.0, jnp.maximum(rest, 0.0))
  return train.lr * rising * falling


def owned(params: dict, pattern: str, prefix: str = '') -> dict:
  """The leaves whose name, such as 'encoder/word/embedding', has a match."""
  out: dict = {}
  for name, value in params.items():
    if isinstance(value, dict):
      inner = owned(value, pattern, f'{prefix}{name}/')
      out |= {name: inner} if inner else {}
    elif re.search(pattern, prefix + name):
      out[name] = value
  return out


def combine(params: dict, own: dict) -> dict:
  """`params` with the leaves of `own`, a part of them, in their place."""
  return {
    name: value
    if name not in own
    else combine(value, own[name])
    if isinstance(value, dict)
    else own[name]
    for name, value in params.items()
  }
