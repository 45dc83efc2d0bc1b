"""Senses of ambiguous words, by rules on their neighbours.

her and his are in pronouns.py; lady, sir, miss, king, … are titles, nouns,
surnames or parts of a fixed phrase. A rule is `rule(text, start, end) -> row |
None`: a row holds the parallel (male, female, neutral) words of the sense
found, None leaves the word alone.
"""

import re
from collections.abc import Callable

from fairjax.pairs.cues import found
from fairjax.pairs.swapping import fixed_names
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.swapping.pronouns import ALONE, OBJECT, Row, her, his
from fairjax.pairs.word_sets import SETS

# Words before a band's name: "long before Queen played", but "the Queen".
_BEFORE = {''} | SETS.enders - SETS.determiners - SETS.possessive
MUM = re.compile(r'\b(?:step|grand)?mum(?:s|my|mies)?\b', re.IGNORECASE)
Rule = Callable[[str, int, int], Row | None]


def _is_fixed(text: str, start: int, end: int) -> bool:
  """Whether a word is part of such a name or phrase: Lady Gaga, Queen."""
  low = text[start:end].lower()
  if low.removesuffix('s') in ('king', 'queen'):
    near = text[max(0, start - 200) : start + 200].lower()
    if any(map(near.__contains__, SETS.games)) and found('game', text, start):
      return True
  if low in SETS.stage_names and text[start].isupper():
    if next_word(text, end)[0] in SETS.musical:
      if last_word(text, start).lower() in _BEFORE:
        return True
  return fixed_names.has(text, start, low, small=False)


def unless_fixed(rule: Rule) -> Rule:
  """The rule, but for names of bands and artists, and idioms."""

  def careful(text: str, start: int, end: int) -> Row | None:
    return None if _is_fixed(text, start, end) else rule(text, start, end)

  vars(careful).update(vars(rule))
  return careful


def noun(row: Row) -> Rule:
  """Swaps `row` except as a surname, a brand or part of a fixed phrase."""
  # Either word: else a swap would not lead back.
  surname = not SETS.surnames.isdisjoint(row)
  plain = {*row} - SETS.verbs_too - fixed_names.places().keys()

  def rule(text: str, start: int, end: int) -> Row | None:
    word = text[start:end]
    if word in plain:  # in small letters: nobody's name
      return row
    low = word.lower()
    after, _, _ = next_word(text, end)
    before = last_word(text, start)
    if low in SETS.verbs_too and after.lower() in SETS.acted_on:
      if not before or before.lower() in SETS.actor:
        return None
    if low in SETS.houses and word[0].isupper() and _is_house(text, end):
      return None
    if low == 'man' and found('man_part', text, start, end):
      if text[end] not in ',!' or (not before and word == 'Man'):
        return None
    if surname and word[1:].islower() and word[0].isupper():
      if text[start - 1 : start] == '-' and start > 1:  # Spider-Man
        return None
      if found('abbreviated', text, start):
        return None
      if low in ('guy', 'gal', 'earl') and after[:1].isupper():
        return None
      if low in SETS.schooled and (
        after in ('and', 'or') or text[end : end + 1] in ("'", '’')
      ):
        return row  # Boys and Girls, Boys' High School
      if (
        before[:1].isupper()
        and before.lower() not in SETS.enders
        and before.lower() not in SETS.before_noun
        and (not after[:1].isupper() or after.lower() in SETS.numerals)
      ):
        return None
    return row

  # Read without their neighbours in small letters: nobody's name.
  vars(rule)['small'] = plain - SETS.cursed
  return rule


def _is_house(text: str, end: int) -> bool:
  """Whether it owns a capitalised word: King's Cross, Queens Park."""
  after = next_word(text, end)[0].lower()
  return bool(found('house', text, end, end)) or after in SETS.place_after


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


def estate(otherwise: Row | None) -> Rule:
  """lord, lady as a title, in my lady and of the manor; else `otherwise`."""
  known = title(LORD, otherwise)

  def rule(text: str, start: int, end: int) -> Row | None:
    mine = last_word(text, start).lower() == 'my'
    held = mine or found('estate', text, start, end)
    return LORD if held else known(text, start, end)

  return rule


def god(text: str, start: int, end: int) -> Row | None:
  """A god among gods, never the one of prayers and exclamations."""
  if text[start].islower() and last_word(text, start).lower() in SETS.of_gods:
    return ('god', 'goddess', 'deity')
  return None


MISTER: Row = ('mister', 'miss', 'mx')
CHICK: Row = ('dude', 'chick', 'person')
CHICKS: Row = ('dudes', 'chicks', 'people')


def british(row: Row) -> Rule:
  """mum where the text has one, else mom."""
  mum = (row[0], row[1].replace('mom', 'mum'), row[2])
  return lambda text, start, end: mum if MUM.search(text) else row


PRONOUNS = frozenset(('her', 'his', 'him', 'hers'))
RULES: dict[str, Rule] = {
  'her': her,
  'his': his,
  'him': lambda text, start, end: OBJECT,
  'hers': lambda text, start, end: ALONE,
  'lady': estate(LADY),
  'lord': estate(None),
  'ladies': lambda *at: LORDS if found('lords', *at) else LADIES,
  'lords': lambda *at: LORDS if found('lords', *at) else None,
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
  careful = SETS.surnames | fixed_names.places().keys()
  sets = {
    word: noun((row[0], row[1], (*row, '')[2]))
    for row in rows
    for word in row[:2]
    if not careful.isdisjoint(row[:2])
  }
  listed = {word for row in rows for word in row[:2]}
  always = RULES if titles else PRONOUNS | (listed & RULES.keys())
  rules = sets | {word: RULES[word] for word in always}
  if titles:  # our own list
    moms = (row for row in rows if 'mom' in row[1])
    rules |= {m: british((m, f, (*rest, '')[0])) for m, f, *rest in moms}
  named = (fixed_names.places().keys() | SETS.stage_names) - PRONOUNS
  return {
    word: unless_fixed(rule) if word in named else rule
    for word, rule in rules.items()
  }
