"""Forgetting and cartography: sequences made by hand, and slow twins."""

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.scores.cartography import confidence, correctness, variability
from fairjax.scores.forgetting import forgetting

# Each line is one example over five epochs: 1 is right.
HISTORIES = ['11111', '00000', '10101', '01111', '11110', '01001', '00001']
EVENTS = [0, None, 2, 0, 1, 1, 0]
CORRECT = np.array([[[int(c) for c in h] for h in HISTORIES]], bool)
CORRECT = CORRECT.transpose(0, 2, 1)  # [s, e, n]


def test_histories_by_hand():
  expected = [5.0 if events is None else events for events in EVENTS]
  np.testing.assert_array_equal(forgetting(CORRECT), [expected])


def test_forgetting_against_a_loop():
  rng = np.random.default_rng(0)
  correct = rng.random((3, 6, 40)) < 0.4
  expected = np.zeros((3, 40))
  for s in range(3):
    for n in range(40):
      learned = False
      for e in range(6):
        learned |= correct[s, e, n]
        if e and correct[s, e - 1, n] and not correct[s, e, n]:
          expected[s, n] += 1
      if not learned:
        expected[s, n] = 6
  np.testing.assert_array_equal(forgetting(correct), expected)


def test_one_epoch_forgets_nothing_and_says_so():
  with pytest.raises(UserError, match='was given 1'):
    forgetting(CORRECT[:, :1])


def test_cartography_by_hand():
  chance = np.array([[[0.2, 1.0], [0.6, 1.0], [0.7, 1.0]]])
  np.testing.assert_allclose(confidence(chance), [[0.5, 1]])
  # Deviations -0.3, 0.1, 0.2: squares 0.14 in sum.
  np.testing.assert_allclose(variability(chance), [[np.sqrt(0.14 / 3), 0]])
  np.testing.assert_allclose(
    variability(chance, ddof=1), [[np.sqrt(0.14 / 2), 0]]
  )
  np.testing.assert_allclose(
    correctness(CORRECT), [[1, 0, 0.6, 0.8, 0.8, 0.4, 0.2]]
  )
  with pytest.raises(UserError, match='was given 1'):
    variability(chance[:, :1])
  np.testing.assert_allclose(
    variability(chance[:, :2]), np.abs(chance[:, 0] - chance[:, 1]) / 2
  )
