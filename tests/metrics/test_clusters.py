"""Intervals and tests against scipy, enumeration and simulation."""

import ast

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairjax.benchmarks.shared import result_rows
from fairjax.data.word_tables import table_rows
from fairjax.metrics.inference import clusters, tails
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 1000, 0)


@pytest.mark.parametrize('hits, count', [(0, 9), (3, 9), (9, 9), (57, 100)])
def test_shares_are_those_of_scipy(hits, count):
  exact = stats.binomtest(hits, count)
  ends = exact.proportion_ci(0.95, 'exact')
  found = clusters.share(hits, count, OPTIONS)
  right = np.arange(count) < hits
  assert clusters.share_right(right, None, OPTIONS) == found
  np.testing.assert_allclose([found['low'], found['high']], list(ends))
  p = clusters.binomial(hits, count)
  assert (p < 0.05) == (not found['low'] <= 0.5 <= found['high'])


def test_resamples_of_clusters_cover_where_items_do_not():
  rng, hits, naive = np.random.default_rng(0), 0, 0
  cluster = np.repeat(np.arange(25), 8)
  for _ in range(200):
    values = rng.normal(size=25)[cluster] + 0.3 * rng.normal(size=200)
    found, p = clusters.mean(values, cluster, OPTIONS, 0.0)
    alone, _ = clusters.mean(values, None, OPTIONS)
    hits += found['low'] <= 0 <= found['high']
    naive += alone['low'] <= 0 <= alone['high']
    if abs(p - 0.05) > 0.003:  # a quantile lies between two draws
      assert (p > 0.05) == (found['low'] <= 0 <= found['high'])
  assert hits / 200 > 0.89 and naive / 200 < 0.7


def test_shares_of_few_clusters_are_the_logit_jackknife():
  """By hand: the logit with a half row of either kind, without each cluster."""
  k, n = np.array([3.0, 0, 7, 2, 9, 1]), np.array([9.0, 4, 10, 8, 12, 9])
  logit = lambda x: np.log(x / (1 - x))
  top, all_, m = k.sum() + 0.5, n.sum() + 1, len(k)
  each = logit((top - k) / (all_ - n))
  error = ((1 - n / n.sum()) @ (each - each.mean()) ** 2) ** 0.5
  free = round(n.sum() ** 2 / (n**2).sum(), 1) - 1  # of clusters of one size
  reach = stats.t.ppf(0.975, free) * error
  hits = np.concatenate([np.arange(b) < a for a, b in zip(k, n)])
  cluster = np.repeat(np.arange(m), n.astype(int))
  found, p = clusters.mean(hits, cluster, OPTIONS, 0.5, (0.0, 1.0))
  assert clusters.share_right(hits, cluster, OPTIONS) == found
  line = logit(top / all_)
  assert logit(found['low']) == pytest.approx(line - reach)
  assert logit(found['high']) == pytest.approx(line + reach)
  assert p == pytest.approx(2 * stats.t.sf(abs(line) / error, free))


def slow_mean(values, factors, null, bounds, edges):
  """The jackknife by loops: value, low, high and p; half a row at each edge."""
  low, high = bounds
  link = lambda x: np.log((x - low) / (high - x)) if np.isfinite(low) else x
  back = lambda y: (
    low + (high - low) / (1 + np.exp(-y)) if np.isfinite(low) else y
  )

  def at(keep, more=()):
    sums = [v for v, k in zip(values, keep) if k]
    halves = [edge / 2 for edge in edges] + list(more)
    count = len(sums) + len(edges) / 2 + len(more)
    return link((sum(sums) + sum(halves)) / count)

  n = len(values)
  centre = at([True] * n)
  rows = sum((at(np.arange(n) != i) - centre) ** 2 for i in range(n))
  rows *= 1 - 1 / n
  rows += sum((at([True] * n, [edge]) - centre) ** 2 for edge in edges) / 2
  variance, least = 0.0, n
  for factor in factors:
    things = sorted({thing for codes in factor for thing in codes})
    without = [
      at([one not in codes for codes in zip(*factor)]) for one in things
    ]
    sizes = [sum([*codes].count(one) for codes in factor) for one in things]
    leverage = np.array(sizes) / sum(sizes)
    variance += (1 - leverage) @ (without - np.mean(without)) ** 2
    equal = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    least = min(least, round(equal, 1))
  error = max(variance - (len(factors) - 1) * rows, rows) ** 0.5
  half = stats.t.ppf(0.975, least - 1) * error
  ends = back(centre + half * np.array([-1, 1]))
  p = 2 * stats.t.sf(abs(centre - link(null)) / error, least - 1)
  value = np.mean(values)
  return [value, min(ends[0], value), max(ends[1], value), p]


