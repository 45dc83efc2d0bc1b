"""The door: golden values, degeneracies, shapes, many classes, attributes."""

import json
import time

import numpy as np
import pytest
import sklearn.metrics as sk

from fairjax.core.errors import UserError
from fairjax.metrics.assess import assess, check
from fairjax.metrics.groups import of_columns, of_masks
from fairjax.metrics.inference.sample import RowSample

draws = lambda *own: RowSample(0.95, *own)

LABELS = np.array([0, 0, 1, 1, 0, 0, 1, 1])
SCORES = np.array([[0.2, 0.6, 0.9, 0.4, 0.7, 0.8, 0.95, 0.55]])
SEX = of_columns({'sex': [*'mmmmffff']})
GOOD = {'labels': LABELS, 'probabilities': SCORES}
NOBODY = {name: each[..., :0] for name, each in GOOD.items()}


def values(found, room):
  return {name: one['value'] for name, one in found[room].items()}


def some(n=600, s=3, seed=0):
  rng = np.random.default_rng(seed)
  group, labels = rng.integers(0, 2, n), rng.integers(0, 2, n)
  z = rng.normal(size=(s, n)) + 1.5 * labels - 0.8 + 0.6 * group
  masks = np.stack([group == 0, group == 1])
  return labels, 1 / (1 + np.exp(-z)), of_masks(masks, 'ab')


@pytest.mark.parametrize('resamples', [0, 200])
def test_golden_six(resamples):
  found = assess(LABELS, SCORES, SEX, options=draws(resamples), min_group=1)
  fair = values(found, 'fairness')
  halves = 'fped fned tped tned dp eqopp0 eqopp1 eqodd'.split()
  assert {name: fair[name] for name in halves} == dict.fromkeys(halves, 0.5)
  good = values(found, 'quality')
  assert (good['auc'], good['accuracy']) == (0.625, 0.5)
  assert (good['fpr'], good['fnr']) == (0.75, 0.25)
  m, f = (found['groups'][g] for g in 'mf')
  assert (m['rows'], m['fpr']['value'], m['fnr']['value']) == (4, 0.5, 0.5)
  assert (f['fpr']['value'], f['fnr']['value']) == (1, 0)


def test_perfect_predictor_has_the_floor_and_says_so():
  labels = np.array([0] * 60 + [1] * 40 + [0] * 80 + [1] * 20)
  groups = of_columns({'group': ['a'] * 100 + ['b'] * 100})
  found = assess(labels, labels[None] * 1.0, groups, options=draws(50))
  fair = values(found, 'fairness')
  assert fair['dp'] == fair['dp_floor'] == pytest.approx(0.8)
  assert fair['eqodd'] == 1 and fair['fped'] == fair['fned'] == 0
  assert any(
    'perfect predictor has a demographic parity of 0.800' in w
    for w in found['warnings']
  )
  # No false certainty: 0 false positives of 140 rows are not a rate of 0.
  assert found['fairness']['eqopp0']['low'] < 0.99


def test_a_constant_predictor_is_named():
  labels, scores, groups = some()
  constant = 0 * scores + 0.9
  found = assess(labels, constant, groups, options=draws(50))
  assert found['fairness']['dp']['value'] == 1
  note = found['fairness']['dp']['note']
  assert note == 'constant predictor in every seed'
  mcc = found['quality']['mcc']
  assert mcc['value'] == sk.matthews_corrcoef(labels, 0 * labels + 1) == 0
  assert mcc['low'] < 0 < mcc['high']
  said = ' '.join(found['warnings'])
  assert 'Seed 0 decides 1 for every row' in said
  assert 'same probability' in said
  alone = assess(labels, 0 * scores[:1], groups, options=draws(0))
  assert alone['fairness']['dp']['note'] == 'constant predictor'
  assert alone['warnings'][0].startswith('The model decides 0 for every row')


def test_one_constant_seed_among_others_is_named():
  labels, scores, groups = some()
  scores[1] = 0.1
  found = assess(labels, scores, groups, options=draws(50))
  seeds = found['quality']['mcc']['seeds']
  assert seeds[1] == 0 and seeds[0] > 0
  assert found['quality']['mcc']['value'] == pytest.approx(np.mean(seeds))
  note = found['fairness']['dp']['note']
  assert note == f'constant predictor in 1 seed of {len(scores)}'


