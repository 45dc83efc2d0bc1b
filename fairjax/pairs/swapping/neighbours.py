"""Neighbouring words: where they are, and the sets that rules test for."""

import re

# The next word, if only blanks, one line end and opening marks are between: a
# quotation mark or bracket (also of tokenised text), a sign of currency or
# number, the bracket of a mask; or an ellipsis before a small letter.
NEXT = re.compile(
  r'(?:(?: ?\.{3}| ?…)(?=[ \n]?[a-z]) ?|[\]*_]*(?:[ \t\xa0]+\n?|\n)[ \t]*)'
  r"[(\[\"“‘«'`*_<#$£€]*(?:(?<=[(\[\"“‘«]) )?(?:(?<= )\.(?=\d))?"
  r"(\w(?:\w|['’]\w)*)(-?)"
)
OPENING = '("“‘\'`*_['
_CLOSING = frozenset(',.;:!?)')  # no word reaches over these
_LEADING = frozenset(' \t\xa0\n.…]*_')  # the first characters of NEXT


def next_word(text: str, end: int) -> tuple[str, int, bool]:
  """The word after `end`, where it ends, and whether a hyphen follows.

  '' where a mark or an empty line stands between.
  """
  mark = text[end : end + 1]
  if mark == ' ':  # most often a word between two blanks
    stop = text.find(' ', end + 1)
    if stop < 0:
      stop = len(text)
    word = text[end + 1 : stop]
    if word.isalnum():
      return word, stop, False
    if word[-1:] in _CLOSING and word[:-1].isalnum():
      return word[:-1], stop - 1, False
  elif mark not in _LEADING:
    return '', end, False
  result = NEXT.match(text, end)
  if result is None:
    return '', end, False
  return result[1], result.end(1), bool(result[2])


def last_word(text: str, start: int) -> str:
  """The word before `start`, '' where a mark stands between."""
  if text[start - 1 : start] == ' ':
    blank = text.rfind(' ', start - 24 if start > 24 else 0, start - 1)
    word = text[blank + 1 : start - 1]
    if word.isalnum() and (blank >= 0 or start < 25):
      return word
    if word[-1:] in _CLOSING:
      return ''
  words = text[max(0, start - 24) : start].rstrip(OPENING).rsplit(None, 1)
  if not words or text[start - 1 : start] == '-':
    return ''
  word = words[-1].lstrip(OPENING)
  return word if word[-1:].isalnum() else ''
