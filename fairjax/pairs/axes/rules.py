"""Where a word of an axis means people, and which form of it stands there.

Black is a colour, a child is somebody's, French is a tongue, and Christian a
first name. A word is exchanged where its neighbours say that it is of people:
a word for people follows (black men, black and white kids), or it is said of
somebody (he is black), or an article makes it one (an Asian who …). The rest
is left alone: counterfactuals should be right before they are many.
"""

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from fairjax.data.axes.table import Axis, Row, Word
from fairjax.pairs.axes import people
from fairjax.pairs.axes.joined import (
  alike,
  is_one_body,
  is_paired,
  is_pitied,
  is_shared,
  with_noun,
)
from fairjax.pairs.axes.senses import (
  ACTS,
  AGES,
  DEGREE,
  FIGURATIVE,
  GRADED,
  MORE,
  OF_AGE,
  OWNER,
  are_people,
  before_people,
  fits,
  is_child,
  is_counted,
  is_no_noun,
  is_offspring,
  is_person,
  is_predicate,
  is_said,
  sentence,
)
from fairjax.pairs.swapping.neighbours import (
  ENDERS,
  last_word,
  next_word,
  words_of,
)

Rule = Callable[[str, int, int], str | None]

# Plurals before these say what a thing is for: a girls basketball team.
THINGS = words_of("""
basketball football soccer hockey volleyball sports sport team teams league
school schools club clubs clothes toys toy book books movie movie's movies film
films show shows choir home homes party hospital section side cricket cup high
literature programme program programs flick flicks flck horror bathroom
bathrooms locker room rooms dorm college tweet tweets night day trip magazine
group groups ward television tv series channel menu meal meals toilet toilets
ice field hat hats round band bands wear
""")
_FAULT = re.compile(
  r'\b(?:stupid\w*|idiot\w*|fools?|foolish|ignoran\w+|retard\w*|dumb|morons?|'
  r'sheep|emotionally|wil+fully|faith|hate|trump|partisan|so|too|either|mute|'
  r'unless|obvious\w*|truth|facts?)\b',
  re.IGNORECASE,
)
# Written with a capital by many, as of people: Black students.
CAPITAL = words_of("""
black blacks white whites brown deaf indigenous aboriginal
""")
# Straight is not what one comes out as, nor what has rights to win.
_OUT = re.compile(
  r'\b(?:openly|c[ao]me out|coming out|comes out|rights|slurs?|bashing|'
  r'closet\w*|marriages?|pride|agenda|scene|same-sex)\b',
  re.IGNORECASE,
)
# ex-Muslim and anti-gay are of people still, Judeo-Christian is one word.
PREFIXES = words_of('anti ex non pro')
# Whose words of one value turn together in a sentence, or stay.
WHOLE = ('disability', 'gender_identity')
# What is an abbreviation in capitals.
_SHORT = words_of('cis')
# What may stand behind "the poor and": else an adjective of a noun to come.
PAIRED = words_of("""
the powerful famous infirm sick weak vulnerable needy middle working disabled
helpless elderly young old poor rich
""")
_IS = words_of("is was has does isn't wasn't hasn't doesn't")
# School for the Deaf, Instruction of the Deaf and the Blind.
_BODY = re.compile(
  r'(?:\b[A-Z]\w{4,}|\bschools?) (?:of|for) (?:the )?(?:\w+ and (?:the )?)?$'
)
_YEARS = re.compile(r'\b(?:years?|yrs?)[- ]$', re.IGNORECASE)
_PEOPLE = ('People', 'Men', 'Women', 'Person')
# As a child she sang, while still a teenager: a time of a life.
_STAGES = words_of("""
child kid boy girl teenager teen adolescent youngster toddler children kids boys
girls teenagers
""")
_OLD = re.compile(r'\b(?:years?|yrs?)[- ]olds?,? $', re.IGNORECASE)
_NAME = re.compile(r"['’]s? (?:names?|toilets?|rooms?|dress(?:es)?|tops?)\b")
# A teenage man is none.
_GROWN = words_of("""
man men woman women gentleman gentlemen lady ladies adult adults guy guys wife
husband mother father mothers fathers parent parents
""")
_HAD = re.compile(
  r'(?i: (?:that )?(?:you|we|they|he|she|i)\b(?: \w+)? '
  r'(?:ha(?:d|ve|s)|raise[ds]?)\b)|(?i: (?:were|are):? )[A-Z]\w'
)
_STAGE = re.compile(
  r'\b(?:as|since|while|when|still|was)(?: (?:he|she|i|they) (?:was|were))?'
  r'(?: still| only| just)?(?: an?| the)?(?: small| little| young| mere)? $',
  re.IGNORECASE,
)


