"""Rows that are not independent: one weight a cluster, through every measure.

The oracle is repetition: a table of which every row stands three times knows
what the table itself knows, so clusters of the copies must give its intervals,
where three times as many independent rows give ones of 1/√3 the width.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fairjax
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data import load_tables
from fairjax.metrics import (
  calibration,
  contrasts,
  counts,
  custom_metrics,
  groups,
)
from fairjax.metrics.assess import assess
from fairjax.metrics.groups import of_columns, of_masks
from fairjax.metrics.inference import (
  clustered_rates,
  clusters,
  resampling,
  row_means,
)
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.paired import compare
from fairjax.metrics.texts import counterfactual, fairscore, flips, rewrites
from fairjax.stages import assessment

HOW = RowSample(0.95, 2000, 0)
N, COPIES = 240, 3


def world(n=N, copies=1):
  rng = np.random.default_rng(0)
  labels = rng.integers(0, 2, n)
  group = rng.integers(0, 2, n)
  scores = np.clip(rng.normal(0.35 + 0.3 * labels, 0.2, (1, n)), 0.01, 0.99)
  other = np.clip(scores + rng.normal(0, 0.2, (1, n)), 0.01, 0.99)
  *rows, group = (
    np.repeat(each, copies, -1) for each in (labels, scores, other, group)
  )
  return *rows, of_columns({'group': np.array(['a', 'b'])[group]})


def width(one):
  return one['high'] - one['low']


def of_assess(labels, scores, other, groups, cluster):
  """Widths by name, of all that `assess` gives."""
  found = assess(labels, scores, groups, options=HOW.over(cluster))
  return {
    f'{room} {name}': width(one)
    for room in ('quality', 'fairness')
    for name, one in found[room].items()
    if one['low'] is not None
  }


def of_calibration(labels, scores, other, groups, cluster):
  case = counts.Case(labels, scores, scores, groups, HOW.over(cluster))
  found = calibration.measure(case)
  return {'ece': width(found[0]['ece']), 'max': width(found[2]['ece_max'])}


def of_contrasts(labels, scores, other, groups, cluster):
  decided, how = (scores >= 0.5).astype(int), HOW.over(cluster)
  case = counts.Case(labels, scores, decided, groups, how)
  rows = contrasts.differences(case, 'a')
  out = {r['rate']: width(r['difference']) for r in rows}
  every = of_masks(np.ones((1, len(labels)), bool), ['all'])
  fair = contrasts.conditional(case, every)[0]
  cost = contrasts.costs(case, (1.0, 2.0))
  out |= {name: width(one) for name, one in fair.items()}
  return out | {'cost': width(cost[0]['cost'])}


def of_flips(labels, scores, other, groups, cluster):
  every = np.ones(len(labels), bool)
  side = np.where(labels + groups.members[0] > 0, 1, -1)
  edit = flips.EditScores(every, other, every, (2 * scores + other) / 3, side)
  decided = flips.decisions(scores, 0.5)
  case = counts.Case(labels, scores, decided, groups, HOW.over(cluster))
  found = flips.measure(case, edit, 0.5)
  return {name: width(one) for name, one in found.measures.items()}


def of_pairs(labels, scores, other, groups, cluster):
  tests = compare(labels, scores, other, groups, options=HOW.over(cluster))
  ours = [t for t in tests if 't-test' not in t['test']]
  return {t['measure']: width(t['difference']) for t in ours}


def of_texts(labels, scores, other, groups, cluster):
  out, how = {}, HOW.over(cluster)
  for sums in (
    counterfactual.rates(labels, scores, other),
    counterfactual.quality(labels, scores),
  ):
    out |= counterfactual.estimates(counterfactual.drawn(sums, how), HOW)
  words = np.array(
    [rewrites.counts('a b'.split(), 'a c'.split(), w.split()) for w in
     np.where(scores[0] > 0.5, 'a c', 'a b')], float
  )  # fmt: skip
  out |= rewrites.estimates(words, rewrites.measures, how)
  events = scores > 0.5
  out['share'] = fairscore.share(events, how)
  out['mean'] = row_means.mean(scores, how)
  return {
    k: width(v) for k, v in out.items() if v['low'] is not None and width(v)
  }


@pytest.mark.parametrize(
  'measured',
  [of_assess, of_calibration, of_contrasts, of_flips, of_pairs, of_texts],
)
def test_copies_of_rows_are_one_row(measured):
  once, thrice = world(), world(copies=COPIES)
  copies = np.repeat(np.arange(N), COPIES)
  one, three = measured(*once, None), measured(*thrice, copies)
  blind = measured(*thrice, None)
  assert one.keys() == three.keys() and len(one) >= 2
  for name in one:
    assert 0.8 < three[name] / one[name] < 1.25, (name, one, three)
  ratio = np.mean([blind[name] / one[name] for name in one])
  assert ratio < 0.7, ratio


def test_rows_that_are_each_a_cluster_are_rows():
  case = world()
  plain, own = of_assess(*case, None), of_assess(*case, np.arange(N))
  for name, one in plain.items():
    assert own[name] == pytest.approx(one, rel=0.2), name


def test_weights_of_few_clusters_are_as_wide_as_student_s_t():
  """The spread of a weighted mean: t_{G−1} / 1.96 standard errors."""
  for count in (6, 10, 40):
    values = np.random.default_rng(count).normal(size=count)
    how = HOW.over(np.repeat(np.arange(count), 3))
    items = resampling.blocks(3 * count, how)
    weights = resampling.draw(items, 20000, 0)[:, :count]
    means = (weights @ values) / weights.sum(1)
    error = values.std(ddof=1) / count**0.5
    t = stats.t.ppf(0.975, count - 1)
    assert means.std() == pytest.approx(error * t / 1.96, rel=0.03)


def test_draws_of_a_metric_of_ones_own_have_whole_clusters():
  """As many rows in each, where clusters are alike; Student's interval."""
  seen, share = set(), np.array([0.1, 0.8, 0.3, 0.5, 0.9, 0.2])
  decided = (np.tile(np.arange(10), 6) < np.repeat(10 * share, 10)).astype(int)
  metric = {'mean': lambda y, d: seen.add(len(y)) or d.mean()}
  given = decided, decided[None] * 1.0, decided[None], groups.of_columns({}, 60)
  case = counts.Case(*given, HOW.over(np.repeat(np.arange(6), 10)))
  one = custom_metrics.measured(metric, case)[0]['mean']
  assert seen == {60} and one['value'] == pytest.approx(share.mean())
  half = stats.t.ppf(0.975, 5) * share.std(ddof=1) / 6**0.5
  assert width(one) == pytest.approx(2 * half, rel=0.12)