BOUNDS = {'reals': (-np.inf, np.inf), 'percent': (0.0, 100.0)}
BY_HAND = {
  name: (*map(ast.literal_eval, given), BOUNDS[of], ast.literal_eval(edges))
  for name, *given, of, edges in table_rows(__file__, 'clusters_by_hand.csv')
}


@pytest.mark.parametrize('case', BY_HAND)
def test_means_of_clusters_by_loops(case):
  values, factors, null, bounds, edges = BY_HAND[case]
  factors = [[np.array([*codes]) for codes in one] for one in factors]
  cluster = factors if len(factors) > 1 or len(factors[0]) > 1 else None
  cluster = factors[0][0] if cluster is None else cluster
  found, p = clusters.mean(
    [*values, np.nan], grown(cluster), OPTIONS, null, bounds
  )
  ends = [found[key] for key in ('value', 'low', 'high')]
  assert [*ends, p] == pytest.approx(
    slow_mean(values, factors, null, bounds, edges)
  )


def grown(cluster):
  """Codes with one more item, which is undefined."""
  if isinstance(cluster, list):
    return [[np.append(code, code[:1]) for code in one] for one in cluster]
  return np.append(cluster, cluster[:1])


def test_one_cluster_has_a_value_alone():
  found, p = clusters.mean([1.0, 2], ['a', 'a'], OPTIONS, 0.0)
  assert (found['value'], found['low'], p) == (1.5, None, None)
  assert found['note'] == 'fewer than two equal clusters: no interval'
  found, p = clusters.mean([2.0, 2], ['a', 'b'], OPTIONS, 0.0)
  assert found['value'] == 2 and found['low'] is not None
  found, p = clusters.mean([0.0, 0, 0], None, OPTIONS, 0.0)
  assert (found['value'], found['low'], p) == (0, None, None)
  assert found['note'] == 'the clusters do not tell how sure it is'


@pytest.mark.parametrize(
  ('value', 'hits'), [(-1.0, 0), (3.0, 3)], ids=['low', 'high']
)
def test_all_at_an_end_are_as_many_as_clusters(value, hits):
  """Three clusters at an end of [-1, 3]: Clopper and Pearson of 3 items."""
  bounds = (-1.0, 3.0)
  found, p = clusters.mean([value] * 4, [*'abbc'], OPTIONS, 0.0, bounds)
  ends = stats.binomtest(hits, 3).proportion_ci(0.95, 'exact')
  assert [found['low'], found['high']] == pytest.approx(
    [-1 + 4 * ends.low, -1 + 4 * ends.high]
  )
  # 0 is a quarter of the range.
  tail = 0.75**3 if hits == 0 else 0.25**3
  assert found['value'] == value and p == pytest.approx(min(1, 2 * tail))
  assert clusters.mean([value] * 4, [*'abbc'], OPTIONS, None, bounds)[1] is None
  # In two ways as many as of the rarer kind.
  ways = [[np.array([*'abbc'])], [np.array([*'xxxy'])]]
  found, p = clusters.mean([value] * 4, ways, OPTIONS, 0.0, bounds)
  tail = 0.75**2 if hits == 0 else 0.25**2
  assert p == pytest.approx(min(1, 2 * tail))


