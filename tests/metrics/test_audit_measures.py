"""Calibration, contrasts, conditional gaps, costs, slices, thresholds, gate."""

import contextlib

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

import fairjax
from fairjax.core.errors import Failed, Undecided, UserError
from fairjax.data.word_tables import table_rows
from fairjax.metrics import (
  calibration,
  contrasts,
  gate,
  slices,
  thresholds,
)
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import of_columns, of_masks
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 300, 0)


def of(labels, answers, groups=None, how=OPTIONS, least=1):
  """A case whose scores, or decisions, these are."""
  groups = groups or of_columns({}, len(labels))
  return Case(labels, answers, answers, groups, how, least)


def made(n=600, seeds=1, seed=0):
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 2, n)
  scores = np.clip(
    rng.normal(0.35 + 0.3 * labels, 0.2, (seeds, n)), 0.001, 0.999
  )
  sex = rng.choice(['f', 'm'], n)
  age = rng.choice(['old', 'young', 'mid'], n)
  return labels, scores, sex, age


def test_calibration_is_that_of_scikit_learn():
  labels, scores, sex, _ = made()
  groups = of_columns({'sex': sex})
  case = of(labels, scores, groups)
  everyone, by_group, fair = calibration.measure(case)
  for mask, found in zip(groups.masks, [*by_group, everyone]):
    y, p = labels[mask], scores[0, mask]
    share, mean = calibration_curve(y, p, n_bins=10)
    count = np.histogram(p, np.linspace(0, 1, 11))[0]
    ece = (np.abs(share - mean) * count[count > 0]).sum() / mask.sum()
    assert found['ece']['value'] == pytest.approx(ece, abs=1e-6)
    assert found['overconfidence']['value'] == pytest.approx(
      p.mean() - y.mean(), abs=1e-6
    )
    assert found['ece']['low'] <= ece <= found['ece']['high']
    rows = calibration.reliability(case)
  assert fair['ece_max']['value'] == pytest.approx(
    max(one['ece']['value'] for one in by_group)
  )
  twice = np.concatenate([scores, scores])  # seeds are no more rows
  again = calibration.reliability(of(labels, twice, groups))
  assert [r['rows'] for r in again['f']] == [r['rows'] for r in rows['f']]
  share, mean = calibration_curve(labels, scores[0], n_bins=10)
  found = rows['everyone']
  np.testing.assert_allclose([r['mean score'] for r in found], mean)
  np.testing.assert_allclose(
    [r['share positive']['value'] for r in found], share
  )


def test_what_chance_gives_of_calibration_knows_of_seeds():
  """Seeds that are off to either side, whose mean is calibrated."""
  rng = np.random.default_rng(3)
  found, null = 0, []
  for seed in range(20):
    chance = rng.uniform(0.2, 0.8, 800)
    labels = (rng.random(800) < chance).astype(int)
    scores = np.clip(chance + rng.normal(0, 0.08, (5, 1)), 0.01, 0.99)
    groups = of_columns({'group': np.arange(800) % 2})
    how = RowSample(0.95, 300, seed)
    _, _, fair = calibration.measure(of(labels, scores, groups, how))
    found += fair['ece_max']['p'] < 0.05
    null.append(fair['ece_max']['null'] / fair['ece_max']['value'])
  assert found <= 3, found
  assert 0.75 < np.mean(null) < 1.25, np.mean(null)


def test_many_classes_are_calibrated_by_the_likeliest():
  rng = np.random.default_rng(0)
  p = rng.dirichlet(np.ones(3), (1, 400))
  labels = np.array([rng.choice(3, p=row) for row in p[0]])
  found, _, _ = calibration.measure(of(labels, p))
  right, best = p[0].argmax(1) == labels, p[0].max(1)
  share, mean = calibration_curve(right, best, n_bins=10)
  count = np.histogram(best, np.linspace(0, 1, 11))[0]
  ece = (np.abs(share - mean) * count[count > 0]).sum() / 400
  assert found['ece']['value'] == pytest.approx(ece, abs=1e-6)


