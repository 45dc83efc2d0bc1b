"""Weights of rows: points of scikit-learn's and of repeated rows, intervals."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as theirs

import fairjax
from fairjax import UserError
from fairjax.metrics import calibration, contrasts, thresholds
from fairjax.metrics.assess import assess
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import Groups, of_columns
from fairjax.metrics.inference import clustered_rates, row_weights
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import flips
from fairjax.results import plain

draws = lambda *own: RowSample(0.95, *own)

N = 300


@pytest.fixture(scope='module')
def case():
  """Labels, scores with ties, and overlapping groups of two attributes."""
  rng = np.random.default_rng(4)
  y = (rng.random(N) < 0.4).astype(np.int64)
  p = np.clip(rng.normal(0.35 + 0.3 * y, 0.2, (2, N)), 0, 1).round(2)
  group = rng.random((3, N)) < 0.5
  members = np.stack([group[0], ~group[0], group[1], group[2]])
  return y, p, Groups(members, 'abcd', ['one', 'one', 'two', 'two'])


def values(one: dict) -> dict:
  """Every point of an assessment."""
  parts = {'quality': one['quality'], 'fairness': one['fairness']}
  parts |= {f'group {name}': each for name, each in one['groups'].items()}
  return {
    (part, key): est['seeds'] if 'seeds' in est else est['value']
    for part, each in parts.items()
    for key, est in each.items()
    if isinstance(est, dict)
  }


def assert_same(one: dict, two: dict):
  assert one.keys() == two.keys()
  for key, value in one.items():
    x, y = (np.asarray(v, float) for v in (value, two[key]))
    assert np.allclose(x, y, 1e-5, 1e-6, equal_nan=True), (key, value, two[key])


def assessed(case, weight=None, resamples=0, **more):
  return assess(
    *case,
    options=draws(resamples)._replace(weight=weight),
    **{'min_group': 1} | more,
  )


def test_whole_weights_are_repeated_rows(case):
  """Of three classes, and of equal error; test_properties.py has the rest."""
  y, p, groups = case
  times = np.random.default_rng(1).integers(0, 4, N)
  often = np.repeat(np.arange(N), times)
  many = np.stack([p / 2, p / 2, 1 - p], -1)
  for label, score in ((y, p), (y + (p[0] > 0.7), many)):
    weight = row_weights.given(times, N)
    one = assessed((label, score, groups), weight, threshold='eer')
    again = groups._replace(members=groups.members[:, often])
    two = assessed((label[often], score[:, often], again), threshold='eer')
    assert one['threshold'] == two['threshold']
    assert_same(values(one), values(two))


def test_points_are_those_of_scikit_learn(case):
  y, p, (members, *_) = case
  raw = np.random.default_rng(2).lognormal(0, 1, N)
  found = assessed(case, row_weights.given(raw, N))
  d = (p >= 0.5).astype(int)
  for rows, one in [
    (np.ones(N, bool), found['quality']),
    (members[0], found['groups']['a']),
  ]:
    w = raw[rows]
    for name, function, given in (
      ('accuracy', theirs.accuracy_score, d),
      ('tpr', theirs.recall_score, d),
      ('precision', theirs.precision_score, d),
      ('f1', theirs.f1_score, d),
      ('mcc', theirs.matthews_corrcoef, d),
      ('balanced_accuracy', theirs.balanced_accuracy_score, d),
      ('auc', theirs.roc_auc_score, p),
      ('log_loss', theirs.log_loss, np.clip(p, 1e-7, 1 - 1e-7)),
    ):
      if name in one:
        wanted = [
          function(y[rows], each[rows], sample_weight=w) for each in given
        ]
        assert np.allclose(one[name]['seeds'], wanted, 1e-6), name
  # BPSN by pairs of rows: the loop that no sort is in.
  inside, w = members[0], raw
  above = total = 0.0
  for i in np.flatnonzero(~inside & (y == 1)):
    for j in np.flatnonzero(inside & (y == 0)):
      total += w[i] * w[j]
      above += w[i] * w[j] * ((p[0, i] > p[0, j]) + (p[0, i] == p[0, j]) / 2)
  bpsn = found['groups']['a']['bpsn_auc']['seeds'][0]
  assert np.isclose(bpsn, above / total)
  rate = lambda g: np.average(d[:, members[g]], 1, raw[members[g]])
  gap = 1 - np.abs(rate(0) - rate(1))
  assert np.allclose(found['fairness']['one/dp']['seeds'], gap)


def test_rows_that_count_alike_are_not_weighted(case):
  y, p, (members, *_) = case
  given = {'groups': np.where(members[0], 'a', 'b'), 'n_resamples': 50}
  plainly = fairjax.assess(y, p, **given)
  for weight in (np.ones(N), np.full(N, 3.7), [True] * N):
    one = fairjax.assess(y, p, sample_weight=weight, **given)
    assert plain(one.results) == plain(plainly.results)


def test_the_scale_of_weights_is_nothing(case):
  w = np.random.default_rng(3).lognormal(0, 1, N)
  one, two = (
    assessed(case, row_weights.given(scale * w, N), 50)
    for scale in (1, 2.0**90)
  )
  assert plain(one) == plain(two)


def test_a_row_without_weight_is_no_row(case):
  y, p, groups = case
  w = np.random.default_rng(5).lognormal(0, 1, N) * (np.arange(N) % 3 > 0)
  some = w > 0
  left = y[some], p[:, some], groups._replace(members=groups.members[:, some])
  one = assessed(case, row_weights.given(w, N))
  two = assessed(left, row_weights.given(w[some], int(some.sum())))
  assert_same(values(one), values(two))
  for name in groups.names:
    a, b = (each['groups'][name]['effective_rows'] for each in (one, two))
    assert a == b


def test_the_effective_number_of_rows():
  w = row_weights.given([1, 1, 1, 3], 4)
  assert row_weights.rows(w, np.ones(4, bool)) == 3.0  # 6² / 12
  assert row_weights.rows(w, np.array([1, 1, 0, 0], bool)) == 2.0
  assert row_weights.rows(None, np.array([1, 1, 0, 0], bool)) == 2.0
  assert row_weights.rows(w, np.zeros(4, bool)) == 0.0


def test_few_effective_rows_count_in_no_gap(case):
  members, w = case[2].members, np.ones(N)
  w[np.flatnonzero(members[0])[:3]] = 1e6  # of group a three are nearly all
  one = assessed(case, row_weights.given(w, N), min_group=10)
  assert one['fairness']['one/dp']['value'] is None
  assert one['fairness']['two/dp']['value'] is None  # they are in c and d too
  said = ' '.join(one['warnings'])
  assert "Few rows by weight, so wide intervals: 'a' (3, fewer than 10" in said


def test_calibration_of_a_group_that_weighs_little_is_as_sure(case):
  y, p, groups = case
  w = np.random.default_rng(6).uniform(1, 2, N)
  ends = []
  for least in (1.0, 1e-4):  # all of group a weigh less than a row of b
    own = w * np.where(groups.members[0], least, 1)
    how = RowSample(0.95, 200, weight=row_weights.given(own, N))
    sides = Case(y, p, p, groups.of('one'), how, 10)
    (one, _) = calibration.measure(sides)[1]
    ends.append([one['ece'][key] for key in ('value', 'low', 'high')])
  np.testing.assert_allclose(*ends, rtol=0.1)


def test_gaps_given_controls_curves_and_sweeps(case):
  """Whole weights are repeated rows; test_properties.py has the rest."""
  y, p, (members, *_) = case
  times = np.random.default_rng(6).integers(0, 4, N)
  w, often = row_weights.given(times, N), np.repeat(np.arange(N), times)
  of = lambda column, rows: of_columns({'of': column[rows]})

  def found(rows, weight):
    sample = RowSample(0.95, 0, 0)._replace(weight=weight)
    label, score = y[rows], p[:, rows]
    group, levels = of(members[1], rows), of(p[1] >= 0.4, rows)
    own = (score >= 0.5).astype(np.int64)
    case = Case(label, score, own, group, sample, 10)
    given, within, _ = contrasts.conditional(case, levels)
    curves = calibration.reliability(case)
    out = {k: v['value'] for k, v in given.items()}
    out |= {
      f'within {r["level"]} {k}': r[k]['value']
      for r in within
      for k in ('selection_rate', 'tpr')
    }
    for (g, c), k in itertools.product(curves.items(), ('value', 'mean score')):
      out |= {f'{g} {r["bin"]} {k}': (r | r['share positive'])[k] for r in c}
    for name, one in thresholds.sweep(case).items():
      out |= {f'{name} at {t}': one[t] for t in (20, 50, 70)}
    return out

  assert_same(found(np.arange(N), w), found(often, None))
  assert row_weights.unit(0.0, 0.0) == 1  # of no rows


def test_a_comparison_is_of_weighted_values(case):
  y, p, (members, *_) = case
  w = np.random.default_rng(7).lognormal(0, 1, N)
  group = np.where(members[0], 'a', 'b')
  more = {'groups': group, 'n_resamples': 200}
  a, b = (fairjax.assess(y, one, sample_weight=w, **more) for one in p)
  tests = fairjax.compare(a, b)
  for name in ('accuracy', 'dp', 'auc', 'fped'):
    apart = a[name]['value'] - b[name]['value']
    assert np.isclose(tests[name]['difference']['value'], apart)
    assert tests[name]['difference']['low'] < apart
  for w in (None, np.arange(N) + 1.0):
    other = fairjax.assess(y, p[1], sample_weight=w, **more)
    with pytest.raises(UserError, match='different weights'):
      fairjax.compare(a, other)


def test_flips_of_two_models_differ_by_their_weighted_flips(case):
  y, p, groups = case
  rng = np.random.default_rng(9)
  w = row_weights.given(rng.lognormal(0, 1, N), N)
  edited, side = rng.random(N) < 0.8, np.zeros(N, int)
  options = RowSample(0.95, 200, 0, None, w)
  sides, both = [], []
  for own in p[:, None]:
    swapped, control = (
      np.clip(own + rng.normal(0, 0.15, own.shape), 0, 1) for _ in range(2)
    )
    edit = flips.EditScores(edited, swapped, edited, control, side)
    sides.append((own, edit, 0.5))
    case = Case(y, own, flips.decisions(own, 0.5), groups, options)
    both.append(flips.measure(case, edit, 0.5).measures)
  for test in flips.compare(*sides, options):
    key = test['measure']
    apart = both[0][key]['value'] - both[1][key]['value']
    assert test['difference']['value'] == pytest.approx(apart), key
    assert test['difference']['low'] < apart < test['difference']['high']


def test_the_interval_of_a_weighted_loss_lies_around_it(case):
  """The rows that weigh most are those that are lost most."""
  y, p, *_ = case
  w = np.where((p[0] > 0.5) == y, 0.2, 3.0)
  one = fairjax.assess(y, p[0], sample_weight=w, n_resamples=400)['log_loss']
  middle, half = (one['low'] + one['high']) / 2, (one['high'] - one['low']) / 2
  assert abs(middle - one['value']) < half / 2


def test_samplemeasures_take_weights(case):
  y, p, (members, *_) = case
  w = np.random.default_rng(8).lognormal(0, 1, N)
  more = {'groups': np.where(members[0], 'a', 'b'), 'n_resamples': 20}
  recall = {'recall': theirs.recall_score}
  more |= {'threshold': 'eer'}  # which the weights move
  one = fairjax.assess(y, p[0], sample_weight=w, metrics=recall, **more)
  assert np.isclose(one['recall']['value'], one['tpr']['value'])
  with pytest.raises(UserError, match='takes no sample_weight'):
    metrics = {'hit': lambda y, d: np.mean(y == d)}
    fairjax.assess(y, p[0], sample_weight=w, metrics=metrics, **more)


# Audits

TEXTS = [
  f'{"she" if i % 2 else "he"} was {("kind", "rude")[i % 3 == 0]} on day {i}'
  for i in range(120)
]


def model(texts):
  """A score that depends on the word and on who it is about."""
  score = lambda t: 0.35 + 0.2 * ('rude' in t) + 0.1 * t.startswith('she')
  return np.array([score(t) + 0.001 * (len(t) % 7) for t in texts])


@pytest.fixture(scope='module')
def rows():
  table = pd.DataFrame({'text': TEXTS})
  table['label'] = [int(i % 4 == 0) for i in range(120)]
  table['gender'] = ['fm'[i % 2] for i in range(120)]
  table['place'] = ['xy'[i // 60] for i in range(120)]
  table['w'] = np.random.default_rng(9).integers(1, 5, 120)
  return table


def audited(table, **more):
  how = {'controls': ['place'], 'threshold': 0.45, 'costs': 'fp=1,fn=5'}
  how |= {'min_group': 1, 'n_resamples': 60, **more}
  return fairjax.audit(model, table, groups=['gender'], options=how)


def test_an_audit_of_whole_weights_is_that_of_repeated_rows(rows):
  again = rows.loc[rows.index.repeat(rows['w'])].reset_index(drop=True)
  one, two = audited(rows, sample_weight='w'), audited(again, swaps='gender')
  points = lambda result: {
    (r.group, r.measure): r.value for r in result.to_frame().itertuples()
  }
  first, second = points(one), points(two)
  # What another word of the control edit is depends on the row.
  drawn = ('control', 'excess')
  keep = lambda d: {k: v for k, v in d.items() if not k[1].startswith(drawn)}
  assert 'flips' in one and one['flips']['value'] > 0.1
  assert_same(keep(first), keep(second))
  part = one.results.sets['data']
  assert part['rows'] == 120 and 80 < part['effective_rows'] < 120
  assert part['groups']['f']['effective_rows'] < part['groups']['f']['rows']
  assert any('weighted by' in note for note in one.results.notes)
  assert any('without weights' in note for note in one.results.notes)


def test_an_audit_of_equal_weights_is_the_plain_one(rows):
  one = audited(rows.assign(w=2.0), sample_weight='w')
  two = audited(rows.assign(w=2.0))
  assert plain(one.results.contenders) == plain(two.results.contenders)
  assert any('nothing is weighted' in note for note in one.results.notes)
  assert len(one.results.notes) == len(two.results.notes) + 1


def test_the_page_says_that_rows_are_weighted(rows, tmp_path):
  one = audited(rows, sample_weight=rows['w'])
  page = one.save(tmp_path).read_text()
  sure = f'{one.results.sets["data"]["effective_rows"]:,.0f}'
  assert f'120 rows of data, weighted: as sure as {sure}' in page
  assert 'rows are weighted by' in page


def test_few_draws_vary_together_as_those_of_every_cluster_do():
  rng = np.random.default_rng(8)
  for m, q in ((500, 6), (4, 6)):
    flat = rng.normal(size=(m, q)) * [0, 1, 1, 1, 1, 1]  # a rate without rows
    flat[:, 3] = -flat[:, 2]  # 1 − rate
    small = clustered_rates.fewest(flat)
    assert len(small) == min(m, q)
    assert np.allclose(small.T @ small, flat.T @ flat)
