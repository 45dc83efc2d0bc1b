"""Finds candidate positions of listed words in a column, vectorised.

The column is one array of letters: words are the runs between non-letters,
the first sixteen letters and the length of each run are hashed, and a bitmap
says which runs are worth a look. A run that is not listed passes with a
chance of about (words / 2^20); the caller looks it up in its dictionary.
"""

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

_BITS = 20
_BLOCK = 1 << 20  # characters at a time, so that arrays stay in the cache
# Odd multipliers (Knuth's golden ratio and two primes) that spread the hash.
_SPREAD = [
  np.uint64(m)
  for m in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
]


@functools.cache
def _letters() -> np.ndarray:
  """Code point -> one byte of its lower-case letter, 0 for other characters."""
  table = np.zeros(1 << 16, np.uint8)
  for code in range(1 << 16):
    char = chr(code)
    if char.isalnum() or unicodedata.combining(char):
      low = ord(char.lower()[0])
      table[code] = low if low < 128 else 128 + low % 127
  return table


def _fold(text: str) -> np.ndarray:
  """The letters of a text between two margins of zeros."""
  if text.isascii():
    codes = np.frombuffer(text.encode('ascii'), np.uint8)
  else:
    data = text.encode('utf-32-le', 'surrogatepass')
    codes = np.minimum(np.frombuffer(data, np.uint32), (1 << 16) - 1)
  lower = np.zeros(len(codes) + 32, np.uint8)
  np.take(_letters(), codes, out=lower[1 : len(codes) + 1])
  return lower


def _runs(lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Starts and ends of the words, as offsets in the text."""
  letter = lower != 0
  edges = np.flatnonzero(letter[1:] != letter[:-1])
  return edges[::2], edges[1::2]


def _hash(lower: np.ndarray, starts, ends) -> np.ndarray:
  """A hash of each run's first sixteen letters and length, in 20 bits."""
  eights = np.ndarray((len(lower) - 7,), '<u8', lower, strides=(1,))
  size = ends - starts
  mask = np.uint64(2**64 - 1) >> np.arange(64, -1, -8, np.uint64)
  mask[0] = 0
  first = eights[starts + 1] & mask[np.minimum(size, 8)]
  second = eights[starts + 9] & mask[np.clip(size - 8, 0, 8)]
  mixed = first * _SPREAD[0] + second * _SPREAD[1]
  mixed ^= mixed >> np.uint64(29)
  mixed *= _SPREAD[2]
  return (mixed >> np.uint64(64 - _BITS)).astype(np.int64)


class Scan:
  """Finds candidates of `words` in columns of texts."""

  def __init__(self, words: Iterable[str]):
    lower = _fold('\n'.join(words))
    self._listed = np.zeros(1 << _BITS, bool)
    self._listed[_hash(lower, *_runs(lower))] = True

  def __call__(
    self, texts: Sequence[str]
  ) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yields (row, starts, ends) for each row with a candidate, in order."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    ends_of_rows = np.cumsum(sizes)
    first = 0
    while first < len(texts):
      base = ends_of_rows[first - 1] if first else 0
      last = int(np.searchsorted(ends_of_rows, base + _BLOCK)) + 1
      last = min(last, len(texts))
      lower = _fold('\n'.join(texts[first:last]))
      starts, ends = _runs(lower)
      is_listed = self._listed[_hash(lower, starts, ends)]
      starts, ends = starts[is_listed], ends[is_listed]
      row_ends = ends_of_rows[first:last] - base
      rows = np.searchsorted(row_ends, starts, side='right')
      shift = (row_ends - sizes[first:last])[rows]
      starts, ends = (starts - shift).tolist(), (ends - shift).tolist()
      cuts = np.flatnonzero(np.diff(rows, prepend=-1)).tolist()
      for a, b in zip(cuts, [*cuts[1:], len(starts)]):
        yield first + int(rows[a]), starts[a:b], ends[a:b]
      first = last
