"""Whether an age of another part of life can stand in a sentence.

A child has no wife, nobody of seventy learns to walk, and what began at the age
of nine began then: a figure that would say something else of a life stays.
"""

import re

from fairjax.pairs.axes.forms import opens
from fairjax.pairs.axes.rules import Rule
from fairjax.pairs.axes.senses import OF_AGE, sentence
from fairjax.pairs.word_sets import SETS, pattern

# At the age of 17 he had to make his own way: a time of a life, which as that
# of a child says something else.
_TIME = re.compile(
  r'\b(?:at|until|till|by|since|from|before|after|turned) (?:the )?'
  r'(?:(?:ripe|young|early|tender|old) )*age(?: of)? $|\bnot yet $',
  re.IGNORECASE,
)
_EARLY = re.compile(r'\b(?:young|early|tender|ripe|old) age(?: of)? $', re.I)
_AS = re.compile(r'\b(?:as|since|when|while) an? $', re.IGNORECASE)
_YEAR = re.compile(r'\b1[5-9]\d\d\b|\b20\d\d\b')  # born, died
_CHILD_OF = re.compile(
  r'\b(?:sons?|daughters?|child|children|kids?|twins|boys?|girls?)\b'
  r'[^.;]{0,24}\baged? $',
  re.IGNORECASE,
)
# Who died when Liddell was eight; his niece, fourteen years old, to marry.
_WHEN = re.compile(
  r'\bwhen\b[^,.;]{0,40}\b(?:was|were)(?: only| just)? $', re.I
)
_LASTING = re.compile(r'\b(\d{2}) years\b(?! old)')
_NOT_YET = re.compile(r'\b(?:only|just|almost|nearly|barely) $', re.IGNORECASE)


def fits(text: str, start: int, value: int, target: int, new: int) -> bool:
  """Whether an age of one span may be `new`, of another, where it stands."""
  around = sentence(text, start)
  if target == 0 and pattern(SETS.adult_lives).search(around):
    return False
  if value < 2 and pattern(SETS.beginnings).search(around):
    return False
  near = text[max(0, start - 60) : start]
  if target > 1:
    if value < 2 and _NOT_YET.search(near):
      return False
    if value == 0 and (
      _WHEN.search(near) or pattern(SETS.not_later).search(around)
    ):
      return False
    if _CHILD_OF.search(near):
      return False
  if is_stage(text, start, 0 in (value, target)):
    return False
  if pattern(SETS.ranked).search(around) or len(_YEAR.findall(around)) > 1:
    return False
  return all(int(years) + 10 <= new for years in _LASTING.findall(around))


def is_stage(text: str, start: int, child: bool) -> bool:
  """At a tender age of; of a child, at the age of, as a, not yet."""
  before = text[max(0, start - 40) : start]
  if _EARLY.search(before):
    return True
  return bool(child and (_TIME.search(before) or _AS.search(before)))


# As a young man he left: a time of a life; the girls are sorry, of any age.
_AS_ONE = re.compile(
  r'\b(?:as|while|since|still|yet)(?: still)? an? (?:[\w-]+ )?$', re.IGNORECASE
)
_CALLED = re.compile(
  r'\b(?:go|hey|hi|ok|okay|up|sorry|thanks|dear|hello|you|us|see|listen|look|'
  r'well|remember),? $',
  re.IGNORECASE,
)
# The then young singer, the best young actor, career - kids = misery.
_BESIDE = re.compile(r'(?:\b(?:then|best)| [-+=]) $', re.IGNORECASE)
# Kids five and up.
_AND_UP = re.compile(
  r' (?:[\w-]+ )?(?:and|or) (?:up|under|over|older|younger)\b'
)
_THE_OLD = re.compile(r'\bthe $', re.IGNORECASE)
_THE = re.compile(r'\b(?:the|these|those|our)(?: \w+)? $', re.IGNORECASE)


def placed(word: str, value: int, target: int, rule: Rule) -> Rule:
  """The rule of a word that names an age, left where another does not fit."""

  def placed_rule(text: str, start: int, end: int) -> str | None:
    before = text[max(0, start - 40) : start]
    if _AS_ONE.search(before) or _CALLED.search(before):
      return ''
    if _BESIDE.search(before) or _is_called(text, start, end):
      return ''
    if _AND_UP.match(text, end) or OF_AGE.search(sentence(text, start)):
      return ''
    if word in ('old', 'aged') and _THE_OLD.search(before):
      if text[end:].lstrip()[:1] in (',', '.', ';', ')'):
        return ''  # a vast improvement from the old
    if value == 0 and target > 1 and word in ('girls', 'boys'):
      if _THE.search(before):
        return ''
    return rule(text, start, end)

  return placed_rule


def _is_called(text: str, start: int, end: int) -> bool:
  """Girls, the churner is not broken."""
  before = text[:start].rstrip()
  return text[end:].lstrip()[:1] in (',', '!') and (
    opens(text, start) or before.endswith(',')
  )