def test_clusters_beyond_the_blocks_stay_whole():
  cluster = np.random.default_rng(0).integers(0, 5000, 20000)
  items = resampling.blocks(len(cluster), HOW.over(cluster))
  assert len(items.size) == resampling.BLOCKS
  for code in range(0, 5000, 97):
    assert len(set(items.item[cluster == code])) <= 1


def test_equal_texts_and_columns_are_clusters():
  assert clusters.of_texts(['a', 'b', 'c']) is None
  assert list(clusters.of_texts(['a  B', 'c', 'A b'])) == [0, 1, 0]
  assert clusters.distinct(['', None, 'x']) is None
  found = clusters.distinct(['w', '', 'w', ''])
  assert found[0] == found[2] and len(set(found)) == 3
  assert clusters.connected(None, None) is None
  chain = clusters.connected(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7]))
  assert chain[0] == chain[1] == chain[2] != chain[3]
  assert '4 rows are 2 clusters (writers)' in clusters.words(chain, 'writers')


def test_rows_of_a_recipe_belong_together_by_themselves():
  """Columns of the table, a row and its twin, and equal texts."""
  table = pd.DataFrame(
    {
      'id': ['a', 'b', 'a~twin', 'c', 'd', 'e', 'f', 'g'],
      'text': ['one', 'two', 'uno', 'three', 'Two ', 'four', 'five', 'six'],
      'template': ['', '', '', 't', '', 't', '', ''],
      'cluster': [None, None, None, None, 'w', None, 'w', None],
    }
  )
  found, by = assessment.clusters_of(table)
  assert by == 'cluster or template or twins or equal texts'
  clusters_of = [
    {table['id'][i] for i in np.flatnonzero(found == code)}
    for code in np.unique(found)
  ]
  # d is with b by its text and with f by its cluster.
  expected = [{'a', 'a~twin'}, {'b', 'd', 'f'}, {'c', 'e'}, {'g'}]
  assert sorted(map(sorted, clusters_of)) == sorted(map(sorted, expected))
  alone = table[['id', 'text']].iloc[[0, 1, 3, 5]]
  assert assessment.clusters_of(alone) == (None, '')


