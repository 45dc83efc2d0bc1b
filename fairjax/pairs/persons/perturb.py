"""Perturbation: which word of a text, to which attribute, and what is kept.

A perturbation rewrites a text for one person: `word` is one of its mentions,
`attribute` what the person becomes (Qian et al. 2022, arXiv:2205.12586). The
authors' word list was never published: candidates here are the words of our
gender list, first names, and the words of the other axes where they mean people
(pairs/axes).
"""

import functools
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairjax.config.rewriting import AXES
from fairjax.core import paths
from fairjax.pairs.axes import exchange
from fairjax.pairs.persons import chain
from fairjax.pairs.swapping import dictionary

SEPARATOR = '<PERT_SEP>'  # between the prompt and the text
WORD = re.compile(r'\w+|[^\w\s]')  # as places in a text are counted
JOINT = '<SEP>'  # between the texts of a pair
TOKENS = (SEPARATOR, JOINT)

AXIS = {name: axis for axis, names in AXES.items() for name in names}

# Descriptors by attribute that a perturber is trained on (persons/parallel.py);
# the first is what is written.
_FILE = pathlib.Path(__file__).with_name('descriptors.csv')
DESCRIPTORS = {
  attribute: tuple(words)
  for attribute, *words in paths.csv_lines(_FILE, 'descriptors')
}
_DESCRIPTIONS = {w.lower() for words in DESCRIPTORS.values() for w in words}
# An age and its noun are one person's: an 11-year-old boy.
_SAME_AGE = re.compile(r'[- ]?(?:(?:years?|yrs?)[- ]old)?,?[- ](?:\w+ )?')


class Candidate(NamedTuple):
  """A word that may be perturbed, and what its person may become."""

  start: int
  end: int
  word: str
  axis: str
  attributes: tuple[str, ...]


def prompt(word: str, attribute: str, text: str) -> str:
  """What a perturber reads: 'his, woman <PERT_SEP> text'."""
  return f'{word}, {attribute} {SEPARATOR} {text}'


def join(one: str, two: str) -> str:
  """A pair as one text, so that both halves are perturbed alike."""
  return f'{one} {JOINT} {two}'


def split(text: str) -> tuple[str, str] | None:
  """The halves of a joined text; None where they cannot be told apart."""
  halves = re.split(rf'\s*{re.escape(JOINT)}\s*', text)
  return (halves[0], halves[1]) if len(halves) == 2 else None


@functools.cache
def _turn(axis: str, attribute: str):
  """The swap of an axis: to an attribute, or '' to the next value."""
  if attribute:
    return dictionary.swapper(attribute, axis=axis)
  return dictionary.swapper(axis=axis, step=1)


def _named(texts: Sequence[str], axis: str) -> list[list[Candidate]]:
  """Words of an axis, where its rules take them for people."""
  value_of, out = exchange.reader(axis), []
  for text, spans in zip(texts, _turn(axis, '')(texts).spans):
    row, last = [], None
    for start, end, word, _ in spans:
      own = value_of(word)
      follows = last is not None and _SAME_AGE.fullmatch(text, last, start)
      last = end if own and axis == 'age' else None
      if own and not follows:
        others = tuple(a for a in AXES[axis] if a not in (own, 'adult'))
        row.append(Candidate(start, end, word, axis, others))
    out.append(row)
  return out


def _genders(texts: Sequence[str]) -> list[list[Candidate]]:
  """Words of gender and first names, as the swap sees them."""
  swap, sides, called = chain.ready()
  out = []
  for spans in swap(texts).spans:
    row = []
    for start, end, word, _ in spans:
      low = word.lower()
      if low in ('a', 'an'):
        continue
      own = chain.gender_of(low, sides, called)
      others = (
        ('man', 'non-binary') if own == 'female' else ('woman', 'non-binary')
      )
      row.append(Candidate(start, end, word, 'gender', others))
    out.append(row)
  return out


def candidates(
  texts: Sequence[str], axes: Sequence[str] = tuple(AXES)
) -> list[list[Candidate]]:
  """What may be perturbed in each text, by our lists."""
  rows: list[list[Candidate]] = [[] for _ in texts]
  for axis in axes:
    found = _genders(texts) if axis == 'gender' else _named(texts, axis)
    rows = [row + own for row, own in zip(rows, found)]
  return [sorted(row) for row in rows]


def draw(
  row: Sequence[Candidate], rng: np.random.Generator, values: set[str]
) -> tuple[Candidate, str] | None:
  """A word and one of `values`, drawn uniformly; None of nothing."""
  # With chances: without them numpy draws other numbers than it did.
  drawn = lambda some: some[
    rng.choice(len(some), p=[1 / len(some)] * len(some))
  ]
  able = [c for c in row if values.intersection(c.attributes)]
  if not able:
    return None
  one = drawn(able)
  return one, drawn([a for a in one.attributes if a in values])


def by_rules(text: str, start: int, end: int, attribute: str) -> str:
  """The rule-based perturber: one person's chain, or that word alone.

  Where an axis's rules leave a word that was named, its attribute's descriptor
  stands for it.
  """
  axis = AXIS[attribute]
  if axis == 'gender':
    return chain.turn(text, start, end, attribute)[0]
  if not exchange.reader(axis)(text[start:end]) or attribute == 'adult':
    return redescribed(text, start, end, attribute)
  turn = _turn(axis, attribute)
  starts, last = {start}, end
  for one, stop, *_ in turn([text]).spans[0] if axis == 'age' else ():
    if one >= last and _SAME_AGE.fullmatch(text, last, one):
      starts.add(one)
      last = stop
  new = turn([text], [starts]).texts[0]
  if new == text and text[start:end].lower() in _DESCRIPTIONS:
    return redescribed(text, start, end, attribute)
  return new


def redescribed(text: str, start: int, end: int, attribute: str) -> str:
  """The text with the attribute's first descriptor in that place."""
  if attribute not in DESCRIPTORS:
    return text
  old, new = text[start:end], DESCRIPTORS[attribute][0]
  opens = text[:start].strip()[-1:] in ('', '.', '!', '?')
  if old[0].isupper() and opens:
    new = new[:1].upper() + new[1:]
  return dictionary.replaced(text, [(start, end, old, new)])
