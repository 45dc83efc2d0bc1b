"""Rows full of tokens for pretraining, and batches of them.

The documents of a store stand end to end, between them the special tokens
that end one and begin the next; this stream is cut into rows of equal length,
and each row is opened and closed by special tokens of its own. So every row is
full, every piece of a document looks as a text does later ([CLS] … [SEP]),
and a long document continues in the next row. `segment_ids` tells the pieces of
a row apart, positions restart with each: no piece attends to another. Nothing
of this is stored: a row is looked up in the token store when it is needed.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fairjax.data.batching.batches import Batches, order
from fairjax.data.corpora.texts import Store

CORRUPT, HELD_OUT = 14, 15  # streams of random numbers
CHUNK_TOKENS = 8192  # in a batch of held-out rows

# What is done to rows: corrupt(rows, generator) -> a batch, its row count kept
Corrupt = Callable[[dict, np.random.Generator], dict]


class PackedCorpus(NamedTuple):
  """All rows of some documents; row k is looked up by `read`."""

  flat: np.ndarray  # tokens of the store
  begin: np.ndarray  # int64 [n]: where document i begins in it
  places: np.ndarray  # int64 [n + 1]: and in the stream of rows
  document: np.ndarray  # int64 [n]: its number in the store
  first: tuple[int, ...]  # token that opens a piece, if any
  last: tuple[int, ...]  # token that ends a document
  closed: bool  # rows end with `last` even within a document
  length: int  # tokens of a row
  pieces: int  # most pieces in a row

  @property
  def inner(self) -> int:
    """Places of a row that are not its own special tokens."""
    return self.length - len(self.first) - self.closed * len(self.last)

  @property
  def total(self) -> int:
    # What would open a next document, or end the last, needs no row.
    spare = len(self.first) + self.closed * len(self.last)
    return math.ceil((int(self.places[-1]) - spare) / self.inner)

  @property
  def tokens(self) -> int:
    """Tokens of the documents themselves."""
    between = len(self.first) + len(self.last)
    return int(self.places[-1]) - between * len(self.begin)


def rows(
  store: Store,
  documents: np.ndarray,
  length: int,
  first: tuple[int, ...],
  last: tuple[int, ...],
  closed: bool = True,
) -> PackedCorpus:
  """The rows of these documents; none may be empty."""
  lengths = np.diff(store.offsets)[documents]
  places = np.cumsum(
    np.concatenate([[0], lengths + len(first) + len(last)]), dtype=np.int64
  )
  begin = store.offsets[documents]
  corpus = PackedCorpus(
    store.flat, begin, places, documents, first, last, closed, length, 0
  )
  edges = np.arange(corpus.total) * corpus.inner
  ends = np.minimum(edges + corpus.inner, places[-1]) - 1
  bounds = np.searchsorted(places, [edges, ends], 'right')
  return corpus._replace(pieces=int((bounds[1] - bounds[0]).max()) + 2)


def read(rows: PackedCorpus, numbers: np.ndarray) -> dict[str, np.ndarray]:
  """The rows `numbers` (-1 is an empty one).

  tokens, positions  int32 [r, t]
  segment_ids        int32 [r, t]: the piece's number in its row, from 1; 0
                     is padding
  example, document  [r, p]: a number for each piece, and its document; -1
                     where a row has fewer
  """
  n, start, gap = len(rows.begin), len(rows.first), len(rows.last)
  at = numbers[:, None] * rows.inner + np.arange(rows.inner)
  beyond = (at >= rows.places[-1]) | (at < 0)
  document = np.searchsorted(rows.places, at, 'right') - 1
  document = np.clip(document, 0, n - 1)
  offset = at - rows.places[document]
  size = (rows.places[document + 1] - rows.places[document]) - start - gap
  ended = beyond | (offset >= size)
  next_document = beyond | (offset >= size + gap)
  source = np.where(ended, 0, rows.begin[document] + offset)
  tokens = rows.flat[source].astype(np.int32)
  tokens = np.where(ended, np.int32(rows.last[0]), tokens)
  if start:
    tokens = np.where(next_document, np.int32(rows.first[0]), tokens)
  key = document + next_document
  # A row's own special tokens belong to the pieces beside them. Where the cut
  # falls between documents they stand alone, or with another special token:
  # pieces without content, which become padding.
  whole, keys, own = [tokens], [key], [~ended]
  side = lambda value: np.full((len(numbers), 1), value)
  if start:
    whole.insert(0, side(rows.first[0]))
    keys.insert(0, document[:, :1])
    own.insert(0, side(False))
  if rows.closed:
    whole.append(side(rows.last[0]))
    keys.append(document[:, -1:] + ended[:, -1:])
    own.append(side(False))
  tokens, key, inside = (np.concatenate(each, 1) for each in (whole, keys, own))
  piece = key - key[:, :1]
  p = rows.pieces
  where = np.arange(len(numbers))[:, None] * p + piece
  content = np.bincount(where[inside], minlength=len(numbers) * p)
  real = content.reshape(-1, p) > 0
  segment_ids = np.where(real.ravel()[where], piece + 1, 0).astype(np.int32)
  number = np.arange(p) + numbers[:, None] * p
  index = np.minimum(key[:, :1] + np.arange(p), n - 1)
  return {
    'tokens': np.where(segment_ids > 0, tokens, 0).astype(np.int32),
    'segment_ids': segment_ids,
    'positions': positions(segment_ids),
    # In int32 and never -1, which is padding.
    'example': np.where(real, number & 0x7FFFFFFF, -1).astype(np.int32),
    'document': np.where(real, rows.document[index], -1),
  }


def positions(segment_ids: np.ndarray) -> np.ndarray:
  """Each place's distance from where its piece begins."""
  column = np.arange(segment_ids.shape[1], dtype=np.int32)
  begins = np.ones(segment_ids.shape, bool)
  begins[:, 1:] = segment_ids[:, 1:] != segment_ids[:, :-1]
  return column - np.maximum.accumulate(np.where(begins, column, 0), axis=1)