def entries(
  axis: Axis,
  to: Callable[[int], int],
  strict: bool = False,
  apart: bool = False,
) -> dict[str, object]:
  """word -> the rule that says what it becomes; `to` of its value.

  Where the target has no word of a form, the next value's is written, or,
  `strict`, nothing.
  """
  found: dict[str, tuple[int, dict[str, tuple[Word, Row]]]] = {}
  for word, value, one, row in axis.words():
    found.setdefault(word, (value, {}))[1].setdefault(row.form, (one, row))
  out: dict[str, object] = {}
  one_value = not apart and axis.name in WHOLE
  rest = (
    _others_stay(axis, found, one_value)
    if apart or one_value
    else lambda *at: False
  )
  for word, (value, forms) in found.items():
    target = to(value)
    if target != value:
      one = _rule(axis, word, (value, to), forms, strict, apart)
      out[word] = _where(one, rest, value)
  return out | dict.fromkeys(axis.no, lambda *at: None)


def _where(
  one: Rule, rest: Callable[[str, int, int], bool], value: int
) -> Rule:
  """The rule, unsure where the rest of a sentence stays."""

  def rule(text: str, start: int, end: int) -> str | None:
    new = one(text, start, end)
    return '' if new and rest(text, start, value) else new

  return rule


def _others_stay(
  axis: Axis, found: dict, one_value: bool
) -> Callable[[str, int, int], bool]:
  """Whether a sentence has a word of the axis, or a value, that would be left.

  Where the rich are not exchanged, nor are the poor whom they meet; nor people
  beside the name of their act or union.
  """
  every, no = pattern(frozenset(found)), pattern(axis.no)
  described, own = _adjectives(axis), _singles(axis)

  def rest(text: str, start: int, own_value: int) -> bool:
    around = sentence(text, start)
    if not one_value and no.search(around):
      return True
    at = text.find(around, max(0, start - len(around)))
    for one in every.finditer(text, at, at + len(around)):
      low = one[0].lower()
      value, forms = found[low]
      if one_value and value != own_value:
        continue
      if pattern(axis.stays[value]).search(around) or not _form(
        text, *one.span(), low, forms, described, own
      ):
        return True
    return False

  return rest


def _rule(
  axis: Axis,
  low: str,
  turn: tuple[int, Callable[[int], int]],
  forms: dict,
  strict: bool,
  apart: bool,
) -> Rule:
  """What one word becomes where it stands; None leaves it, '' is unsure.

  Words that stay `apart` stay where the sentence names the target as well.
  """
  value, to = turn
  way = value, to(value)
  stays, avoid = pattern(axis.stays[value]), [*map(pattern, axis.avoid)]
  described, own = _adjectives(axis), _singles(axis)
  words = of_values(axis)
  # Two that are one word already stay so: black men and black women.
  first = low.split()[0]
  others = {
    word: turned
    for word, turned in alike(axis, value, to).items()
    if word.split()[0] != first
  }

  def taken(text: str, at: int) -> bool:
    """Whether another word of the sentence becomes value `at` too."""
    other = (at - way[1] + value) % len(words)
    return other != value and bool(words[other].search(text))

  def rule(text: str, start: int, end: int) -> str | None:
    form = _form(text, start, end, low, forms, described, own)
    if form is None:
      return None
    around = sentence(text, start)
    if stays.search(around) or (apart and words[way[1]].search(around)):
      return ''
    one, row = forms[form]
    if ' ' in low and is_shared(text, start, described):
      row = with_noun(axis, low) or row
    cells = (() if no.search(around) else c for c, no in zip(row.cells, avoid))
    row = Row(row.form, tuple(cells))
    new = _written(row, way, text, (start, end), strict, taken)
    if not new or _beside(new, text, start, end):
      return ''
    if is_paired(text, start, end, new.lower(), others):
      return ''
    if form == 'group' and _is_singular(new, next_word(text, end)[0].lower()):
      return ''
    if (
      form == 'group'
      and not new.endswith('class')
      and is_one_body(text, start, end)
    ):
      return ''
    if new == 'poor' and is_pitied(text, start):
      return ''
    return cased(text, start, text[start:end], one.text, new)

  return rule


