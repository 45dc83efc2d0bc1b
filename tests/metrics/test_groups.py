"""Rates, gaps and thresholds against counting, fairlearn and Dixon's loop."""

import numpy as np
import pandas as pd
import pytest
import slow_measures as slow
from hypothesis import given, settings
from hypothesis import strategies as st

from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table, group_names, inputs
from fairjax.metrics import assess as door
from fairjax.metrics import groups
from fairjax.metrics.inference.sample import RowSample

draws = lambda *own: RowSample(0.95, *own)


def some(n=400, g=3, seed=0):
  rng = np.random.default_rng(seed)
  group = rng.integers(0, g, n)
  labels = (rng.random(n) < 0.3 + 0.1 * group).astype(np.int64)
  scores = 1 / (1 + np.exp(-rng.normal(size=n) - labels - 0.2 * group))
  return labels, scores[None], np.arange(g)[:, None] == group, group


def test_confusion_of_a_hand_counted_table():
  # Golden test 8 of the facts: tp 4, tn 2, fp 3, fn 1.
  scores = np.array([[0.1, 0.2, 0.3, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]])
  labels = np.array([1, 0, 0, 0, 0, 0, 1, 1, 1, 1])
  everyone = np.ones((1, 10), bool)
  found = groups.confusion(labels, scores, everyone, np.array([0.5, 0.0, 2.0]))
  assert found[0, 0, 0].tolist() == [2, 3, 1, 4]
  assert found[0, 1, 0].tolist() == [0, 5, 0, 5]
  assert found[0, 2, 0].tolist() == [5, 0, 5, 0]


def test_rates_are_shares_of_rows():
  labels, scores, members, _ = some()
  decisions = (scores[0] >= 0.5).astype(int)
  counts = groups.confusion(labels, scores, members, np.array([0.5]))[0, 0]
  found = groups.rates(counts.astype(np.float64))
  for g, member in enumerate(members):
    slowly = slow.rates(labels[member], decisions[member])
    for r, name in enumerate(groups.NAMES):
      assert float(found[g, r]) == pytest.approx(slowly[name], abs=1e-12)


def test_gaps_are_fairlearns():
  fair = pytest.importorskip('fairlearn.metrics')
  labels, scores, _, group = some()
  columns = groups.of_columns({'group': group})
  found = door.assess(labels, scores, columns, options=draws(0))['fairness']
  value = lambda name: found[name]['value']
  decisions = (scores[0] >= 0.5).astype(int)
  known = {'sensitive_features': group}
  dp = fair.demographic_parity_difference(labels, decisions, **known)
  assert value('dp') == pytest.approx(1 - dp, abs=1e-12)
  assert value('selection_rate_ratio') == pytest.approx(
    fair.demographic_parity_ratio(labels, decisions, **known), abs=1e-12
  )
  mean = fair.equalized_odds_difference(labels, decisions, agg='mean', **known)
  assert value('eqodd') == pytest.approx(1 - mean, abs=1e-12)
  worst = fair.equalized_odds_difference(labels, decisions, **known)
  assert min(value('eqopp0'), value('eqopp1')) == pytest.approx(1 - worst)
  for rate, metric in {
    'fpr': fair.false_positive_rate,
    'fnr': fair.false_negative_rate,
    'tpr': fair.true_positive_rate,
    'tnr': fair.true_negative_rate,
    'selection_rate': fair.selection_rate,
  }.items():
    frame = fair.MetricFrame(
      metrics=metric, y_true=labels, y_pred=decisions, **known
    )
    assert value(f'{rate}_difference') == pytest.approx(frame.difference())
    assert value(f'{rate}_ratio') == pytest.approx(frame.ratio())
    assert value(f'{rate}_min') == pytest.approx(frame.group_min())
    assert value(f'{rate}_max') == pytest.approx(frame.group_max())
    sums = {'fpr': 'fped', 'fnr': 'fned', 'tpr': 'tped', 'tnr': 'tned'}
    if rate in sums:
      total = (frame.by_group - frame.overall).abs().sum()
      assert value(sums[rate]) == pytest.approx(total)


@settings(max_examples=40, deadline=None)
@given(
  st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 20)), min_size=1, max_size=30
  )
)
def test_equal_error_threshold_is_dixons_loop(rows):
  labels, scores = (
    np.array([r[0] for r in rows]),
    np.array([r[1] for r in rows]),
  )
  scores = scores / 20
  found = groups.equal_error(labels, scores[None])[0]
  assert found == pytest.approx(slow.equal_error(labels, scores), abs=1e-12)