@pytest.mark.parametrize('more', ({}, {'template': 'origin'}))
def test_a_recipe_says_over_what_its_intervals_are(more):
  """Copies of the texts widen a recipe's intervals, and its page says so."""
  labels, scores, _, groups = world(80)
  text = [f'text {i}' for i in range(80)]
  once = pd.DataFrame({'id': text, 'text': text, 'label': labels})
  once['group'] = groups.by_row()
  thrice = pd.concat([once] * COPIES, ignore_index=True)
  thrice['id'] = [f'{one} {i}' for i, one in enumerate(thrice['id'])]
  if more:  # the texts are different ones of one template
    thrice['template'], thrice['text'] = thrice['text'], thrice['id']
  config = Config()
  config.measures.resamples = 500
  of = lambda table, copies: assessment.assess(
    config, {'test': table}, {'test': np.tile(scores, copies)}
  )['test']
  one, three = of(once, 1), of(thrice, COPIES)
  assert not any('clusters' in words for words in one['warnings'])
  by = 'template' if more else 'equal texts'
  said = f'240 rows are 80 clusters ({by})'
  assert any(said in words for words in three['warnings'])
  for name in ('auc', 'accuracy'):
    assert width(three['quality'][name]) > 0.85 * width(one['quality'][name])


def test_a_column_of_clusters_is_named(tmp_path):
  """--config.data.cluster is the table's `cluster`, from any column."""
  rows = pd.DataFrame(
    {
      'text': [f'text {i}' for i in range(40)],
      'label': [0, 1] * 20,
      'page': [f'p{i // 4}' for i in range(40)],
      'cluster': range(40),
    }
  )
  rows.to_csv(tmp_path / 'a.csv', index=False)
  config = Config()
  config.data.name, config.data.path = 'file', str(tmp_path / 'a.csv')
  config.data.cluster = 'page'
  test = load_tables(config)[0]['test']
  assert set(test['cluster']) <= set(rows['page'])
  config.data.cluster = 'pag'
  with pytest.raises(UserError, match=r"no column 'pag'.*page"):
    load_tables(config)


@pytest.mark.parametrize('unit', [1.0, 2.0])
def test_draws_of_clustered_rates_lie_about_the_rate_with_half_a_row(unit):
  """Their median is a rate with half a row of either kind (clustered_rates.py);
  of what is straight the rate itself. A row weighs `unit`."""
  rows = np.zeros((20, 1, 1, 1, 4))
  rows[:, ..., 0] = unit  # true negatives
  rows[:2, ..., 0], rows[:2, ..., 1] = 0, unit
  given = 1.0 if unit == 1 else np.full((1, 1, 1, len(groups.NAMES)), unit)
  draws = clustered_rates.drawn(rows, HOW, given)
  r = groups.NAMES.index('fpr')
  assert np.median(draws[..., r]) == pytest.approx(2.5 / 21, abs=0.008)
  straight = clustered_rates.straight(draws, rows, given)
  assert np.median(straight[..., r]) == pytest.approx(0.1, abs=0.008)
  assert np.isnan(draws[..., groups.NAMES.index('tpr')]).all()


def test_a_seed_whose_rows_all_agree_widens_that_of_no_other():
  """Each seed got the noise of one without positives: a gap of .02 had .35."""
  rows = np.zeros((8, 2, 1, 1, 4))
  rows[..., 0] = 40  # true negatives
  rows[:, 0, ..., 1] = np.arange(8)[:, None, None] + 1
  r = groups.NAMES.index('fpr')
  of = lambda part: clustered_rates.drawn(part, HOW)[:, 0, 0, 0, r].std()
  assert of(rows) == pytest.approx(of(rows[:, :1]), rel=0.1)


