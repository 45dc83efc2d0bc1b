"""Senses of ambiguous words, by rules on their neighbours.

her and his are in pronouns.py; lady, sir, miss, king, … are titles, nouns,
surnames or parts of a fixed phrase. A rule is `rule(text, start, end) -> row |
None`: a row holds the parallel (male, female, neutral) words of the sense
found, None leaves the word alone.
"""

import re
from collections.abc import Callable

from fairjax.pairs.swapping.neighbours import (
  ENDERS,
  last_word,
  next_word,
  words_of,
)
from fairjax.pairs.swapping.persons import PLACE_AFTER
from fairjax.pairs.swapping.pronouns import ALONE, OBJECT, Row, her, his

Rule = Callable[[str, int, int], Row | None]

# Fixed phrases: the word stays before (after) these words.
STAYS_BEFORE = {
  'mother': words_of('tongue nature earth ship board lode'),
  'father': words_of('christmas time figure'),
  'sister': words_of(
    'city cities company companies ship ships station stations school schools '
    'paper newspaper project channel club team site town label'
  ),
  'daughter': words_of('cell cells company companies product'),
  'king': words_of('crab cobra penguin salmon size sized kong'),
  'queen': words_of('bee bees size sized mattress'),
  'witch': words_of('hunt hunts hazel'),
  'bachelor': words_of('of degree'),
  'bachelors': words_of('of degree in'),
  'chick': words_of('flick flicks lit pea peas embryo embryos fil'),
  'mens': words_of('rea'),
  'womens': words_of('rea'),
}
STAYS_AFTER = {
  'man': words_of('oh to hey'),
  'groom': words_of('to'),
  'fathers': words_of('founding pilgrim church'),
  'queens': words_of('in from to'),
  'chick': words_of('baby newborn hatched'),
  'chicks': words_of('baby newborn hatched her hen its'),
}
# Nouns that are verbs before what is acted on: groom the dog, man the pumps.
VERBS_TOO = words_of('groom man father mother steward husband')
_ACTED_ON = words_of("""
the a an his her its their my your our this that these those him them it dogs
cats horses children
""")
_ACTOR = words_of("""
to i you we they he she who and or not will would can could may might must
should shall do did does don't didn't won't can't please
""")
# King's Cross, Queen's Park, Kings Road: names of places and houses.
_HOUSES = words_of('king queen kings queens prince princess duke earl')
_OWNED = re.compile(r"['’]s [A-Z]")
_MAN_PARTS = re.compile(
  r'-(?:made|hours?|eat|of-war|at-arms|power|month|size|portable|in-the|to-man)'
  r"|['’]s[- ]land\b|[,!] ",
  re.IGNORECASE,
)
# Common words that are surnames or brands after a capitalised word.
SURNAMES = words_of("""
king kings prince duke dukes baron monk abbot steward guy man woman wizard
wizards priest queen son boy brothers sisters lass bachelor heir nun earl
""")
_BEFORE_NOUN = words_of("""
old young crown grand great good poor dear mother father our her his little big
white black holy wise brave dead new best first last one every many most
american british english french german italian african chinese asian indian
european
""")
_ABBREVIATED = re.compile(r'\b(?:Mr|Mrs|Ms|Dr|Jr|Prof|Sen|[A-Z])\.? $')
_NUMERALS = words_of('jr sr ii iii iv')


def noun(row: Row) -> Rule:
  """Swaps `row` except as a surname, a brand or part of a fixed phrase."""
  surname = not SURNAMES.isdisjoint(row)  # either: or a swap leads not back
  asked = STAYS_BEFORE.keys() | STAYS_AFTER.keys() | VERBS_TOO
  plain = {*row} - asked - {'man', 'bachelor'}

  def rule(text: str, start: int, end: int) -> Row | None:
    word = text[start:end]
    if text[end : end + 10].lower() in (' of a bitc', 's of bitche'):
      return None
    if word in plain:  # in small letters: nobody's name
      return row
    low = word.lower()
    after, _, _ = next_word(text, end)
    before = last_word(text, start)
    if after.lower() in STAYS_BEFORE.get(low, ()):
      return None
    if before.lower() in STAYS_AFTER.get(low, ()):
      return None
    if low in VERBS_TOO and after.lower() in _ACTED_ON:
      if not before or before.lower() in _ACTOR:
        return None
    if low in _HOUSES and word[0].isupper() and _is_house(text, end):
      return None
    if low == 'bachelor' and text[end : end + 2] in ("'s", '’s'):
      return None
    if low == 'man':
      if _MAN_PARTS.match(text, end) and (
        text[end] not in ',!' or (before == '' and word == 'Man')
      ):
        return None
      if text[max(0, start - 8) : start].lower() == 'isle of ':
        return None
    if surname and word[1:].islower() and word[0].isupper():
      if text[start - 1 : start] == '-' and start > 1:  # Spider-Man
        return None
      if _ABBREVIATED.search(text, max(0, start - 6), start):  # Mrs. King
        return None
      if low in ('guy', 'gal', 'earl') and after[:1].isupper():
        return None
      if (
        before[:1].isupper()
        and before.lower() not in ENDERS
        and before.lower() not in _BEFORE_NOUN
        and (not after[:1].isupper() or after.lower() in _NUMERALS)
      ):
        return None
    return row

  return rule


