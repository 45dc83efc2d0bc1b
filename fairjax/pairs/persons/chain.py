"""One person of a text, by rules: the mentions that a perturbation turns.

`mentions(text)` lists names, nouns and pronouns of gender, each with the
person it is taken to be of; `turn` swaps the mentions of one person and leaves
everybody else. The rules are those of textbooks, in this order:

  names      the same first name, or the surname of a known person
  apposition 'King John', 'John, the king', 'John was a king'
  reflexives are the subject of their clause
  objects    are never the subject of their own clause (Chomsky's Principle B)
  pronouns   of the same gender are the subject of their clause (possessives),
             else of the clause before, else the last one mentioned

A baseline to be beaten, and silver labels where people wrote none.
"""

import bisect
import functools
import itertools
import re
from collections.abc import Container, Sequence
from typing import NamedTuple

from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows
from fairjax.pairs.swapping import dictionary, pronouns, word_lists
from fairjax.pairs.swapping import names as people
from fairjax.pairs.swapping.dictionary import Span
from fairjax.pairs.swapping.neighbours import last_word
from fairjax.pairs.word_sets import SETS

DIRECTION = {'man': 'male', 'woman': 'female', 'non-binary': 'neutral'}

REACH = 200  # clauses that a pronoun looks back; a sentence has ten
LONG = 1000  # characters in which five words are looked for

_MALE, _FEMALE = 'male', 'female'
_PRONOUNS = {w: of for w, *of in table_rows(__file__, 'chain_pronouns.csv')}
# What begins a clause with a subject of its own, or goes on without one.
_CLAUSE = re.compile(
  r'[,;:()\u2014\"“”]|(?<!\w)(?:--|-)(?!\w)|\b(?:and|but|or|that|who|which|when|while'
  r'|because|as|if|before|after|where|since|although|though|until|so|than|'
  r'whether|how|what|why)\b',
  re.IGNORECASE,
)
_SENTENCE = re.compile(
  r'(?<![A-Z])(?<!\b[DMS]r)(?<!\bMrs)[.!?]["”\']?\s+(?=\S)'
)
_APPOSITION = re.compile(
  r"\s*,\s+(?:(?:a|an|the|his|her|their|its|[A-Z]\w+['’]s)\s+)?(?:[a-z-]+\s+){0,2}$"
)
_COPULA = re.compile(
  r'\s+(?:is|was|became|becomes|remained|as)\s+(?:(?:a|an|the)\s+)?'
  r'(?:[a-z-]+\s+){0,3}$'
)
_PLURAL = re.compile(r'[^s]s$|men$')
_SURNAME = re.compile(
  r'(?:\s+(?:[A-Z]\.|de|van|von|la|le|di|del)\b)*\s+([A-Z][\w’\'-]+)'
)


class Mention(NamedTuple):
  """A word of gender, or a name, and whose it is."""

  start: int
  end: int
  word: str
  gender: str  # 'male', 'female' or '' where nothing says
  kind: str  # 'name', 'noun', or the case of a pronoun
  person: int  # a number of the text


class _Clause(NamedTuple):
  start: int
  sentence: int


@functools.cache
def ready():
  """The swap of every word of gender, and which nouns are of which side."""
  listed = word_lists.gender()
  known = word_lists.genders(listed).items()
  sides = {word: (_MALE, _FEMALE)[side] for word, side in known}
  called = people.load(True)
  return dictionary.swapper(names=called), sides, called


def _words(text: str, spans: Sequence[Span], extra: Sequence[tuple]) -> list:
  """(start, end, word, gender, kind) of all that is a mention, in order."""
  _, sides, called = ready()
  result = {}
  for start, end, word, _ in spans:
    low = word.lower()
    if low in ('a', 'an'):
      continue
    gender, kind = gender_of(low, sides, called), 'noun'
    if low in _PRONOUNS:
      kind = _PRONOUNS[low][1]
      if low == 'her' and pronouns.her(text, start, end) == pronouns.OBJECT:
        kind = 'object'
    elif low in called and (word[0].isupper() or low not in sides):
      gender, kind = gender_of(low, {}, called), 'name'
    result[start] = (start, end, word, gender, kind)
  for start, end in extra:
    if not any(a < end and start < b for a, b, *_ in result.values()):
      word = text[start:end]
      kind = 'name' if word[:1].isupper() else 'noun'
      result[start] = (start, end, word, '', kind)
  return [result[start] for start in sorted(result)]


