"""Ages in figures: eleven years old, a 44-year-old woman, aged 70, in his 50s.

An age becomes one of the target's span, as far into it as it was into its own;
digits stay digits, and words stay words. The noun behind one goes with it: an
11-year-old boy is a 70-year-old man.
"""

import functools
import re
from collections.abc import Collection, Sequence

from fairjax.pairs.axes import people
from fairjax.pairs.axes.rules import pattern
from fairjax.pairs.axes.senses import is_no_noun, sentence
from fairjax.pairs.swapping.neighbours import next_word

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

_YOUNG = {word for pair in AGED for word in pair} | people.words_of(
  'student students pupil pupils person people son sons daughter daughters '
  'brother sister twins orphan male female'
)


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
    out[plural] = _decade(value, to, _DECADE_WORDS)
    out[f'{10 * k}s'] = _decade(value, to, _DECADES)
  out['teens'] = _decade(0, to, _DECADE_WORDS)
  return out


def _figure(age: int, to, stays: Collection[str]):
  def rule(text: str, start: int, end: int) -> str | None:
    if not is_age(text, start, end):
      return None
    target = to(value_of(age))
    if target == value_of(age):
      return None
    if stays and pattern(frozenset(stays)).search(sentence(text, start)):
      return ''
    if target == 0 and _is_grown(text, end):
      return ''
    if value_of(age) == 0 and _BEGINS.search(sentence(text, start)):
      return ''
    new = moved(age, target)
    word = text[start:end]
    return str(new) if word[0].isdigit() else _like(word, spelled(new))

  return rule


# What a life begins with: he joined a band at the age of nine.
_BEGINS = re.compile(
  r'\b(?:beg[aiu]n\w*|start\w*|join\w*|apprentic\w+|enrol\w+|debut\w*|'
  r'lessons?|learn\w*|prodigy|youngest|career|appear\w*|moved|emigrated|'
  r'cadet|scholarship|stud(?:y|ied|ying)|contest|talent|first)\b',
  re.IGNORECASE,
)


def _is_grown(text: str, end: int) -> bool:
  """A 22-year-old mistress: of no child."""
  behind = _BEHIND.match(text, end)
  noun = next_word(text, behind.end())[0].lower() if behind else ''
  return noun in people.nouns() and noun not in _YOUNG


def _like(word: str, new: str) -> str:
  if len(word) > 1 and word.isupper():
    return new.upper()
  return new[:1].upper() + new[1:] if word[0].isupper() else new


def is_age(text: str, start: int, end: int) -> bool:
  """Whether a number is the age of somebody."""
  if start and text[start - 1] in '$£€.,:-/' and text[start - 1] != '-':
    if text[start - 2 : start - 1].isdigit() or text[start - 1] in '$£€':
      return False
  behind = _BEHIND.match(text, end)
  if behind:
    after = next_word(text, behind.end())[0].lower()
    return (
      is_no_noun(after)
      or after in people.nouns()
      or (after in people.DESCRIBING)
    )
  return bool(_BEFORE.search(text, max(0, start - 20), start)) and (
    not re.match(r'[-–]\d|\.\d| ?%| years? and', text[end : end + 10])
  )


def _decade(value: int, to, names: dict[int, str]):
  def rule(text: str, start: int, end: int) -> str | None:
    if not _IN_THE.search(text, max(0, start - 24), start):
      return None
    target = to(value)
    return None if target == value else names[target]

  return rule


def aged(word: str, to, otherwise):
  """The rule of a noun that goes with an age before it; else `otherwise`."""
  child = next(c for c, a in AGED if word in (c, a))
  older = next(a for c, a in AGED if c == child)

  def rule(text: str, start: int, end: int) -> str | None:
    before = _AGED.search(text, max(0, start - 40), start)
    age = numbers().get(before[1].lower()) if before else None
    if age is None and before:
      age = numbers().get(before[1].rpartition('-')[2].lower())
    if age is None:
      return otherwise(text, start, end) if otherwise else None
    target = to(value_of(age))
    if target == value_of(age) or (target > 0) == (value_of(age) > 0):
      return None
    low = text[start:end].lower()
    if target > 0 and low != older:
      return _like(text[start:end], older)
    if target == 0 and low in (
      'man',
      'woman',
      'men',
      'women',
      'adult',
      'adults',
    ):
      return _like(text[start:end], child)
    return None

  return rule
