"""Constrained infilling: a source is copied, and only its masks are written.

A slot carries a pointer into its source. At a token of the source nothing
else may be written; at a mask up to `most` tokens may be, and the span ends
as soon as the token that follows the mask in the source is chosen (after
`least` tokens at the earliest). So what is written is the source, token for
token, with a span in place of each mask. The scores of what may be written
are left as they are: in a beam, what follows a span judges it.
"""

import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Bool, Float, Int, Integer

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged

NOTHING = -1  # no token


@struct.dataclass
class FillerSpans:
  """What may stand in place of a mask."""

  mask: Int[Array, '']
  least: Int[Array, '']  # tokens of a span
  most: Int[Array, '']
  never: Int[Array, 'f']  # tokens that no span may have


@struct.dataclass
class Fill:
  """Where in its source each beam is."""

  source: Int[Array, 'b t']  # NOTHING on padding
  pointer: Int[Array, 'b k']
  span: Int[Array, 'b k']  # tokens of the span that were written


def blank(
  source: Int[Array, 'b t'], segment_ids: Int[Array, 'b t'], k: int
) -> Fill:
  zeros = jnp.zeros((source.shape[0], k), jnp.int32)
  return Fill(jnp.where(segment_ids > 0, source, NOTHING), zeros, zeros)


def _at(fill: Fill, ahead: int) -> Int[Array, 'b k']:
  # Past its end a beam that is done may write nothing at all.
  return jnp.take_along_axis(
    fill.source, fill.pointer + ahead, axis=1, mode='fill', fill_value=NOTHING
  )


def wanted(
  fill: Fill, spans: FillerSpans
) -> tuple[Int[Array, 'b k'], Bool[Array, 'b k']]:
  """The token of the source that may be next, and whether others may."""
  here, after = _at(fill, 0), _at(fill, 1)
  inside = here == spans.mask
  end = jnp.where(fill.span >= spans.least, after, NOTHING)
  return jnp.where(inside, end, here), inside & (fill.span < spans.most)


def allow(
  scores: Float[Array, 'n v'],
  literal: Int[Array, 'n'],
  free: Bool[Array, 'n'],
  spans: FillerSpans,
) -> Float[Array, 'n v']:
  """The scores, with -inf where the source says otherwise."""
  vocab = jnp.arange(scores.shape[1])
  some = jnp.ones(scores.shape[1], bool).at[spans.never].set(False)
  may = (vocab == literal[:, None]) | (free[:, None] & some)
  return jnp.where(may, scores, -jnp.inf)


def follow(fill: Fill, token: Int[Array, 'b k'], spans: FillerSpans) -> Fill:
  """The places after `token` was written."""
  inside = _at(fill, 0) == spans.mask
  leaves = token == wanted(fill, spans)[0]
  move = jnp.where(inside, jnp.where(leaves, 2, 0), 1)  # 2: mask and next
  span = jnp.where(inside & ~leaves, fill.span + 1, 0)
  return Fill(fill.source, fill.pointer + move, span)


# On the host.


def merged(sources: Ragged, mask: int) -> Ragged:
  """The sources with masks side by side as one."""
  again = np.zeros(len(sources.flat), bool)
  again[1:] = (sources.flat[1:] == mask) & (sources.flat[:-1] == mask)
  starts = sources.offsets[:-1]
  again[starts[starts < len(again)]] = False  # beside another text's end
  before = np.concatenate([[0], np.cumsum(again)])
  return Ragged(sources.flat[~again], sources.offsets - before[sources.offsets])


def limits(
  sources: Ragged, mask: int, most: int, eos: int, longest: int
) -> Integer[np.ndarray, ' n']:
  """The largest length of each output; stops where a source cannot be kept."""
  n, flat = len(sources.lengths), sources.flat
  text = np.repeat(np.arange(n), sources.lengths)
  last = np.zeros(len(flat), bool)
  last[sources.offsets[1:] - 1] = True
  wrong = (flat == eos) != last
  if wrong.any():
    raise UserError(
      f'text {text[wrong.argmax()]} has not one end token ({eos}), at its end; '
      'infilling copies up to there'
    )
  masks = np.bincount(text[flat == mask], minlength=n)
  limit = 1 + sources.lengths + masks * (most - 1)  # 1: the start token
  if (limit > longest).any():
    row = int((limit > longest).argmax())
    raise UserError(
      f'text {row} may grow to {limit[row]} tokens with {masks[row]} masks of '
      f'up to {most}, but the model has positions for {longest}; shorten it or '
      'lower max_span'
    )
  return limit


def spans_of(
  source: np.ndarray, output: np.ndarray, mask: int, least: int
) -> list[list[int]]:
  """The tokens in place of each mask; `output` is without its first one."""
  spans: dict[int, list[int]] = {}
  at = 0
  for token in output.tolist():
    if source[at] != mask:
      at += 1
      continue
    span = spans.setdefault(at, [])
    if len(span) >= least and token == source[at + 1]:
      at += 2
    else:
      span.append(token)
  return [*spans.values()]