def test_differences_are_those_of_fairlearn():
  fairlearn = pytest.importorskip('fairlearn.metrics')
  labels, scores, sex, _ = made()
  decisions = (scores >= 0.5).astype(int)
  groups = of_columns({'sex': sex})
  rates = {
    'selection_rate': fairlearn.selection_rate,
    'fpr': fairlearn.false_positive_rate,
    'fnr': fairlearn.false_negative_rate,
  }
  frame = fairlearn.MetricFrame(
    metrics=rates, y_true=labels, y_pred=decisions[0], sensitive_features=sex
  )
  rows = contrasts.differences(of(labels, decisions, groups), 'm')
  assert {r['group'] for r in rows} == {'f'}
  for row in rows:
    own = frame.by_group[row['rate']]
    assert row['value']['value'] == pytest.approx(own['f'])
    assert row['of reference']['value'] == pytest.approx(own['m'])
    assert row['difference']['value'] == pytest.approx(own['f'] - own['m'])
    low, high = row['difference']['low'], row['difference']['high']
    assert (low <= 0 <= high) == (row['p'] > 0.05)


def slow_conditional(labels, decisions, sex, site, kind):
  """Rates of groups with the levels weighted alike: those that all have."""
  some = {'dp': labels >= 0, 'fpr': labels == 0, 'tpr': labels == 1}[kind]
  rate, weight = {g: 0.0 for g in sorted(set(sex))}, 0
  for level in sorted(set(site)):
    cells = {g: some & (site == level) & (sex == g) for g in rate}
    if all(one.any() for one in cells.values()):
      rows = sum(one.sum() for one in cells.values())
      weight += rows
      for g, one in cells.items():
        rate[g] += rows * decisions[one].mean()
  values = [one / weight for one in rate.values()] if weight else [np.nan]
  return max(values) - min(values)


def test_gaps_given_controls_are_those_of_direct_standardisation():
  """Cells of no row and of one, of every kind of rate."""
  rng, alone = np.random.default_rng(2), 0
  for _ in range(40):
    n = int(rng.integers(12, 60))
    labels, decisions = rng.integers(0, 2, (2, n))
    sex, site = rng.choice([*'abc'], n), rng.choice([*'wxyz'], n)
    groups, levels = (of_columns({'of': one}) for one in (sex, site))
    case = of(labels, decisions[None], groups, RowSample(0.95, 0, 0))
    fair, within, _ = contrasts.conditional(case, levels)
    slow = {
      kind: slow_conditional(labels, decisions, sex, site, kind)
      for kind in ('dp', 'fpr', 'tpr')
    }
    for name, gap in (
      ('conditional_dp', slow['dp']),
      ('conditional_eqodd', (slow['fpr'] + slow['tpr']) / 2),
    ):
      value = fair[name]['value']
      assert (np.nan if value is None else value) == pytest.approx(
        1 - gap, nan_ok=True
      )
      alone += value is not None
    for one in within:
      cells = groups.members & (site == one['level'])
      for name, kind in (('selection_rate', labels >= 0), ('fpr', labels == 0)):
        each = [decisions[cell & kind] for cell in cells]
        each = [rows.mean() for rows in each if len(rows)]
        gap = max(each) - min(each) if len(each) > 1 else None
        assert one[name]['value'] == pytest.approx(gap)
  assert alone > 20


@pytest.mark.parametrize('seeds', [1, 2])
def test_many_groups_can_be_told_from_chance(seeds):
  """A share of resamples has a floor, which no correction for 600 passes."""
  rng = np.random.default_rng(0)
  many = {1: 200, 2: 20}[seeds]
  group = np.repeat(np.arange(many), 40)
  labels = rng.integers(0, 2, len(group))
  chance = np.where(group == 0, 0.95, 0.3)
  decided = (rng.random((1, len(group))) < chance).astype(np.int64)
  decided = decided.repeat(seeds, 0)
  how = RowSample(0.95, 2000, 0)
  case = of(labels, decided, of_columns({'group': group}), how)
  rows = contrasts.differences(case, '')
  first = next(r for r in rows if r['rate'] == 'selection_rate')
  if seeds == 2:  # nothing exact: it is said that p is at most this
    assert first['p_at_floor'] and first['p'] <= 1 / 2001
    return
  own, rest = decided[0, group == 0], decided[0, group > 0]
  table = [[x.sum(), len(x) - x.sum()] for x in (own, rest)]
  assert first['p'] == pytest.approx(stats.fisher_exact(table)[1], rel=1e-9)
  assert first['p'] < 1e-9
  sure = {r['group'] for r in rows if r['adjusted'] <= 0.05}
  assert sure == {'0'} and len(rows) * first['p'] < 0.05 < len(rows) / 2001
  # Not where the groups share rows.
  both = of_masks(np.stack([group < 2, group == 0]), 'ab')
  rows = contrasts.differences(case._replace(groups=both), 'a')
  assert all(r['p_at_floor'] or r['p'] >= 1 / 2001 for r in rows)


