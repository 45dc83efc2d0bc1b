"""New special tokens: tokenizer and embeddings grow together.

A new row of the embeddings is the mean of the old ones and a little noise, so
that a tied output layer gives the new token no more than an average score
(Hewitt 2021, 'Initializing new word embeddings for pretrained language
models').
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from flax import traverse_util
from tokenizers import AddedToken, Tokenizer

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.models import families

STREAM = 42  # of this file's random numbers
NOISE = 0.1  # of the old rows' standard deviation, feature by feature

# Which axis of a parameter counts tokens; the last part of a path is enough
# for the embeddings, a head's own parameters stand at the top.
_ROWS = ('word/embedding',)
_COLUMNS = ('bias', 'decoder/kernel', 'decoder/bias')


def known_tokens(tokenizer: Tokenizer) -> int:
  """How many vectors the tokenizer's ids need: the largest of them and one."""
  return max(tokenizer.get_vocab().values(), default=-1) + 1


# A vocabulary may be padded to a round number of vectors; a tokenizer that
# lacks more than that is not the model's, and words would turn into [UNK].
_SPARE, _SHARE = 128, 0.9


def check_vocabulary(
  tokenizer: Tokenizer, vocab: int, model: str = 'the model'
) -> None:
  """Stops where tokenizer and weights do not speak of the same tokens."""
  known = known_tokens(tokenizer)
  if known > vocab:
    raise UserError(
      f'the tokenizer has {known} tokens, but {model} has vectors for {vocab}; '
      'give the tokenizer that belongs to the model with '
      '--config.tokens.tokenizer (left empty, it is that of the folder), or '
      'add the tokens to both with fairjax.models.special.add_tokens'
    )
  if known < min(_SHARE * vocab, vocab - _SPARE):
    raise UserError(
      f'the tokenizer has {known} tokens, but {model} has vectors for {vocab}, '
      'so words that it lacks would become unknown; give the tokenizer that '
      'belongs to the model with --config.tokens.tokenizer'
    )


def check_lengths(lengths: np.ndarray, shape: Any) -> None:
  """Stops at the first text that is empty or has too many tokens."""
  for wrong, remedy in (
    (lengths < 1, 'has no token; give it one or drop its line'),
    (
      lengths > shape.longest,
      f'has more tokens than the model has positions ({shape.longest}); '
      'shorten it or set tokens.max_length',
    ),
  ):
    if wrong.any():
      row = int(np.flatnonzero(wrong)[0])
      raise UserError(f'text {row} {remedy}')


def check_known(texts: Ragged, vocab: int) -> None:
  """Stops at the first text with a token that the weights do not know."""
  if len(texts.flat) and texts.flat.max() >= vocab:
    place = int(np.argmax(texts.flat))
    text = int(np.searchsorted(texts.offsets, place, 'right')) - 1
    raise UserError(
      f'text {text} has the token {texts.flat[place]}, but the model knows '
      f'{vocab}; its tokenizer is that of another model'
    )


def check_fits(params: dict, vocab: int) -> None:
  """Stops where the embeddings are not those that config.json speaks of."""
  rows = _known(traverse_util.flatten_dict(params, sep='/'))
  if rows != vocab:
    raise UserError(
      f'the weights have {rows} tokens and config.json {vocab}; take both from '
      'one folder'
    )


def check_texts(params: dict, texts: Ragged, shape: Any) -> None:
  """Stops where a model of this shape cannot read the texts."""
  check_fits(params, shape.vocab)
  check_known(texts, shape.vocab)
  check_lengths(texts.lengths, shape)


def ids(tokenizer: Tokenizer) -> tuple[int, ...]:
  """The tokens that are no words."""
  added = tokenizer.get_added_tokens_decoder()
  return tuple(sorted(i for i, token in added.items() if token.special))


def add_tokens(
  tokenizer: Tokenizer, params: dict, tokens: Sequence[str], seed: int
) -> tuple[dict, int]:
  """The parameters with rows for `tokens`, and their vocabulary's size.

  The tokenizer learns the tokens in place; those it has are left as they are.
  """
  flat = traverse_util.flatten_dict(params, sep='/')
  rows = _known(flat)
  check_vocabulary(tokenizer, rows)
  fresh = [t for t in tokens if tokenizer.token_to_id(t) is None]
  tokenizer.add_special_tokens([AddedToken(t, special=True) for t in tokens])
  for token in tokens:
    check_whole(tokenizer, token)
  ids = np.array([tokenizer.token_to_id(t) for t in fresh], np.int64)
  # Spare rows of a padded vocabulary are used first.
  size = max(rows, tokenizer.get_vocab_size(), *(ids + 1), 0)
  for path in flat:
    if path.endswith(_ROWS):
      flat[path] = _grow(flat[path], size, ids, seed)
    elif path in _COLUMNS:
      flat[path] = _widen(flat[path], size, ids)
  return traverse_util.unflatten_dict(flat, sep='/'), size


def check_whole(tokenizer: Tokenizer, token: str) -> None:
  """Stops where the tokenizer makes more than one token of `token`."""
  id_ = tokenizer.token_to_id(token)
  result = tokenizer.encode(f'a {token} b', add_special_tokens=False)
  if id_ is None or result.ids.count(id_) != 1:
    raise UserError(
      f'the tokenizer splits the special token {token!r} into '
      f'{result.tokens[1:-1]}; take the tokenizer of the model, or add the '
      'token to tokenizer and weights with fairjax.models.special.add_tokens'
    )


def resized(module: Any, vocab: int) -> Any:
  """The module for that many tokens."""
  shape = dataclasses.replace(module.shape, vocab=vocab)
  return families.reshaped(module, shape)


def _known(flat: dict[str, Any]) -> int:
  """How many tokens the embeddings have rows for."""
  rows = (*_ROWS, 'word/uint8')
  return next(len(v) for path, v in flat.items() if path.endswith(rows))


def _grow(table: Any, size: int, ids: np.ndarray, seed: int) -> Any:
  """The table with `size` rows, those of `ids` drawn around the mean."""
  old = np.asarray(table)
  new = np.zeros((size, old.shape[1]), old.dtype)
  new[: len(old)] = old
  normal = np.random.default_rng([seed, STREAM]).standard_normal(
    (len(ids), old.shape[1])
  )
  new[ids] = old.mean(0) + NOISE * old.std(0) * normal
  return jnp.asarray(new)


def _widen(array: Any, size: int, ids: np.ndarray) -> Any:
  """The last axis with `size` entries; new ones as an average token has."""
  old = np.asarray(array)
  new = np.zeros((*old.shape[:-1], size), old.dtype)
  new[..., : old.shape[-1]] = old
  new[..., ids] = old.mean(-1, keepdims=True)
  return jnp.asarray(new)
