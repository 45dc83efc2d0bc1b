"""Corruption for pretraining: masked tokens, spans, permuted sentences.

Each function takes rows as batching/rows.py reads them and a generator, and
returns a batch: the corrupted rows, what is asked about them, and `share`, 1
over the number of questions in the whole batch, so that a loss is a sum.
Special tokens and padding are never touched.

  masked     15 % of the tokens, 80/10/10 (Devlin et al. 2019), drawn anew in
             every epoch (Liu et al. 2019), of whole words if asked
  hidden     the same places, all of them masked (ELECTRA, Clark et al. 2020)
  denoised   sentences permuted, spans infilled (BART, Lewis et al. 2020)
  continued  nothing: each token is asked from those before it
"""

import math
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer, models

from fairjax.core.errors import UserError
from fairjax.data.batching.rows import positions

# ELECTRA's weight of the discriminator's loss (Clark et al. 2020)
WEIGHT = 50.0
MASKS = ('[MASK]', '<mask>')
STOPS = ('.', '!', '?')
# How tokenizers write the space before a word: byte-level ones, sentencepiece.
BYTE_SPACE, META_SPACE = 'Ġ', '▁'


class Vocabulary(NamedTuple):
  """What corruption must know of the tokens."""

  size: int
  mask: int  # -1 where there is none
  pad: int
  first: tuple[int, ...]  # token that opens a text, if any
  last: tuple[int, ...]  # token that ends it
  special: np.ndarray  # bool [v]
  begins: np.ndarray  # bool [v]: the token begins a word
  stops: np.ndarray  # bool [v]: the token ends a sentence
  ordinary: np.ndarray  # int32: the tokens that are not special


def vocabulary(tokenizer: Tokenizer) -> Vocabulary:
  """Reads a tokenizer; one that frames texts otherwise is refused."""
  size = tokenizer.get_vocab_size()
  names = [tokenizer.id_to_token(i) or '' for i in range(size)]
  special = np.zeros(size, bool)
  for i, token in tokenizer.get_added_tokens_decoder().items():
    special[i] = token.special
  frame = tokenizer.encode('').ids
  end = tokenizer.token_to_id('<|endoftext|>')
  if not frame and end is not None:
    frame = [end]
    special[end] = True
  elif len(frame) != 2:
    raise UserError(
      f'the tokenizer puts {len(frame)} special tokens around a text; one that '
      'opens and one that ends it, or <|endoftext|>, are needed'
    )
  first, last = tuple(frame[:-1]), tuple(frame[-1:])
  if isinstance(tokenizer.model, models.WordPiece):
    inside = tokenizer.model.continuing_subword_prefix
    begins = [not name.startswith(inside) for name in names]
  else:
    begins = [name.startswith((BYTE_SPACE, META_SPACE)) for name in names]
  result = [tokenizer.token_to_id(name) for name in MASKS]
  pads = [tokenizer.token_to_id(name) for name in ('[PAD]', '<pad>')]
  known = lambda ids, other: next((i for i in ids if i is not None), other)
  return Vocabulary(
    size,
    known(result, -1),
    known(pads, last[0]),
    first,
    last,
    special,
    np.array(begins),
    np.array([n.lstrip(BYTE_SPACE + META_SPACE) in STOPS for n in names]),
    np.flatnonzero(~special).astype(np.int32),
  )


def units(rows: dict, words: Vocabulary, whole_word: bool) -> np.ndarray:
  """Which unit (token, or word) of its row each place is of; -1 for none."""
  tokens, segment_ids = rows['tokens'], rows['segment_ids']
  able = (segment_ids > 0) & ~words.special[tokens]
  begins = able
  if whole_word:
    inside = np.zeros_like(able)  # goes on from the place before
    inside[:, 1:] = able[:, :-1] & (segment_ids[:, 1:] == segment_ids[:, :-1])
    begins = able & (words.begins[tokens] | ~inside)
  return np.where(able, np.cumsum(begins, 1) - 1, -1)


