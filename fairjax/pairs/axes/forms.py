"""Whether a word of an axis means people where it stands, and in which form.

Black is a colour, a child is somebody's, French is a tongue, and Christian a
first name. A word is of people where its neighbours say so: a word for people
follows (black men, black and white kids), or it is said of somebody (he is
black), or an article makes it one (an Asian who …).
"""

import re
from typing import NamedTuple

from fairjax.data.axes.table import Word
from fairjax.pairs.axes import people, senses
from fairjax.pairs.cues import found
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS

_PEOPLE = ('People', 'Men', 'Women', 'Person')


def opens(text: str, start: int) -> bool:
  """Whether a sentence begins at a place."""
  before = text[:start].rstrip(' \t"“‘\'(*_[')
  return not before or before[-1] in '.!?:;\n…'


class Site(NamedTuple):
  """A word where it stands, and what is beside it."""

  text: str
  start: int
  end: int
  low: str  # the word as it is listed
  hyphen: bool  # joined to what is before it: anti-gay
  before: str  # the word before, and that after
  after: str
  stop: int  # where that ends

  @property
  def next_low(self) -> str:
    return self.after.lower()

  @property
  def is_free(self) -> bool:
    """No noun follows that it could describe."""
    return not self.after or senses.is_no_noun(
      self.next_low, self.before.lower()
    )

  @property
  def is_stage(self) -> bool:
    """A time of a life: child, teenager."""
    return self.low.split()[-1] in SETS.stages


def form_of(
  text: str, start: int, end: int, low: str, forms: dict, described, own
) -> str | None:
  """The form that stands here; None where the word is not of people."""
  at = _site(text, start, end, low)
  if at is None or _is_name(
    text, start, text[start:end], at.before, at.after, forms
  ):
    return None
  if at.is_stage and found('a_time', text, start, end):
    return None
  if low.split()[0] not in SETS.ages and found('degree', text, start):
    return None
  if 'nouns' in forms:
    return 'nouns' if _is_plural(at, forms['nouns'][0]) else None
  if 'group' in forms and at.before.lower() == 'the' and at.is_free:
    return 'group' if _is_group(at) else None
  if 'name' in forms:
    return 'name'
  if 'noun' in forms:
    one = forms['noun'][0]
    if at.is_stage and senses.is_offspring(text, start):
      return None
    if 'adjective' not in forms:
      return 'noun' if _is_noun(at, one) else None
    if (
      at.is_free and not at.hyphen and senses.is_counted(text, start, at.before)
    ):
      person = senses.is_person(text, end, at.before, at.after, one)
      return 'noun' if person else None
    if at.next_low == 'who' and not senses.is_predicate(text, start):
      return None  # a sissy or transgender who
  if 'adjective' not in forms:
    return None
  is_said_of = _is_adjective(at, forms['adjective'][0], described, own)
  return 'adjective' if is_said_of else None


def _site(text: str, start: int, end: int, low: str) -> Site | None:
  """Where a word stands; None inside a compound, and in eleven years old."""
  if text[end : end + 1] in ('-', '–') and text[end + 1 : end + 2].isalnum():
    return None
  if found('in_years', text, start):
    return None
  hyphen = start > 1 and text[start - 1] in '-–' and text[start - 2].isalnum()
  if (
    hyphen
    and re.split(r'\W', text[max(0, start - 6) : start - 1])[-1].lower()
    not in SETS.prefixes
  ):
    return None
  before = '' if hyphen else last_word(text, start)
  after, stop, _ = next_word(text, end)
  return Site(text, start, end, low, hyphen, before, after, stop)


def _is_plural(at: Site, one: Word) -> bool:
  """Whether a plural is of people, and not what a thing is for."""
  text, start, end = at.text, at.start, at.end
  if (at.hyphen and one.people) or at.next_low in SETS.things:
    return False
  if at.before.lower() in ('a', 'an') or at.next_low in ('was', 'is', 'has'):
    return False  # a girls tweet; Brits was selected
  if re.match(r" ?['’]", text[end : end + 2]) and one.people:
    return False  # children's books
  if at.is_stage and (
    senses.is_offspring(text, start) or found('had', text, start, end)
  ):
    return False  # two young children of theirs; the kids you had
  return not one.people or senses.are_people(text, start, end, at.before)