def test_gaps_of_clusters_are_made_of_straight_draws():
  decided = (np.arange(40) < 4).astype(int)[None]
  table = counts.tabulate(
    *(np.zeros(40, int), decided, [np.ones(40, bool)], 2),
    HOW.over(np.arange(40) // 2),
  )
  drawn = counts.rates(table, counts.draw(table, HOW), HOW).draws
  fpr = drawn[..., groups.NAMES.index('fpr')]
  assert np.median(fpr) == pytest.approx(0.1, abs=0.008)


def test_clusters_that_agree_count_as_a_row_each():
  """0 of 500 rows in 20 clusters of copies are 0 of 20: of a rate of .05 that
  comes in one of three samples, and an end of .019 left it out. The exact end
  is .168 (Clopper and Pearson)."""
  one = np.zeros((20, 1, 1, 1, 4))
  one[..., 0] = 1  # true negatives
  r = groups.NAMES.index('fpr')
  exact = 1 - 0.025 ** (1 / 20)
  for make in (lambda draws, rows: draws, clustered_rates.straight):
    ends = []
    for rows in (one, 25 * one):
      drawn = make(clustered_rates.drawn(rows, HOW), rows)
      ends.append(np.quantile(drawn[..., r], 0.975))
    assert ends[0] == pytest.approx(ends[1]) and ends[1] > 0.05
  assert (
    np.quantile(clustered_rates.drawn(25 * one, HOW)[..., r], 0.975) > exact
  )
  # Weights that sum to less than 1 say the same.
  small = np.full((1, 1, 1, len(groups.NAMES)), 1e-3)
  light = clustered_rates.drawn(25e-3 * one, HOW, small)[..., r]
  whole = clustered_rates.drawn(25 * one, HOW)[..., r]
  np.testing.assert_allclose(*np.quantile([light, whole], 0.975, 1), rtol=0.2)
  # One row apart: they do not agree, and a row is a row.
  apart = 25 * one
  apart[0, ..., :2] = 24, 1
  found = np.median(clustered_rates.drawn(apart, HOW)[..., r])
  assert found == pytest.approx(1.5 / 501, abs=1e-3)
  # A cluster that has nearly all rows tells as much as it alone.
  one[0] *= 1000
  assert np.quantile(clustered_rates.drawn(one, HOW)[..., r], 0.975) > 0.8
  # So everyone's accuracy where all are right.
  labels = np.tile([0, 1], 10)
  low = [
    assess(
      np.repeat(labels, copies),
      np.repeat(labels * 0.8 + 0.1, copies)[None],
      options=HOW.over(np.repeat(np.arange(20), copies)),
    )['quality']['accuracy']['low']
    for copies in (1, 25)
  ]
  assert low[1] == pytest.approx(low[0], abs=0.01) and low[1] < 0.95


def test_few_clusters_or_one_that_is_most_of_them_are_told():
  """m equal clusters tell as much as m; the sum of squares by hand."""
  assert clusters.warnings(None) == []
  assert clusters.warnings(np.repeat(np.arange(8), 3)) == []
  assert clusters.warnings(np.arange(7))[0].startswith('there are only 7')
  one = np.concatenate([np.zeros(90, int), np.arange(1, 11)])
  (told,) = clusters.warnings(one)  # 1 / (.9² + 10 · .01²)
  assert 'one of 11 clusters has 90% of the rows' in told
  assert told.endswith('than two there are no intervals and no p values')
  label, score = np.arange(100) % 2, np.linspace(0.2, 0.9, 100)
  found = fairjax.assess(label, score, label, cluster=one)
  assert found['auc']['low'] is None and found['dp']['note'] == clusters.THIN
  (told,) = clusters.warnings(np.concatenate([[0] * 20, [1] * 16, range(2, 7)]))
  assert told.endswith('2.5 equal clusters; intervals over so few are rough')
  two = np.concatenate([np.repeat(np.arange(10), 9), np.arange(10, 20)])
  assert clusters.warnings(two) == []  # 1 / (10 · .09² + 10 · .01²) = 12.2