def most(length: int, share: float) -> int:
  """Room for the masked places of a row."""
  return min(length, -(-(math.ceil(share * length) + 8) // 8) * 8)


def choose(
  unit: np.ndarray, share: float, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
  """Units drawn until a row has its share of places: columns, and which count.

  Every place is as likely as any other; of whole words in a short row, long
  ones are a little less likely than short ones (14 to 16 % in a row of 100
  tokens). Both results are [r, m].
  """
  r, t = unit.shape
  row = np.arange(r)[:, None]
  flat = np.bincount((row * t + unit)[unit >= 0], minlength=r * t)
  lengths = flat.reshape(r, t)
  key = np.where(unit >= 0, draw.random((r, t))[row, unit], 2.0)  # 2: last
  column = np.argsort(key, axis=1, kind='stable')  # a unit stays together
  unit = np.take_along_axis(unit, column, 1)
  able = unit >= 0
  new = np.ones((r, t), bool)
  new[:, 1:] = unit[:, 1:] != unit[:, :-1]
  before = np.maximum.accumulate(np.where(new, np.arange(t), 0), axis=1)
  size = lengths[row, unit]
  budget = share * able.sum(1, keepdims=True)
  # That of the unit that crosses the share makes the mean share · n.
  chance = (budget - before) / np.maximum(size, 1)
  m = most(t, share)
  mask = able & (draw.random((r, 1)) < chance) & (before + size <= m)
  return column[:, :m].astype(np.int32), mask[:, :m]


def _asked(rows: dict, column: np.ndarray, mask: np.ndarray) -> dict:
  """The rows with the questions: places, their owners, the true tokens."""
  pick = lambda a: np.take_along_axis(a, column, 1)
  return rows | {
    'places': np.where(mask, column, 0),
    'asked': np.where(mask, pick(rows['segment_ids']), 0),
    'labels': np.where(mask, pick(rows['tokens']), 0),
    'share': np.float32(1 / max(1, mask.sum())),
  }


def _put(tokens: np.ndarray, column, mask, value) -> np.ndarray:
  """The tokens with `value` at the places taken."""
  out = tokens.copy()
  row = np.broadcast_to(np.arange(len(tokens))[:, None], column.shape)
  out[row[mask], column[mask]] = np.broadcast_to(value, column.shape)[mask]
  return out


def masked(
  rows: dict,
  draw: np.random.Generator,
  words: Vocabulary,
  share: float = 0.15,
  whole_word: bool = False,
) -> dict:
  """Of the places chosen 80 % become the mask, 10 % any token, 10 % stay."""
  column, mask = choose(units(rows, words, whole_word), share, draw)
  out = _asked(rows, column, mask)
  fate = draw.random(column.shape)
  other = words.ordinary[draw.integers(0, len(words.ordinary), column.shape)]
  new = np.where(fate < 0.8, words.mask, other)
  tokens = _put(rows['tokens'], column, mask & (fate < 0.9), new)
  return out | {'tokens': tokens}


def hidden(
  rows: dict,
  draw: np.random.Generator,
  words: Vocabulary,
  share: float = 0.15,
  whole_word: bool = False,
) -> dict:
  """All places chosen become the mask; every real place is judged later."""
  column, mask = choose(units(rows, words, whole_word), share, draw)
  tokens = _put(rows['tokens'], column, mask, words.mask)
  real = max(1, (rows['segment_ids'] > 0).sum())
  return _asked(rows, column, mask) | {
    'tokens': tokens,
    'judged_share': np.float32(WEIGHT / real),
  }


def continued(rows: dict, draw: np.random.Generator) -> dict:
  """The rows as they are; a piece's first token is not asked."""
  segment_ids = rows['segment_ids']
  targets = (
    (segment_ids[:, 1:] == segment_ids[:, :-1]) & (segment_ids[:, 1:] > 0)
  ).sum()
  return rows | {'share': np.float32(1 / max(1, targets))}


def permuted(
  rows: dict, draw: np.random.Generator, words: Vocabulary
) -> np.ndarray:
  """The tokens with the sentences of each piece in random order.

  A sentence ends after its last stop; first and last token keep their places.
  """
  tokens, segment_ids = rows['tokens'], rows['segment_ids']
  r, t = tokens.shape
  begins = np.ones((r, t), bool)
  begins[:, 1:] = segment_ids[:, 1:] != segment_ids[:, :-1]
  ends = np.roll(begins, -1, 1)
  ends[:, -1] = True
  stop = words.stops[tokens]
  after = np.zeros((r, t), bool)
  after[:, 1:] = stop[:, :-1] & ~stop[:, 1:]
  sentence = np.cumsum(begins | after, 1) - 1
  key = draw.random((r, t))[np.arange(r)[:, None], sentence]
  key = np.where(segment_ids == 0, 0.0, np.where(begins, -1.0, key))
  key = np.where((segment_ids > 0) & ends & ~begins, 2.0, key)
  row, column = np.indices((r, t)).reshape(2, -1)
  piece = np.cumsum(begins, 1).ravel()
  order = np.lexsort((column, key.ravel(), piece, row))
  return tokens.ravel()[order].reshape(r, t)


def spans(
  count: np.ndarray, share: float, mean: float, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
  """Spans of Poisson lengths that cover `share` of each row's units.

  Returns first units and lengths, [r, k]; length -1 is no span. The last span
  is cut to the share. Spans never overlap: kept units and spans are put in a
  random order on a circle, which is cut at a random unit, so that every unit
  is covered equally often, those at a row's ends too. A span that is cut lies
  at both ends: the last column holds the part at the beginning.
  """
  # Rounded by chance: in the mean exactly the share.
  budget = np.floor(share * count + draw.random(len(count))).astype(np.int64)
  need = budget.max(initial=0) / mean
  k = math.ceil(need + 6 * math.sqrt(need)) + 8  # six deviations more
  length = draw.poisson(mean, (len(count), k))
  before = np.cumsum(length, 1) - length
  used = before < budget[:, None]
  length = np.where(used, np.minimum(length, budget[:, None] - before), -1)
  covered = np.where(used, length, 0).sum(1)
  items = count - covered + used.sum(1)
  width = max(int(items.max(initial=0)), k)
  key = draw.random((len(count), width))
  key[np.arange(width) >= items[:, None]] = 2.0
  order = np.argsort(key, axis=1)[:, :k]
  at = np.sort(np.where(used, order, width), axis=1)
  n = np.maximum(count, 1)[:, None]
  turn = (draw.random(n.shape) * n).astype(np.int64)
  first = np.where(used, (at - np.arange(k) + before + turn) % n, 0)
  over = np.maximum(first + length - n, 0)
  rest = over.sum(1, keepdims=True)
  length = np.append(length - over, np.where(rest > 0, rest, -1), axis=1)
  return np.append(first, np.zeros_like(rest), axis=1), length


def infilled(
  rows: dict, unit: np.ndarray, first: np.ndarray, length: np.ndarray, mask: int
) -> dict:
  """The rows with each span as one mask; a span of length 0 adds a mask.

  A span that goes on into the next piece leaves a mask in both. Masks are
  added only as far as the row has room: otherwise none is.
  """
  tokens, segment_ids = rows['tokens'], rows['segment_ids']
  r, t = tokens.shape
  row = np.broadcast_to(np.arange(r)[:, None], first.shape)
  change = np.zeros((r, t + 1), np.int64)
  np.add.at(change, (row[length > 0], first[length > 0]), 1)
  opens = change[:, :t] > 0
  np.add.at(change, (row[length > 0], (first + length)[length > 0]), -1)
  inside = np.cumsum(change, 1)[:, :t] > 0
  added = np.zeros((r, t + 1), np.int64)
  np.add.at(added, (row[length == 0], first[length == 0]), 1)

  able = unit >= 0
  of = lambda a: np.where(
    able, np.take_along_axis(a, np.maximum(unit, 0), 1), 0
  )
  starts = able.copy()  # the first place of a unit
  starts[:, 1:] &= unit[:, 1:] != unit[:, :-1]
  covered = of(inside) > 0
  goes_on = np.zeros((r, t), bool)
  goes_on[:, 1:] = covered[:, :-1]
  masks = (covered & ((starts & (of(opens) > 0)) | ~goes_on)).astype(np.int64)
  extra = np.where(starts, of(added[:, :t]), 0)
  # A span of length 0 after the last unit stands before what follows it.
  units_ = unit.max(1) + 1
  behind = np.where(able, np.arange(t), -1).max(1) + 1
  fits = behind < t
  extra[fits, behind[fits]] += added[fits, units_[fits]]
  keep = (segment_ids > 0) & ~covered
  room = (masks + keep + extra).sum(1, keepdims=True) <= t
  masks = masks + np.where(room, extra, 0)

  out = masks + keep
  source = np.repeat(np.arange(r * t), out.ravel())
  end = np.cumsum(out.ravel())
  into = np.arange(len(source))
  # The last of what a place writes is its own token, where that is kept.
  own = keep.ravel()[source] & (into == end[source] - 1)
  start = (np.cumsum(out.sum(1)) - out.sum(1))[source // t]
  where = (source // t, into - start)
  new, who = np.zeros((2, r, t), np.int32)
  new[where] = np.where(own, tokens.ravel()[source], mask)
  who[where] = segment_ids.ravel()[source]
  return rows | {'tokens': new, 'segment_ids': who, 'positions': positions(who)}


def denoised(
  rows: dict,
  draw: np.random.Generator,
  words: Vocabulary,
  share: float = 0.3,
  mean: float = 3.0,
  whole_word: bool = False,
) -> dict:
  """The rows corrupted as source, and as they are as target."""
  shuffled = rows | {'tokens': permuted(rows, draw, words)}
  unit = units(shuffled, words, whole_word)
  first, length = spans(unit.max(1) + 1, share, mean, draw)
  return infilled(shuffled, unit, first, length, words.mask) | {
    'target': rows['tokens'],
    'target_segment_ids': rows['segment_ids'],
    'target_positions': rows['positions'],
    'share': np.float32(1 / max(1, (rows['segment_ids'] > 0).sum())),
  }
