"""Where a word of an age stays, whatever it would become.

Girls who are called, a young man as somebody was one, the old of a kind.
"""

import re

from fairjax.pairs.axes.forms import opens
from fairjax.pairs.axes.rules import Rule
from fairjax.pairs.axes.senses import OF_AGE, sentence

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
