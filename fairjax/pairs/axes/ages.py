"""Ages in figures: eleven years old, a 44-year-old woman, aged 70, in his 50s.

An age becomes one of the target's span, as far into it as it was into its own;
digits stay digits, and words stay words. The noun behind one goes with it: an
11-year-old boy is a 70-year-old man.
"""

import functools
import re
from collections.abc import Collection, Iterator, Sequence

from fairjax.data.axes.table import Axis
from fairjax.pairs.axes import age_plausibility as plausible
from fairjax.pairs.axes import people
from fairjax.pairs.axes.senses import is_no_noun, sentence
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
_BEHIND = re.compile(
  r'(?:[- ](?:years?|yrs?)[- ]old|[- ]?y/?o)(s?)\b', re.IGNORECASE
)
_BEFORE = re.compile(
  r'\b(?:aged?|age of|ages of)(?: \d+ and)? $', re.IGNORECASE
)
_AGED = re.compile(
  r'([\w-]+?)[- ](?:years?|yrs?)[- ]old,? (?:\w+ )?$', re.IGNORECASE
)
_IN_THE = re.compile(
  r'\bin (?:his|her|their|my|your|our) (?:(?:early|mid|late)[- ])?$',
  re.IGNORECASE,
)
# Something 3 years old; 13- to 15-years-old.
_NOBODY = re.compile(
  r'(?:\b(?:thing|something|anything|nothing|building|house|church|comment|car|'
  r'school|tree|dog|cat|company|article|post|tradition|act|law|bill|film|movie|'
  r'wine|story|religion|text|world|earth|planet|universe|rock|bone|city|'
  r'country|nation|song|game|example|stor(?:y|ie)|theory|idea)s? (?:\w+ )?|'
  r'- to )$',
  re.IGNORECASE,
)
# Where an age is a bound: under the age of 21, at least 35 years old.
_BOUND = re.compile(
  r'\b(?:under|over|below|above|least|minimum|maximum|between|than|legal)'
  r'(?: the)?(?: age| ages)?(?: of)? (?:\d+ (?:and|or|to) )?$',
  re.IGNORECASE,
)
# Monica Meadows, 23, was shot.
_APPOSED = re.compile(r"[A-Z][a-z]+(?: [A-Z]\.)? [A-Z][\w'’-]+, $")
_GOES_ON = re.compile(
  r', (?:was|is|who|whose|of|a|an|said|says|from|has|had|died|told|the)\b'
)
# The 40-Year-Old Virgin.
_TITLE = re.compile(r'[- ]Years?[- ]Old')
_DECADES = {0: 'teens', 1: '20s', 2: '50s', 3: '70s'}
_DECADE_WORDS = {0: 'teens', 1: 'twenties', 2: 'fifties', 3: 'seventies'}
# Nouns that go with an age: of a child, and of everyone older.
AGED = (
  ('boy', 'man'),
  ('girl', 'woman'),
  ('child', 'adult'),
  ('kid', 'adult'),
  ('teenager', 'adult'),
  ('boys', 'men'),
  ('girls', 'women'),
  ('children', 'adults'),
  ('kids', 'adults'),
  ('teenagers', 'adults'),
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


def entries(to, stays: Sequence[Collection[str]]) -> dict[str, object]:
  """Rules of figures, decades, and nouns that go with an age.

  Words of `stays` keep a sentence's figures, as they keep its words.
  """
  out: dict[str, object] = {}
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


def _figure(age: int, to, stays: Collection[str]):
  def rule(text: str, start: int, end: int) -> str | None:
    if not is_age(text, start, end):
      return None
    target = to(value_of(age))
    if target == value_of(age):
      return None
    noun = _noun_behind(text, end)
    if (target > 1 and noun in SETS.kin) or noun in SETS.said_twice:
      return ''
    if noun in people.nouns() and _BEHIND.match(text, end)[1]:
      return ''  # 8 year olds kids
    if stays and pattern(frozenset(stays)).search(sentence(text, start)):
      return ''
    new = moved(age, target)
    if target == 0 and _is_grown(text, end):
      return ''
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
_PAIR = re.compile(r'\b(?:\d+|\w+teen)(?:,| and| or| to)+ $')
_ONLY = re.compile(r'\bat (?:only|just) \d{1,2}\b')


def _beside_another(text: str, start: int, end: int) -> bool:
  """Whether another age of the sentence would stay: 11 and 14 year-olds."""
  if _PAIR.search(text[max(0, start - 12) : start]):
    return True
  around = sentence(text, start)
  if _ONLY.search(around):
    return True
  own = text[start:end].lower()
  return any(
    found[1].lower() in numbers()
    and found[1].lower() != own
    and (
      not is_age(around, *found.span(1))
      or plausible.is_stage(around, found.start(1), True)
    )
    for found in _OTHER.finditer(around)
  )


def _is_grown(text: str, end: int) -> bool:
  """A 22-year-old mistress: of no child."""
  noun = _noun_behind(text, end)
  return noun in people.nouns() and noun not in _YOUNG


def _noun_behind(text: str, end: int) -> str:
  behind = _BEHIND.match(text, end)
  return next_word(text, behind.end())[0].lower() if behind else ''


def is_age(text: str, start: int, end: int) -> bool:
  """Whether a number is the age of somebody."""
  if start and text[start - 1] in '$£€.,:-/' and text[start - 1] != '-':
    if text[start - 2 : start - 1].isdigit() or text[start - 1] in '$£€':
      return False
  before = text[max(0, start - 40) : start]
  behind = _BEHIND.match(text, end)
  if behind and _TITLE.match(behind[0]):
    return False
  if (behind and _NOBODY.search(before)) or _BOUND.search(before):
    return False
  if behind:
    return _is_of_a_person(text, behind.end())
  if re.match(
    r'[-–]\d|\.\d| ?%| years? and| (?:months?|weeks?|days?)\b',
    text[end : end + 10],
  ):
    return False
  apposed = _APPOSED.search(before) and _GOES_ON.match(text, end)
  return bool(apposed or _BEFORE.search(before))


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


_OR_MORE = re.compile(r'(?: or | and | to |[-–/])(?:the )?(?:\d0s|\w+ties)\b')
_STILL = re.compile(r'\b(?:still|while|already|even|only)\b[\w ]*$', re.I)


def _decade(value: int, to, names: dict[int, str], stays: Collection[str]):
  def rule(text: str, start: int, end: int) -> str | None:
    if not _IN_THE.search(text, max(0, start - 24), start):
      return None
    if _OR_MORE.match(text, end):
      return ''  # in his 20s or 30s
    target = to(value)
    if target == value:
      return None
    around = sentence(text, start)
    if stays and pattern(frozenset(stays)).search(around):
      return ''
    if target == 0 and pattern(SETS.adult_lives).search(around):
      return ''
    if (
      value < 2
      and target > 1
      and (value == 0 or pattern(SETS.beginnings).search(around))
    ):
      return ''  # in his teens he boxed
    if _STILL.search(text, max(0, start - 30), start):
      return ''
    return names[target]

  return rule


def aged(word: str, to, otherwise, stays: Sequence[Collection[str]]):
  """The rule of a noun that goes with an age before it; else `otherwise`."""
  child = next(c for c, a in AGED if word in (c, a))
  older = next(a for c, a in AGED if c == child)

  def rule(text: str, start: int, end: int) -> str | None:
    before = _AGED.search(text, max(0, start - 40), start)
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
    if target == 0 and low in (
      'man',
      'woman',
      'men',
      'women',
      'adult',
      'adults',
    ):
      return match_case(text[start:end], child)
    return None

  return rule


_YEARS = re.compile(r'(?:[-–]|\byears? )$')


def in_order(axis: Axis, rules: dict[str, object]) -> dict[str, object]:
  """The rules, unsure where relatives would change the order of their ages."""
  values = {word: value for word, value, *_ in axis.words()}
  words = frozenset(rules | values)

  def age_of(low: str) -> tuple[int, float]:
    """The value of a word or figure, and the years it stands for."""
    if low in numbers():
      return value_of(numbers()[low]), numbers()[low]
    value = values.get(low, 0)
    return value, sum(SPANS[value]) / 2

  def found(text: str, first: int, last: int) -> Iterator[tuple]:
    """(where it ends, its age, its new age) of each age of a sentence."""
    for one in pattern(words).finditer(text, first, last):
      low, (start, end) = one[0].lower(), one.span()
      new = rules[low](text, start, end) if low in rules else low
      if low in numbers():
        counts = is_age(text, start, end)
      else:  # a word with no rule has the target's value already
        known = low in rules or not _YEARS.search(
          text, max(0, start - 7), start
        )
        said = low in SETS.ages and _is_relative(text, end)
        counts = known and (said or new is not None)
      if counts:
        yield end, age_of(low), age_of((new or low).lower())

  def is_kept(text: str, start: int) -> bool:
    around = sentence(text, start)
    if SETS.relatives.isdisjoint(re.findall(r'\w+', around.lower())):
      return True
    first = text.find(around, max(0, start - len(around)))
    ages = [*found(text, first, first + len(around))]
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