def gender_of(low: str, sides: dict[str, str], called: people.Names) -> str:
  """The gender of a listed word or first name; '' of any other word."""
  if low in _PRONOUNS:
    return _PRONOUNS[low][0]
  if low in sides:
    return sides[low]
  if low in called:
    return _MALE if low in called.male else _FEMALE
  return ''


def _clauses(text: str) -> list[_Clause]:
  """Where each clause begins, and the number of its sentence."""
  ends = [match.end() for match in _SENTENCE.finditer(text)]
  cuts = sorted({0, *ends, *(m.end() for m in _CLAUSE.finditer(text))})
  sentence, out = 0, []
  for cut in cuts:
    while sentence < len(ends) and ends[sentence] <= cut:
      sentence += 1
    out.append(_Clause(cut, sentence))
  return out


class _Text:
  """The persons of one text, as they are met from left to right."""

  def __init__(self, text: str):
    self.text, self.clauses = text, _clauses(text)
    self.gender: list[str] = []  # of each person
    self.many: set[int] = set()  # those that are several
    self.called: dict[str, int] = {}  # first name or surname -> person
    self.last: dict[int, None] = {}  # the last mentioned person comes last
    self.subject: dict[int, int] = {}  # clause -> its subject
    self.before: tuple | None = None  # the last mention and its person

  def new(self, gender: str) -> int:
    self.gender.append(gender)
    return len(self.gender) - 1

  def fits(self, person: int, gender: str) -> bool:
    return not gender or self.gender[person] in ('', gender)

  def subject_of(self, clause: int, gender: str) -> int | None:
    """The subject of a clause, or of the one that it goes on from."""
    sentence = self.clauses[clause].sentence
    for i in range(clause, max(-1, clause - REACH), -1):
      if self.clauses[i].sentence != sentence:
        break
      if i in self.subject:
        person = self.subject[i]
        return person if self.fits(person, gender) else None
    return None

  def earlier(self, clause: int, gender: str, barred: set[int]) -> int | None:
    """The nearest earlier subject that agrees, else the last mentioned."""
    near = (
      self.subject[i]
      for i in range(clause, max(-1, clause - REACH), -1)
      if self.subject.get(i) in self.last
    )
    able = (
      person
      for person in itertools.chain(near, reversed(self.last))
      if self.fits(person, gender)
      and person not in barred
      and person not in self.many
    )
    return next(able, None)

  def pronoun(self, gender: str, case: str, clause: int) -> int:
    own = self.subject_of(clause, gender)
    barred = set()
    if case in ('reflexive', 'possessive') and own is not None:
      return own
    if case == 'object':
      near = self.subject_of(clause, '')
      barred = set() if near is None else {near}
    known = self.earlier(clause, gender, barred)
    return self.new(gender) if known is None else known

  def name(self, start: int, end: int, word: str, gender: str) -> int:
    low = word.lower()
    match = _SURNAME.match(self.text, end)
    surname = match[1].lower() if match else ''
    person = self.called.get(low)
    if person is None:
      person = self.called.get(surname) if surname and not low else None
    if person is None:
      person = self.apposed(start, gender)
    if person is None:
      person = self.new(gender)
    self.called[low] = person
    if surname:
      self.called.setdefault(surname, person)
    if gender and not self.gender[person]:
      self.gender[person] = gender
    return person

  def noun(self, start: int, word: str, gender: str) -> int:
    person = self.apposed(start, gender)
    if person is None:
      before = last_word(self.text, start).lower()
      known = self.called.get(word.lower())
      if known is not None and before in ('the', 'this', 'that'):
        person = known
    if person is None:
      person = self.new(gender)
    self.called[word.lower()] = person
    if _PLURAL.search(word.lower()):
      self.many.add(person)
    return person

  def apposed(self, start: int, gender: str) -> int | None:
    """The person named right before, if this names the same one."""
    if self.before is None:
      return None
    end, kind, person = self.before
    between = self.text[end:start]
    if kind not in ('name', 'noun', 'subject') or not self.fits(person, gender):
      return None
    if kind == 'noun' and between in (' ', '. '):
      return person
    if kind == 'name' and _APPOSITION.fullmatch(between):
      return person
    return person if _COPULA.fullmatch(between) else None

  def add(self, start, end, word, gender, kind) -> int:
    begins = lambda clause: clause.start
    clause = bisect.bisect_right(self.clauses, start, key=begins) - 1
    if kind == 'name':
      person = self.name(start, end, word, gender)
    elif kind == 'noun':
      person = self.noun(start, word, gender)
    else:
      person = self.pronoun(gender, kind, clause)
    before = last_word(self.text, start).lower()
    opens = clause not in self.subject
    begin = self.clauses[clause].start
    inside = self.text[begin : min(start, begin + LONG)]
    if kind == 'subject' or (
      kind in ('name', 'noun')
      and opens
      and before not in SETS.prepositions
      and len(inside.split()) < 5
      and not (before in SETS.owned and kind == 'name')
    ):
      self.subject[clause] = person
    self.last.pop(person, None)
    self.last[person] = None
    self.before = (end, kind, person)
    return person