def _is_house(text: str, end: int) -> bool:
  """Whether it owns a capitalised word: King's Cross, Queens Park."""
  if text[end : end + 2] in ("'s", '’s'):
    return bool(_OWNED.match(text, end))
  return next_word(text, end)[0].lower() in PLACE_AFTER


def title(row: Row, otherwise: Row | None) -> Rule:
  """`row` as a title before a capitalised name, else `otherwise`."""

  def rule(text: str, start: int, end: int) -> Row | None:
    word = text[start:end]
    if word[0].isupper() and not (len(word) > 1 and word.isupper()):
      after, _, _ = next_word(text, end)
      before = last_word(text, start).lower()
      if after[:1].isupper() and before not in ('first', 'our', 'notre'):
        return row
      if before in ('our', 'notre'):  # Our Lady, Notre Dame
        return None
    return otherwise

  return rule


LORD: Row = ('lord', 'lady', '')
LORDS: Row = ('lords', 'ladies', '')
LADY: Row = ('gentleman', 'lady', 'person')
LADIES: Row = ('gentlemen', 'ladies', 'people')
_LORDS = re.compile(r',? (?:and|or|&) (?:lords|ladies)\b', re.IGNORECASE)
_LORDS_BEFORE = re.compile(r'\b(?:lords|ladies),? (?:and|or|&) $', re.I)
_ESTATE = re.compile(r' of the (?:manor|castle|realm)\b', re.IGNORECASE)


def lady(text: str, start: int, end: int) -> Row | None:
  """lord as a title, in my lady and of the manor; else gentleman."""
  if last_word(text, start).lower() == 'my' or _ESTATE.match(text, end):
    return LORD
  return title(LORD, LADY)(text, start, end)


def lord(text: str, start: int, end: int) -> Row | None:
  """lady in the same places; the Lord of a prayer stays."""
  if last_word(text, start).lower() == 'my' or _ESTATE.match(text, end):
    return LORD
  return title(LORD, None)(text, start, end)


def _beside(text: str, start: int, end: int) -> bool:
  return bool(
    _LORDS.match(text, end)
    or _LORDS_BEFORE.search(text[max(0, start - 12) : start])
  )


def ladies(text: str, start: int, end: int) -> Row:
  return LORDS if _beside(text, start, end) else LADIES


def lords(text: str, start: int, end: int) -> Row | None:
  return LORDS if _beside(text, start, end) else None


def god(text: str, start: int, end: int) -> Row | None:
  """A god among gods, never the one of prayers and exclamations."""
  kinds = words_of(
    'a the sun sea love war greek roman norse hindu moon thunder'
  )
  if text[start].islower() and last_word(text, start).lower() in kinds:
    return ('god', 'goddess', 'deity')
  return None


MISTER: Row = ('mister', 'miss', 'mx')
CHICK: Row = ('dude', 'chick', 'person')
CHICKS: Row = ('dudes', 'chicks', 'people')

PRONOUNS = frozenset(('her', 'his', 'him', 'hers'))
RULES: dict[str, Rule] = {
  'her': her,
  'his': his,
  'him': lambda text, start, end: OBJECT,
  'hers': lambda text, start, end: ALONE,
  'lady': lady,
  'lord': lord,
  'ladies': ladies,
  'lords': lords,
  'god': god,
  'miss': title(MISTER, None),
  'mister': title(MISTER, ('mister', 'missus', 'mx')),
  'sir': title(('sir', 'dame', ''), ('sir', 'madam', '')),
  'dame': title(('sir', 'dame', ''), None),
  'chick': noun(CHICK),
  'chicks': noun(CHICKS),
  'count': title(('count', 'countess', ''), None),
}


def rules(
  rows: tuple[tuple[str, ...], ...], titles: bool = True
) -> dict[str, Rule]:
  """The rule of every ambiguous word, given the listed rows.

  Without `titles` (lady, sir, count, …) only of those that the rows hold.
  """
  careful = SURNAMES | STAYS_BEFORE.keys() | STAYS_AFTER.keys()
  sets = {
    word: noun((*row, '')[:3])
    for row in rows
    for word in row[:2]
    if not careful.isdisjoint(row[:2])
  }
  listed = {word for row in rows for word in row[:2]}
  always = RULES if titles else PRONOUNS | (listed & RULES.keys())
  return sets | {word: RULES[word] for word in always}
