"""Verbs that agree with singular they: she walks -> they walk, by rule.

The verb is looked for right after (or, in a question, right before) each she
or he that became they, past adverbs; a verb joined by `and` to one that was
changed follows it where its form can be nothing else. A word that might be
such a verb but could be a noun too is left as it is and counted.
"""

import re

from fairjax.pairs.cues import found
from fairjax.pairs.swapping.listed import match_case
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS

Span = tuple[int, int, str, str]

_FORMS = dict(both.split('/') for both in SETS.verbs_of_they)
_E_VERBS = ('sses', 'shes', 'ches', 'xes', 'zzes', 'oes')
_TOO = re.compile(r'(?:,? (?:and|or|but)) (\w+)', re.IGNORECASE)
_CLAUSE = re.compile(r'[.!?;:\n]')
_SUBJECT = re.compile(r'\b(?:who|which|that|he|she|it|what|where|when)\b', re.I)


def base_form(verb: str) -> str:
  """The plain form of a verb in -s, '' where `verb` is none."""
  low = verb.lower().replace('’', "'")
  if low in _FORMS:
    return _FORMS[low]
  if not low.endswith('s') or low.endswith(('ss', 'us', "'s")):
    return ''
  if low in SETS.no_verbs or len(low) < 4 or not low.isalpha():
    return ''
  if low.endswith('ies') and len(low) > 4:
    return low[:-3] + 'y'
  return low[:-2] if low.endswith(_E_VERBS) else low[:-1]


def agree(text: str, spans: list[Span]) -> tuple[list[Span], int]:
  """Spans of the verbs of each they, and how many were left unsure."""
  verbs: list[Span] = []
  unsure = 0
  for _, end, old, new in spans:
    if new.lower() != 'they':
      continue
    verb = _contracted(text, end) or _following(text, end)
    inverted = None if verb else _asked(text, end - len(old))
    verbs += [result for result in (verb, inverted) if result]
    more, rest = _linked(text, end, verb)
    verbs += more
    unsure += rest
  return sorted(set(verbs)), unsure


def _span(text: str, start: int, end: int, new: str) -> Span:
  old = text[start:end]
  new = match_case(old, new)
  return start, end, old, new.replace("'", '’') if '’' in old else new


def _contracted(text: str, end: int) -> Span | None:
  """she's -> they're, or they've before a participle."""
  result = found('contracted', text, end, end)
  if not result:
    return None
  word, stop, _ = next_word(text, result.end())
  while word.lower() in SETS.neutral_adverbs:
    word, stop, _ = next_word(text, stop)
  has = word.lower() in SETS.participles
  return _span(text, end, result.end(), "'ve" if has else "'re")


def _following(text: str, end: int) -> Span | None:
  """The verb after they, past adverbs."""
  word, stop, hyphen = next_word(text, end)
  for _ in range(3):
    low = word.lower()
    if not low or hyphen:
      return None
    if low not in SETS.neutral_adverbs and not (
      low.endswith('ly') and len(low) > 4
    ):
      break
    word, stop, hyphen = next_word(text, stop)
  base = base_form(word)
  return _span(text, stop - len(word), stop, base) if base else None


def _asked(text: str, start: int) -> Span | None:
  """is she … -> are they …"""
  word = last_word(text, start)
  new = _FORMS.get(word.lower().replace('’', "'"), '')
  if not new or word.lower() == 'goes':
    return None
  at = text.rindex(word, 0, start)
  if last_word(text, at).lower() in SETS.no_question:
    return None  # "it was she who paid"
  return _span(text, at, at + len(word), new)


def _linked(text: str, end: int, verb: Span | None) -> tuple[list[Span], int]:
  """Verbs that `and` joins to the one of a they that ends at `end`.

  was, is and has agree with they unless another subject came between; another
  verb in -s is sure right after the first ("walks and talks") and before what
  it acts on ("writes novels and teaches the young"), and else counted.
  """
  verbs, unsure = [], 0
  first = verb[2].lower() if verb else 'was'
  stop = min(len(text), end + 200)
  mark = _CLAUSE.search(text, end, stop)
  stop = mark.start() if mark else stop
  for result in _TOO.finditer(text, end, stop):
    word = result[1]
    base = base_form(word)
    if not base:
      continue
    if word.lower() in _FORMS:
      sure = not _SUBJECT.search(text, end, result.start(1))
    elif not verb or first == 'was' or first.startswith(("'", '’')):
      continue
    else:
      sure = (result.start() == verb[1] and first not in _FORMS) or (
        found('acted_on', text, *result.span()) is not None
        and first not in SETS.saying
        and not _SUBJECT.search(text, verb[1], result.start())
      )
      if not sure and first in _FORMS:
        continue  # "is fond of dogs and cats": most likely a noun
    if sure:
      verbs.append(_span(text, *result.span(1), base))
    else:
      unsure += 1
  return verbs, unsure
