"""The table of measures: each row is computed, and one row is enough."""

import numpy as np
import pytest

from fairjax.cli import manual
from fairjax.metrics import measures, paired, quality
from fairjax.metrics.assess import assess
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.measures import MEASURES, Measure

draws = lambda *own: RowSample(0.95, *own)


def some(classes=2, seeds=2, n=240):
  rng = np.random.default_rng(classes)
  labels = rng.integers(0, classes, n)
  p = rng.dirichlet(np.ones(classes), (seeds, n))
  p = (p + np.eye(classes)[labels]) / 2
  groups = of_columns({'sex': ['f', 'm'] * (n // 2)})
  return labels, p if classes > 2 else p[..., 1], groups


def assessed(classes=2):
  return assess(*some(classes), options=draws(20))


@pytest.mark.parametrize('name', MEASURES)
def test_a_row_says_only_what_is_used(name):
  row = MEASURES[name]
  if row.kind in ('confusion', 'scores'):
    assert callable(measures.load(row))
  elif row.kind == 'rate':
    counted, among = row.of
    assert len(counted) == len(among) == 4
    assert all(a <= b for a, b in zip(counted, among))
  elif row.kind == 'gap':
    assert row.kernel in ('range', 'sum')
    assert row.of and set(row.of) <= set(measures.rates())
  elif row.kind == 'rank gap':
    assert row.of[0] in quality.SUITE
    assert row.kernel in ('range', 'min', 'largest')
  else:
    assert row.kind in ('rank', 'flips', 'own')
    assert not row.kernel
    assert {*row.of} <= {*MEASURES}
  assert set(measures.of_kind('rank')) == set(quality.SUITE)


def other(counts):
  return np.full(counts.shape[:-2], 0.123)


def another(labels, scores, items, weights, options):
  return {'value': 0.123}


@pytest.mark.parametrize('name', measures.of_kind('confusion', 'scores'))
def test_another_address_is_another_number(monkeypatch, name):
  """The addresses of the table are what is computed, each of them."""
  row = MEASURES[name]
  function = other if row.kind == 'confusion' else another
  mine = row._replace(kernel=f'{__name__}:{function.__name__}')
  monkeypatch.setitem(MEASURES, name, mine)
  # With two classes accuracy is counted as a rate, for its interval.
  found = assess(*some(2 if name == 'f1' else 3), options=draws(0))
  assert found['quality'][name]['value'] == pytest.approx(0.123)


@pytest.mark.parametrize('name', measures.of_kind('gap', 'rank gap'))
def test_another_gap_is_another_number(monkeypatch, name):
  row, rng = MEASURES[name], np.random.default_rng(3)
  groups = of_columns({'group': np.arange(90) % 7 // 2 % 3})
  case = rng.integers(0, 2, 90), rng.random((1, 90)), groups
  fairness = lambda: assess(*case, options=draws(0))['fairness']
  value = lambda: fairness()[name]['value']
  before = value()
  others = ('sum', 'range') if row.kind == 'gap' else ('min', 'range')
  kernel = next(one for one in others if one != row.kernel)
  monkeypatch.setitem(MEASURES, name, row._replace(kernel=kernel))
  assert value() != pytest.approx(before, abs=1e-12)


def test_every_row_is_computed_within_its_range():
  """But for those that recipes compute of their own."""
  two, three = assessed(), assessed(3)
  values = {**two['groups']['m'], **two['quality'], **two['fairness']}
  values |= {**three['quality']}
  assert set(MEASURES) - {*measures.of_kind('own', 'flips')} <= set(values)
  for name, row in MEASURES.items():
    if name in values:
      one = values[name]
      assert row.low <= one['low'] <= one['value'] <= one['high'] <= row.high
      assert row.ideal is None or row.low <= row.ideal <= row.high


def test_ideal_values_are_those_of_a_perfect_predictor():
  labels, _, groups = some()
  # Equal groups: as many positives in each.
  labels = np.arange(len(labels)) // 2 % 2
  found = assess(labels, labels[None] * 0.98 + 0.01, groups)
  values = {**found['groups']['m'], **found['quality'], **found['fairness']}
  for name, one in values.items():
    row = measures.measure(name)
    # An average equality gap compares scores of other rows.
    if name in MEASURES and row.ideal is not None and name != 'log_loss':
      assert one['value'] == pytest.approx(row.ideal, abs=1e-9), name


def test_names_with_attribute_threshold_and_class():
  assert measures.measure('gender/dp') is MEASURES['dp']
  assert measures.measure('fped at eer') is MEASURES['fped']
  assert measures.measure('a/b/tpr_2') is MEASURES['tpr']
  assert measures.measure('fpr_ratio') is None
  assert measures.label('own thing') == 'own thing'
  assert measures.about('own thing') == ''
  auc, fpr = MEASURES['auc'], MEASURES['fpr']
  assert measures.about('a/auc') == auc.about  # whose label is its name
  assert measures.about('fpr') == f'{fpr.label}: {fpr.about}'
  keys = ['zz', 'dp', 'fpr', 'gender/eqodd', 'f1', 'auc']
  assert [*measures.in_order(keys)] == 'auc f1 dp gender/eqodd fpr zz'.split()
  assert measures.leading(keys) == ['auc', 'dp', 'gender/eqodd', 'fpr', 'zz']


def jaccard(counts):
  """Of the positive class: tp / (tp + fp + fn)."""
  wrong = counts[..., 0, 1] + counts[..., 1, 0]
  return counts[..., 1, 1] / np.maximum(counts[..., 1, 1] + wrong, 1)


ROWS = {
  'jaccard': Measure(
    *('confusion', f'{__name__}:jaccard', 'Jaccard index'),
    *('overlap of rows labelled and decided positive', 1, 1.0),
    leads=True,
  ),
  'parity_of_precision': Measure(
    *('gap', 'range', 'predictive parity'),
    *('1 − the largest gap in precision', 1, 1.0),
    **{'of': ('precision',), 'leads': True},
  ),
}


@pytest.fixture
def more(monkeypatch):
  for name, row in ROWS.items():
    monkeypatch.setitem(MEASURES, name, row)


def test_one_row_is_computed_and_compared(more):
  labels, p, groups = some()
  found = assess(labels, p, groups, options=draws(20))
  decided = p >= 0.5
  both = (decided & (labels == 1)).sum(1) / (decided | (labels == 1)).sum(1)
  np.testing.assert_allclose(found['quality']['jaccard']['seeds'], both)
  one = [[labels[m & d].mean() for d in decided] for m in groups.members]
  np.testing.assert_allclose(
    found['fairness']['parity_of_precision']['seeds'],
    1 - np.abs(np.subtract(*one)),
  )
  tests = paired.compare(labels, p, p[:, ::-1], groups, options=draws(20))
  assert set(ROWS) <= {test['measure'] for test in tests}


def test_one_row_is_listed(more):
  shown = ' '.join(manual.everything().split())
  for name, row in ROWS.items():
    assert f'{name} {row.about}' in shown
