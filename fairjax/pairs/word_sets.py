"""The sets of words that rules test for, by name, from word_sets.csv.

A star stands for the rest of a word.
"""

import functools
import re

from fairjax.data import word_tables

SETS = word_tables.read(__file__, 'word_sets.csv')


@functools.cache
def pattern(words: frozenset[str]) -> re.Pattern:
  """Finds any of the words or phrases, whole and in any case."""
  ordered = sorted(words, key=len, reverse=True)
  body = '|'.join(re.escape(word).replace(r'\*', r'\w*') for word in ordered)
  # Of no words it finds nothing.
  return re.compile(rf'(?<!\w)(?:{body or "(?!)"})(?!\w)', re.IGNORECASE)
