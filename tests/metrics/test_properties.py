"""What algebra says of every measure of an assessment, on drawn rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

import fairjax
from fairjax import UserError
from fairjax.benchmarks import bbq, crows, stereoset
from fairjax.benchmarks.shared import association
from fairjax.metrics import (
  calibration,
  contrasts,
  custom_metrics,
  group_thresholds,
  thresholds,
)
from fairjax.metrics.assess import assess
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference import row_weights
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import counterfactual, fairscore, flips, rewrites

ROW = st.tuples(
  st.integers(0, 1),  # label
  st.tuples(*[st.integers(0, 19)] * 2),  # scores of two seeds, none at .5
  st.sampled_from('abc'),
  st.integers(1, 3),  # weight
)
ROWS = st.lists(ROW, min_size=4, max_size=30)
TRIED = settings(max_examples=25, deadline=None)
# A measure, and what it becomes where labels, scores and decisions are turned.
TURNED = {
  **{'tpr': 'tnr', 'fpr': 'fnr', 'bpsn_auc': 'bnsp_auc'},
  **{'fped': 'fned', 'tped': 'tned', 'eqopp1': 'eqopp0'},
  'bpsn_auc_min': 'bnsp_auc_min',
  **{'positive_aeg': 'negative_aeg', 'positive_aeg_max': 'negative_aeg_max'},
}
TURNED |= {other: one for one, other in TURNED.items()}
COMPLEMENT = 'base_rate', 'selection_rate'
OF_ONE_CLASS = 'precision', 'f1', 'pearson'  # not symmetric in the classes
EXTREME = {'min': 'max', 'max': 'min'}


def rows_of(drawn):
  label, scores, group, weight = zip(*drawn)
  return (
    np.array(label),
    (np.array(scores).T + 0.5) / 20,
    np.array(group),
    np.array(weight, float),
  )


def of_an_audit(label, scores, groups, how) -> dict:
  """What an audit adds, of flips of an edit, of scores, of costs, one's own."""
  moved = lambda by, at: (scores * by + at) % 1
  edited, side = scores[0] > 0.3, np.where(scores[0] > 0.6, 1, -1)
  controlled = edited & (scores[1] > 0.4)
  edit = edited, moved(7, 0.13), controlled, moved(3, 0.37), side
  edit = flips.EditScores(*edit)
  case = Case(label, scores, (scores >= 0.5).astype(int), groups, how)
  found = flips.measure(case, edit, 0.5)
  parts = {part: {} for part in ('', *groups.names)} | found.groups
  parts[''] = dict(found.measures)
  for every, each, gaps in (
    calibration.measure(case),
    contrasts.costs(case, (1.0, 5.0)),
    custom_metrics.measured({'right': accuracy_score}, case),
  ):
    for part, own in zip(('', *groups.names), (every | gaps, *each)):
      parts[part] |= own
  for row in contrasts.differences(case, 'rest'):
    parts[row['group']][f'{row["rate"]} beside'] = row['difference']
  first = case._replace(decisions=case.decisions[:1])
  for row in contrasts.impact_ratios(first):
    parts[row['group']]['impact ratio'] = row['ratio']
  return parts


def of_thresholds(label, scores, group, weight) -> dict:
  """What thresholds rows choose, for all and of each group, where they do."""
  parts = {part: {} for part in ('', *np.unique(group))}
  try:
    for rule in ('eer', 'balanced_accuracy', 'accuracy'):
      value = thresholds.choose(label, scores, rule, weight)
      parts[''][rule] = {'value': value}
    for criterion in group_thresholds.CRITERIA:
      rule = group_thresholds.fit(
        label, scores[0], group, criterion, weight=weight
      )
      for name, value in rule.thresholds.items():
        parts[name][criterion] = {'value': value}
  except UserError:  # rows that do not tell, in either order
    pass
  return parts


