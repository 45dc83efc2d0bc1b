"""Paired tests: level, power, agreement with scipy and with swapped rows."""

import numpy as np
import pytest
import scipy.stats

from fairjax.core.errors import UserError
from fairjax.metrics import counts
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference import resampling
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.paired import compare, exchanged, of_draws, over_seeds

draws = lambda *own: RowSample(0.95, *own)


def some(n=400, s=1, shift=0.0, seed=0):
  rng = np.random.default_rng(seed)
  labels, group = rng.integers(0, 2, n), rng.integers(0, 2, n)
  squash = lambda z: 1 / (1 + np.exp(-z))
  base = rng.normal(size=n) + labels - 0.5
  a = squash(base + 0.7 * rng.normal(size=(s, n)))
  b = squash(base + 0.7 * rng.normal(size=(s, n)) + shift * (group - 0.5))
  return labels, a, b, of_columns({'group': group})


def by_measure(found, test):
  return {one['measure']: one for one in found if test in one['test']}


def test_a_real_gain_in_fairness_is_found():
  found = compare(*some(shift=2.0, s=3), options=draws(1000))
  dp = by_measure(found, 'over examples and seeds')['dp']
  assert dp['p'] < 0.05 and dp['difference']['low'] > 0
  assert dp['permutation']['p'] < 0.01
  assert dp['n'] == 400
  seeds = by_measure(found, 't-test')['dp']
  assert seeds['p'] < 0.05 and seeds['n'] == 3


@pytest.mark.parametrize('sign', [1, -1])
def test_a_size_near_0_may_be_none_and_the_other_larger(sign):
  """Reach r of .3 and .05: their difference is up to .25 + r + .05."""
  rng = np.random.default_rng(0)
  values = np.array([0.3]), np.array([0.05])
  each = tuple(v + 0.03 * rng.normal(size=(20_000, 1)) for v in values)
  r = [np.quantile(np.abs(e - v), 0.95) for v, e in zip(values, each)]
  far = 0.25 + max(r[0] + 0.05, np.hypot(*r))
  options = draws(20_000)
  one = of_draws('x', values[::sign], each[::sign], options, sizes=True)
  ends = [sign * one['difference'][k] for k in ('low', 'high')][::sign]
  # Beside 0 the end stays that of the errors, since 0 is refuted.
  near = 0.25 - 1.96 * 0.03 * 2**0.5
  assert ends == pytest.approx([near, far], abs=0.003)


def test_equal_runs_have_p_one():
  labels, a, _, groups = some()
  for one in compare(labels, a, a, groups, options=draws(200)):
    assert one['difference']['value'] == 0
    assert one['p'] == 1 and not one['p_at_floor']
    # They agree on these rows, and may not on others.
    assert one['difference']['low'] <= 0 <= one['difference']['high']


def test_without_resamples_there_are_values_alone():
  many, none = (
    by_measure(compare(*some(), options=draws(n)), '') for n in (20, 0)
  )
  assert [*many] == [*none] and 'auc' in none
  for name, one in none.items():
    assert one['difference']['value'] == many[name]['difference']['value']
    assert one['difference']['low'] is one['p'] is None


def test_permutation_is_that_of_single_rows():
  labels, a, b, groups = some(n=150, shift=0.5, seed=3)
  found = compare(labels, a, b, groups, options=draws(20_000))
  p = by_measure(found, 'over examples')
  x, y = a[0] >= 0.5, b[0] >= 0.5
  rng = np.random.default_rng(9)
  dp = lambda d: 1 - np.ptp([d[own].mean() for own in groups.members])
  accuracy = lambda d: (d == labels).mean()
  for name, measure in (('dp', dp), ('accuracy', accuracy)):
    observed, far = measure(x) - measure(y), 0
    for _ in range(4000):
      swap = rng.random(len(labels)) < 0.5
      gap = measure(np.where(swap, y, x)) - measure(np.where(swap, x, y))
      far += abs(gap) >= abs(observed) - 1e-9
    assert p[name]['difference']['value'] == pytest.approx(observed)
    assert p[name]['permutation']['p'] == pytest.approx(far / 4000, abs=0.03)


@pytest.mark.parametrize('cells', [True, False])
def test_exchange_keeps_the_rows_and_favours_neither(cells, monkeypatch):
  monkeypatch.setattr(resampling, 'CELLS', 4096 if cells else 1)
  labels, a, b, groups = some(n=300, shift=2.0)
  decisions = (np.concatenate([a, b]) >= 0.5).astype(int)
  table = counts.tabulate(labels, decisions, groups.masks, 2, RowSample())
  assert table.items.cells is cells
  swapped, _ = exchanged(table, RowSample(0.95, 4000, 0))
  total = table.groups.sum(0)
  np.testing.assert_allclose(swapped.sum(1), [total.sum(0)] * 4000, atol=0.01)
  mean, middle = swapped.mean(0), total.mean(0)
  np.testing.assert_allclose(mean, [middle, middle], atol=0.3)