def mentions(text: str, extra: Sequence[tuple[int, int]] = ()) -> list[Mention]:
  """Who is who; `extra` are (start, end) of words that no list holds."""
  swap, _, _ = ready()
  spans = swap([text]).spans[0]
  state, out = _Text(text), []
  for start, end, word, gender, kind in _words(text, spans, extra):
    person = state.add(start, end, word, gender, kind)
    out.append(Mention(start, end, word, gender, kind, person))
  surnames = {m.start for m in out}
  for match in re.finditer(r'\b[A-Z][\w’\'-]+', text):
    known = state.called.get(match[0].lower())
    if known is not None and match.start() not in surnames:
      gender = state.gender[known]
      out.append(Mention(*match.span(), match[0], gender, 'surname', known))
  return sorted(out)


def find(text: str, word: str) -> tuple[int, int]:
  """Where a word stands first in a text, whole and in its own case first.

  '_she_' holds the word she, as swaps see it.
  """
  for flags in (0, re.IGNORECASE):
    whole = rf'(?<![^\W_]){re.escape(word)}(?![^\W_])'
    match = re.search(whole, text, flags)
    if match:
      return match.span()
  raise UserError(
    f'the word {word!r} is not in the text {text[:60]!r}; name one that is'
  )


def chain(text: str, start: int, end: int) -> list[Mention]:
  """The mentions of the person whose mention overlaps (start, end)."""
  every = mentions(text, [(start, end)])
  own = next(m.person for m in every if m.start < end and start < m.end)
  return [m for m in every if m.person == own]


@functools.cache
def _turner(attribute: str):
  return dictionary.swapper(DIRECTION[attribute], names=people.load(True))


def turn(
  text: str, start: int, end: int, attribute: str, known: Sequence[int] = ()
) -> tuple[str, list[Span]]:
  """The text with one person of another gender, everybody else untouched.

  `known` are where mentions stand that people have found.
  """
  if attribute not in DIRECTION:
    raise UserError(
      f'attribute {attribute!r} is not one of gender ({", ".join(DIRECTION)}), '
      'which is all that rules can turn'
    )
  starts = {*known, *(m.start for m in chain(text, start, end))}
  return turn_words(text, starts, attribute)


def turn_words(
  text: str, starts: Container[int], attribute: str
) -> tuple[str, list[Span]]:
  """The text with the listed words turned that stand at `starts`."""
  swapped = _turner(attribute)([text], [starts])
  return swapped.texts[0], swapped.spans[0]