def test_an_empty_group_is_left_out_and_named():
  labels, scores, groups = some()
  empty = of_masks(np.zeros((1, len(labels)), bool), 'c')
  found = assess(labels, scores, groups.with_more(empty), options=draws(100))
  plain = assess(labels, scores, groups, options=draws(100))
  assert values(found, 'fairness') == values(plain, 'fairness')
  assert found['groups']['c']['tpr']['value'] is None
  assert found['groups']['c']['tpr']['note'] == 'no rows'
  assert any("'c' (no rows" in w for w in found['warnings'])
  small = of_masks(np.eye(6, len(labels), dtype=bool), '012345')
  small = groups.with_more(small)
  for least, none in (1, 0), (2, 3):  # a row is in the gaps of its own label
    found = assess(labels, scores, small, min_group=least)
    (said,) = (w for w in found['warnings'] if w.startswith('Few rows'))
    assert said.endswith(f'3 more groups, {none} in no gap.')


def test_a_sum_of_two_groups_distances_is_at_most_1():
  """.15 [0, 1.79] of two seeds says no more than [0, 1]."""
  two, half = np.arange(200) % 2 == np.arange(2)[:, None], np.arange(200) < 100
  scores = np.stack([half & ~(two[0] & (np.arange(200) < 60)), half])
  groups = of_masks(two, 'ab')
  one = assess(0 * half, scores * 0.9, groups, options=draws(200))
  fped = one['fairness']['fped']
  assert fped['high'] is None and fped['note'].startswith('2 seeds are too few')


def test_a_group_of_one_label_has_no_silent_rate():
  labels, scores, groups = some()
  groups.members[0] &= labels == 1
  found = assess(labels, scores, groups, options=draws(100))
  assert found['groups']['a']['fpr']['value'] is None
  assert found['groups']['a']['auc']['value'] is None
  assert found['fairness']['eqopp0']['value'] is None
  assert 'fewer than two groups' in found['fairness']['eqopp0']['note']
  assert found['fairness']['eqodd']['value'] is None
  assert found['fairness']['eqopp1']['value'] is not None
  assert any("'a' (0 of label 0" in w for w in found['warnings'])


def test_a_set_of_one_label():
  _, scores, groups = some()
  labels = np.ones(scores.shape[1], int)
  found = assess(labels, scores, groups, options=draws(50))
  assert found['quality']['auc']['value'] is None
  assert found['quality']['fpr']['value'] is None
  assert found['quality']['mcc']['value'] is None
  assert found['quality']['mcc']['note'] == 'all labels agree'
  assert any('have label 1' in w for w in found['warnings'])


def test_no_groups_is_quality_alone():
  found = assess(*some()[:2], options=draws(50))
  assert found['fairness'] == {} and found['groups'] == {}
  assert found['quality']['auc']['low'] < found['quality']['auc']['value']


def test_every_interval_holds_its_value_and_is_json():
  found = assess(*some(), options=draws(500))
  assert found['warnings'] == []
  rooms = [found['quality'], found['fairness'], *found['groups'].values()]
  for room in rooms:
    for name, one in room.items():
      if name != 'rows':
        assert one['low'] <= one['value'] + 1e-9, name
        assert one['value'] <= one['high'] + 1e-9, name
        assert len(one['seeds']) == 3
        mean = sum(one['seeds']) / 3
        assert one['value'] == pytest.approx(mean, abs=1e-12)
  json.dumps(found, allow_nan=False)


def test_deterministic_in_the_seed():
  one = lambda seed: json.dumps(assess(*some(), options=draws(100, seed)))
  assert one(0) == one(0) != one(1)


def test_two_columns_of_probabilities_are_the_binary_case():
  labels, scores, groups = some()
  both = np.stack([1 - scores, scores], -1)
  a = assess(labels, scores, groups, options=draws(20))
  assert a == assess(labels, both, groups, options=draws(20))