def test_tests_keep_their_level():
  """Of 150 pairs of equally good runs, about 5 % may have p < 0.05."""
  small = {'accuracy': 0, 'dp': 0, 'auc': 0}
  for seed in range(150):
    for one in compare(*some(n=150, seed=seed), options=draws(200)):
      if one['measure'] in small:
        small[one['measure']] += one['p'] < 0.05
  # Binomial(150, 0.05) is above 15 once in 300.
  assert all(count <= 15 for count in small.values()), small


@pytest.mark.parametrize('paired', [False, True])
def test_t_test_is_scipys(paired):
  rng = np.random.default_rng(0)
  a, b = rng.normal(size=5), rng.normal(size=5) + 1
  found = over_seeds(a, b, paired=paired)
  test = scipy.stats.ttest_rel if paired else scipy.stats.ttest_ind
  assert found['p'] == pytest.approx(test(a, b).pvalue)
  assert found['difference']['value'] == pytest.approx(a.mean() - b.mean())
  low, high = test(a, b).confidence_interval(0.95)
  assert found['difference']['low'] == pytest.approx(low)
  assert found['difference']['high'] == pytest.approx(high)


def test_t_test_of_one_seed_or_equal_seeds_is_undefined():
  one = over_seeds(np.array([0.5]), np.array([0.6]))
  assert one['p'] is None and 'two seeds' in one['difference']['note']
  same = over_seeds(np.array([0.5, 0.5]), np.array([0.6, 0.6]), paired=False)
  assert same['p'] is None and 'do not differ' in same['difference']['note']


@pytest.mark.filterwarnings('error')
def test_t_test_of_constant_seeds_warns_of_nothing():
  """A constant run, and constant differences but for rounding."""
  a, b = np.array([0.7, 0.7, 0.7]), np.array([0.1, 0.2, 0.4])
  one = over_seeds(a, b, paired=False)
  mean, error = a.mean() - b.mean(), b.std(ddof=1) / np.sqrt(2) * np.sqrt(2 / 3)
  expect = 2 * scipy.stats.t.sf(mean / error, 4)
  assert one['p'] == pytest.approx(expect)
  same = over_seeds(b + 0.3, b, paired=True)
  assert same['p'] is None and same['difference']['low'] is None
  assert 'by the same amount' in same['difference']['note']
  assert same['difference']['value'] == pytest.approx(0.3)
  none = over_seeds(b, b, paired=True)
  assert 'do not differ' in none['difference']['note']


def test_three_classes():
  rng = np.random.default_rng(0)
  labels, group = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
  p = rng.dirichlet(np.ones(3), (2, 2, 300)) + np.eye(3)[labels]
  p /= p.sum(-1, keepdims=True)
  groups = of_columns({'group': group})
  found = compare(labels, p[0], p[1], groups, options=draws(200))
  assert {'accuracy', 'macro_f1', 'dp', 'eqodd'} <= {
    one['measure'] for one in found
  }


def test_runs_of_other_shapes_are_refused():
  labels, a, b, groups = some()
  with pytest.raises(UserError, match='the same rows and as many seeds'):
    compare(labels, a, b[:, 1:], groups)


def test_mcc_of_a_perfect_run_differs_from_itself_by_nothing():
  labels = (np.arange(997) % 3 == 0).astype(int)
  perfect = labels[None] * 1.0
  worst = 1 - perfect
  found = by_measure(
    compare(labels, perfect, worst, options=draws(100)), 'examples'
  )
  value = found['mcc']['difference']['value']
  assert value == pytest.approx(2.0, abs=1e-12)
  assert found['mcc']['p_at_floor'] and found['mcc']['p'] == 1 / 101


@pytest.mark.parametrize('seeds', [1, 2, 3])
@pytest.mark.parametrize('paired', [True, False])
def test_interval_holds_zero_iff_p_is_above_one_minus_level(seeds, paired):
  shift = {1: 0.5, 2: 8.0, 3: 1.5}[seeds]
  both = set()
  for seed in range(6):
    case = some(s=seeds, shift=shift, seed=seed)
    for one in compare(*case, options=draws(300), paired=paired):
      low, high = one['difference']['low'], one['difference']['high']
      if one['p'] is not None:
        assert (low <= 0 <= high) == (one['p'] > 0.05), one
        both.add(one['p'] > 0.05)
        width = {'mcc': 2, 'fped': 2, 'fned': 2, 'tped': 2, 'tned': 2}
        assert -width.get(one['measure'], 1) <= low
        assert high <= width.get(one['measure'], 1)
  assert both == {True, False}


def test_t_interval_stays_in_range():
  """Of two seeds t reaches [−2.07, 3.40], which says nothing of shares."""
  a, b = np.array([0.9, 0.95, 0.9]), np.array([0.45, 0.07, 0.2])
  inside = over_seeds(a, b, width=1.0)
  assert 0 < inside['difference']['low'] < inside['difference']['high'] < 1
  assert inside['p'] == over_seeds(a, b)['p']
  two = over_seeds(a[:2], b[:2], width=1.0)['difference']
  assert two['low'] is None and two['note'].startswith('2 seeds are')
