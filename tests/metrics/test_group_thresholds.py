"""Thresholds of groups: by trying all, beside fairlearn's, and held out."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from fairlearn import postprocessing
from sklearn import metrics as theirs
from sklearn.base import BaseEstimator, ClassifierMixin

import fairjax
from fairjax import UserError
from fairjax.metrics import group_thresholds
from fairjax.metrics.inference.sample import RowSample
from fairjax.results import plain

NAMES = {  # fairlearn's names
  'demographic_parity': 'demographic_parity',
  'equal_opportunity': 'true_positive_rate_parity',
  'equal_fpr': 'false_positive_rate_parity',
}


class Known(ClassifierMixin, BaseEstimator):
  """Scores that are there already."""

  classes_ = np.array([0, 1])

  def fit(self, x, y):
    return self

  def __sklearn_is_fitted__(self):
    return True

  def predict_proba(self, x):
    return np.stack([1 - x[:, 0], x[:, 0]], 1)


def by_fairlearn(criterion, y, p, group, held_p, held_group) -> np.ndarray:
  """Its decisions on the held-out rows; some are drawn by lot."""
  theirs = postprocessing.ThresholdOptimizer(
    **{'estimator': Known(), 'prefit': True, 'constraints': NAMES[criterion]},
    **{'objective': 'accuracy_score', 'predict_method': 'predict_proba'},
  )
  theirs.fit(p[:, None], y, sensitive_features=group)
  return theirs.predict(
    held_p[:, None], sensitive_features=held_group, random_state=0
  )


def rows(n=4000, seed=0):
  """Group b scores .15 higher for nothing, and has more positives."""
  rng = np.random.default_rng(seed)
  group = rng.choice(['a', 'b'], n, p=[0.6, 0.4])
  y = (rng.random(n) < np.where(group == 'b', 0.5, 0.3)).astype(int)
  p = rng.normal(0.35 + 0.25 * y + 0.15 * (group == 'b'), 0.15)
  return y, np.clip(p, 0, 1), group


def counted(criterion, y):
  """The rows whose rates a criterion makes equal."""
  kinds = {'demographic_parity': y >= 0, 'equal_opportunity': y == 1}
  return {**kinds, 'equal_fpr': y == 0}[criterion]


def rate(criterion, y, d):
  return d[counted(criterion, y)].mean()


def gap(criterion, y, d, group):
  rates = [rate(criterion, y[group == g], d[group == g]) for g in 'ab']
  return abs(rates[0] - rates[1])


def best(criterion, y, p, group):
  """The most right rows of any target, by every cut of every group."""
  targets, right = np.linspace(0, 1, group_thresholds.TARGETS), 0
  for g in sorted(set(group)):
    own = group == g
    cuts = [*np.unique(p[own]), np.inf]
    tried = [(y[own], (p[own] >= cut).astype(int)) for cut in cuts]
    each = np.array(
      [(rate(criterion, *d), (d[0] == d[1]).sum()) for d in tried]
    )
    near = np.abs(each[:, :1] - targets)
    lowest = np.where(near == near.min(0), each[:, :1], 2).min(0)
    right += np.where(each[:, :1] == lowest, each[:, 1:], -1).max(0)
  return right.max()


@pytest.mark.parametrize('criterion', NAMES)
def test_no_cut_of_any_group_is_more_right(criterion):
  """With ties at either end, groups of whom nobody is positive, and scores
  that are the nearest numbers there are."""
  rng, nobody = np.random.default_rng(1), 0
  levels = (
    [0, 0.5, 1],
    np.linspace(0, 1, 11),
    [0.3, np.nextafter(0.3, 1), 0.3 + 1e-13, 1e-20, 1e-18, 1],
  )
  for k in range(60):
    y = rng.integers(0, 2, 24)
    y[:4] = 0, 1, 0, 1
    group = np.array(list('aabb' + ''.join(rng.choice([*'ab'], 20))))
    p = rng.choice(levels[k % 3], 24)
    found = group_thresholds.fit(y, p, group, criterion)
    mine = found.decide(p, group)
    assert (mine == y).sum() == best(criterion, y, p, group), k
    nobody += not mine[group == 'a'].any()
  assert nobody > 3


def test_scores_are_of_the_positive_label_in_every_form():
  y, p, group = rows(400)
  named = np.where(y == 1, 'bad', 'ok')
  names = np.where(p >= 0.5, 'bad', 'ok')
  for y_true, scores, label, same in (
    (named, np.stack([p, 1 - p], 1), 'bad', p),
    (1 - y, np.stack([p, 1 - p], 1), 0, p),
    (y, np.stack([1 - p, p], 1), 1, p),
    (named, names, 'bad', p >= 0.5),
  ):
    found, plain = (
      fairjax.thresholds(*rest, group, pos_label=one, n_resamples=50)
      for *rest, one in ((y_true, scores, label), (y, same, 1))
    )
    assert found.thresholds == plain.thresholds
    assert found.before['accuracy'] == plain.before['accuracy']


@pytest.mark.parametrize('criterion', NAMES)
def test_as_fair_as_fairlearns_at_no_less_accuracy(criterion):
  pytest.importorskip('fairlearn.postprocessing')
  y, p, group = rows()
  own, held = np.arange(2000), np.arange(2000, 4000)

  other = by_fairlearn(
    criterion, y[own], p[own], group[own], p[held], group[held]
  )
  rule = group_thresholds.fit(y[own], p[own], group[own], criterion)
  mine = rule.decide(p[held], group[held])
  once = (p[held] >= 0.5).astype(int)
  fair = lambda d: gap(criterion, y[held], d, group[held])
  assert fair(mine) < 0.05 < 0.15 < fair(once)
  assert fair(mine) <= fair(other) + 0.02
  assert (mine == y[held]).mean() >= (other == y[held]).mean() - 0.005


def test_the_library_judges_on_rows_that_it_did_not_choose_on(tmp_path):
  y, p, group = rows()
  found = fairjax.thresholds(
    y, p, group, criterion='equal_fpr', n_resamples=300
  )
  assert found.before['eqopp0']['value'] < 0.8 < found.after['eqopp0']['value']
  test = found.comparison['eqopp0']
  assert test['difference']['low'] > 0.1 and test['p'] < 0.01
  assert found.price['difference']['low'] < found.price['difference']['high']
  assert len(found.before.labels) == 2000
  table = found.to_frame().set_index('measure')
  assert table.loc['accuracy', 'difference'] == pytest.approx(
    found.after['accuracy']['value'] - found.before['accuracy']['value']
  )
  path = tmp_path / 'thresholds.json'
  found.save(path)
  again = group_thresholds.read(path)
  assert again == found.rule and again.criterion == 'equal_fpr'
  mine = again.decide(np.stack([p, p]), group)  # of two seeds
  np.testing.assert_array_equal(mine, [found.predict(p, group)] * 2)
  assert '0.' in repr(found) and 'accuracy' in found._repr_html_()


def test_what_decides_need_not_be_the_group():
  """A detector that is right of nine in ten is nearly as good."""
  y, p, group = rows()
  other = np.where(group == 'a', 'b', 'a')
  seen = np.where(np.random.default_rng(1).random(len(y)) < 0.9, group, other)
  options = {'criterion': 'demographic_parity', 'n_resamples': 100}
  plain = fairjax.thresholds(y, p, group, **options)
  blind = fairjax.thresholds(y, p, group, decide_by=seen, **options)
  before, after, full = (
    one['dp']['value'] for one in (blind.before, blind.after, plain.after)
  )
  assert before + 0.1 < after <= full + 0.02
  assert blind.before.compared.names == ['a', 'b']
  hidden = np.ma.array(seen, mask=p < 0.5)  # in no group: as for everyone
  plain = np.where(p < 0.5, None, seen)
  assert (blind.predict(p, hidden) == blind.predict(p, plain)).all()
  with pytest.raises(UserError, match="no threshold of group 'c'"):
    blind.predict([0.4], ['c'])


# Weights


@pytest.mark.parametrize('criterion', NAMES)
def test_whole_weights_are_repeated_rows(criterion):
  y, p, group = rows(300, 5)
  p = p.round(2)
  times = np.random.default_rng(0).integers(1, 4, 300)
  times += 5 * ((p > 0.6) & (group == 'a'))
  often = np.repeat(np.arange(300), times)
  again = group_thresholds.fit(y[often], p[often], group[often], criterion)
  for scale in (1.0, 0.37):
    weight = scale * times
    found = group_thresholds.fit(y, p, group, criterion, weight=weight)
    assert found == again
  plainly = group_thresholds.fit(y, p, group, criterion)
  assert found.thresholds['a'] != plainly.thresholds['a']


@pytest.mark.parametrize('spread', [0.0, 0.5])
@pytest.mark.parametrize('criterion', NAMES)
def test_it_is_the_best_pair_of_weighted_thresholds(criterion, spread):
  """Every pair of thresholds, tried; of no spread there are no weights."""
  y, p, group = rows(60, 3)
  p = p.round(2)
  w = np.random.default_rng(2).lognormal(0, spread, 60)
  kept = counted(criterion, y)

  def told(d):
    rates = [np.average(d[m], weights=w[m]) for m in of]
    return abs(rates[0] - rates[1]), np.average(y == d, weights=w)

  of = [kept & (group == g) for g in 'ab']
  weight = w if spread else None
  found = group_thresholds.fit(y, p, group, criterion, weight=weight)
  apart, right = told(found.decide(p, group))
  step = max(w[m].max() / w[m].sum() for m in of)
  assert apart <= 1.001 * step
  points = np.unique(np.r_[0, p, 1.01])
  tried = [
    told((p >= np.where(group == 'a', a, b)).astype(int))
    for a, b in itertools.product(points, points)
  ]
  best = max(one for gap_, one in tried if gap_ <= apart + 1e-12)
  assert right >= best - 2 * w.max() / w.sum()


def test_weighted_rates_are_fairlearns_and_as_fair_as_its_thresholds():
  fair = pytest.importorskip('fairlearn.metrics')
  y, p, group = rows()
  w = np.where(group == 'b', 1, 3) * np.where(p > 0.5, 2, 1)
  found = fairjax.thresholds(
    *(y, p, group), criterion='equal_fpr', sample_weight=w, n_resamples=200
  )
  own, held = group_thresholds.halves(len(y), 0.5, RowSample())
  d = found.predict(p[held], sensitive_features=group[held])
  rate_of = lambda d, **more: fair.MetricFrame(
    metrics=fair.false_positive_rate,
    y_true=y[held],
    y_pred=d,
    sensitive_features=group[held],
    **more,
  )
  weights = {'sample_params': {'sample_weight': w[held]}}
  wanted = rate_of(d, **weights).by_group
  assert np.allclose(found.after.groups['fpr'], wanted, 1e-6)
  assert not np.allclose(found.after.groups['fpr'], rate_of(d).by_group, 1e-3)
  often = np.repeat(own, w[own])
  other = by_fairlearn(
    *('equal_fpr', y[often], p[often], group[often], p[held], group[held])
  )
  apart = lambda d: rate_of(d, **weights).difference()
  assert apart(d) <= apart(other) + 0.02
  right = lambda d: theirs.accuracy_score(y[held], d, sample_weight=w[held])
  assert right(d) >= right(other) - 0.005
  assert found.price['difference']['value'] == pytest.approx(
    right(d) - right((p[held] >= 0.5).astype(int))
  )
  plainly = fairjax.thresholds(
    y, p, group, criterion='equal_fpr', n_resamples=200
  )
  width = lambda one: one['high'] - one['low']
  assert width(found.after['fpr']) > width(plainly.after['fpr'])


def test_equal_weights_are_none_and_rows_of_weight_0_are_not_there():
  y, p, group = rows(400)
  some = np.arange(400) % 3 > 0
  options = {'criterion': 'equal_fpr', 'n_resamples': 50}
  of = lambda keep, **more: fairjax.thresholds(
    y[keep], p[keep], group[keep], **options, **more
  )
  for one, other in (
    (of(np.arange(400), sample_weight=[2.5] * 400), of(np.arange(400))),
    (of(np.arange(400), sample_weight=some), of(some)),
  ):
    assert one.rule == other.rule
    assert plain(one.after.results) == plain(other.after.results)
    assert plain(one.comparison.tests) == plain(other.comparison.tests)


def test_the_equal_error_rule_is_weighted_too():
  y, p, group = rows(400)
  w = np.where(y == 1, 5.0, 1.0) * np.where(p > 0.5, 2, 1)
  limits = [
    fairjax.thresholds(
      *(y, p, group), threshold='eer', n_resamples=50, sample_weight=weight
    ).rule.otherwise
    for weight in (None, w)
  ]
  assert abs(limits[0] - limits[1]) > 0.01


def test_a_file_that_holds_no_thresholds_is_a_sentence(tmp_path):
  path = tmp_path / 'thresholds.json'
  large = {'version': 1, 'criterion': 'equal_fpr', 'otherwise': 10**400}
  named = {'version': 1, 'thresholds': {'a': 'x'}}
  empty = large | {'thresholds': {}}
  for tree in ({}, named, empty, empty | {'otherwise': 10**9}, [1]):
    path.write_text(json.dumps(tree))
    with pytest.raises(UserError, match='holds no thresholds of groups'):
      group_thresholds.read(path)


def test_rows_of_a_cluster_are_in_one_half_and_judge_as_one():
  """Copies of a row would judge the thresholds that they chose, and narrow the
  interval of what these cost."""
  rng = np.random.default_rng(0)
  y, group = rng.integers(0, 2, 120), np.tile([*'ab'], 60)
  p = np.clip(rng.normal(0.4 + 0.2 * y + 0.1 * (group == 'a'), 0.2), 0, 1)
  text, times = np.repeat(np.arange(120), 8), lambda x: np.repeat(x, 8)
  own, held = group_thresholds.halves(960, 0.5, RowSample(cluster=text))
  assert not {*text[own]} & {*text[held]}
  assert sorted([*own, *held]) == [*range(960)]
  assert abs(len(own) - 480) <= 8
  for seed in range(8):  # a cluster is where its middle is, first or last
    one = RowSample(seed=seed, cluster=np.repeat([0, 1], [1, 99]))
    assert all(map(len, group_thresholds.halves(100, 0.5, one)))
  wide = lambda found: (
    found.price['difference']['high'] - found.price['difference']['low']
  )
  how = {'criterion': 'demographic_parity', 'n_resamples': 400}
  once = fairjax.thresholds(y, p, group, **how)
  copies = fairjax.thresholds(times(y), times(p), times(group), **how)
  known = fairjax.thresholds(
    times(y), times(p), times(group), cluster=text, **how
  )
  assert wide(copies) < wide(once) / 2
  assert wide(known) > 0.6 * wide(once)
  # An audit knows equal texts, and who is too few is as everywhere in it.
  frame = pd.DataFrame({'text': [f'text {k}' for k in text]})
  frame = frame.assign(label=times(y), group=times(group))
  how = {'equalize': 'demographic_parity', 'min_group': 7, 'n_resamples': 400}
  found = fairjax.audit(times(p), frame, groups='group', options=how)
  own = found.measured[found.results.focus].equalized
  assert own.before.options['min_group'] == 7
  assert own.thresholds == known.thresholds
  assert wide(own) == pytest.approx(wide(known))
