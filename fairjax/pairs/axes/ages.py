"""Ages in figures: eleven years old, a 44-year-old woman, aged 70, in his 50s.

An age becomes one of the target's span, as far into it as it was into its own;
digits stay digits, and words stay words. The noun behind one goes with it: an
11-year-old boy is a 70-year-old man.
"""

import functools
import re
from collections.abc import Iterator, Sequence

from fairjax.data.axes.table import Axis
from fairjax.pairs.axes import age_plausibility as plausible
from fairjax.pairs.axes import people
from fairjax.pairs.axes.rules import Rule
from fairjax.pairs.axes.senses import is_no_noun
from fairjax.pairs.cues import bounds, found, sentence
from fairjax.pairs.swapping.listed import match_case
from fairjax.pairs.swapping.neighbours import next_word
from fairjax.pairs.word_sets import SETS, pattern

# First and last age of child, young, middle-aged, senior (Qian et al. 2022).
SPANS = ((3, 17), (18, 44), (45, 64), (65, 90))
OLDEST = 99
_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen
""".split()
_TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split()
_DECADES = {0: 'teens', 1: '20s', 2: '50s', 3: '70s'}
_DECADE_WORDS = {0: 'teens', 1: 'twenties', 2: 'fifties', 3: 'seventies'}
# Nouns that go with an age: of a child, and of everyone older.
AGED = (
  *(('boy', 'man'), ('girl', 'woman'), ('child', 'adult'), ('kid', 'adult')),
  *(('teenager', 'adult'), ('boys', 'men'), ('girls', 'women')),
  *(('children', 'adults'), ('kids', 'adults'), ('teenagers', 'adults')),
)

_CHILDREN = frozenset(child for child, _ in AGED)
_YOUNG = {word for pair in AGED for word in pair} | SETS.not_grown


@functools.cache
def numbers() -> dict[str, int]:
  """'11' and 'eleven' -> 11."""
  out = {}
  for n in range(1, OLDEST + 1):
    out[str(n)] = out[spelled(n)] = n
    out[spelled(n).replace('-', ' ')] = n
  return out


def spelled(n: int) -> str:
  if n < 20:
    return _ONES[n]
  tens = _TENS[n // 10 - 2]
  return f'{tens}-{_ONES[n % 10]}' if n % 10 else tens


def value_of(age: int) -> int:
  """0 child … 3 senior."""
  return next((k for k, (_, last) in enumerate(SPANS) if age <= last), 3)


def moved(age: int, target: int) -> int:
  """The age as far into the target's span as it is into its own."""
  (a, b), (c, d) = SPANS[value_of(age)], SPANS[target]
  share = (min(max(age, a), b) - a) / (b - a)
  return round(c + share * (d - c))


def entries(to, stays: Sequence[frozenset[str]]) -> dict[str, Rule]:
  """Rules of figures, decades, and nouns that go with an age.

  Words of `stays` keep a sentence's figures, as they keep its words.
  """
  out: dict[str, Rule] = {}
  for word, age in numbers().items():
    out[word] = _figure(age, to, stays[value_of(age)])
  for k, tens in enumerate(_TENS, 2):
    plural = tens[:-1] + 'ies'
    value = value_of(10 * k + 4)
    out[plural] = _decade(value, to, _DECADE_WORDS, stays[value])
    out[f'{10 * k}s'] = _decade(value, to, _DECADES, stays[value])
  own = stays[0] - {'teens'}
  out['teens'] = _decade(0, to, _DECADE_WORDS, own)
  return out


def _figure(age: int, to, stays: frozenset[str]) -> Rule:
  def rule(text: str, start: int, end: int) -> str | None:
    if not is_age(text, start, end):
      return None
    target = to(value_of(age))
    if target == value_of(age):
      return None
    behind = found('years_old', text, start, end)
    noun = next_word(text, behind.end())[0].lower() if behind else ''
    if (target > 1 and noun in SETS.kin) or noun in SETS.said_twice:
      return ''
    if behind and behind[1] and noun in people.nouns():
      return ''  # 8 year olds kids
    if stays and pattern(stays).search(sentence(text, start)):
      return ''
    new = moved(age, target)
    if target == 0 and noun in people.nouns() and noun not in _YOUNG:
      return ''  # a 22-year-old mistress
    if value_of(age) and target > 1 and noun in _CHILDREN:
      return ''  # a 46-year-old kid
    if _beside_another(text, start, end):
      return ''
    if not plausible.fits(text, start, value_of(age), target, new):
      return ''
    word = text[start:end]
    return str(new) if word[0].isdigit() else match_case(word, spelled(new))

  return rule


_OTHER = re.compile(r'\b([\w-]+?)(?=[- ](?:years?|yrs?)[- ]olds?\b)', re.I)


def _beside_another(text: str, start: int, end: int) -> bool:
  """Whether another age of the sentence would stay: 11 and 14 year-olds."""
  if found('another_age', text, start):
    return True
  around = sentence(text, start)
  own = text[start:end].lower()
  return any(
    other[1].lower() in numbers()
    and other[1].lower() != own
    and (
      not is_age(around, *other.span(1))
      or plausible.is_stage(around, other.start(1), True)
    )
    for other in _OTHER.finditer(around)
  )