def test_three_classes_are_sklearns_and_name_the_worst_class():
  rng = np.random.default_rng(0)
  n = 600
  labels, group = rng.integers(0, 3, n), rng.integers(0, 2, n)
  logits = rng.normal(size=(4, n, 3)) + 1.5 * np.eye(3)[labels]
  logits[:, group == 1, 2] += 1.5
  p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
  members = np.stack([group == 0, group == 1])
  groups = of_masks(members, 'ab')
  found = assess(labels, p, groups, options=draws(300))
  good = found['quality']
  assert found['threshold'] == 'argmax'
  for s in range(4):
    decided = p[s].argmax(-1)
    for name, expected in {
      'macro_auc': sk.roc_auc_score(labels, p[s], multi_class='ovo'),
      'macro_f1': sk.f1_score(labels, decided, average='macro'),
      'accuracy': sk.accuracy_score(labels, decided),
      'mcc': sk.matthews_corrcoef(labels, decided),
      'log_loss': sk.log_loss(labels, p[s]),
    }.items():
      assert good[name]['seeds'][s] == pytest.approx(expected, abs=1e-9), name
      assert good[name]['low'] < good[name]['value'] < good[name]['high']
    gap = [
      abs((decided[members[0]] == c).mean() - (decided[members[1]] == c).mean())
      for c in range(3)
    ]
    dp = found['fairness']['dp']
    assert dp['seeds'][s] == pytest.approx(1 - max(gap), abs=1e-12)
  assert dp['class'] == 2
  assert dp['high'] < 1
  for g, name in enumerate('ab'):
    right = (p[0].argmax(-1) == labels)[members[g]].mean()
    one = found['groups'][name]['accuracy']
    assert one['seeds'][0] == pytest.approx(right)
    assert one['low'] < one['value'] < one['high']


def test_several_attributes_have_gaps_of_their_own():
  labels, scores, groups = some()
  other = np.random.default_rng(1).integers(0, 2, len(labels)) == 0
  more = of_masks(np.stack([other, ~other]), 'yo', 'age')
  found = assess(labels, scores, groups.with_more(more), options=draws(50))
  alone = assess(labels, scores, groups, options=draws(50))
  gender = found['fairness']['group/dp']['value']
  assert gender == alone['fairness']['dp']['value']
  assert found['fairness']['age/dp']['value'] > gender


@pytest.mark.parametrize('turn', [False, True])
def test_no_interval_has_width_zero_at_the_edges(turn):
  """20 rows ranked perfectly, or all wrongly, are not the whole truth."""
  labels = np.tile([0, 1], 10)
  groups = of_columns({'group': ['a'] * 10 + ['b'] * 10})
  scores = np.where(labels == turn, 0.1, 0.9) + np.linspace(0, 0.05, 20)
  found = assess(labels, scores[None], groups, options=draws(2000), min_group=1)
  for room in (found['quality'], found['fairness'], *found['groups'].values()):
    for name, one in room.items():
      if name != 'rows' and one['low'] is not None and one['high'] is not None:
        assert one['high'] - one['low'] > 0.01, name
        assert one['low'] <= one['value'] <= one['high'], name
  accuracy = found['quality']['accuracy']
  exact = 1 - 0.025 ** (1 / 20)  # Clopper and Pearson's
  least = min(accuracy['high'], 1 - accuracy['low'])
  assert max(accuracy['high'], 1 - accuracy['low']) == 1
  assert least == pytest.approx(exact, abs=0.01)
  auc = found['quality']['auc']
  assert 0.7 < (1 - auc['high'] if turn else auc['low']) < 0.85
  assert found['fairness']['auc_gap']['high'] > 0.1


def test_intervals_stay_in_range_with_two_seeds():
  """Student's t of one degree of freedom would leave it."""
  labels, scores, groups = some(s=2)
  scores[1] = scores[1] ** 0.3
  found = assess(labels, scores, groups, options=draws(500))
  least = {'mcc': -1, 'positive_aeg': -0.5, 'negative_aeg': -0.5}
  for room in (found['quality'], found['fairness'], *found['groups'].values()):
    for name, one in room.items():
      if name not in ('rows', 'log_loss', 'fped', 'fned', 'tped', 'tned'):
        if one['low'] is None:  # no [0, 1]: it would say nothing
          assert one['note'] == '2 seeds are too few for an interval', name
          continue
        assert least.get(name, 0) <= one['low'] <= one['high'] <= 1, name
        assert one['high'] - one['low'] < 0.98 * (1 - least.get(name, 0)), name
  assert found['quality']['log_loss']['low'] > 0
  assert found['quality']['f1']['high'] - found['quality']['f1']['low'] > 0.1


