"""GE, EL2N, the stereotype sign: published values, and identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fairjax.scores import error_scores

LOGITS = arrays.arrays(
  np.float32, (2, 3, 2), elements=st.floats(-30, 30, width=32)
)


def one(*logits) -> np.ndarray:
  return np.array([[logits]], np.float32)


@pytest.mark.parametrize(
  'a, b, expected',
  [
    ((1, -1), (0.5, -0.25), 0.9013878),
    ((2, 0), (0, 0), 2.0),
    ((0.3, 0.1), (0.3, 0.1), 0.0),
  ],
)
def test_ge_golden(a, b, expected):
  np.testing.assert_allclose(
    error_scores.ge(one(*a), one(*b)), [[expected]], rtol=1e-6
  )


@pytest.mark.parametrize(
  'logits, label, expected',
  [
    ((0, 0), 0, 0.7071068),
    ((1, -1), 0, 0.1685784),
    ((1, -1), 1, 1.2456352),
    ((-800, 800), 0, np.sqrt(2)),
  ],
)
def test_el2n_golden(logits, label, expected):
  found = error_scores.el2n(one(*logits), np.array([label]))
  np.testing.assert_allclose(found, [[expected]], rtol=1e-6)


def test_stereotype_golden():
  label = np.array([0])
  a, b = one(1, -1), one(0.5, -0.25)
  assert error_scores.stereotype(a, b, label) == -1
  assert error_scores.stereotype(b, a, label) == 1
  assert error_scores.stereotype(a, a, label) == 0


def test_pvi_golden():
  # Three rows of label 0 and one of 1: log₂ p − log₂ of 3/4 and of 1/4.
  logits = np.log([[[0.75, 0.25], [0.5, 0.5], [0.9, 0.1], [0.5, 0.5]]])
  found = error_scores.pvi(logits.astype(np.float32), np.array([0, 0, 0, 1]))
  want = [0, np.log2(0.5 / 0.75), np.log2(0.9 / 0.75), 1]
  np.testing.assert_allclose(found, [want], atol=1e-6)


def test_wrong_is_the_error_of_the_likeliest_label():
  logits = np.array([[[2, 1, 0], [0, 1, 3], [0, 5, 1]]], np.float32)
  found = error_scores.wrong(logits, np.array([0, 1, 1]))
  np.testing.assert_array_equal(found, [[0, 1, 0]])
  # Of two classes: EL2N beyond that of an even chance.
  two = np.random.default_rng(0).normal(size=(1, 20, 2)).astype(np.float32)
  label = np.arange(20) % 2
  np.testing.assert_array_equal(
    error_scores.wrong(two, label),
    error_scores.el2n(two, label) > np.sqrt(0.5),
  )


@given(LOGITS, LOGITS)
def test_identities(a, b):
  label = np.array([0, 1, 1])
  assert (error_scores.ge(a, a) == 0).all()
  np.testing.assert_array_equal(error_scores.ge(a, b), error_scores.ge(b, a))
  assert (error_scores.el2n(a, label) <= np.sqrt(2) + 1e-12).all()
  np.testing.assert_array_equal(
    error_scores.stereotype(a, b, label), -error_scores.stereotype(b, a, label)
  )
  # A distance in the plane is made of its distances along the classes.
  parts = [error_scores.gap(a, b, c) for c in range(2)]
  np.testing.assert_allclose(np.hypot(*parts), error_scores.ge(a, b), rtol=1e-9)