def is_age(text: str, start: int, end: int) -> bool:
  """Whether a number is the age of somebody."""
  if start and text[start - 1] in '$£€.,:-/' and text[start - 1] != '-':
    if text[start - 2 : start - 1].isdigit() or text[start - 1] in '$£€':
      return False
  at = text, start, end
  behind = found('years_old', *at)
  if found('bound', *at) or (behind and found('of_nobody', *at)):
    return False
  if behind:
    return _is_of_a_person(text, behind.end())
  if found('no_age', *at):
    return False
  apposed = found('apposed', *at) and found('goes_on', *at)
  return bool(apposed or found('aged', *at))


_MODELS = frozenset(('model', 'models'))  # of people, behind an age alone


def _is_of_a_person(text: str, end: int) -> bool:
  """Who is N years old: nobody who is named, a word for people, a name."""
  after, stop, _ = next_word(text, end)
  low = after.lower()
  if is_no_noun(low) or low in people.nouns() or low in SETS.describing:
    return True
  if after[:1].isupper():
    return low not in SETS.made
  second = next_word(text, stop)[0].lower()  # a 29-year-old free-lance writer
  return not _MODELS.isdisjoint((low, second)) or second in people.nouns()


def _decade(value: int, to, names: dict[int, str], stays: frozenset[str]):
  def rule(text: str, start: int, end: int) -> str | None:
    if not found('in_their', text, start):
      return None
    if found('or_more', text, start, end):
      return ''
    target = to(value)
    if target == value:
      return None
    if stays and pattern(stays).search(sentence(text, start)):
      return ''
    if target == 0 and found('grown_life', text, start):
      return ''
    begun = value == 0 or (value < 2 and found('begun', text, start))
    if target > 1 and begun:
      return ''  # in his teens he boxed
    if found('still', text, start):
      return ''
    return names[target]

  return rule


def aged(word: str, to, otherwise, stays: Sequence[frozenset[str]]):
  """The rule of a noun that goes with an age before it; else `otherwise`."""
  child = next(c for c, a in AGED if word in (c, a))
  older = next(a for c, a in AGED if c == child)

  def rule(text: str, start: int, end: int) -> str | None:
    before = found('its_age', text, start)
    age = numbers().get(before[1].lower()) if before else None
    at = before.span(1) if before else (0, 0)
    if age is None and before:
      last = before[1].rpartition('-')[2]
      age, at = numbers().get(last.lower()), (at[1] - len(last), at[1])
    if age is None:
      return otherwise(text, start, end) if otherwise else None
    target = to(value_of(age))
    if (target > 0) == (value_of(age) > 0):
      return None
    # The noun goes with its figure, which may have to stay.
    if not _figure(age, to, stays[value_of(age)])(text, *at):
      return None
    low = text[start:end].lower()
    if target > 0 and low != older:
      return match_case(text[start:end], older)
    if target == 0 and low in {adult for _, adult in AGED}:
      return match_case(text[start:end], child)
    return None

  return rule


def in_order(axis: Axis, rules: dict[str, Rule]) -> dict[str, Rule]:
  """The rules, unsure where relatives would change the order of their ages."""
  values = {word: value for word, value, *_ in axis.words()}
  words = frozenset(rules | values)

  def age_of(low: str) -> tuple[int, float]:
    """The value of a word or figure, and the years it stands for."""
    if low in numbers():
      return value_of(numbers()[low]), numbers()[low]
    value = values.get(low, 0)
    return value, sum(SPANS[value]) / 2

  def ages_in(text: str, first: int, last: int) -> Iterator[tuple]:
    """(where it ends, its age, its new age) of each age of a sentence."""
    for one in pattern(words).finditer(text, first, last):
      low, (start, end) = one[0].lower(), one.span()
      new = rules[low](text, start, end) if low in rules else low
      if low in numbers():
        counts = is_age(text, start, end)
      else:  # a word with no rule has the target's value already
        known = low in rules or not found('joined_years', text, start)
        stated = low in SETS.ages and _is_relative(text, end)
        counts = known and (stated or new is not None)
      if counts:
        yield end, age_of(low), age_of((new or low).lower())

  def is_kept(text: str, start: int) -> bool:
    first, last = bounds(text, start)
    around = re.findall(r'\w+', text[first:last].lower())
    if SETS.relatives.isdisjoint(around):
      return True
    ages = [*ages_in(text, first, last)]
    return not any(_is_relative(text, end) for end, *_ in ages) or all(
      new[0] < later[0] and new[1] < later[1]
      for _, old, new in ages
      for _, early, later in ages
      if old[0] < early[0]
    )

  def wrapped(rule):
    def ordered(text: str, start: int, end: int) -> str | None:
      new = rule(text, start, end)
      return '' if new and not is_kept(text, start) else new

    return ordered

  return {word: wrapped(rule) for word, rule in rules.items()}


def _is_relative(text: str, end: int) -> bool:
  """Whether an age is said of a relative: his teenage grandson."""
  near = re.split('[,.;:]', text[end : end + 40])[0].lower().split()
  return not SETS.relatives.isdisjoint(near[:3])
