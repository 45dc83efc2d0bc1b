"""Alignment of two sequences: words, tokens or letters.

It is difflib's, whose time grows with the square of what repeats; two texts of
a hundred pages would take it hours. Beyond LONG parts it is a longest common
subsequence (rapidfuzz, 64 parts an operation), WINDOW parts at a time.
"""

import difflib
from collections.abc import Hashable, Sequence
from typing import Any

from rapidfuzz.distance import LCSseq

LONG = 1000  # parts, of the longer one, up to which it is difflib's alone
WINDOW = 16_384  # parts whose square of bits is held: 32 MB

Parts = Sequence[Hashable]
Block = tuple[int, int, int]  # old[a : a + n] == new[b : b + n]


def blocks(old: Parts, new: Parts) -> Sequence[Block]:
  """Where the two are equal, in order, and (len(old), len(new), 0)."""
  return _matcher(old, new).get_matching_blocks()


def changes(old: Parts, new: Parts) -> Sequence[tuple[str, int, int, int, int]]:
  """(kind, a, b, c, d): what new[c:d] is to old[a:b], as difflib's opcodes."""
  return _matcher(old, new).get_opcodes()


def _matcher(old: Parts, new: Parts) -> difflib.SequenceMatcher:
  if max(len(old), len(new)) <= LONG:
    return difflib.SequenceMatcher(None, old, new, autojunk=False)
  matcher: Any = difflib.SequenceMatcher(None, '', '')
  matcher.matching_blocks = _long(old, new)
  return matcher


def _long(old: Parts, new: Parts) -> list[Block]:
  code: dict[Hashable, int] = {}  # rapidfuzz takes 'a' for 97
  old, new = ([code.setdefault(p, len(code)) for p in x] for x in (old, new))
  out: list[Block] = []
  a, b, last = 0, 0, False
  while not last:
    one, two = old[a : a + WINDOW], new[b : b + WINDOW]
    last = a + len(one) == len(old) and b + len(two) == len(new)
    found: list = [*LCSseq.opcodes(one, two).as_matching_blocks()[:-1]]
    found = found or [(len(one), len(two), 0)]
    if not last:  # what is near the cut may be equal to what comes behind it
      found = found[: max(1, len(found) * 3 // 4)]
    for i, j, n in found:
      _add(out, a + i, b + j, n)
    a, b = a + i + n, b + j + n
  return [*out, (len(old), len(new), 0)]


def _add(out: list[Block], a: int, b: int, size: int) -> None:
  """One more block, joined to the last where it goes on from it."""
  if out and size:
    c, d, n = out[-1]
    if (c + n, d + n) == (a, b):
      out.pop()
      a, b, size = c, d, n + size
  if size:
    out.append((a, b, size))