# Arrays that say which piece a place belongs to.
_OWNERS = ('segment_ids', 'asked', 'target_segment_ids')


def finish(
  batch: dict, pieces: int, accumulate: int = 1, multiple: int = 1
) -> dict:
  """Micro-batches with room for `multiple` devices and owners of their own."""
  r = len(batch['tokens']) // accumulate
  extra = -r % multiple
  before = np.arange(r, dtype=np.int32)[:, None] * pieces
  out = {}
  for name, value in batch.items():
    if name == 'document':
      continue
    value = np.asarray(value)
    if value.ndim == 0:  # a share of the whole batch
      out[name] = np.full(accumulate, value) if accumulate > 1 else value
      continue
    value = value.reshape(accumulate, r, -1)
    if name in _OWNERS:
      value = np.where(value > 0, value + before, 0)  # unique in the batch
    fill = -1 if name == 'example' else 0
    value = np.pad(value, [(0, 0), (0, extra), (0, 0)], constant_values=fill)
    if name == 'example':
      value = value.reshape(accumulate, -1)
    out[name] = value if accumulate > 1 else value[0]
  return out


def training(
  rows: PackedCorpus,
  seeds: Sequence[int],
  batch: int,
  corrupt: Corrupt,
  accumulate: int = 1,
  multiple: int = 1,
) -> Batches:
  """The batches of every step, for all seeds."""

  def fill(numbers: np.ndarray, at: int, step: int) -> dict[str, np.ndarray]:
    each = []
    for seed, own in zip(seeds, numbers[at], strict=True):
      draw = np.random.default_rng([seed, CORRUPT, step])  # of the step alone
      each.append(
        finish(
          corrupt(read(rows, own), draw), rows.pieces, accumulate, multiple
        )
      )
    return {name: np.stack([one[name] for one in each]) for name in each[0]}

  draw = functools.partial(order, rows.total)
  return Batches(rows.total, draw, seeds, batch, fill)


class HeldOut:
  """Every row once, corrupted the same way whatever the batch or device."""

  def __init__(self, rows: PackedCorpus, corrupt: Corrupt, multiple: int = 1):
    self.rows, self.corrupt, self.multiple = rows, corrupt, multiple
    self.size = max(1, CHUNK_TOKENS // rows.length)

  def __len__(self) -> int:
    return math.ceil(self.rows.total / self.size)

  def rows_of(self, i: int) -> dict[str, np.ndarray]:
    """The rows of batch i as they are."""
    numbers = np.arange(i * self.size, (i + 1) * self.size)
    return read(self.rows, np.where(numbers < self.rows.total, numbers, -1))

  def corrupted(self, i: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng([0, HELD_OUT, i])
    return self.corrupt(self.rows_of(i), draw)

  def __getitem__(self, i: int) -> tuple[dict, np.ndarray]:
    """A batch, and the document of each of its examples."""
    row = self.corrupted(int(i))
    batch = finish(row, self.rows.pieces, 1, self.multiple)
    document = row['document'].ravel()
    extra = len(batch['example']) - len(document)
    return batch, np.pad(document, (0, extra), constant_values=-1)