def test_small_groups_are_in_no_gap_and_named():
  labels, scores, groups = some()
  one_row = np.zeros((1, len(labels)), bool)
  one_row[0, np.flatnonzero(labels == 1)[0]] = True
  few = np.zeros((1, len(labels)), bool)
  few[0, np.flatnonzero(labels == 0)[:40]] = True
  few[0, np.flatnonzero(labels == 1)[:4]] = True
  two = of_masks(np.concatenate([one_row, few]), ['lone', 'scarce'])
  every = groups.with_more(two)
  plain = assess(labels, scores, every, options=draws(0), min_group=1)
  assert plain['fairness']['dp_floor']['value'] < 0.2
  found = assess(labels, scores, every, options=draws(100))
  fair = values(found, 'fairness')
  alone = assess(labels, scores, groups, options=draws(0))
  assert fair['eqopp1'] == values(alone, 'fairness')['eqopp1']
  assert fair['auc_min'] == values(alone, 'fairness')['auc_min']
  # 40 of label 0 count in the gaps of label 0.
  assert fair['eqopp0'] <= values(alone, 'fairness')['eqopp0']
  assert fair['dp_floor'] > 0.3
  said = ' '.join(found['warnings'])
  assert "'lone' (1, fewer than 10; in no gap)" in said
  assert "'scarce' (" in said and 'in no gap of it' in said
  assert found['groups']['lone']['tpr']['value'] is not None
  few = assess(labels, scores, two, options=draws(50))
  note = few['fairness']['dp']['note']
  assert note == (
    'fewer than two groups in which it is defined by 10 rows or more'
  )


def test_a_perfect_mcc_is_exactly_one():
  labels = (np.arange(997) % 3 == 0).astype(int)
  found = assess(labels, labels[None] * 1.0, options=draws(100))['quality']
  assert found['mcc']['value'] == pytest.approx(1.0, abs=1e-12)
  assert found['mcc']['high'] <= 1


@pytest.mark.parametrize(
  'measure, expected', [('fped', 0.22), ('dp', 0.88), ('auc_gap', None)]
)
def test_null_is_the_mean_gap_of_fair_groups(measure, expected):
  """Of 40 sets with five fair groups, as the null of any one of them says."""
  rng, shown, null = np.random.default_rng(2), [], []
  for _ in range(40):
    n = 400
    labels, group = rng.integers(0, 2, n), rng.integers(0, 5, n)
    scores = 1 / (1 + np.exp(-rng.normal(size=(1, n)) - labels + 1))
    groups = of_columns({'group': group})
    found = assess(labels, scores, groups, options=draws(200))
    shown.append(found['fairness'][measure]['value'])
    null.append(found['fairness'][measure]['null'])
  error = np.std(shown) / 40**0.5
  assert abs(np.mean(null) - np.mean(shown)) < 4 * error
  if expected:
    assert np.mean(null) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(
  'change, message',
  [
    ({'probabilities': SCORES * np.nan}, 'row 0 of seed 0 is not a number'),
    ({'labels': LABELS + 1}, 'row 2 has label 2'),
    ({'threshold': 'half'}, "'half'; it must be a number or 'eer'"),
    (NOBODY, 'no rows'),
  ],
)
def test_mistakes_are_sentences(change, message):
  with pytest.raises(UserError, match=message):
    assess(**{'groups': SEX, **GOOD, **change})


def test_parts_of_unequal_length_are_a_sentence():
  with pytest.raises(UserError, match='8 labels, 5 probabilities and 8 member'):
    check(LABELS, SCORES[:, :5], SEX)


@pytest.mark.slow
def test_ten_million_rows():
  rng = np.random.default_rng(0)
  n, g = 10_000_000, 50
  group = rng.integers(0, g, n).astype(np.int8)
  labels = (rng.random(n, np.float32) < 0.2).astype(np.int64)
  scores = (0.6 * rng.random(n, np.float32) + 0.4 * labels).astype(np.float32)
  groups = of_columns({'group': group})
  start = time.perf_counter()
  found = assess(labels, scores[None], groups)
  assert time.perf_counter() - start < 120
  # A share is sure to sqrt(.3 * .7 / 200k) = .001, and the widest gap of 50 of
  # them by chance to 5.65 of those (studentised range): an end is so far off.
  dp = found['fairness']['dp']
  assert dp['value'] - dp['low'] == pytest.approx(0.00565, abs=2e-4)
