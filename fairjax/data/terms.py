"""Which texts have which identity terms: overlapping and exclusive groups."""

import re
from collections.abc import Sequence

import numpy as np


def term_members(texts: Sequence[str], terms: Sequence[str]) -> np.ndarray:
  """bool [g, n]: whether text n has term g as a whole word, in any case.

  `african american` is also `african` and `american`. One pass a term over
  the joined texts: a literal search, and only a hit looks at its borders.
  """
  small = [text.lower() for text in texts]
  joined = '\n'.join(small)
  starts = np.cumsum([0] + [len(text) + 1 for text in small])
  members = np.zeros((len(terms), len(small)), bool)
  for g, term in enumerate(terms):
    word = re.escape(term.lower())
    found = re.finditer(rf'{word}(?<=\b{word})\b', joined)
    at = np.fromiter((match.start() for match in found), np.int64)
    members[g, np.searchsorted(starts, at, side='right') - 1] = True
  return members


def exclusive(texts: Sequence[str], terms: Sequence[str]) -> np.ndarray:
  """The one term of each text: the first in the list, longer terms first."""
  order = sorted(terms, key=lambda term: -len(term.split()))
  members = term_members(texts, order)
  named = np.array([*order, ''], object)
  return named[np.where(members.any(0), members.argmax(0), len(order))]
