"""Alignment of two sequences: words, tokens or letters.

It is difflib's, whose time grows with the square of what repeats; two texts of
a hundred pages would take it hours. Beyond LONG parts the alignment holds on to
runs of RUN parts that stand once in both, as patience diff does (B. Cohen,
2010), and difflib is asked between them only; where they are far apart, as
many parts on both sides are compared one by one. Time is n log n.
"""

import bisect
import difflib
from collections.abc import Hashable, Sequence

import numpy as np

LONG = 1000  # parts, of the longer one, up to which it is difflib's alone
RUN = 6  # parts that are one anchor
GAP = 100  # parts between anchors, up to which difflib is asked
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Knuth's golden ratio

Parts = Sequence[Hashable]
Block = tuple[int, int, int]  # old[a : a + n] == new[b : b + n]


def blocks(old: Parts, new: Parts) -> list[Block]:
  """Where the two are equal, in order, and (len(old), len(new), 0)."""
  return _matcher(old, new).get_matching_blocks()


def changes(old: Parts, new: Parts) -> list[tuple[str, int, int, int, int]]:
  """(kind, a, b, c, d): what new[c:d] is to old[a:b], as difflib's opcodes."""
  return _matcher(old, new).get_opcodes()


def _matcher(old: Parts, new: Parts) -> difflib.SequenceMatcher:
  if max(len(old), len(new)) <= LONG:
    return difflib.SequenceMatcher(None, old, new, autojunk=False)
  matcher = difflib.SequenceMatcher(None, '', '')
  matcher.matching_blocks = _long(old, new)
  return matcher


def _long(old: Parts, new: Parts) -> list[Block]:
  code: dict[Hashable, int] = {}
  one, two = (
    np.array([code.setdefault(part, len(code)) for part in parts], np.uint64)
    for parts in (old, new)
  )
  out: list[Block] = []
  a = b = 0
  for c, d, size in [*_anchored(one, two), (len(one), len(two), 0)]:
    for i, j, n in _between(one[a:c], two[b:d]):
      _add(out, a + i, b + j, n)
    _add(out, c, d, size)
    a, b = c + size, d + size
  return [*out, (len(one), len(two), 0)]


def _between(one: np.ndarray, two: np.ndarray) -> list[Block]:
  """What is equal between two anchors."""
  if max(len(one), len(two)) <= GAP:
    matcher = difflib.SequenceMatcher(
      None, one.tolist(), two.tolist(), autojunk=False
    )
    return matcher.get_matching_blocks()[:-1]
  if len(one) != len(two):
    return []
  edges = np.flatnonzero(np.diff(one == two, prepend=False, append=False))
  starts, ends = edges[::2].tolist(), edges[1::2].tolist()
  return [(i, i, j - i) for i, j in zip(starts, ends)]


def _add(out: list[Block], a: int, b: int, size: int) -> None:
  """One more block, joined to the last where it goes on from it."""
  if out and size:
    c, d, n = out[-1]
    if (c + n, d + n) == (a, b):
      out.pop()
      a, b, size = c, d, n + size
  if size:
    out.append((a, b, size))


def _anchored(one: np.ndarray, two: np.ndarray) -> list[Block]:
  """Equal ends, and between them the runs that both have once, in order."""
  size = min(len(one), len(two))
  head = _equal(one[:size], two[:size])
  tail = _equal(
    one[head:][::-1][: size - head], two[head:][::-1][: size - head]
  )
  a, b = len(one) - tail, len(two) - tail
  found = [
    (head + i, head + j, n) for i, j, n in _runs(one[head:a], two[head:b])
  ]
  return [block for block in [(0, 0, head), *found, (a, b, tail)] if block[2]]


def _equal(one: np.ndarray, two: np.ndarray) -> int:
  """How many parts are equal from the start."""
  differ = np.flatnonzero(one != two)
  return int(differ[0]) if len(differ) else len(one)


def _runs(one: np.ndarray, two: np.ndarray) -> list[Block]:
  if min(len(one), len(two)) < RUN:
    return []
  (mine, at), (theirs, to) = _once(one), _once(two)
  _, i, j = np.intersect1d(mine, theirs, True, return_indices=True)
  i, j = at[i], to[j]
  order = np.argsort(i)
  i, j = i[order], j[order]
  # Neighbours on one diagonal are one block.
  cuts = np.flatnonzero((np.diff(i) != 1) | (np.diff(j) != 1)) + 1
  starts, ends = np.append(0, cuts), np.append(cuts, len(i))
  sizes = ends - starts - 1 + RUN
  every = np.stack([i[starts], j[starts], sizes], -1) if len(i) else []
  out: list[Block] = []
  for a, b, n in (tuple(map(int, every[k])) for k in _rising(every)):
    if out:  # runs may overlap the one before
      over = max(0, out[-1][0] + out[-1][2] - a, out[-1][1] + out[-1][2] - b)
      a, b, n = a + over, b + over, n - over
    # A hash may deceive.
    if n > 0 and (one[a : a + n] == two[b : b + n]).all():
      out.append((a, b, n))
  return out


def _once(parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Hashes of the runs that stand once, and where they start."""
  hashes = np.zeros(len(parts) - RUN + 1, np.uint64)
  for k in range(RUN):
    hashes = (hashes ^ parts[k : k + len(hashes)]) * _SPREAD
    hashes ^= hashes >> np.uint64(29)
  found, first, counts = np.unique(
    hashes, return_index=True, return_counts=True
  )
  return found[counts == 1], first[counts == 1]


def _rising(every: Sequence[np.ndarray]) -> list[int]:
  """The most blocks of which each begins later in both than the one before."""
  tops: list[int] = []  # the least end of a chain of each length
  last: list[int] = []
  before = np.full(len(every), -1)
  for k, (_, b, _) in enumerate(every):
    place = bisect.bisect_left(tops, b)
    before[k] = last[place - 1] if place else -1
    tops[place : place + 1] = [b]
    last[place : place + 1] = [k]
  out = []
  k = last[-1] if last else -1
  while k >= 0:
    out.append(k)
    k = before[k]
  return out[::-1]