def _is_singular(new: str, after: str) -> bool:
  """The poor are, and the working class is or are; the blind was a window's."""
  verb = after in _IS or (after.endswith('s') and after[:-1] in ACTS)
  return verb and not new.endswith('class')


@functools.cache
def pattern(words: frozenset[str]) -> re.Pattern:
  body = '|'.join(map(re.escape, sorted(words, key=len, reverse=True)))
  # Of no words it finds nothing.
  return re.compile(rf'(?<!\w)(?:{body or "(?!)"})(?!\w)', re.IGNORECASE)


@functools.cache
def _adjectives(axis: Axis) -> frozenset[str]:
  return frozenset(
    w for w, _, _, row in axis.words() if row.form == 'adjective'
  )


@functools.cache
def of_values(axis: Axis) -> tuple[re.Pattern, ...]:
  """The words of each value."""
  found: dict[int, set[str]] = {k: set() for k in range(len(axis.values))}
  for word, value, *_ in axis.words():
    found[value].add(word)
  return tuple(pattern(frozenset(found[k])) for k in found)


@functools.cache
def _singles(axis: Axis) -> frozenset[str]:
  """Single words for people of one value: a young girl says it twice."""
  return frozenset(
    word
    for word, _, one, row in axis.words()
    if row.form in ('noun', 'nouns') and one.people and ' ' not in word
  )


def cased(text: str, start: int, old: str, listed: str, new: str) -> str:
  """`new` as somebody writes it who wrote `old` for the listed word.

  Muslim → atheist and black → Asian, but where a text has muslim, asian.
  """
  if len(old) > 1 and old.isupper() and not (listed.isupper()):
    return new.upper()
  if old.islower():
    return new.lower() if listed[0].isupper() else new
  if (
    listed[0].isupper() and not opens(text, start) and not _titled(text, start)
  ):
    return new
  return new[:1].upper() + new[1:]


def opens(text: str, start: int) -> bool:
  """Whether a sentence begins at a place."""
  before = text[:start].rstrip(' \t"“‘\'(*_[')
  return not before or before[-1] in '.!?:;\n…'


def _titled(text: str, start: int) -> bool:
  """Whether words that need none have a capital too: Gay Men in Church."""
  before = last_word(text, start)
  return (
    before[:1].isupper()
    and before.lower() in ENDERS
    and (before not in ('I',) and not opens(text, start - len(before) - 1))
  )


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
    return not self.after or is_no_noun(self.next_low, self.before.lower())

  @property
  def is_stage(self) -> bool:
    """A time of a life: child, teenager."""
    return self.low.split()[-1] in _STAGES


