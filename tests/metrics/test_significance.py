"""P values of many tests against scipy and a slow twin; p in print."""

import numpy as np
import pytest
import scipy.stats
import slow_measures as slow
from hypothesis import given
from hypothesis import strategies as st

from fairjax.core.errors import UserError
from fairjax.metrics.inference.significance import (
  adjusted,
  gated,
  is_significant,
  of_gaps,
  p_text,
  p_words,
  wider,
  with_adjusted,
)

P = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P)
def test_bh_is_scipys(p):
  expected = scipy.stats.false_discovery_control(p)
  np.testing.assert_allclose(adjusted(p, 'bh'), expected, atol=1e-12)


@given(P)
def test_holm_is_its_definition(p):
  np.testing.assert_allclose(adjusted(p, 'holm'), slow.holm(p), atol=1e-12)


def test_undefined_tests_are_not_counted():
  tests = [{'p': 0.01}, {'p': None}, {'p': 0.04}]
  out = with_adjusted(tests)
  assert [one['p_adjusted'] for one in out] == [0.02, None, 0.04]
  assert out[0]['adjusted'] == 'holm, 2 tests'
  assert adjusted([], 'bh') == [] and adjusted([None]) == [None]


def test_gaps_are_one_family_and_no_group_is_surer_than_its_gap():
  fairness = {
    'age/dp': {'p': 0.01},
    'race/eqopp0': {'p': 0.02},
    'race/dp': {'p': None},  # of no test
    'race/auc_difference': {'p': 1e-9},  # not a parity
    'race/eqopp1': {'p': 0.03, 'class': 2},  # of many classes the worst
    'race/eqopp0 of many': {'p': 1e-9},
  }
  of_many = {'dp': {'p': 0.04, 'class': 1}, 'eqopp1': {'p': 0.03, 'class': 1}}
  assert of_gaps(of_many) == {'eqopp1': 0.03}
  found = of_gaps(fairness)
  assert found == pytest.approx(
    {'age/dp': 0.03, 'race/eqopp0': 0.04, 'race/eqopp1': 0.04}
  )
  given = [('fpr', 0.001), ('fnr', 0.2), ('fnr', None), ('tpr', 0.001)]
  given.insert(3, ('selection_rate', 0.001))  # whose gap has no p
  rows = [{'rate': rate, 'adjusted': p} for rate, p in given]
  gated(rows, fairness, 'race/')
  of = [row['adjusted'] for row in rows]
  assert of == [pytest.approx(0.04), 0.2, None, 0.001, 0.001]


@pytest.mark.parametrize('count', range(1, 25))
def test_a_p_of_the_level_is_a_finding_however_it_is_rounded(count):
  """All p of .05 by Benjamini and Hochberg, the least of .05/m by Holm."""
  assert all(map(is_significant, adjusted([0.05] * count, 'bh')))
  first, *rest = adjusted([0.05 / count, *[0.06] * (count - 1)])
  assert is_significant(first) and not any(map(is_significant, rest))
  assert not is_significant(0.0501) and not is_significant(None)
  assert is_significant(0.1, 1 - 0.9) and not is_significant(0.02, 0.01)


def test_intervals_that_hold_together_are_wider_as_bonferroni_says():
  stats = scipy.stats
  for seeds, law in ((0, stats.norm), (1, stats.norm), (2, stats.t(1)),
                     (5, stats.t(4))):  # fmt: skip
    want = law.ppf(1 - 0.05 / 3) / law.ppf(0.95)
    assert wider(0.9, 3, seeds) == pytest.approx(want)


def test_another_method_is_refused():
  with pytest.raises(UserError, match="'bonferoni' adjusts no p values"):
    adjusted([0.1], 'bonferoni')


def test_p_in_print():
  assert p_text({'p': 1 / 10_001, 'p_at_floor': True}) == '≤ 0.0001'
  assert p_text({'p': 0.0321, 'p_at_floor': False}) == '0.032'
  assert p_text({'p': 1e-9}) == '< 0.0001'
  assert p_text({'p': None}) == '–'
  # A floor so low is no value that anybody wants to read.
  assert p_text({'p': 1e-35, 'p_at_floor': True}) == '< 0.0001'
  assert p_words(1e-35, True) == p_words(1e-9) == 'p < 0.0001'
  assert p_words(1 / 10_001, True) == 'p ≤ 0.0001'
  assert p_words(0.9e-4) == 'p = 9e-05' and p_words(0.899e-4) == 'p < 0.0001'
  assert p_words(0.001, True) == 'p ≤ 0.001' and p_words(0.032) == 'p = 0.032'
