"""Self-Debias (Schick et al. 2021, arXiv:2103.00453): against a prompt.

A text is read as it is, and after a sentence that names a bias. What the
sentence makes likelier is what the model itself takes for biased:

  p'(w) ∝ p(w) · max(exp(−λ Δ(w)), ε),  Δ(w) = max(max_k p_k(w) − p(w), 0)

with λ = 50 and ε = .01, as in Meade et al. 2022 (arXiv:2110.08527). The whole
vocabulary is needed at every place, and each text is read once more for every
sentence. Nothing is trained, and vectors do not change.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer
from tokenizers import Tokenizer

from fairjax.core import announce
from fairjax.data.batching import batches as packing
from fairjax.data.batching import tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.models import special
from fairjax.models.reading import masked
from fairjax.models.reading.masked import Copies
from fairjax.models.reading.token_scores import behind

DECAY, FLOOR = 50.0, 0.01
PREFIX = 'The following text discriminates against people because of their {}: '
BLOCK = 1 << 25  # probabilities of a vocabulary held in memory


@jax.jit
def adjusted(
  plain: Float[Array, 'n v'],
  after: Float[Array, 'k n v'],
  token: Int[Array, 'n j'],
) -> Float[Array, 'n j']:
  """log p' of tokens, from log p as it is and after each sentence."""
  rise = jnp.maximum(jnp.exp(after).max(0) - jnp.exp(plain), 0)
  scores = plain + jnp.maximum(-DECAY * rise, jnp.log(FLOOR))
  return jnp.take_along_axis(jax.nn.log_softmax(scores), token, axis=1)


def prefixes(
  tokenizer: Tokenizer, biases: tuple[str, ...]
) -> list[Integer[np.ndarray, ' p']]:
  """The tokens of the sentence of each bias."""
  sentences = [PREFIX.format(bias) for bias in biases]
  return tokens.encode(tokenizer, sentences, None, None, False).split()


@functools.partial(jax.jit, static_argnames='module')
def _scores(module: Any, params: dict, batch: dict) -> Float[Array, 'r t v']:
  return jax.nn.log_softmax(module.apply({'params': params}, batch))


def at_places(
  judge: Any,
  texts: Ragged,
  copies: Copies,
  token: Integer[np.ndarray, 'c k'],
  mask: int | None,
) -> Float[np.ndarray, 'c k']:
  """log p' of k tokens at each copy's place, of a masked LM."""
  module = judge.module.clone(heads_only=True)
  place, size = judge.placement, len(copies.text)
  params = place.params(judge.params)
  before = (judge.tokenizer.num_special_tokens_to_add(False) + 1) // 2
  more = prefixes(judge.tokenizer, judge.contrast)
  versions = [(texts, 0)] + [
    (behind(texts, each, before), len(each)) for each in more
  ]
  for version, _ in versions:
    special.check_lengths(version.lengths, module.shape)
  step = max(min(BLOCK // module.shape.vocab, masked.BATCH), 1)
  layouts = [
    masked.layout_of(version, copies, step, place) for version, _ in versions
  ]
  out = np.empty(token.shape, np.float32)
  starts = range(0, size, step)
  for low in announce.rounds(starts, len(starts), 'masked places: batch'):
    part = slice(low, low + step)
    read = []
    for (version, shift), layout in zip(versions, layouts):
      some = Copies(copies.text[part], copies.place[part] + shift)
      read.append(np.empty((len(some.text), module.shape.vocab), np.float32))
      for host, which in masked.sweep(
        version, some, mask, step, place.rows, layout
      ):
        scores = _scores(module, params, place.batch(host))
        real = which >= 0
        read[-1][which[real]] = np.asarray(place.fetch(scores))[real, 0]
    plain, *after = read
    out[part] = adjusted(plain, np.stack(after), token[part])
  return out


def left_to_right(judge: Any, texts: Ragged) -> Float[np.ndarray, ' tokens']:
  """log p' of every token given those before it; NaN where none is."""
  start = np.array([] if judge.bos is None else [judge.bos], np.int32)
  versions = [behind(texts, start, 0)] + [
    behind(texts, np.concatenate([start, each]), judge.opens)
    for each in prefixes(judge.tokenizer, judge.contrast)
  ]
  for version in versions:
    special.check_lengths(version.lengths, judge.module.shape)
  out = np.full(len(texts.flat), np.nan, np.float32)
  step = max(BLOCK // judge.module.shape.vocab // versions[-1].lengths.max(), 1)
  starts = range(0, len(texts.lengths), int(step))
  for low in announce.rounds(starts, len(starts), 'texts scored: batch'):
    rows = np.arange(low, min(low + step, len(texts.lengths)))
    some = tokens.take(texts, rows)
    # Each token but the first of a text that nothing stands before.
    scored = np.ones(len(some.flat), bool)
    scored[some.offsets[:-1]] = bool(len(start))
    read = []
    for version in versions:
      more = int(version.lengths[0] - texts.lengths[0])
      part = tokens.take(version, rows)
      own = np.arange(len(some.flat)) + more * (1 + some.owner)
      read.append(_following(judge, part)[own[scored] - 1])
    plain, *after = read
    at = np.flatnonzero(scored) + texts.offsets[low]
    token = texts.flat[at][:, None]
    out[at] = np.asarray(adjusted(plain, np.stack(after), token))[:, 0]
  return out


def _following(judge: Any, texts: Ragged) -> Float[np.ndarray, 'tokens v']:
  """log p of what follows each token, over the vocabulary."""
  n, place = len(texts.lengths), judge.placement
  layout = packing.layout(texts.lengths, n, rows_multiple=place.rows)
  params = place.params(judge.params)
  out = np.empty((len(texts.flat), judge.module.shape.vocab), np.float32)
  for host in packing.sweep(packing.of_texts(texts), np.arange(n), layout):
    scores = _scores(judge.module, params, place.batch(host))
    at, row, column = packing.flat_places(texts, host)
    out[at] = np.asarray(place.fetch(scores))[row, column]
  return out
