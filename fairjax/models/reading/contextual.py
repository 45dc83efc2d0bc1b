"""Contextual embeddings of words, and predictions of heads on them.

Texts are packed; a layer's output is captured as it passes, so that any Linen
encoder whose layers are called `layer_0`, `layer_1`, … will do, and layers
above the one that is read are not computed. A word of several pieces has the
mean of theirs. The masked-LM head is the model itself, with an embedding put
in place of its encoder's output.
"""

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from fairjax.core import announce
from fairjax.core.errors import UserError
from fairjax.data.batching import batches as packing
from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import HERE, Placement

BATCH = 64  # texts a step
ROWS = 512  # embeddings decoded a step


class AttributeHead(nn.Module):
  """Linear, GELU, Linear: logits of the two sides, of embeddings [b, d]."""

  @nn.compact
  def __call__(self, x: Float[Array, 'b d']) -> Float[Array, 'b 2']:
    normal = nn.initializers.normal(0.02)
    x = nn.Dense(x.shape[-1], kernel_init=normal, name='dense')(x)
    x = nn.gelu(x, approximate=False)
    return nn.Dense(2, kernel_init=normal, name='classifier')(x)


def layer_number(layer: int, depth: int) -> int:
  """1 … depth; -1 is the last."""
  number = depth + 1 + layer if layer < 0 else layer
  if not 1 <= number <= depth:
    raise UserError(
      f'fairflow.layer is {layer}, but the encoder has the layers 1 to '
      f'{depth} (or -{depth} to -1)'
    )
  return number


@functools.partial(jax.jit, static_argnames=('module', 'layer', 'layers'))
def _states(
  module: nn.Module, params: dict, batch: dict, layer: int, layers: int
) -> Float[Array, 'r t d']:
  """The mean output of `layers` layers up to `layer` (from 1) at all places."""
  names = [f'layer_{k}' for k in range(layer - layers, layer)]
  _, passed = module.apply(
    {'params': params},
    batch,
    capture_intermediates=lambda part, method: (
      part.name in names and method == '__call__'
    ),
    mutable=['intermediates'],
  )
  out = jax.tree.leaves(passed['intermediates'])
  if not out:
    raise UserError(
      f'the encoder has no layer called {names[-1]}; read another model'
    )
  return sum(one.astype(jnp.float32) for one in out) / len(out)


def word_vectors(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  text: Int[np.ndarray, ' n'],
  start: Int[np.ndarray, ' n'],
  size: Int[np.ndarray, ' n'],
  layer: int,
  layers: int = 1,
  batch: int = BATCH,
  placement: Placement = HERE,
) -> Float[np.ndarray, 'n d']:
  """The embedding of each word: the mean of its pieces.

  Word i has `size` pieces from token `start` of text `text`, as
  pairs/attributes.py:spans finds them.
  """
  layer = layer_number(layer, module.shape.depth)
  layer_number(layer - layers + 1, module.shape.depth)  # and the first one
  params = placement.params(params)
  used, row = np.unique(text, return_inverse=True)
  layout = packing.layout(
    texts.lengths[used], batch, rows_multiple=placement.rows
  )
  pool = packing.of_texts(texts)
  sweep = packing.sweep(pool, used.astype(np.int32), layout)
  order = np.argsort(row, kind='stable')
  edges = np.searchsorted(row[order], np.arange(len(used) + 1))
  place = np.full(len(texts.lengths), -1, np.int64)  # of a text's first token
  out, waiting = None, []

  def put(example, begin, states):
    nonlocal out
    flat = placement.fetch(states)
    flat = np.asarray(flat).reshape(-1, flat.shape[-1])
    if out is None:
      out = np.empty((len(text), flat.shape[1]), np.float32)
    real = np.flatnonzero(example >= 0)
    place[example[real]] = begin[real]
    at = np.searchsorted(used, example[real])
    words = np.concatenate([order[edges[i] : edges[i + 1]] for i in at])
    first = place[text[words]] + start[words]
    before = np.cumsum(size[words]) - size[words]
    pieces = np.arange(size[words].sum()) + (first - before).repeat(size[words])
    sums = np.add.reduceat(flat[pieces], before)
    out[words] = sums / size[words][:, None]

  for step in announce.rounds(range(len(sweep)), len(sweep), 'embedding'):
    host = sweep[step]
    states = _states(module, params, placement.batch(host), layer, layers)
    waiting.append((host['example'], sweep.plan.place[step], states))
    if len(waiting) > 1:  # one is computed while another is read
      put(*waiting.pop(0))
  for one in waiting:
    put(*one)
  return np.zeros((0, module.shape.width), np.float32) if out is None else out


