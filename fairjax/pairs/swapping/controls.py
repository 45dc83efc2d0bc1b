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
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from fairjax.core import paths
from fairjax.pairs.swapping import names as people
from fairjax.pairs.swapping import word_lists
from fairjax.pairs.swapping.dictionary import Span, put_spans
from fairjax.pairs.swapping.listed import match_case

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
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
  gendered = _gendered()
  for text, own in zip(texts, spans):
    edits = _edit(text, own, gendered, seed) if own else None
    out.spans.append(edits or [])
    out.texts.append(put_spans(text, edits) if edits else None)
  return out


def _edit(
  text: str, spans: Sequence[Span], gendered: frozenset[str], seed: int
) -> list[Span] | None:
  """As many edits as the swap has words (articles follow their nouns)."""
  persons = _persons()
  key = text if len(text) <= LONG else f'{_hash(text):x}'  # asked at each word
  words = [s for s in spans if s[2].lower() not in ('a', 'an')]
  edits, names = [], {}
  for start, end, old, _ in words:
    low = old.lower()
    if low in persons:
      if low not in names:
        others = persons[low]
        names[low] = others[_hash(f'{seed}:{old}:{key}') % len(others)]
      edits.append((start, end, old, match_case(old, names[low])))
  rest = len(words) - len(edits)
  if rest:
    more = _neutral(text, spans, gendered, seed, key)
    if len(more) < rest:
      return None
    edits += more[:rest]
  return sorted(edits)


def _neutral(text, spans, gendered, seed, key) -> list[Span]:
  """Words with a partner: content words first, each tier in drawn order."""
  first, second = partners()
  changed = [*sorted(spans), (len(text), len(text))]
  tiers: tuple[list, list] = ([], [])
  at = 0  # of the first change that ends behind the word's start
  for match in WORD.finditer(text):
    low = match[0].lower()
    while changed[at][1] <= match.start():
      at += 1
    if low in gendered or changed[at][0] < match.end():
      continue
    for tier, known in zip(tiers, (first, second)):
      if low in known:
        new = match_case(match[0], known[low])
        drawn = _hash(f'{seed}:{match.start()}:{key}')
        tier.append((drawn, (*match.span(), match[0], new)))
        break
  return [span for tier in tiers for _, span in sorted(tier)]


@functools.cache
def partners() -> tuple[dict[str, str], dict[str, str]]:
  """word -> partner, of content words and of small words."""
  tiers: tuple[dict, dict] = ({}, {})
  at = 0
  path = pathlib.Path(__file__).with_name('controls.csv')
  for row in paths.csv_lines(path, 'controls'):
    if row and row[0] == SECOND:
      at = 1
    elif row and not row[0].startswith('#'):
      for k, word in enumerate(row):
        tiers[at].setdefault(word, row[(k + 1) % len(row)])
  return tiers


@functools.cache
def _gendered() -> frozenset[str]:
  known = word_lists.gender()
  rows = {word for row in known.rows for word in row[:2]}
  return frozenset(rows | known.to_male.keys() | known.to_female.keys())


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


def _hash(key: str) -> int:
  digest = hashlib.blake2b(key.encode(errors='surrogatepass'), digest_size=8)
  return int.from_bytes(digest.digest(), 'big')
