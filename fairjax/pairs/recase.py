"""Case, accents and spacing of a source, restored in a rewritten text.

A generator with an uncased vocabulary writes 'she met jose .' for 'He met
José.'. Words that it copied are those of the source again, with the white
space before them; a word in place of another takes its case and its space.
"""

import re
import unicodedata
from typing import NamedTuple

from fairjax.core import alignment
from fairjax.pairs.swapping.listed import match_case

_TOKEN = re.compile(r'(\s*)(\w+|[^\w\s])')


class Token(NamedTuple):
  space: str  # before it
  text: str


def tokens(text: str) -> list[Token]:
  # Blanks at the end would be read again from each of them.
  return [Token(*match.groups()) for match in _TOKEN.finditer(text.rstrip())]


def plain(word: str) -> str:
  """Lower case without accents, as uncased vocabularies have it."""
  parts = unicodedata.normalize('NFD', word.lower())
  return ''.join(c for c in parts if unicodedata.category(c) != 'Mn')


def restore(source: str, written: str) -> str:
  """`written` in the source's case, accents and spacing."""
  old, new = tokens(source), tokens(written)
  uncased = written == written.lower()  # else it has written its own case
  words = ([plain(token.text) for token in side] for side in (old, new))
  out: list[str] = []
  for kind, a, b, c, d in alignment.changes(*words):
    if kind == 'equal':
      out += [part for token in old[a:b] for part in token]
      continue
    for k in range(c, d):
      stood = old[a + k - c] if a + k - c < b else None
      if stood:
        word = new[k].text
        out += [stood.space, match_case(stood.text, word) if uncased else word]
      else:
        space = ' ' if new[k].text[0].isalnum() and out else new[k].space
        out += [space, new[k].text]
  return ''.join(out) + source[len(source.rstrip()) :]