@functools.partial(jax.jit, static_argnames='module')
def head_logits(
  module: nn.Module, params: dict, x: Float[Array, 'n d']
) -> Float[Array, 'n v']:
  """The masked-LM head's score of every token for embeddings."""

  def instead(call, args, kwargs, context):
    if context.module.name == 'encoder' and context.method_name == '__call__':
      return x[None].astype(context.module.dtype)
    return call(*args, **kwargs)

  one = jnp.ones((1, len(x)), jnp.int32)
  batch = {
    'tokens': 0 * one,
    'segment_ids': one,
    'positions': 0 * one,
    'example': jnp.zeros(1, jnp.int32),
  }
  with nn.intercept_methods(instead):
    return module.apply({'params': params}, batch)[0]


@functools.partial(jax.jit, static_argnames=('module', 'top'))
def _best(module, params, x, allowed, own, top):
  scores = head_logits(module, params, x)
  log_p = jax.nn.log_softmax(scores)
  log_p = jnp.where(allowed, log_p, -jnp.inf)
  rows = jnp.arange(len(x))
  log_p = log_p.at[rows, own].set(
    jnp.where(own >= 0, -jnp.inf, log_p[rows, own])
  )
  return jax.lax.top_k(log_p, top)


def decode(
  module: nn.Module,
  params: dict,
  x: Float[np.ndarray, 'n d'],
  allowed: Any,
  own: Int[np.ndarray, ' n'],
  top: int = 1,
) -> tuple[Int[np.ndarray, 'n k'], Float[np.ndarray, 'n k']]:
  """The likeliest tokens of embeddings, and their probabilities.

  Only tokens of `allowed` (bool [v]) are chosen, and never `own` (-1: none).
  """
  allowed = jnp.asarray(allowed)
  tokens, chances = [], []
  for first in range(0, len(x), ROWS):
    part, mine = x[first : first + ROWS], own[first : first + ROWS]
    spare = ROWS - len(part)  # one compiled shape
    log_p, token = _best(
      module,
      params,
      jnp.asarray(np.pad(part, ((0, spare), (0, 0)))),
      allowed,
      jnp.asarray(np.pad(mine, (0, spare))),
      top,
    )
    tokens.append(np.asarray(token)[: len(part)])
    chances.append(np.exp(np.asarray(log_p))[: len(part)])
  if not tokens:
    return np.zeros((0, top), np.int32), np.zeros((0, top), np.float32)
  return np.concatenate(tokens), np.concatenate(chances)


def nearest(
  x: Float[np.ndarray, 'n d'], words: Float[np.ndarray, 'w d'], top: int = 1
) -> tuple[Int[np.ndarray, 'n k'], Float[np.ndarray, 'n k']]:
  """The rows of `words` with the largest cosine, and the cosines."""
  unit = lambda a: (
    a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-9)
  )
  words, order, cosine = unit(words), [], []
  for first in range(0, len(x), ROWS):
    scores = unit(x[first : first + ROWS]) @ words.T
    best = np.argsort(-scores, 1, kind='stable')[:, :top]
    order.append(best)
    cosine.append(np.take_along_axis(scores, best, 1))
  if not order:
    return np.zeros((0, top), np.int64), np.zeros((0, top), np.float32)
  return np.concatenate(order), np.concatenate(cosine)
