"""Words that stand for people, and those that describe them."""

import functools

from fairjax.pairs.swapping import word_lists
from fairjax.pairs.word_sets import SETS


@functools.cache
def nouns() -> frozenset[str]:
  """Words for people: ours, and every word of the gender list."""
  listed = word_lists.gender()
  return (
    SETS.nouns
    | SETS.professions
    | {word for row in listed.rows for word in row[:2]}
  )


@functools.cache
def masculine() -> frozenset[str]:
  return frozenset(row[0] for row in word_lists.gender().rows) | {'his', 'him'}


@functools.cache
def feminine() -> frozenset[str]:
  return frozenset(row[1] for row in word_lists.gender().rows) | {'her', 'hers'}