def of_texts(label, scores, group) -> dict:
  """Measures of texts and twins, of rewrites, of a benchmark's pairs."""
  twin, shows = scores[::-1], (scores[1] > scores[0]).astype(int)
  how, one = RowSample(resamples=0), (scores >= 0.5).astype(int)
  of_groups = counterfactual.group_rates(label, shows, scores, twin)
  gaps = counterfactual.rates(label, scores, twin), of_groups
  gaps += (counterfactual.content(of_groups),)
  sizes, quality = map(counterfactual.sizes, gaps), counterfactual.quality
  found = {}
  for sums in (*gaps, *sizes, quality(label, scores)):
    found |= counterfactual.drawn(sums, how).values
  words = np.where(scores[0] > 0.6, 'a c d', np.where(label, 'a b d', 'a d'))
  words = [w.split() for w in words]
  each = [rewrites.counts('a b d'.split(), 'a c d'.split(), w) for w in words]
  found |= rewrites.measures(np.sum(each, 0, float, keepdims=True))
  events = fairscore.outcomes(label, one, (twin >= 0.5).astype(int))
  found |= {k: fairscore.share(v, how)['seeds'] for k, v in events.items()}
  sides = [scores[0][label == k] for k in (1, 0)]
  if min(map(len, sides)) > 1:
    found['effect size'] = association.effect_size(*sides)
  parts = {'': found} | {part: {} for part in np.unique(group)}
  for part, name, value in of_benchmarks(label, scores, group, how):
    parts[part if part in parts else ''][name] = value
  flat = lambda x: np.atleast_1d(np.asarray(x, float)).tolist()
  return {
    part: {k: {'value': None, 'seeds': flat(v)} for k, v in each.items()}
    for part, each in parts.items()
  }


def of_benchmarks(label, scores, group, how):
  """(part, name, value) of CrowS-Pairs, StereoSet and BBQ on such rows."""
  at = [f'{x:.3f} {y:.3f}' for x, y in scores.T]
  table = pd.DataFrame({'id': at, 'bias_type': group, 'stereo': label > 0})
  pairs = crows.decided(table, *scores, 'x')
  table = table.assign(level='', target=group)
  three = np.stack([*scores, (scores[0] * 7 + 0.13) % 1], 1)
  sets = stereoset.rows(stereoset.decided(table, three, 'x'), how)
  for row in [*crows.rows(pairs, how), *sets]:
    part = row['part'].removeprefix(', ')
    name = row['metric'], row['part'] if part not in group else ''
    yield part, name, row['value']['value']
  asked = pd.DataFrame({'target': label * 2, 'unknown': 1, 'label': 2 - label})
  asked['question_polarity'] = np.where(scores[1] > 0.5, 'neg', 'nonneg')
  totals = bbq.sums(asked, np.minimum(3 * scores[0], 2).astype(int)).sum(0)
  with np.errstate(invalid='ignore'):
    for kind in ('ambig', 'disambig'):
      for name, one in bbq.numbers(kind).items():
        yield '', f'{kind} {name}', one.measure(totals)


def of_three(label, scores) -> tuple:
  """Labels and scores of three classes, of the same rows."""
  each = np.stack([scores, 1 - scores, (scores * 7 + 0.13) % 1], -1)
  return label + (scores[0] > 0.5), each / each.sum(-1, keepdims=True)


def measured(label, scores, group, weight=None, more=True, **other) -> dict:
  """{(where, measure): numbers} of points and of intervals in closed form."""
  groups = of_columns({'group': group, **other})
  own = None if weight is None else row_weights.given(weight, len(label))
  how = RowSample(resamples=0, weight=own)
  asked, found = {'options': how, 'min_group': 1}, []
  three = of_three(label, scores)
  for of, data in (('', (label, scores)), (' of three', three)):
    one = assess(*data, groups, **asked)
    parts = {'': one['quality'] | one['fairness'], **one['groups']}
    found.append((of, parts))
  if more:
    found.append(('', of_an_audit(label, scores, groups.of('group'), how)))
    found.append((' chosen', of_thresholds(label, scores, group, own)))
  if more and weight is None:  # of texts, whose rows have no weights
    found.append((' of texts', of_texts(label, scores, group)))
  return {
    (part, f'{name}{of}'): estimate
    for of, parts in (found if more else found[:1])
    for part, each in parts.items()
    for name, estimate in each.items()
    if isinstance(estimate, dict)
  }


def numbers(estimate: dict, ends: bool) -> np.ndarray:
  kept = estimate.get('seeds', [estimate['value']])
  if ends:
    kept = [*kept, estimate.get('low'), estimate.get('high')]
  return np.array(kept, float)


def assert_same(one: dict, two: dict, ends: bool = True) -> None:
  assert one.keys() == two.keys()
  for key in one:
    x, y = (numbers(each[key], ends) for each in (one, two))
    assert np.allclose(x, y, 1e-6, 1e-6, equal_nan=True), (key, x, y)


