"""Whether an age of another part of life can stand in a sentence.

A child has no wife, nobody of seventy learns to walk, and what began at the age
of nine began then: a figure that would say something else of a life stays.
"""

import re

from fairjax.pairs.axes.forms import opens
from fairjax.pairs.axes.rules import Rule
from fairjax.pairs.cues import found, sentence

_LASTING = re.compile(r'\b(\d{2}) years\b(?! old)')


def fits(text: str, start: int, value: int, target: int, new: int) -> bool:
  """Whether an age of one span may be `new`, of another, where it stands."""
  kept = {
    'grown_life': target == 0,
    'begun': value < 2,
    'not_yet': value < 2 and target > 1,
    'when_young': value == 0 and target > 1,
    'child_of': target > 1,
    'ranked': True,
    'two_years': True,  # born, died
  }
  if any(where and found(cue, text, start) for cue, where in kept.items()):
    return False
  if is_stage(text, start, 0 in (value, target)):
    return False
  lasting = _LASTING.findall(sentence(text, start))
  return all(int(years) + 10 <= new for years in lasting)


def is_stage(text: str, start: int, child: bool) -> bool:
  """At a tender age of; of a child, at the age of, as a, not yet."""
  return bool(
    found('early', text, start)
    or (child and found('time_of_life', text, start))
  )


def placed(word: str, value: int, target: int, rule: Rule) -> Rule:
  """The rule of a word that names an age, left where another does not fit."""

  def placed_rule(text: str, start: int, end: int) -> str | None:
    if found('any_age', text, start, end) or _is_called(text, start, end):
      return ''
    if found('of_age', text, start):
      return ''
    if word in ('old', 'aged') and found('the', text, start):
      if text[end:].lstrip()[:1] in (',', '.', ';', ')'):
        return ''  # a vast improvement from the old
    if value == 0 and target > 1 and word in ('girls', 'boys'):
      if found('these', text, start):
        return ''
    return rule(text, start, end)

  return placed_rule


def _is_called(text: str, start: int, end: int) -> bool:
  """Girls, the churner is not broken."""
  before = text[:start].rstrip()
  return text[end:].lstrip()[:1] in (',', '!') and (
    opens(text, start) or before.endswith(',')
  )