def test_the_rest_is_everyone_else():
  labels, scores, _, age = made()
  decisions = (scores >= 0.5).astype(int)
  case = of(labels, decisions, of_columns({'age': age}))
  rows = contrasts.differences(case, '')
  row = next(
    r for r in rows if r['group'] == 'mid' and r['rate'] == 'selection_rate'
  )
  inside, outside = decisions[0, age == 'mid'], decisions[0, age != 'mid']
  gap = inside.mean() - outside.mean()
  assert row['difference']['value'] == pytest.approx(gap)
  assert len(rows) == 9 and all(r['adjusted'] >= r['p'] for r in rows)
  with pytest.raises(UserError, match="reference is 'x'"):
    contrasts.differences(case, 'x')


def test_a_control_that_explains_the_gap_takes_it_away():
  """Simpson: within each level nobody is treated differently."""
  rng = np.random.default_rng(1)
  n = 4000
  sex = rng.integers(0, 2, n)
  level = (rng.random(n) < 0.2 + 0.6 * sex).astype(int)
  decisions = (rng.random((1, n)) < 0.2 + 0.5 * level).astype(int)
  sides, levels = (of_columns({'column': one}) for one in (sex, level))
  fair, _, left = contrasts.conditional(of(None, decisions, sides), levels)
  plain = abs(decisions[0, sex == 0].mean() - decisions[0, sex == 1].mean())
  assert plain > 0.25
  assert fair['conditional_dp']['high'] == 1
  assert fair['conditional_dp']['value'] > 0.95 and not left


def test_costs_are_sums_of_errors():
  labels, scores, sex, _ = made(seeds=2)
  decisions = (scores >= 0.5).astype(int)
  case = of(labels, decisions, of_columns({'sex': sex}))
  everyone, by_group, fair = contrasts.costs(case, (1.0, 5.0))
  each = (decisions > labels) * 1.0 + (decisions < labels) * 5.0
  assert everyone['cost']['value'] == pytest.approx(each.mean())
  values = [each[:, m].mean(1) for m in case.groups.members]
  for one, value in zip(by_group, values):
    assert one['cost']['value'] == pytest.approx(value.mean())
  gap = np.abs(values[0] - values[1]).mean()
  assert fair['cost_gap']['value'] == pytest.approx(gap)
  few = int(case.groups.members.sum(1).min())
  for least, known in ((few, True), (few + 1, False)):
    one = case._replace(min_group=least)
    assert bool(contrasts.costs(one, (1.0, 5.0))[2]) == known


def test_reliability_is_over_clusters():
  """Copies tell nothing: of 20 texts, ten times each, the interval is that of
  about 20 rows, and of one cluster there is next to nothing known."""
  rng = np.random.default_rng(0)
  labels, scores = rng.integers(0, 2, 20), np.full((1, 20), 0.55)
  shown = lambda y, p, cluster=None: calibration.reliability(
    of(y, p, how=OPTIONS.over(cluster))
  )['everyone'][0]['share positive']
  wide = lambda one: one['high'] - one['low']
  once = shown(labels, scores)
  copies = np.repeat(labels, 10), np.repeat(scores, 10, 1)
  found = shown(*copies, cluster=np.repeat(np.arange(20), 10))
  assert found['value'] == once['value']
  assert wide(found) == pytest.approx(wide(once), rel=0.15)
  assert wide(shown(*copies)) < wide(once) / 2
  alone = shown(*copies, cluster=np.zeros(200, int))
  assert wide(alone) > 0.7


def test_slices_of_many_conditions_are_all_looked_at():
  """What is wrong stands after the 150 that are paired."""
  rng = np.random.default_rng(0)
  bad = rng.random(4000) < 0.1
  wrong = np.where(bad, 1.0, rng.random(4000) < 0.1)
  terms = of_masks(rng.random((160, 4000)) < 0.05, [*map(str, range(160))])
  long = of_masks(bad[None], ['long'], 'words')
  rows = slices.worst(wrong, terms.with_more(long))
  assert rows[0]['slice'] == 'words: long' and rows[0]['rows'] == bad.sum()
  assert rows[0]['error rate'] == 1 and len(rows) == 161
  single = slices.worst(wrong, long)
  assert rows[0]['p'] == pytest.approx(single[0]['p'])