@TRIED
@given(ROWS, st.randoms())
def test_the_order_of_rows_is_nothing(drawn, random):
  again = list(drawn)
  random.shuffle(again)
  assert_same(measured(*rows_of(drawn)), measured(*rows_of(again)))


@TRIED
@given(ROWS)
def test_a_weight_of_two_is_a_row_twice(drawn):
  label, scores, group, weight = rows_of(drawn)
  often = np.repeat(np.arange(len(label)), weight.astype(int))
  many = measured(label[often], scores[:, often], group[often])
  one = measured(label, scores, group, weight)
  assert_same(one, {key: many[key] for key in one}, ends=False)
  twice = np.tile(np.arange(len(label)), 2)
  again = of_texts(label[twice], scores[:, twice], group[twice])
  for part, each in of_texts(label, scores, group).items():
    each.pop('effect size', None)  # of a spread over n − 1
    assert_same(each, {key: again[part][key] for key in each}, ends=False)


@TRIED
@given(ROWS)
def test_groups_under_other_names_have_the_same_numbers(drawn):
  label, scores, group, weight = rows_of(drawn)
  name = {'a': 'z', 'b': 'y', 'c': 'x'}
  again = measured(label, scores, np.array([name[g] for g in group]), weight)
  back = {v: k for k, v in name.items()}
  again = {(back.get(p, p), m): one for (p, m), one in again.items()}
  assert_same(measured(label, scores, group, weight), again)


@TRIED
@given(ROWS)
def test_classes_the_other_way_round_exchange_their_measures(drawn):
  label, scores, group, weight = rows_of(drawn)
  one = measured(label, scores, group, weight, more=False)
  two = measured(1 - label, 1 - scores, group, weight, more=False)
  for (part, name), estimate in one.items():
    rate, _, way = name.rpartition('_')
    complement = name in COMPLEMENT or (rate in COMPLEMENT and way in EXTREME)
    one_sided = {name, rate} & {*OF_ONE_CLASS}
    if one_sided or (rate in COMPLEMENT and way == 'ratio'):
      continue
    turned = TURNED.get(name, name)
    if rate in TURNED and name not in TURNED:
      turned = f'{TURNED[rate]}_{way}'
    if rate in COMPLEMENT and way in EXTREME:
      turned = f'{rate}_{EXTREME[way]}'
    x, y = numbers(estimate, False), numbers(two[part, turned], False)
    y = 1 - y if complement else -y if name.endswith('_aeg') else y
    assert np.allclose(x, y, 1e-5, 1e-6, equal_nan=True), (name, x, y)


@TRIED
@given(ROWS)
def test_texts_the_other_way_round_turn_their_gaps(drawn):
  label, scores, group, _ = rows_of(drawn)
  one, two = (
    of_texts(*rows, group)['']
    for rows in ((label, scores), (1 - label, 1 - scores))
  )
  for x, y in (('tprd', 'fprd'), ('accuracy', 'accuracy')):
    sign = 1 if x == y else -1
    x, y = numbers(one[x], False), sign * numbers(two[y], False)
    assert np.allclose(x, y, 1e-9, 1e-9, equal_nan=True), (x, y)


@TRIED
@given(ROWS, st.randoms())
def test_a_second_attribute_changes_nothing_of_the_first(drawn, random):
  label, scores, group, weight = rows_of(drawn)
  other = np.array([random.choice(['', 'u', 'v']) for _ in group])
  one = measured(label, scores, group, weight)
  two = measured(label, scores, group, weight, other=other)
  own = {}
  for part, name in one:
    keys = (f'group: {part}' if part else '', name), (part, f'group/{name}')
    own[part, name] = two[next((k for k in keys if k in two), (part, name))]
  assert_same(one, own)


FEW = {'n_resamples': 100}


@pytest.mark.parametrize('seed', range(3))
def test_predictions_in_two_files_and_any_order_are_those_of_one(seed):
  rng = np.random.default_rng(seed)
  uid, group = rng.permutation(1000)[:80], rng.choice(list('ab'), 80)
  data = {'uid': uid, 'label': np.arange(80) % 2, 'group': group}
  data = pd.DataFrame(data)
  said = pd.DataFrame({'uid': data['uid'], 'score': rng.random(80)})
  halves = said.sample(frac=1, random_state=seed)
  joined = pd.concat([halves[:31], halves[31:]], ignore_index=True)
  whole, again = (
    fairjax.audit(one, data, groups='group', options=FEW).results
    for one in (said, joined)
  )
  assert whole.contenders == again.contenders
