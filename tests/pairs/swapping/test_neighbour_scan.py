"""What arrays tell of neighbours is what the rules would read there."""

import random

import numpy as np
import pytest

from fairjax.pairs.swapping import dictionary, names, neighbour_scan, persons
from fairjax.pairs.swapping import neighbours as near
from fairjax.pairs.swapping.scan import Scan

MARKS = [' '] * 50 + (
  '. |, |; |: |! |? |\n|\n\n|\t| "|" | (|) | “|” |\'s |’s |’t |\'|-| - |–|… |/'
  '|... |#|@|_| & |\xa0| [|] |  |`|\u0301|\u0301 |𝐀|𝐀 || of |, and | or '
).split('|')


@pytest.fixture(scope='module')
def texts() -> list[str]:
  """Words that rules know, names and others, with any marks between them."""
  rng = random.Random(3)
  own = [name.lower() for pair in names.own_pairs()[:300] for name in pair]
  lists = [
    *(
      v
      for m in (persons, near)
      for v in vars(m).values()
      if type(v) is frozenset
    ),
    *[own, ['his', 'her'], ['he', 'she', 'uncle', 'actress', 'heir']] * 12,
    *[['the', 'a', 'an', 'of', 'xy', 'lately', '1990', 'dog', 'état', 'don']]
    * 6,
  ]
  lists = [sorted(one) for one in lists]
  forms = (str, str, str.title, str.capitalize, str.capitalize, str.upper)

  def text() -> str:
    size = rng.randrange(1, 24)
    words = [
      rng.choice(forms)(rng.choice(rng.choice(lists))) for _ in range(size)
    ]
    return ''.join(word + rng.choice(MARKS) for word in words)

  return [text() for _ in range(6000)]


@pytest.mark.parametrize('direction', ['opposite', 'male', 'female', 'neutral'])
def test_swaps_as_the_rules_alone(texts, direction, monkeypatch):
  told = dictionary.swap(texts, direction, names=True)
  nothing = lambda block, at, opens: np.zeros(len(at), np.uint8)
  monkeypatch.setattr(neighbour_scan, 'flags', nothing)
  read = dictionary.swap(texts, direction, names=True)
  for text, *both in zip(texts, zip(*told), zip(*read)):
    assert both[0] == both[1], text


@pytest.mark.parametrize('word', ['m', 'ab', 'abc', 'abcd', 'é', 'a' * 20])
def test_a_scan_finds_words_of_any_length(word):
  for text in (f'{word}', f'x {word} y', f'"{word}"', f'b-{word}-zz {word}'):
    found = [
      text[a:b] for _, s, e, _ in Scan([word])([text]) for a, b in zip(s, e)
    ]
    assert found == [word] * text.count(word), text
