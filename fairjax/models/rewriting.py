"""Rewriting models: a BART, or a GPT-2 that reads source and target.

Either comes from a folder, a size or a published name, and may know new
special tokens. What differs between the two is said in one place: where the
separator stands, and what is taken of what was written.
"""

import functools
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.core.errors import UserError, count
from fairjax.data.batching import corruption, seq2seq, tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.models import (
  Bundle,
  build,
  families,
  of_module,
  special,
  warm_start,
)
from fairjax.models.folders import hf
from fairjax.models.pretraining import ends

FAMILY = 'bart'
SEPARATOR = '<REWRITE>'  # between source and target, of a decoder-only model


def start(
  config: Config, tokenizer: Tokenizer, new: Sequence[str] = ()
) -> Bundle:
  """The model to train; the tokenizer learns the tokens `new` in place.

  A size is that of FAMILY, and has random weights.
  """
  folder = build.model_folder(config)
  words = corruption.vocabulary(tokenizer)
  if folder:
    source = hf.read_shape(folder)
    # A masked LM becomes both sides of a BART (models/warm_start.py).
    writes = 'write' in families.find(source.family).heads
    shape = source
    if not writes:
      shape = warm_start.shape(source, 'infill', config.model)
      shape = families.replaced(shape, **ends(shape, words))
  else:
    shape = families.named(config.model, words.size, FAMILY, 'write')
    shape = families.replaced(shape, **ends(shape, words))
  if shape.start is None:
    new = (*new, SEPARATOR)
  module = families.module(
    build.with_dropout(shape, config), 'write', build.precision(config)
  )

  init = warm_start.init(folder, module)
  model = of_module(module, init, can='write', tokenizer=tokenizer)
  if folder and writes:
    model = model.replace(config=hf.read_config(folder))
  return grown(model, new)


def grown(model: Bundle, new: Sequence[str]) -> Bundle:
  """The model that knows the tokens `new` too; each seed draws their rows."""
  before = Tokenizer.from_str(model.tokenizer.to_str())
  copy = lambda: Tokenizer.from_str(before.to_str())
  _, size = special.add_tokens(model.tokenizer, model.init(0), new, 0)

  @functools.cache
  def init(seed: int) -> dict:
    return special.add_tokens(copy(), model.init(seed), new, seed)[0]

  module = special.resized(model.module, size)
  return of_module(
    module,
    init,
    tokenizer=model.tokenizer,
    longest=module.shape.longest,
    can=model.can,
    config=model.config,
  )


def separator(model: Bundle) -> int | None:
  """The token between source and target; None for an encoder-decoder."""
  if model.shape.start is not None:
    return None
  token = model.tokenizer.token_to_id(SEPARATOR)
  if token is None:
    raise UserError(
      f'the tokenizer has no {SEPARATOR}; name a model that was trained to '
      'rewrite'
    )
  return token


def pool(
  model: Bundle,
  source: Sequence[str],
  target: Sequence[str],
  original: Sequence[str] | None = None,
  label: np.ndarray | None = None,
) -> tuple[seq2seq.PairPool, np.ndarray]:
  """The pairs as tokens, and which rows fit the model's positions."""
  encode = lambda texts: tokens.encode(model.tokenizer, list(texts), None)
  one, two = encode(source), encode(target)
  between = separator(model)
  if between is not None:
    two = ended(two, model.shape.eos)
    fits = one.lengths + two.lengths + 1 <= model.longest  # the separator
  else:
    fits = np.maximum(one.lengths, two.lengths) <= model.longest
  rows = np.flatnonzero(fits)  # others would be learned without their end
  originals = None
  if original is not None:
    originals = tokens.take(encode(original), rows)
  result = seq2seq.pool(
    tokens.take(one, rows),
    tokens.take(two, rows),
    originals,
    None if label is None else np.asarray(label)[rows],
    between,
  )
  return result, fits


def ended(texts: Ragged, eos: int) -> Ragged:
  """Each text with the token that ends it."""
  flat = np.insert(texts.flat, texts.offsets[1:], eos)
  extra = np.arange(len(texts.offsets))
  return Ragged(flat.astype(np.int32), texts.offsets + extra)


def prompts(model: Bundle, texts: Sequence[str]) -> Ragged:
  """What the model reads before it writes; too long a text stops."""
  encoded = tokens.encode(model.tokenizer, list(texts), None)
  between = separator(model)
  most = readable(model)
  over = encoded.lengths > most
  if over.any():
    raise UserError(
      f'{count(int(over.sum()), "text")} of {len(over)} have more tokens than '
      f'the model reads ({most}), first text {int(over.argmax())}; cut them '
      'into windows'
    )
  return encoded if between is None else ended(encoded, between)


def readable(model: Bundle) -> int:
  """Tokens of the longest text it reads."""
  # Half of a decoder-only model's places are for what it writes.
  joined = model.can == 'write' and model.shape.start is None
  return model.longest // 2 - 1 if joined else model.longest


def fits(model: Bundle, texts: Sequence[str]) -> np.ndarray:
  """Which texts the model has positions for."""
  return tokens.encode(model.tokenizer, list(texts), None).lengths <= readable(
    model
  )


def written(model: Bundle, result: Ragged, read: Ragged) -> list[list[int]]:
  """The tokens written for each text, without those around them."""
  around = {model.shape.pad, model.shape.bos, model.shape.eos}
  rows = result.split()
  if model.shape.start is None:
    rows = [row[n:] for row, n in zip(rows, read.lengths)]
  else:
    around.add(model.shape.start)
  return [[t for t in row.tolist() if t not in around] for row in rows]