def test_a_difference_with_student_s_interval():
  found, p = clusters.student(0.6, 0.2, 4, OPTIONS)
  half = stats.t.ppf(0.975, 4) * 0.2
  assert [found['low'], found['high']] == pytest.approx(
    [0.6 - half, 0.6 + half]
  )
  assert found['value'] == 0.6 and p == pytest.approx(2 * stats.t.sf(3, 4))


@pytest.mark.parametrize(
  ('hits', 'count'), [(0.0, 9.0), (9.0, 9.0), (2.0, 9.0)]
)
def test_jeffreys_holds_the_share(hits, count):
  low, high = clusters.jeffreys(hits, count, 0.9)
  ends = stats.beta.ppf([0.05, 0.95], hits + 0.5, count - hits + 0.5)
  assert low == pytest.approx(0 if hits == 0 else ends[0])
  assert high == pytest.approx(1 if hits == count else ends[1])


def test_a_share_of_nothing_is_none():
  assert clusters.share(0, 0, OPTIONS)['value'] is None
  assert clusters.binomial(0, 0) is None and clusters.binomial(4, 8) == 1


def test_pairs_of_things_are_left_out_by_things():
  """A word in all pairs decides; pairs taken as independent do not know it."""
  one, other = np.triu_indices(12, 1)
  rng, held, naive = np.random.default_rng(3), 0, 0
  for _ in range(200):
    effect = rng.normal(size=12)
    values = effect[one] + effect[other] + 0.2 * rng.normal(size=len(one))
    found, _ = clusters.mean(values, [[one, other]], OPTIONS)
    alone, _ = clusters.mean(values, None, OPTIONS)
    held += found['low'] <= 0 <= found['high']
    naive += alone['low'] <= 0 <= alone['high']
  assert 0.89 <= held / 200 <= 0.99 and naive / 200 < 0.8


def test_ties_stay_in_the_denominator():
  row = result_rows.share_row('m', 'all', 30, 10, 60, OPTIONS)
  assert row['value']['value'] == 50
  assert row['null'] == pytest.approx(50 * 50 / 60)
  assert row['p'] == clusters.binomial(30, 50)
  assert row['floor_low'] < row['null'] < row['floor_high']


@pytest.mark.parametrize('ties', range(4))
def test_a_share_is_what_its_counts_say_and_lies_in_its_interval(ties):
  """Two of four with a tie was 49.99999999999999."""
  for decisive in range(1, 7):
    count = decisive + ties
    for hits in range(decisive + 1):
      row = result_rows.share_row('m', 'all', hits, ties, count, OPTIONS)
      value = row['value']
      assert value['value'] == 100 * hits / count
      assert value['low'] <= value['value'] <= value['high']
      ends = np.array(tails.clopper_pearson(hits, decisive, 0.95))
      ends *= 100 * decisive / count
      assert [value['low'], value['high']] == pytest.approx(list(ends))
      assert row['null'] == 50 * decisive / count and row['items'] == count
  none = result_rows.share_row('m', 'all', 0, 3, 3, OPTIONS)
  assert none['value']['value'] is none['null'] is none['p'] is None


def frame(values):
  return pd.DataFrame(
    {
      'id': [str(i) for i in range(len(values))],
      'metric': 'm',
      'part': 'all',
      'value': values,
      'cluster': np.arange(len(values)) // 2,
    }
  )


def test_two_models_are_compared_on_shared_items():
  rng = np.random.default_rng(2)
  ours = rng.normal(size=60)
  theirs = ours - 0.2 + 0.1 * rng.normal(size=60)
  (row,) = result_rows.compare(frame(ours), frame(theirs)[:50], OPTIONS)
  assert row['items'] == 50
  difference = row['difference']
  assert difference['low'] < 0.2 < difference['high']
  assert row['p'] < 0.01 and row['p_holm'] == row['p']


@pytest.mark.parametrize('values', [[], [np.nan, np.nan]])
def test_no_items_have_no_number(values):
  found, p = clusters.mean(values, None, OPTIONS, 0.0)
  assert found['value'] is p is None and found['note'] == 'no items'