def test_memberships_of_two_attributes_and_their_intersections():
  found = groups.of_columns(
    {'gender': ['f', 'm', 'f', ''], 'age': ['old', 'old', 'young', 'old']},
    intersections=True,
  )
  shown = {name: np.flatnonzero(own).tolist() for name, own in found.each}
  assert shown == {
    **{'gender: f': [0, 2], 'gender: m': [1]},
    **{'age: old': [0, 1, 3], 'age: young': [2]},
    **{'f × old': [0], 'f × young': [2], 'm × old': [1]},
  }
  kinds = ['gender'] * 2 + ['age'] * 2 + ['gender × age'] * 3
  assert found.attributes == kinds and found.code is None
  young = found.of('age').taken([1])
  assert (young.names, young.titles) == (['age: young'],) * 2
  assert (found.key('age', 'dp'), young.key('age', 'dp')) == ('age/dp', 'dp')
  assert groups.of_columns({'sex': ['f', 'm']}).titles == ['sex: f', 'sex: m']


@pytest.mark.parametrize(
  'values',
  [
    np.array([3, 10, 3, -1]),
    np.array([True, False, True, True]),
    np.array([1.5, np.nan, 0.0, 1.5]),
    np.array([0.1, 0.2, 0.1, 0.3], np.float32),
    np.array(['b', '', 'a', 'b']),
    pd.Series([2, 1, 2, 2], index=[7, 8, 9, 9]),
    pd.Series(['x', None, 'y', 'x'], dtype='category'),
    pd.Series([1, 'b', 1, None], dtype=object),
    [1, '1', None, float('nan')],
  ],
  ids=lambda values: str(getattr(values, 'dtype', 'list')),
)
def test_groups_are_named_by_what_their_values_print(values):
  columns, _ = inputs.columns(values, 4)
  members, names, *_ = groups.of_columns(columns)
  number = lambda v: isinstance(v, float | np.floating)
  text = [
    '' if v is None or v != v else f'{v:g}' if number(v) else str(v)
    for v in values
  ]
  assert names == sorted(set(text) - {''})
  for member, name in zip(members, names, strict=True):
    assert member.tolist() == [t == name for t in text]


def test_bands_stand_from_the_lowest():
  """By name '18 to below 30' stood before '9 to below 18', 'below 9' last."""
  given = [-40.5, 5, 12, 20, 35, 1e7]
  bands = audit_table.columns_of(
    pd.DataFrame({'age': given}), ['age:-2.5/9/18/30/2e6']
  )[0]['age']
  names = groups.of_columns({'age': bands}).names
  assert names == [
    *('below -2.5', '-2.5 to below 9', '9 to below 18', '18 to below 30'),
    *('30 to below 2e+06', '2e+06 and above'),
  ]
  for names in (['9 and above', 'a', 'b'], ['10', '9']):  # no bands
    assert group_names.in_order(names[::-1]) == names


def test_a_row_has_its_group_of_the_first_attribute():
  columns = {'sex': ['f', '', 'm'], 'age': ['old', 'old', None]}
  found = groups.of_columns(columns, intersections=True)
  assert list(found.by_row()) == ['sex: f', '', 'sex: m']
  both = np.array([[True, False, True], [True, True, False]])
  assert list(groups.of_masks(both, 'ab').by_row()) == ['', 'b', 'a']
  assert list(groups.of_columns({}, 3).by_row()) == ['', '', '']
  two = groups.Groups(np.eye(2, dtype=bool), 'xy', 'ab')
  assert list(two.by_row()) == ['x', '']


def test_memberships_of_unequal_length_are_refused():
  with pytest.raises(UserError, match='different lengths'):
    groups.of_columns({'a': ['x'], 'b': ['y', 'z']})


def test_reductions_are_those_of_each_resample_and_seed():
  """Of four groups and everyone, some undefined, in loops."""
  rng = np.random.default_rng(0)
  draws, centre = rng.random((6, 2, 1, 5, 3)), rng.random((2, 1, 5, 3))
  centre[:, :, 0, 0] = np.nan  # a rate of one group alone
  centre[1, 0, :3, 1] = np.nan  # of all groups but one
  draws = np.where(np.isnan(centre), np.nan, draws)
  values, noise = groups.reduce(draws), groups.reduce(draws - centre)
  for b, s, r in np.ndindex(6, 2, 3):
    own, middle = draws[b, s, 0, :, r], centre[s, 0, :, r]
    known = [g for g in range(4) if own[g] == own[g]]
    apart = own - middle
    gaps, bounds = (
      {
        'range': max(each[known]) - min(each[known]),
        'sum': sum(abs(each[g] - each[4]) for g in known),
      }
      for each in (own, apart)
    )
    if len(known) < 2:
      gaps, bounds = (dict.fromkeys(x, np.nan) for x in (gaps, bounds))
    gaps |= {'min': min(own[known]), 'max': max(own[known])}
    bounds |= {'min': min(apart[known]), 'max': max(apart[known])}
    for result, expected in ((values, gaps), (noise, bounds)):
      assert result.keys() == expected.keys()
      for name, value in expected.items():
        np.testing.assert_allclose(result[name][b, s, 0, r], value, atol=1e-12)