def test_levels_are_named_that_lack_rows_of_a_label():
  """Of level 1 nobody is negative, so it is in no false positive rate."""
  level, group = np.repeat([0, 1], 100), np.tile([0, 1], 100)
  labels = np.where(level == 1, 1, np.arange(200) // 2 % 2)
  decided = (np.arange(200) % 3 == 0).astype(int)[None]
  case = of(labels, decided, of_columns({'group': group}))
  *_, left = contrasts.conditional(case, of_columns({'level': level}))
  assert left == ['1 (of fpr)']


def test_slices_are_fishers_and_find_the_one_that_is_planted():
  rng = np.random.default_rng(3)
  n = 3000
  sex, age = rng.integers(0, 2, n), rng.integers(0, 3, n)
  chance = np.where((sex == 1) & (age == 2), 0.4, 0.1)
  wrong = (rng.random(n) < chance).astype(float)
  conditions = of_columns({'sex': sex, 'age': age})
  rows = slices.worst(wrong, conditions)
  assert rows[0]['slice'] == 'sex: 1 and age: 2'
  assert len(rows) == 5 + 6
  for row in rows:
    mask = np.ones(n, bool)
    for part in row['slice'].split(' and '):
      mask &= conditions.members[conditions.names.index(part)]
    inside, outside = wrong[mask], wrong[~mask]
    table = [
      [inside.sum(), len(inside) - inside.sum()],
      [outside.sum(), len(outside) - outside.sum()],
    ]
    p = stats.fisher_exact(table, 'greater')[1]
    assert row['p'] == pytest.approx(p, rel=1e-6)
    assert row['rows'] == mask.sum()
    assert row['error rate'] == pytest.approx(inside.mean())
    assert row['outside'] == pytest.approx(outside.mean())
  assert slices.worst(wrong[:20], of_columns({'a': ['b'] * 20})) == []


def test_thresholds_are_those_of_a_loop():
  labels, scores, sex, _ = made(seeds=2)
  # Rows of no group have the highest scores: everyone is no third group.
  members = np.stack([sex == 'f', sex == 'm']) & (scores.max(0) < 0.7)
  case = of(labels, scores, of_masks(members, 'fm'))
  found = thresholds.sweep(case)
  assert {*found} == {'accuracy', 'selection_rate', *thresholds.SHOWN}
  few, two = int(members.sum(1).min()), np.full(600, 2.0)
  for least in (few, few + 1):
    for weight in (None, two):
      how = OPTIONS._replace(weight=weight)
      alone = thresholds.sweep(of(None, scores, case.groups, how, least))
      assert {*alone} == {'selection_rate', *['dp'] * (least == few)}
  for k in (0, 37, 50, 100):
    d = scores >= thresholds.POINTS[k]
    f, m = ([d[:, own & (labels == y)].mean(1) for y in (0, 1)]
            for own in members)  # fmt: skip
    fpr, tpr = np.abs(np.subtract(f, m)).mean(1)
    dp = np.abs(np.subtract(*[d[:, own].mean(1) for own in members])).mean()
    given = {'accuracy': (d == labels).mean(), 'selection_rate': d.mean()}
    given |= {'dp': 1 - dp, 'eqopp1': 1 - tpr, 'eqodd': 1 - (fpr + tpr) / 2}
    for name, value in given.items():
      assert found[name][k] == pytest.approx(value)


@pytest.mark.parametrize('rule', ['accuracy', 'balanced_accuracy', 'eer'])
def test_the_chosen_threshold_is_the_best(rule):
  labels, scores, _, _ = made(300)
  limit = thresholds.choose(labels, scores, rule)

  def worth(t):
    d = scores[0] >= t
    fpr, fnr = d[labels == 0].mean(), (~d)[labels == 1].mean()
    if rule == 'balanced_accuracy':
      return sk.balanced_accuracy_score(labels, d)
    return {'accuracy': (d == labels).mean(), 'eer': -abs(fpr - fnr)}[rule]

  best = max(map(worth, [*scores[0], 1]))  # there are no other decisions
  assert worth(limit) >= best - 1e-9
  with pytest.raises(UserError, match='one label'):
    thresholds.choose(labels * 0, scores, 'eer')


F, P, U = gate.FAILED, gate.PASSED, gate.UNDECIDED
KNOWN = {
  'dp': {'value': 0.78, 'low': 0.7, 'high': 0.86},
  'gender/eqodd': {'value': 0.9, 'low': 0.85, 'high': 0.95},
  'flips': {'value': 0.04, 'low': 0.03, 'high': 0.05},
  'auc': {'value': None, 'low': None, 'high': None, 'note': 'one label'},
  'age/dp_floor': {'value': None, 'note': 'one group'},
  'gender/dp_floor': {'value': 0.5, 'low': 0.4, 'high': 0.6},
  'fped': {
    **{'value': 0.0, 'low': 0.0, 'high': 0.0},
    'note': 'constant predictor',
  },
}


@pytest.mark.parametrize(
  ('rule', 'whole', 'value', 'part'), table_rows(__file__, 'gate_rules.csv')
)
def test_the_gate_reads_the_side_that_was_chosen(rule, whole, value, part):
  rule = rule.replace('Demographic parity', 'demographic_parity')
  got = [
    gate.check(rule, KNOWN, side).state for side in ('whole', 'value', 'part')
  ]
  assert got == [whole, value, part]


@pytest.mark.parametrize(
  'rule, state, codes',
  [
    # Across the bound a gate is not decided, and ends by what was chosen.
    ('dp<0.8', gate.OPEN, (0, 1, 1)),
    ('flips>0.045', gate.OPEN, (0, 0, 1)),
    ('dp<0.9', F, (1, 1, 1)),
    ('dp<0.7', P, (0, 0, 0)),
    ('auc<0.5', U, (3, 3, 3)),
    ('auc<0.5 or dp<0.8', U, (3, 1, 1)),
  ],
)
def test_a_gate_is_decided_by_its_interval(rule, state, codes):
  for side, code in zip(('whole', 'value', 'part'), codes):
    facts = gate.facts(rule, {'quality': KNOWN, 'fairness': {}}, side)
    assert facts['gate'] == (F if state == U and code == 1 else state)
    assert facts['gate, exit code'] == str(code)
    ends = {1: pytest.raises(Failed), 3: pytest.raises(Undecided)}
    with ends.get(code, contextlib.nullcontext()):
      gate.stop(facts)


def test_a_gate_says_why_it_is_undecided():
  verdict = gate.check('auc<0.5 or dp<0.7 or fped>0.1', KNOWN, 'whole')
  assert verdict.reasons == [
    'auc is undefined (one label)',
    'fped means nothing (constant predictor)',
  ]


@pytest.mark.parametrize('rule', ['dp', 'dp<', 'dp<x', 'or', 'dp=0.8', ''])
def test_a_gate_that_is_no_rule_is_one_sentence(rule):
  with pytest.raises(UserError, match='fail_if'):
    gate.parse(rule)


def test_a_gate_that_names_no_measure_is_one_sentence():
  with pytest.raises(UserError, match="did you mean 'flips'"):
    gate.names('flisp>0.1', KNOWN)
  with pytest.raises(UserError, match='not measure; there are auc, dp'):
    gate.names('happiness>0.1', KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize('n', [150, 1000])
@pytest.mark.parametrize('off', [0.0, 0.15])
def test_intervals_of_ece_cover(n, off):
  """Scores at eight levels, `off` from the chance of a positive."""
  levels = np.linspace(0.15, 0.8, 8)
  inside, sets = 0, 1000
  for k in range(sets):
    rng = np.random.default_rng([k, n])
    at = rng.integers(0, 8, n)
    labels = (rng.random(n) < levels[at] + off * (at % 2)).astype(int)
    case = of(labels, levels[at][None], how=RowSample(0.95, 500, k))
    everyone, _, _ = calibration.measure(case)
    # Two levels may share a bin, where they add up; these do not.
    truth = off / 2
    one = everyone['ece']
    inside += one['low'] - 1e-9 <= truth <= one['high']
  print(f'ece off {off}, {n} rows: coverage {inside / sets:.3f}')
  assert inside / sets >= 0.93  # .95 less three standard errors


def test_a_group_of_one_row_is_in_no_gap_of_a_users_measure():
  """Its warning says that it is left out of every gap."""
  labels, scores, sex, _ = made(200)
  sex[:2], labels[0] = ['x', 'f'], 1
  scores[0, 0] = 0.0
  found = fairjax.assess(
    labels,
    scores[0],
    sex,
    metrics={'wrong': lambda y, d, y_prob=None: (y != d).mean()},
    n_resamples=50,
  )
  wrong = (scores[0] >= 0.5) != labels
  gap = abs(wrong[sex == 'f'].mean() - wrong[sex == 'm'].mean())
  assert found.groups['wrong']['x'] == 1
  assert found['wrong_difference']['value'] == pytest.approx(gap)
