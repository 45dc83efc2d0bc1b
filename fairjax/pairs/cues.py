"""Cues: what stands beside a word and says how it is meant, from cues.csv.

A row is a cue and where it stands: `before` the word or `behind` it, within
`reach` characters, or in its `sentence`. The pattern is a regular expression,
in which {name} is any of SETS.name, or @name for a word of that set. A cue of
several rows is there where one of them is; the `example` of a row has the word
between bars, and the tests find the cue in it.
"""

import functools
import re

from fairjax.data.word_tables import table_rows
from fairjax.pairs.word_sets import SETS, pattern

FAR = 1 << 30  # no reach is given
_SENTENCE = re.compile(r'[.!?\n]+(?:\s|$)')


def bounds(text: str, at: int) -> tuple[int, int]:
  """Where the sentence that holds a place begins and ends, as marks cut it."""
  before = [m.end() for m in _SENTENCE.finditer(text, 0, at)]
  after = _SENTENCE.search(text, at)
  first, last = before[-1:] or [0], after.start() if after else len(text)
  return first[0], last


def sentence(text: str, at: int) -> str:
  return text[slice(*bounds(text, at))]


def found(cue: str, text: str, start: int, end: int = 0) -> re.Match | None:
  """The cue beside the word text[start:end]; None where there is none."""
  for where, reach, body in cue_rows()[cue]:
    if where == 'before':
      match = _compiled(body).search(text, max(0, start - reach), start)
    elif where == 'behind':
      match = _compiled(body).match(text, end, end + reach)
    else:
      match = _compiled(body).search(sentence(text, start))
    if match:
      return match
  return None


@functools.cache
def cue_rows() -> dict[str, list[tuple[str, int, str]]]:
  out: dict[str, list[tuple[str, int, str]]] = {}
  for cue, where, reach, body, _ in table_rows(__file__, 'cues.csv'):
    out.setdefault(cue, []).append((where, int(reach or FAR), body))
  return out


@functools.cache
def _compiled(body: str) -> re.Pattern:
  if body.startswith('@'):
    return pattern(getattr(SETS, body[1:]))
  any_of = lambda name: f'(?:{"|".join(sorted(getattr(SETS, name[1])))})'
  return re.compile(re.sub(r'\{([a-z_]+)\}', any_of, body))
