"""Matched control edits: as many words changed, and none that shows a group.

A classifier that reacts to a swap may react to any edit. For each text that a
swap changed, `controls` writes the same text under an edit of the same size:
as many words are changed, first names to other first names of the same gender
and origin, other words to a synonym or a neutral noun of controls.csv. (A
matched null as FairPair, arXiv:2404.06619, argues for.) A text in which not as
many words can be changed has no control.

The choice among a text's words is a draw from the seed and the text.
"""

import functools
import hashlib
import itertools
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from fairjax.core import paths
from fairjax.pairs.swapping import names as people
from fairjax.pairs.swapping.dictionary import Span, put_spans
from fairjax.pairs.swapping.listed import match_case

WORD = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)?)")
SECOND = '#second'  # what comes behind it is used where the rest is too little
NEXT = 7  # names of like frequency among which one is drawn
LONG = 1 << 13  # characters of a text beyond which draws are from its digest


class Controls(NamedTuple):
  """Texts in the order given; None where there is no control."""

  texts: list[str | None]
  spans: list[list[Span]]


def controls(
  texts: Sequence[str], spans: Sequence[Sequence[Span]], seed: int = 0
) -> Controls:
  """The control of each text, by the spans that a swap changed in it."""
  out = Controls([], [])
  for text, own in zip(texts, spans):
    edits = _edit(text, own, seed) if own else None
    out.spans.append(edits or [])
    out.texts.append(put_spans(text, edits) if edits else None)
  return out


def _edit(text: str, spans: Sequence[Span], seed: int) -> list[Span] | None:
  """As many edits as the swap has words (articles follow their nouns)."""
  persons = _persons()
  key = _bytes(text)  # asked at each word
  key = key if len(text) <= LONG else _drawn(key).hex().lstrip('0').encode()
  words = [s for s in spans if s[2].lower() not in ('a', 'an')]
  edits, names = [], {}
  for start, end, old, _ in words:
    low = old.lower()
    if low in persons:
      if low not in names:
        others = persons[low]
        digest = _drawn(_bytes(f'{seed}:{old}:') + key)
        names[low] = others[int.from_bytes(digest, 'big') % len(others)]
      edits.append((start, end, old, match_case(old, names[low])))
  rest = len(words) - len(edits)
  if rest:
    more = _neutral(text, spans, rest, seed, key)
    if len(more) < rest:
      return None
    edits += more
  return sorted(edits)


def _neutral(text, spans, size, seed, key) -> list[Span]:
  """`size` words with a partner: content words first, each tier as drawn."""
  pieces = WORD.split(text)  # words at odd places
  words = pieces[1::2]
  found: list = [*map(partners().get, map(str.lower, words))]
  starts = [*itertools.accumulate(map(len, pieces))][::2]
  changed = [*sorted(spans), (len(text), len(text))]
  tiers: tuple[list, list] = ([], [])
  at = 0  # of the first change that ends behind the word's start
  every = zip(words, starts, found)
  for word, start, (tier, new) in itertools.compress(every, found):
    while changed[at][1] <= start:
      at += 1
    if changed[at][0] >= start + len(word):
      tiers[tier].append((start, start + len(word), word, new))
  drawn = lambda span: _drawn(b'%d:%d:' % (seed, span[0]) + key)
  out: list = []
  for tier in tiers:
    if 0 < (wanted := size - len(out)) < len(tier):  # else there is no choice
      tier = sorted(tier, key=drawn)
    out += tier[:wanted]
  return [(a, b, old, match_case(old, new)) for a, b, old, new in out]


@functools.cache
def partners() -> dict[str, tuple[int, str]]:
  """word -> (0 of content words, 1 of small words; its partner)."""
  out: dict[str, tuple[int, str]] = {}
  tier = 0
  path = pathlib.Path(__file__).with_name('controls.csv')
  for row in paths.csv_lines(path, 'controls'):
    if row and row[0] == SECOND:
      tier = 1
    elif row and not row[0].startswith('#'):
      for k, word in enumerate(row):
        out.setdefault(word, (tier, row[(k + 1) % len(row)]))
  return out


@functools.cache
def _persons() -> dict[str, tuple[str, ...]]:
  """A first name -> others of its gender, origin and about its frequency."""
  path = pathlib.Path(people.__file__).with_name('names.csv')
  counts, origin = people.read(path), people.origins(path)
  known = people.load(True)
  ranked: dict[tuple, list[str]] = {}
  for name in sorted(counts, key=lambda n: (-sum(counts[n]), n)):
    if name.lower() in known:
      male = name.lower() in known.male
      ranked.setdefault((male, origin.get(name.lower(), '')), []).append(name)
  out = {}
  for row in ranked.values():
    for k, name in enumerate(row):
      start = max(0, min(k - NEXT // 2, len(row) - NEXT - 1))
      near = row[start : start + NEXT + 1]
      others = tuple(n for n in near if n != name)
      if others:
        out[name.lower()] = others
  return out


def _bytes(text: str) -> bytes:
  return text.encode(errors='surrogatepass')


def _drawn(key: bytes) -> bytes:
  """Eight bytes that depend on nothing but the key."""
  return hashlib.blake2b(key, digest_size=8).digest()