def _is_group(at: Site) -> bool:
  """Whether "the" and an adjective are of people: the poor."""
  low = at.next_low
  if low in ('and', 'or'):
    return next_word(at.text, at.stop)[0].lower() in SETS.paired
  if low.endswith('s') and low not in SETS.enders:
    return False  # the old votes, not who votes
  if low.endswith('ly') or found('no_group', at.text, at.start, at.end):
    return False  # the poor falsely accused; the old, worn-out jokes
  return low != 'saying'


def _is_noun(at: Site, one: Word) -> bool:
  """Whether a noun that is no adjective is of one person."""
  alone = senses.is_child if one.people else senses.is_counted
  return (
    alone(at.text, at.start, at.before)
    and at.next_low != 'of'
    and not found('of_age', at.text, at.start)
    and (at.is_free or at.next_low.endswith(('ing', 'ed')))
    and not senses.OWNER.search(at.before)
    and not at.hyphen
  )


def _is_adjective(at: Site, one: Word, described, own) -> bool:
  """Whether an adjective is said of people."""
  text, start, low = at.text, at.start, at.low
  if at.hyphen and (one.people or one.no_thing):
    return False
  if low in SETS.figurative and found('at_fault', text, start):
    return False
  if low in SETS.graded and found('more', text, start):
    return False
  if noun := senses.before_people(text, at.end, described):
    return senses.fits(text, start, low, one, noun, own)
  if low in SETS.ages or low in SETS.graded:  # since I was young; they are poor
    return False
  if one.people:
    stated = senses.is_said(text, start, at.before, at.next_low)
    of_all = low in SETS.figurative and re.search(
      r"\b(?:you|they|who|we)(?:['’]re)?\b[^.]*$", text[:start], re.I
    )
    return stated and not of_all
  if one.no_thing:  # the British, in Korean
    return at.is_free and senses.is_predicate(text, start)
  return True


def _is_name(text, start, word, before, after, forms) -> bool:
  """Part of a name: Christian Bale, Black Panther, Catholic University."""
  if word.isupper() and word.lower() in SETS.short:
    return True
  if word.isupper() or not word[0].isupper():
    return False
  if word == 'Christian' and _is_first_name(text, start, before, after):
    return True
  opening = opens(text, start)
  proper = any(one.text[0].isupper() for one, _ in forms.values())
  if not opening and ' ' in word and word.istitle() and not proper:
    return True
  if not opening and ' ' in word and word.split()[-1] in _PEOPLE:
    return True
  if not proper and found('a_body', text, start):
    return True
  if after[:1].isupper() and not after.isupper():
    if not opening and not proper and before[:1].isupper():
      return True  # Give Kids The World
    if not opening:
      return after.lower() not in SETS.enders or after in ('Is', 'Are')
    return (
      after.lower() not in people.nouns() and after.lower() not in SETS.enders
    )
  if not proper and not opening and word.lower() not in SETS.capital:
    return True
  if before[:1].isupper() and before.lower() not in SETS.enders:
    opening = opens(text, start - len(before) - 1)
    low = before.lower()
    known = low in SETS.describing or low in people.nouns()
    return not opening and not (proper and (before.isupper() or known))
  # A capital inside a sentence makes a name of a word that needs none.
  alone = before[:1].islower() and not (proper or after)
  return alone and word in (
    *('Black', 'White', 'Young', 'Rich', 'Poor', 'Straight'),
  )


def _is_first_name(text: str, start: int, before: str, after: str) -> bool:
  """Christian II; Alicia Christian Foster; Christian was persuaded."""
  if re.fullmatch('[IVX]+|[A-Z]', after):
    return True
  if before[:1].isupper() and before.lower() not in SETS.enders:
    return before.lower() not in SETS.describing | people.nouns()
  acts = after.lower() in ('was', 'is', 'had', 'has', 'and', 'who', 'of')
  free = before.lower() in SETS.people_determiners | SETS.possessive
  return acts and not free and not senses.is_predicate(text, start)
