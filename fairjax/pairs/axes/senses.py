"""Whether a word of an axis is said of people, by its neighbours.

Poor drivers are bad at it, blind faith is no disability, an English teacher
teaches a tongue, and my kids are offspring.
"""

import re
from collections.abc import Sequence

from fairjax.data.axes.table import Word
from fairjax.pairs.axes import people
from fairjax.pairs.cues import found
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS

# Who does a thing, and may do it poorly: a poor surgeon.
_DOER = re.compile(r'.*(?:er|or|ist|ian|eon|ess)s?')
_JOINED = re.compile(r'(?:,? (?:and|or|&)|,|/) ?(\w[\w-]*)')
OWNER = re.compile(
  r"(?:\w['’]s?|\b(?:my|your|his|her|its|our|their|own|whose|ur))$", re.I
)
_OWNED = ("'", "'s", '’', '’s')  # celebrities ' children, in corpora


def fits(text: str, start: int, low: str, one: Word, noun: str, own) -> bool:
  """Whether a word before one for people says what they are."""
  before = last_word(text, start).lower()
  if noun in own or (
    low in SETS.ages and (noun in SETS.kin or noun in SETS.lasts)
  ):
    return False
  if low in SETS.figurative and noun in SETS.followers:
    return False
  if low == 'poor':  # poor drivers; those poor cops; my poor, innocent …
    if before in SETS.pitied or text[start + len(low)] == ',':
      return False
    several = noun.endswith('s') or noun in ('people', 'men', 'women', 'folk')
    several |= noun == 'children'
    one_of = before in ('a', 'an', 'another', 'every', 'each')
    doer = noun in SETS.skills or (
      _DOER.fullmatch(noun) and noun not in SETS.no_doer
    )
    return not doer and (several or one_of)
  tongue = one.people and one.text[:1].isupper()
  return not (tongue and noun in SETS.taught)


def is_person(text: str, end: int, before: str, after: str, one: Word) -> bool:
  """A counted word that is a noun: no tongue, and no first of adjectives."""
  if after.lower() == 'of' or (after[:1].isupper() and not after.isupper()):
    return False  # the most American of cities, the Australian Under 23
  tongue = one.people and one.text[:1].isupper()
  if tongue and before.lower() in SETS.possessive:
    return False  # my German is rusty
  # The Italian, French and Slavic operas.
  listed = _JOINED.match(text, end)
  return not listed or not (
    listed[1][0].isupper() or listed[1].lower() in SETS.describing
  )


def _before(text: str, start: int) -> list[str]:
  """The words before a place, but for HEDGES right before it."""
  words = text[max(0, start - 60) : start].lower().replace('’', "'").split()
  while words and words[-1] in SETS.hedges:
    words.pop()
  return words


def is_predicate(text: str, start: int) -> bool:
  """She is (also) Canadian: behind a form of be."""
  words = _before(text, start)
  return bool(words) and (
    words[-1] in SETS.be or words[-1].endswith(("'s", "'m", "'re"))
  )


def is_no_noun(low: str, before: str = '') -> bool:
  """Whether a word ends the phrase before it: no noun, as far as we know."""
  if (
    not low
    or low in SETS.enders
    or low in SETS.senses_acts
    or low in SETS.numbers
  ):
    return True
  if low.endswith(("n't", 'n’t')) or low in SETS.after_predicate:
    return True
  if low.endswith('ly') and low not in SETS.ly_nouns:
    return True
  one = before in ('a', 'an', 'another', 'every', 'each', 'one')
  return one and low.endswith('s') and not low.endswith('ss')


def before_people(text: str, end: int, described=frozenset()) -> str:
  """The word for people that follows, behind others that describe; or ''."""
  at = end
  for _ in range(4):
    joined = _JOINED.match(text, at)
    word, stop, _ = next_word(text, at)
    low = word.lower()
    if low in people.nouns() and low not in SETS.enders:
      follows = next_word(text, stop)[0].lower()
      if low not in SETS.both or is_no_noun(follows, ''):
        return low
      at = stop
      continue
    if joined and (
      joined[1].lower() in described or joined[1].lower() in SETS.describing
    ):
      at = joined.end()
      continue
    if not low or (low not in SETS.describing and low not in described):
      return ''
    at = stop
  return ''


def is_said(text: str, start: int, before: str, after: str) -> bool:
  """He is black, they were poor: of somebody, and nothing follows."""
  if (after and after not in SETS.after_predicate) or before.lower() in (
    'a',
    'an',
  ):
    return False  # he is a poor, pallid wretch
  words = _before(text, start)
  if not words or words[-1] not in SETS.be:
    return False
  verb = words.pop()
  if "'" in verb or verb in ('am', 'im', 'hes', 'shes', 'youre', 'theyre'):
    return not verb.startswith(('is', 'are', 'was', 'were')) or _who(words)
  while words and words[-1] in SETS.hedges:
    words.pop()
  return _who(words)


def _who(words: Sequence[str]) -> bool:
  return bool(words) and (
    words[-1].strip('"(') in SETS.subjects
    or words[-1].strip('"(') in people.nouns()
  )


def is_counted(text: str, start: int, before: str) -> bool:
  """Whether an article, behind others that describe, makes it a noun."""
  low = before.lower()
  at = start
  for _ in range(2):
    if low in SETS.people_determiners or low in SETS.possessive:
      return low not in ('some', 'no', 'all', 'either', 'neither')
    if low not in SETS.describing:
      return False
    at = text.rfind(before, 0, at)
    before = last_word(text, at)
    low = before.lower()
  return low in SETS.people_determiners


def are_people(text: str, start: int, end: int, before: str) -> bool:
  """Plurals that are things or offspring too: whites, kids."""
  low = before.lower()
  if low in SETS.before_nouns or is_offspring(text, start):
    return False
  if low in SETS.ages or re.match(r' (?:and \w+ )?of\b', text[end : end + 16]):
    return False
  if not SETS.ages.isdisjoint(
    text[max(0, start - 24) : start].lower().split()[-2:]
  ):
    return False
  if found('of_age', text, start):
    return False
  if any(
    low in known
    for known in (SETS.enders, SETS.describing, SETS.senses_acts, ('',))
  ):
    return True
  return low.endswith(('ing', 'ed', 'ly'))


def is_child(text: str, start: int, before: str) -> bool:
  """A boy that is nobody's: behind an article, and no exclamation."""
  low = before.lower()
  if is_offspring(text, start) or low in SETS.ages:
    return False
  far = last_word(text, text.rfind(before, 0, start)).lower() if low else ''
  if low in SETS.describing:
    return far not in SETS.ages
  if far in SETS.having:
    return False
  return low in SETS.people_determiners or low in (
    *('and', 'or', 'like', 'as', 'of'),
  )


def is_offspring(text: str, start: int) -> bool:
  """My kids, her two children, Anna's boys, they have two young children."""
  words = text[max(0, start - 60) : start].replace(',', ' ').split()
  for at, word in reversed([*enumerate(words)][-6:]):
    low = word.lower()
    if (
      OWNER.search(word)
      or word in _OWNED
      or low in SETS.having
      or low in SETS.wed
    ):
      return True
    if low == 'of':
      return at > 0 and words[at - 1].lower() in SETS.of_them
    if low in SETS.skipped or low in SETS.numbers or low.endswith('ed'):
      continue
    if low not in SETS.describing and 'and' not in words[at + 1 : at + 3]:
      break  # has a life and children
  return bool(found('a_couple', text, start))
