"""Self-BLEU against its definition, and against copies."""

import math
from collections import Counter

import numpy as np

from fairjax.metrics.texts import diversity


def plain(texts, i):
  """BLEU-4 of text i against all others, by loops."""
  own, others = texts[i], [t for j, t in enumerate(texts) if j != i]
  log = 0.0
  for n in range(1, 5):
    grams = lambda text: Counter(
      tuple(text[k : k + n]) for k in range(len(text) - n + 1)
    )
    ours, theirs = grams(own), [grams(other) for other in others]
    matches = sum(
      min(count, max(t[gram] for t in theirs)) for gram, count in ours.items()
    )
    if not matches:
      return 0.0
    log += math.log(matches / ours.total()) / 4
  near = min(map(len, others), key=lambda r: (abs(r - len(own)), r))
  return math.exp(log + min(0, 1 - near / len(own)))


def test_it_is_the_definition():
  rng = np.random.default_rng(0)
  texts = [rng.integers(0, 3, n).tolist() for n in rng.integers(1, 14, 25)]
  expected = [plain(texts, i) for i in range(len(texts))]
  assert sum(e > 0 for e in expected) > 8
  np.testing.assert_allclose(diversity.self_bleu(texts), expected, atol=1e-12)


def test_copies_are_one_and_strangers_are_zero():
  copies = ['a b c d e'.split()] * 3
  np.testing.assert_allclose(diversity.self_bleu(copies), 1)
  strangers = ['a b c d e'.split(), 'f g h i j'.split()]
  assert not diversity.self_bleu(strangers).any()
  assert not diversity.self_bleu([['a'] * 9]).any()