def _form(
  text: str, start: int, end: int, low: str, forms: dict, described, own
) -> str | None:
  """The form that stands here; None where the word is not of people."""
  at = _site(text, start, end, low)
  if at is None or _is_name(
    text, start, text[start:end], at.before, at.after, forms
  ):
    return None
  if at.is_stage and _is_time(at):
    return None
  degree = DEGREE.search(text, max(0, start - 30), start)
  if degree and low.split()[0] not in AGES:
    return None
  if 'nouns' in forms:
    return 'nouns' if _is_plural(at, forms['nouns'][0]) else None
  if 'group' in forms and at.before.lower() == 'the' and at.is_free:
    return 'group' if _is_group(at) else None
  if 'name' in forms:
    return 'name'
  if 'noun' in forms:
    one = forms['noun'][0]
    if at.is_stage and is_offspring(text, start):
      return None
    if 'adjective' not in forms:
      return 'noun' if _is_noun(at, one) else None
    if at.is_free and not at.hyphen and is_counted(text, start, at.before):
      person = is_person(text, end, at.before, at.after, one)
      return 'noun' if person else None
    if at.next_low == 'who' and not is_predicate(text, start):
      return None  # a sissy or transgender who
  if 'adjective' not in forms:
    return None
  is_said_of = _is_adjective(at, forms['adjective'][0], described, own)
  return 'adjective' if is_said_of else None


def _site(text: str, start: int, end: int, low: str) -> Site | None:
  """Where a word stands; None inside a compound, and in eleven years old."""
  if text[end : end + 1] in ('-', '–') and text[end + 1 : end + 2].isalnum():
    return None
  if _YEARS.search(text, max(0, start - 7), start):
    return None
  hyphen = start > 1 and text[start - 1] in '-–' and text[start - 2].isalnum()
  if (
    hyphen
    and re.split(r'\W', text[max(0, start - 6) : start - 1])[-1].lower()
    not in PREFIXES
  ):
    return None
  before = '' if hyphen else last_word(text, start)
  after, stop, _ = next_word(text, end)
  return Site(text, start, end, low, hyphen, before, after, stop)


def _is_time(at: Site) -> bool:
  """A 5 year old little girl; a girl's name; as a child."""
  text, start = at.text, at.start
  return bool(
    _OLD.search(text, max(0, start - 14), start)
    or _NAME.match(text, at.end)
    or _STAGE.search(text, max(0, start - 40), start)
  )


def _is_plural(at: Site, one: Word) -> bool:
  """Whether a plural is of people, and not what a thing is for."""
  text, start, end = at.text, at.start, at.end
  if (at.hyphen and one.people) or at.next_low in THINGS:
    return False
  if at.before.lower() in ('a', 'an') or at.next_low in ('was', 'is', 'has'):
    return False  # a girls tweet; Brits was selected
  if re.match(r" ?['’]", text[end : end + 2]) and one.people:
    return False  # children's books
  if at.is_stage and (
    is_offspring(text, start) or _HAD.match(text, end, end + 40)
  ):
    return False  # two young children of theirs; the kids you had
  return not one.people or are_people(text, start, end, at.before)


def _is_group(at: Site) -> bool:
  """Whether "the" and an adjective are of people: the poor."""
  low = at.next_low
  if low in ('and', 'or'):
    return next_word(at.text, at.stop)[0].lower() in PAIRED
  if low.endswith('s') and low not in ENDERS:
    return False  # the old votes, not who votes
  if low.endswith('ly') or re.match(
    r', (?!and|or|the)\w+| ?["“]| ;', at.text[at.end :]
  ):
    return False  # the poor falsely accused; the old, worn-out jokes
  return low != 'saying'


def _is_noun(at: Site, one: Word) -> bool:
  """Whether a noun that is no adjective is of one person."""
  alone = is_child if one.people else is_counted
  return (
    alone(at.text, at.start, at.before)
    and at.next_low != 'of'
    and not OF_AGE.search(sentence(at.text, at.start))
    and (at.is_free or at.next_low.endswith(('ing', 'ed')))
    and not OWNER.search(at.before)
    and not at.hyphen
  )


def _is_adjective(at: Site, one: Word, described, own) -> bool:
  """Whether an adjective is said of people."""
  text, start, low = at.text, at.start, at.low
  if at.hyphen and (one.people or one.no_thing):
    return False
  if low in FIGURATIVE and _FAULT.search(sentence(text, start)):
    return False
  if low in GRADED and MORE.search(text, max(0, start - 30), start):
    return False
  if noun := before_people(text, at.end, described):
    return fits(text, start, low, one, noun, own)
  if low in AGES or low in GRADED:  # since I was young; they are poor
    return False
  if one.people:
    said = is_said(text, start, at.before, at.next_low)
    of_all = low in FIGURATIVE and re.search(
      r"\b(?:you|they|who|we)(?:['’]re)?\b[^.]*$", text[:start], re.I
    )
    return said and not of_all
  if one.no_thing:  # the British, in Korean
    return at.is_free and is_predicate(text, start)
  return True


