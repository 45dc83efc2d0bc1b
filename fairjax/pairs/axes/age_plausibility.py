"""Whether an age of another part of life can stand in a sentence.

A child has no wife, nobody of seventy learns to walk, and what began at the age
of nine began then: a figure that would say something else of a life stays.
"""

import re

from fairjax.pairs.axes.senses import sentence
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
