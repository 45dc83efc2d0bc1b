"""The short ways to a neighbouring word, against the long ones."""

import numpy as np

from fairjax.pairs.swapping import neighbours


def plain_next(text, end):
  found = neighbours._NEXT.match(text, end)
  if found is None:
    return '', end, False
  return found[1], found.end(1), bool(found[2])


def plain_last(text, start):
  left = text[max(0, start - 24) : start].rstrip('("“‘\'`*_[')
  words = left.split()
  if not words or text[start - 1 : start] == '-':
    return ''
  word = words[-1].lstrip('("“‘\'`*_[')
  return word if word[-1:].isalnum() else ''


def test_neighbours_are_those_of_the_long_way():
  rng = np.random.default_rng(0)
  found = 0
  for k in range(3000):
    letters = ('  ab.,;:!?)("\'’-_É1\n…', '  a.', '  a-,')[k % 3]
    text = ''.join(rng.choice(list(letters), 10))
    for place in range(len(text) + 1):
      after = neighbours.next_word(text, place)
      assert after == plain_next(text, place), (text, place)
      before = neighbours.last_word(text, place)
      assert before == plain_last(text, place), (text, place)
      found += bool(after[0]) + bool(before)
  assert found > 5000
