"""Candidate positions of listed words in a column, vectorised.

The column is one array of letters: words are the runs between non-letters,
and a run is looked at where a listed word begins with its three first letters.
Of those the first sixteen letters and the length are hashed, and a bitmap says
which are candidates. A run that is not listed passes with a chance of about
(words / 2^20); the caller looks it up in its dictionary.
"""

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

BITS = 20  # of a hash
COMBINING = 255  # the letter of all combining marks
BLOCK = 1 << 20  # characters at a time, so that arrays stay in the cache
# Odd multipliers (Knuth's golden ratio and two primes) that spread the hash.
_SPREAD = [
  np.uint64(m)
  for m in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
]
_SPREAD_32 = np.uint32(0x9E3779B1)


@functools.cache
def _letters() -> np.ndarray:
  """Code point -> one byte of its lower-case letter, 0 for other characters."""
  table = np.zeros(1 << 16, np.uint8)
  for code in range(1 << 16):
    char = chr(code)
    if char.isalnum():
      low = ord(char.lower()[0])
      table[code] = low if low < 128 else 128 + low % 127
    elif unicodedata.combining(char):
      table[code] = COMBINING
  return table


def _fold(text: str) -> np.ndarray:
  """The letters of a text between two margins of zeros."""
  lower = np.zeros(len(text) + 32, np.uint8)
  inside = lower[1 : len(text) + 1]
  if text.isascii():
    data = text.encode('ascii').translate(_letters()[:256].tobytes())
    inside[:] = np.frombuffer(data, np.uint8)
  else:
    data = text.encode('utf-32-le', 'surrogatepass')
    codes = np.frombuffer(data, np.uint32)
    np.take(_letters(), codes, out=inside, mode='clip')
  return lower


def _begin(lower: np.ndarray, starts: np.ndarray) -> np.ndarray:
  """A hash of each run's three first letters, in 17 bits.

  After a run of two letters there is a zero, and after one of one anything.
  """
  fours = np.ndarray((len(lower) - 4,), '<u4', lower, 1, strides=(1,))
  return _mix(fours[starts])


def _mix(fours: np.ndarray) -> np.ndarray:
  return (fours << np.uint32(8)) * _SPREAD_32 >> np.uint32(15)


def _runs(lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Starts and ends of the words, as offsets in the text."""
  letter = lower != 0
  edges = np.flatnonzero(letter[1:] != letter[:-1])
  return edges[::2], edges[1::2]


def _hash(lower: np.ndarray, starts, ends) -> np.ndarray:
  """A hash of each run's first sixteen letters and length, in 20 bits."""
  eights = np.ndarray((len(lower) - 7,), '<u8', lower, strides=(1,))
  size = ends - starts
  mask = np.uint64(2**64 - 1) >> np.arange(64, -1, -8, dtype=np.uint64)
  mask[0] = 0
  mixed = (eights[starts + 1] & mask[np.minimum(size, 8)]) * _SPREAD[0]
  long = np.flatnonzero(size > 8)
  second = eights[starts[long] + 9] & mask[np.minimum(size[long] - 8, 8)]
  mixed[long] += second * _SPREAD[1]
  mixed ^= mixed >> np.uint64(29)
  mixed *= _SPREAD[2]
  return (mixed >> np.uint64(64 - BITS)).astype(np.int64)


def runs_of(texts: Iterable[str]) -> tuple[np.ndarray, ...]:
  """Letters of the rows between margins, and where words start and end."""
  lower = _fold('\n'.join([*texts, '', '']))
  return lower, *_runs(lower)


class Scan:
  """Finds candidates of `words` in columns of texts."""

  def __init__(self, words: Iterable[str]):
    lower, starts, ends = runs_of(words)
    self._begun = np.zeros(1 << 17, bool)
    self._begun[_begin(lower, starts)] = True
    # After a word of one letter any may stand third.
    ones = lower[starts[ends - starts == 1] + 1].astype(np.uint32)
    thirds = np.arange(256, dtype=np.uint32) << np.uint32(16)
    self._begun[_mix(ones[:, None] | thirds)] = True
    self._listed = np.zeros(1 << BITS, bool)
    self._listed[_hash(lower, starts, ends)] = True

  def __call__(
    self, texts: Sequence[str]
  ) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yields (row, starts, ends) for each row with a candidate."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    ends_of_rows = np.cumsum(sizes)
    first = 0
    while first < len(texts):
      base = ends_of_rows[first - 1] if first else 0
      last = int(np.searchsorted(ends_of_rows, base + BLOCK)) + 1
      last = min(last, len(texts))
      lower, starts, ends = runs_of(texts[first:last])
      at = np.flatnonzero(self._begun[_begin(lower, starts)])
      at = at[self._listed[_hash(lower, starts[at], ends[at])]]
      starts, ends = starts[at], ends[at]
      row_ends = ends_of_rows[first:last] - base
      rows = np.searchsorted(row_ends, starts, side='right')
      shift = (row_ends - sizes[first:last])[rows]
      starts, ends = (starts - shift).tolist(), (ends - shift).tolist()
      cuts = np.flatnonzero(np.diff(rows, prepend=-1))
      rows = (first + rows[cuts]).tolist()
      edges = [*cuts.tolist(), len(starts)]
      for row, a, b in zip(rows, edges, edges[1:]):
        yield row, starts[a:b], ends[a:b]
      first = last
