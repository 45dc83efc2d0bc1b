"""Fairscore: the released script's numbers, exact tests, honest intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairjax.benchmarks.shared import result_rows
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import fairscore

HOW = RowSample(0.95, 2000, 0)


def test_the_golden_case_of_the_released_script():
  label, one, two = np.array([[0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 0, 0]])
  result = fairscore.fairscore(label, one[None], two[None], HOW)
  values = {name: 100 * one['value'] for name, one in result.items()}
  wanted = {'different': 25.0, 'both_correct': 50.0, 'neither_correct': 25.0}
  assert values == wanted
  for one in result.values():
    assert 0 <= one['low'] < one['value'] < one['high'] <= 1


def test_three_classes_may_differ_and_both_be_wrong():
  each = fairscore.outcomes(np.array([0]), np.array([[1]]), np.array([[2]]))
  assert each['different'].all() and each['neither_correct'].all()


def test_a_grade_that_moves_by_no_more_than_the_tolerance_is_the_same():
  one = np.array([[[0.5, 0.25, 0.25], [0, 1, 0], [0.6, 0.4, 0]]])
  two = np.array([[[0.25, 0.25, 0.5], [1, 0, 0], [0.51, 0.49, 0]]])
  for by, which in ((0.0, [1, 1, 0]), (0.5, [0, 1, 0]), (0.4, [1, 1, 0])):
    assert fairscore.changed(one, two, by).tolist() == [[w > 0 for w in which]]


def test_mcnemar_is_the_exact_binomial_test():
  draw = np.random.default_rng(0)
  ours, theirs = draw.random((2, 60)) < [[0.3], [0.1]]
  result = fairscore.mcnemar(ours, theirs)
  b, c = result['only_ours'], result['only_theirs']
  assert (b, c) == ((ours & ~theirs).sum(), (~ours & theirs).sum())
  m = b + c
  chances = stats.binom.pmf(np.arange(m + 1), m, 0.5)
  far = np.abs(np.arange(m + 1) - m / 2) >= abs(b - m / 2) - 1e-9
  assert result['p'] == pytest.approx(chances[far].sum(), rel=1e-9)
  assert fairscore.mcnemar(ours, ours)['p'] == 1.0


def test_rows_of_one_cluster_are_one_toss():
  """Against all ways to exchange whole clusters, and n copies of one."""
  draw = np.random.default_rng(5)
  for _ in range(40):
    cluster = draw.integers(0, 7, 24) * 3
    ours, theirs = draw.random((2, 24)) < [[0.6], [0.3]]
    gap = np.bincount(cluster, ours.astype(float) - theirs)
    tosses = np.sign(gap[gap != 0])
    ways = 2 * np.indices((2,) * len(tosses)).reshape(len(tosses), -1) - 1
    far = np.abs(ways.sum(0)) >= abs(tosses.sum())
    one = fairscore.mcnemar(ours, theirs, cluster)
    assert one['p'] == pytest.approx(far.mean(), rel=1e-9)
    assert one['only_ours'] == (ours & ~theirs).sum()
  ours, theirs = np.array([[1] * 6 + [0] * 14]) > 0, np.zeros((1, 20), bool)
  lone = fairscore.compare(ours, theirs, HOW)
  times = lambda x: np.repeat(x, 3, 1)
  again = fairscore.compare(
    times(ours), times(theirs), HOW.over(np.repeat(range(20), 3))
  )
  assert again['p'] == lone['p'] == pytest.approx(2 / 2**6)
  assert again['test'] == 'McNemar, exact, of clusters'


def test_intervals_cover_rare_flips_and_have_width_without_any():
  draw, inside = np.random.default_rng(1), 0
  how = HOW._replace(resamples=400)
  for _ in range(120):
    events = draw.random((1, 60)) < 0.05
    one = fairscore.share(events, how)
    inside += one['low'] <= 0.05 <= one['high']
  assert inside / 120 > 0.9
  none = fairscore.share(np.zeros((1, 20), bool), HOW)
  assert none['value'] == none['low'] == 0 and 0.03 < none['high'] < 0.25


@pytest.mark.parametrize('seeds', [1, 3])
def test_no_flip_of_copies_says_no_more_than_of_one_each(seeds):
  """20 texts, five copies each: half a text may be of the other kind."""
  none = np.zeros((seeds, 20), bool)
  of = HOW.over(np.repeat(range(20), 5))
  five = np.repeat(none, 5, 1)
  alone, again = fairscore.share(none, HOW), fairscore.share(five, of)
  assert again['high'] == pytest.approx(alone['high'], rel=0.15)
  alone, again = (
    fairscore.compare(*pair)['difference']
    for pair in ((none, none, HOW), (five, five, of))
  )
  for end in ('low', 'high'):
    assert again[end] == pytest.approx(alone[end], rel=0.15)
  one = fairscore.share(
    np.eye(2, 6, dtype=bool)[:1], HOW.over(np.zeros(6, int))
  )
  assert one['low'] is None  # of one text


def test_the_excess_over_a_floor_is_paired():
  draw = np.random.default_rng(3)
  floor = draw.random((1, 200)) < 0.2
  same = fairscore.excess(floor, floor, HOW)
  assert same['value'] == 0 and same['low'] <= 0 <= same['high']
  more = floor | (draw.random((1, 200)) < 0.2)
  result = fairscore.compare(more, floor, HOW)
  assert result['difference']['low'] > 0 and result['p'] < 1e-4
  assert result['only_theirs'] == 0 and result['n'] == 200


def test_no_row_is_said_and_not_a_number():
  nothing = np.zeros((2, 0), bool)
  assert fairscore.share(nothing, HOW)['value'] is None
  assert 'no row' in fairscore.excess(nothing, nothing, HOW)['note']


def test_of_several_seeds_interval_and_p_are_one_inference():
  draw = np.random.default_rng(4)
  for gap in (0.0, 0.15, 0.3):
    theirs = draw.random((3, 150)) < 0.1
    ours = theirs | (draw.random((3, 150)) < gap)
    one = fairscore.compare(ours, theirs, HOW)
    low, high = one['difference']['low'], one['difference']['high']
    assert (low <= 0 <= high) == (one['p'] > 0.05)
    assert one['permutation']['test'].startswith('McNemar')
  assert one['p'] < 0.05


def test_no_row_that_differs_is_no_proof_of_none():
  """Two models alike on 25 rows: one of the next 25 may differ."""
  none = np.zeros((3, 25), bool)
  one = fairscore.compare(none, none, HOW)
  low, high = one['difference']['low'], one['difference']['high']
  assert one['p'] == 1 and low < -0.03 and high > 0.03


def test_models_alike_differ_for_sure_in_one_of_twenty_sets():
  """Two seeds, events in a twentieth of 25 rows: .11 of sets before."""
  rng = np.random.default_rng(0)
  how = lambda k: RowSample(0.95, 400, k)
  sure = [
    fairscore.compare(*(rng.random((2, 2, 25)) < 0.05), how(k))['p'] <= 0.05
    for k in range(300)
  ]
  assert np.mean(sure) < 0.07


def test_an_interval_holds_0_where_the_exact_test_does_not_refute_it():
  """3 of 80 rows that one model alone has: p = 2/8 by coins."""
  theirs = np.zeros((1, 80), bool)
  ours = theirs.copy()
  ours[0, :3] = True
  how = RowSample(0.95, 1000, 0)
  one = fairscore.compare(ours, theirs, how)
  assert one['p'] == 0.25 and one['difference']['low'] <= 0
  assert one['difference']['high'] > 3 / 80
  ours[0, :20] = True
  one = fairscore.compare(ours, theirs, how)
  assert one['p'] < 0.001 and one['difference']['low'] > 0
  frame = lambda rows: pd.DataFrame(
    {
      **{'metric': 'm', 'part': 'all', 'id': range(80), 'cluster': range(80)},
      'value': rows[0].astype(float),
    }
  )
  ours[0, 3:] = False
  (row,) = result_rows.compare(frame(ours), frame(theirs), how)
  # By the jackknife, whose p and interval say the same.
  assert row['p'] > 0.05 and row['difference']['low'] <= 0
