"""Rows that are not independent: one weight a cluster, through every measure.

The oracle is repetition: a table of which every row stands three times knows
what the table itself knows, so clusters of the copies must give its intervals,
where three times as many independent rows give ones of 1/√3 the width.
"""

import numpy as np
import pytest

from fairjax.metrics import calibration, contrasts
from fairjax.metrics.assess import assess
from fairjax.metrics.inference import clusters, resampling, row_means
from fairjax.metrics.inference.intervals import IntervalOptions
from fairjax.metrics.paired import compare
from fairjax.metrics.texts import counterfactual, fairscore, flips, rewrites

HOW = IntervalOptions(0.95, 2000, 0)
N, COPIES = 240, 3


def world(n=N, seed=0):
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 2, n)
  group = rng.integers(0, 2, n)
  scores = np.clip(rng.normal(0.35 + 0.3 * labels, 0.2, (1, n)), 0.01, 0.99)
  other = np.clip(scores + rng.normal(0, 0.2, (1, n)), 0.01, 0.99)
  return labels, scores, other, np.stack([group == 0, group == 1])


def width(one):
  return one['high'] - one['low']


def of_assess(labels, scores, other, members, cluster):
  """Widths by name, of all that `assess` gives."""
  found = assess(
    labels, scores, members, ['a', 'b'], resamples=2000, cluster=cluster
  )
  return {
    f'{room} {name}': width(one)
    for room in ('quality', 'fairness')
    for name, one in found[room].items()
    if one['low'] is not None
  }


def of_calibration(labels, scores, other, members, cluster):
  found = calibration.measure(labels, scores, members, HOW, 1, cluster)
  return {'ece': width(found[0]['ece']), 'max': width(found[2]['ece_max'])}


def of_contrasts(labels, scores, other, members, cluster):
  decided = (scores >= 0.5).astype(int)
  rows = contrasts.differences(
    labels, decided, members, ['a', 'b'], 'a', HOW, cluster=cluster
  )
  out = {r['rate']: width(r['difference']) for r in rows}
  levels = np.stack([members[0] | True])
  fair = contrasts.conditional(
    labels, decided, members, ['a', 'b'], levels, ['all'], HOW, cluster
  )[0]
  cost = contrasts.costs(
    labels, decided, members, (1.0, 2.0), HOW, cluster=cluster
  )
  out |= {name: width(one) for name, one in fair.items()}
  return out | {'cost': width(cost[0]['cost'])}


def of_flips(labels, scores, other, members, cluster):
  every = np.ones(len(labels), bool)
  side = np.where(labels + members[0] > 0, 1, -1)
  edit = flips.Edit(every, other, every, (2 * scores + other) / 3, side)
  found = flips.measure(
    labels, scores, edit, members, ['a', 'b'], 0.5, HOW, cluster
  )
  return {name: width(one) for name, one in found.measures.items()}


def of_pairs(labels, scores, other, members, cluster):
  tests = compare(
    labels,
    scores,
    other,
    members,
    ['a', 'b'],
    resamples=2000,
    cluster=cluster,
  )
  return {
    t['measure']: width(t['difference'])
    for t in tests
    if 't-test' not in t['test']
  }


def of_texts(labels, scores, other, members, cluster):
  out = {}
  for sums in (
    counterfactual.rates(labels, scores, other),
    counterfactual.quality(labels, scores),
  ):
    one = counterfactual.drawn(sums, HOW, cluster)
    out |= counterfactual.estimates(one, HOW)
  words = np.array(
    [rewrites.counts('a b'.split(), 'a c'.split(), w.split()) for w in
     np.where(scores[0] > 0.5, 'a c', 'a b')], float
  )  # fmt: skip
  out |= rewrites.estimates(words, rewrites.measures, HOW, cluster=cluster)
  events = scores > 0.5
  out['share'] = fairscore.share(events, HOW, cluster)
  out['mean'] = row_means.mean(scores, HOW, cluster=cluster)
  return {
    k: width(v) for k, v in out.items() if v['low'] is not None and width(v)
  }


@pytest.mark.parametrize(
  'measured',
  [of_assess, of_calibration, of_contrasts, of_flips, of_pairs, of_texts],
)
def test_copies_of_rows_are_one_row(measured):
  once = world()
  thrice = [np.repeat(x, COPIES, -1) for x in once]
  copies = np.repeat(np.arange(N), COPIES)
  one, three = measured(*once, None), measured(*thrice, copies)
  blind = measured(*thrice, None)
  assert one.keys() == three.keys() and len(one) >= 2
  for name in one:
    assert 0.8 < three[name] / one[name] < 1.25, (name, one, three)
  ratio = np.mean([blind[name] / one[name] for name in one])
  assert ratio < 0.7, ratio


def test_rows_that_are_each_a_cluster_are_rows():
  labels, scores, _, members = world()
  plain = of_assess(labels, scores, None, members, None)
  own = of_assess(labels, scores, None, members, np.arange(N))
  for name, one in plain.items():
    assert own[name] == pytest.approx(one, rel=0.2), name


def test_weights_of_few_clusters_are_as_wide_as_student_s_t():
  """The spread of a weighted mean: t_{G−1} / 1.96 standard errors."""
  from scipy import stats

  for count in (6, 10, 40):
    values = np.random.default_rng(count).normal(size=count)
    items = resampling.blocks(3 * count, 0, np.repeat(np.arange(count), 3))
    weights = resampling.draw(items, 20000, 0)[:, :count]
    means = (weights @ values) / weights.sum(1)
    error = values.std(ddof=1) / count**0.5
    t = stats.t.ppf(0.975, count - 1)
    assert means.std() == pytest.approx(error * t / 1.96, rel=0.03)


def test_clusters_beyond_the_blocks_stay_whole():
  cluster = np.random.default_rng(0).integers(0, 5000, 20000)
  items = resampling.blocks(len(cluster), 0, cluster)
  assert len(items.size) == resampling.BLOCKS
  for code in range(0, 5000, 97):
    assert len(set(items.item[cluster == code])) <= 1


def test_equal_texts_and_columns_are_clusters():
  assert clusters.of_texts(['a', 'b', 'c']) is None
  assert list(clusters.of_texts(['a  B', 'c', 'A b'])) == [0, 1, 0]
  assert clusters.distinct(['', None, 'x']) is None
  found = clusters.distinct(['w', '', 'w', ''])
  assert found[0] == found[2] and len(set(found)) == 3
  assert clusters.joined(None, None) is None
  chain = clusters.joined(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7]))
  assert chain[0] == chain[1] == chain[2] != chain[3]
  assert '4 rows are 2 clusters (writers)' in clusters.words(chain, 'writers')
