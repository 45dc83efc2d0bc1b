"""Parallel text from sentences in which two persons differ in gender.

Where a sentence has one man and one woman, gender says of every pronoun whose
it is, and no rule need guess:

  she tells him that she has lost his key     she is asked for, or he
  he tells him that he has lost his key       either of them, and the truth
                                              is still known

The second line is the first with her turned, so all of its pronouns look
alike: what a perturber finds hardest is learned from plain text that nobody
labelled. A sentence is left out where a noun or a name of a gender could be
somebody else than that gender's pronouns ('she wrote to her mother').
"""

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from fairjax.pairs.persons import chain
from fairjax.pairs.persons.chain import Mention
from fairjax.pairs.persons.perturb import AXIS, WORD

ATTRIBUTE = {gender: name for name, gender in chain.DIRECTION.items()}
OTHER = {'male': 'female', 'female': 'male'}
NAMED = ('name', 'noun')
SHORT, LONG = 20, 400  # characters of a sentence
_END = re.compile(r'(?<=[a-z0-9)"”’\'][.!?])["”]?\s+')


def sentences(texts: Sequence[str]) -> list[str]:
  """The sentences of texts in which pronouns of both genders may stand."""
  every = itertools.chain.from_iterable(_END.split(text) for text in texts)
  whole = (' '.join(sentence.split()) for sentence in every)
  return list(dict.fromkeys(s for s in whole if SHORT < len(s) < LONG))


def persons(text: str) -> dict[str, list[Mention]] | None:
  """The mentions of the one man and the one woman; None where unclear."""
  if not re.search(r'\b(?:he|him|his)\b', text, re.IGNORECASE) or not re.search(
    r'\b(?:she|hers?)\b', text, re.IGNORECASE
  ):
    return None
  every = chain.mentions(text)
  sides = {g: [m for m in every if m.gender == g] for g in OTHER}
  for own in sides.values():
    called = [m for m in own if m.kind in NAMED]
    first = next((m for m in own if m.kind not in (*NAMED, 'surname')), None)
    if first is None or chain.several(m.word for m in called):
      return None
    if len({m.person for m in called}) > 1 or any(
      m.start > first.start for m in called
    ):
      return None
  return sides


def rows(text: str) -> Iterator[dict]:
  """word, attribute, text and target: each person turned, and turned back."""
  sides = persons(text)
  if sides is None:
    return
  at = {g: _places(text, own) for g, own in sides.items()}
  for gender, other in OTHER.items():
    alike = _turned(text, at[gender], other)
    both = _turned(alike, at[other], gender)
    if len({_count(text), _count(alike), _count(both)}) > 1:
      continue  # a form of two words: places no longer agree
    yield _row(text, at[gender][0], other, alike)
    yield _row(alike, at[gender][0], gender, text)
    yield _row(alike, at[other][0], gender, both)


def read(texts: Sequence[str], seed: int, most: int) -> list[dict]:
  """At most `most` such rows of plain texts, in an order drawn by the seed."""
  every = sentences(texts)
  out: list[dict] = []
  for i in np.random.default_rng(seed).permutation(len(every)):
    if len(out) >= most:
      break
    out += [
      {**row, 'axis': AXIS[row['attribute']], 'sentence': every[i]}
      for row in rows(every[i])
      if row is not None
    ]
  return out[:most]


def _places(text: str, own: Sequence[Mention]) -> list[int]:
  """Mentions as places among the text's words, which turning keeps."""
  starts = [m.start() for m in WORD.finditer(text)]
  return [starts.index(m.start) for m in own if m.start in starts]


def _turned(text: str, places: Sequence[int], gender: str) -> str:
  starts = [m.start() for m in WORD.finditer(text)]
  own = {starts[p] for p in places if p < len(starts)}
  return chain.turn_words(text, own, ATTRIBUTE[gender])[0]


def _count(text: str) -> int:
  return len(WORD.findall(text))


def _row(text: str, place: int, gender: str, target: str) -> dict | None:
  """None where the word does not name its place, or nothing changes."""
  match = [*WORD.finditer(text)][place]
  clear = chain.find(text, match[0])[0] == match.start()
  if not clear or text == target:
    return None
  return {
    'word': match[0],
    'attribute': ATTRIBUTE[gender],
    'text': text,
    'target': target,
  }
