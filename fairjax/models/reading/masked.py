"""Masked-LM predictions at chosen positions, one masked at a time.

Each chosen place is a copy of its text that is read at that place only. The
texts lie in memory once; a copy is two numbers, its text and its place, and
becomes tokens when its batch is filled. All copies of all texts are planned
as one packed sweep, so copies of many texts share rows. The last layer and
the head compute the chosen place alone: `head_columns` and `head_index`, by
which a classifier reads first places, name it.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer

from fairjax.core import announce
from fairjax.data.batching import batches as packing
from fairjax.data.batching.batches import Layout
from fairjax.data.batching.tokens import Ragged, offsets_of
from fairjax.data.placement import HERE, Placement
from fairjax.models import special
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers.argmax import argmax
from fairjax.models.layers.places import Batch

BATCH = 128  # copies a step


class Copies(NamedTuple):
  """One copy of a text for each place that is looked at."""

  text: Integer[np.ndarray, ' c']
  place: Integer[np.ndarray, ' c']  # within the text


def every_place(texts: Ragged, chosen: np.ndarray) -> Copies:
  """The copies of the tokens that `chosen` (bool, beside flat) names."""
  text = texts.owner[chosen]
  return Copies(text, np.flatnonzero(chosen) - texts.offsets[text])


def layout_of(
  texts: Ragged, copies: Copies, batch: int = BATCH, placement: Placement = HERE
) -> Layout:
  """Shapes that serve these copies and any part of them."""
  return packing.layout(texts.lengths[copies.text], batch, placement.rows)


def sweep(
  texts: Ragged,
  copies: Copies,
  mask: int | None,
  batch: int,
  multiple: int,
  layout: Layout | None = None,
) -> Iterator[tuple[dict, np.ndarray]]:
  """Batches and the copies in them (-1: none); `mask` goes to their places."""
  pool, lengths = packing.of_texts(texts), texts.lengths[copies.text]
  limit = layout
  layout = limit or packing.layout_of_sweep(lengths, batch, multiple)
  # The plan needs lengths only, so the copies are a pool without tokens.
  bare = Ragged(texts.flat[:0], offsets_of(lengths))
  every = np.arange(len(lengths))
  plan = packing.sweep(packing.of_texts(bare), every, layout).plan
  if limit:  # the shapes of a layout that is given, and no others
    fits = next(r for r in limit.rows if r >= plan.rows.max())
    plan = plan._replace(rows=np.full_like(plan.rows, fits))
  copy = plan.example
  plan_rows = plan._replace(
    example=np.where(copy >= 0, copies.text[copy], -1).astype(np.int32)
  )
  for step in range(len(plan.rows)):
    host = packing.batch_of(pool, plan_rows, layout, step)
    real = np.flatnonzero(copy[step] >= 0)
    at = plan.place[step, real] + copies.place[copy[step, real]]
    if mask is not None:
      host['tokens'].reshape(-1)[at] = mask
    host['head_columns'].reshape(-1)[plan.head_index[step, real]] = (
      at % layout.width
    )
    yield host, copy[step]


@functools.partial(jax.jit, static_argnames='module')
def _log_p(
  module: Any, params: dict, batch: Batch, token: Int[Array, 'b k']
) -> Float[Array, 'b k']:
  scores = jax.nn.log_softmax(module.apply({'params': params}, batch)[:, 0])
  return jnp.take_along_axis(scores, token, axis=1)


@functools.partial(jax.jit, static_argnames='module')
def _best(
  module: Any, params: dict, batch: Batch, never: Int[Array, 'f']
) -> Int[Array, 'b']:
  scores = module.apply({'params': params}, batch)[:, 0]
  return argmax(scores.at[:, never].set(-jnp.inf))


def log_p(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  copies: Copies,
  token: Integer[np.ndarray, 'c k'],
  mask: int | None,
  batch: int | None = None,
  placement: Placement = HERE,
) -> Float[np.ndarray, 'c k']:
  """log p of k tokens at each copy's place, where `mask` is put (if any)."""
  token = token.astype(np.int32)

  def read(module, params, batch, which):
    return _log_p(module, params, batch, token[which])

  batch = batch or platform_traits().copies
  out = _over(module, params, texts, copies, mask, batch, read, placement)
  return out.reshape(token.shape).astype(np.float32)


def best_tokens(
  module: nn.Module,
  params: dict,
  texts: Ragged,
  copies: Copies,
  never: Integer[np.ndarray, ' f'],
  batch: int = BATCH,
  layout: Layout | None = None,
  placement: Placement = HERE,
) -> Integer[np.ndarray, ' c']:
  """The likeliest token at each copy's place but for `never`; no masking."""

  def read(module, params, batch, which):
    return _best(module, params, batch, never)

  result = _over(
    module, params, texts, copies, None, batch, read, placement, layout
  )
  return result.astype(np.int32)


def _over(
  module: Any,
  params,
  texts,
  copies,
  mask,
  batch,
  evaluate,
  placement: Placement,
  layout=None,
) -> np.ndarray:
  """`evaluate` of every batch, put back in the order of the copies."""
  special.check_texts(params, texts, module.shape)
  if not len(copies.text):
    return np.zeros(0)
  module = module.clone(heads_only=True)
  params = placement.params(params)
  parts, where = [], []
  batches = sweep(texts, copies, mask, batch, placement.rows, layout)
  with announce.counting(len(copies.text), 'masked places read:') as add:
    for host, which in batches:
      on_device = placement.batch(host)
      # Dispatched, not waited for.
      parts.append(evaluate(module, params, on_device, np.maximum(which, 0)))
      where.append(which)
      add(int((which >= 0).sum()))
  values, copy = np.concatenate(placement.fetch(parts)), np.concatenate(where)
  out = np.empty((len(copies.text), *values.shape[1:]), values.dtype)
  out[copy[copy >= 0]] = values[copy >= 0]
  return out