def _is_name(text, start, word, before, after, forms) -> bool:
  """Part of a name: Christian Bale, Black Panther, Catholic University."""
  if word.isupper() and word.lower() in _SHORT:
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
  if not proper and _BODY.search(text, max(0, start - 60), start):
    return True
  if after[:1].isupper() and not after.isupper():
    if not opening and not proper and before[:1].isupper():
      return True  # Give Kids The World
    if not opening:
      return after.lower() not in ENDERS or after in ('Is', 'Are')
    return after.lower() not in people.nouns() and after.lower() not in ENDERS
  if not proper and not opening and word.lower() not in CAPITAL:
    return True
  if before[:1].isupper() and before.lower() not in ENDERS:
    opening = opens(text, start - len(before) - 1)
    low = before.lower()
    known = low in people.DESCRIBING or low in people.nouns()
    return not opening and not (proper and (before.isupper() or known))
  # A capital inside a sentence makes a name of a word that needs none.
  alone = before[:1].islower() and not (proper or after)
  return alone and word in (
    'Black',
    'White',
    'Young',
    'Rich',
    'Poor',
    'Straight',
  )


def _is_first_name(text: str, start: int, before: str, after: str) -> bool:
  """Christian II; Alicia Christian Foster; Christian was persuaded."""
  if re.fullmatch('[IVX]+|[A-Z]', after):
    return True
  if before[:1].isupper() and before.lower() not in ENDERS:
    return before.lower() not in people.DESCRIBING | people.nouns()
  acts = after.lower() in ('was', 'is', 'had', 'has', 'and', 'who', 'of')
  free = before.lower() in people.DETERMINERS | people.POSSESSIVE
  return acts and not free and not is_predicate(text, start)


def _written(
  row: Row,
  way: tuple[int, int],
  text: str,
  span: tuple[int, int],
  strict: bool,
  taken: Callable[[str, int], bool],
) -> str:
  """The word of the target; where it has none that agrees, of the next."""
  (value, target), size = way, len(row.cells)
  for step in range(1 if strict else size):
    at = (target + step) % size
    cell = row.cells[at]
    if at == value or not cell or not cell[0].text:
      continue
    last = re.escape(cell[0].text.split()[-1].lower())
    twice = re.match(rf' {last}(?!\w)', text[span[1] :].lower())
    if step and taken(sentence(text, span[0]), at):
      return ''  # gay and lesbian: not bisexual and bisexual
    if not twice and _agrees(cell[0].only, text, *span):
      return cell[0].text
  return ''


def _beside(new: str, text: str, start: int, end: int) -> bool:
  """Whether the word stands there already: children and young people."""
  low = new.lower()
  joined = (' and', ' or', ' &', ',')
  before, behind = text[:start].lower().rstrip(), text[end:].lower().lstrip()
  return any(
    before.endswith(low + word) or behind.startswith(f'{word.strip()} {low}')
    for word in joined
  )


def _agrees(only: str, text: str, start: int, end: int) -> bool:
  """lesbian is said of women, straight of people, nonbinary of neither sex."""
  if not only:
    return True
  low = next_word(text, end)[0].lower()
  if only == 'a':
    noun = before_people(text, end, people.DESCRIBING)
    return bool(noun) and noun not in _GROWN
  if only == 'n':
    noun = before_people(text, end, people.DESCRIBING)
    return people.sided().isdisjoint((low, noun))
  around = sentence(text, start)
  if only == 'p':
    said = is_no_noun(low) or before_people(text, end)
    return bool(said) and not _OUT.search(around)
  words = re.findall(r'[a-z]+', around.lower())
  if is_no_noun(low) and people.feminine().isdisjoint(words):
    return False
  return people.masculine().isdisjoint(words)
