"""Ranks and counts against definitions, scikit-learn, and resampled rows."""

import math
import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
import slow_measures as slow
from hypothesis import given, settings
from hypothesis import strategies as st

from fairjax.metrics import quality
from fairjax.metrics.inference import resampling
from fairjax.metrics.inference.sample import RowSample


def deviations(parts, weights, seed=None):
  """Of the suite in each resample, without the further rows or with them."""
  shape = (len(weights), parts.sizes.shape[1], 4)
  rng = np.random.default_rng(seed)
  more = np.zeros(shape) if seed is None else rng.gamma(0.5, size=shape)
  more, places = more.astype(np.float32), rng.random(shape, np.float32)
  totals = map(resampling.pad, parts)
  return np.asarray(quality.resampled_ranks(weights, *totals, more, places))


def some(n, seed=0, steps=0):
  rng = np.random.default_rng(seed)
  labels = (rng.random(n) < 0.4).astype(np.int64)
  scores = 1 / (1 + np.exp(-rng.normal(size=n) - 1.2 * labels))
  if steps:
    scores = np.round(scores * steps) / steps
  members = rng.random((3, n)) < [[0.5], [0.3], [0.1]]
  return labels, scores, members


def ranked(labels, scores, members):
  return labels, quality.in_order(scores), quality.rows_of(members)


@settings(max_examples=60, deadline=None)
@given(
  st.lists(
    st.tuples(
      st.integers(0, 1), st.integers(0, 4), st.booleans(), st.booleans()
    ),
    min_size=1,
    max_size=25,
  )
)
def test_suite_is_its_definition_with_ties_and_empty_sets(rows):
  labels, steps, *members = (np.array(column) for column in zip(*rows))
  scores, members = steps / 4, np.array(members, bool)
  found = quality.ranks(*ranked(labels, scores, members))
  with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    slowly = [slow.suite(labels, scores, member) for member in members]
  np.testing.assert_allclose(found, slowly, atol=1e-12)


@pytest.mark.parametrize('steps', [0, 20])
def test_auc_is_sklearns(steps):
  labels, scores, members = some(500, steps=steps)
  assert quality.auc(labels, scores) == pytest.approx(
    sk.roc_auc_score(labels, scores), abs=1e-12
  )
  found = quality.ranks(*ranked(labels, scores, members))
  for g, own in enumerate(members):
    positive = labels > 0
    for i, rows in ((0, own), (2, own != positive), (1, own == positive)):
      assert found[g, i] == pytest.approx(
        sk.roc_auc_score(labels[rows], scores[rows]), abs=1e-12
      )


@pytest.mark.parametrize('steps', [0, 20])
def test_placements_add_up_to_the_exact_values(steps):
  labels, scores, members = some(700, steps=steps)
  members[2] = np.isin(np.arange(700), [labels.argmin(), labels.argmax()])
  items = resampling.blocks(len(labels), RowSample())
  parts = quality.placements(*ranked(labels, scores, members), items)
  mean = parts.sums.sum(0) / parts.sizes.sum(0)[..., None]
  a, b = np.array(list(quality.SUITE.values())).T
  exact = quality.ranks(*ranked(labels, scores, members))
  np.testing.assert_allclose(mean[:, a, b] + quality.OFFSET, exact, atol=2e-6)
  ones = np.ones((1, resampling.padded(len(items.size))), np.float32)
  np.testing.assert_allclose(deviations(parts, ones), 0, atol=2e-6)
  assert np.isnan(deviations(parts, 0 * ones, 0)).all()  # of no rows


def test_everyone_has_no_background():
  labels, scores, members = some(700)
  members = np.concatenate([members, np.ones((1, 700), bool)])
  items = resampling.blocks(700, RowSample())
  parts = quality.placements(*ranked(labels, scores, members), items)
  for part in parts:
    assert part[:, -1, :2].any() and not part[:, -1, 2:].any()
  np.testing.assert_array_equal(
    parts.sizes[:, -1, :2].sum(0), [(labels == 0).sum(), (labels == 1).sum()]
  )


def test_resampled_auc_is_that_of_weighted_rows():
  labels, scores, _ = some(200, seed=3)
  everyone = np.ones((1, 200), bool)
  items = resampling.blocks(200, RowSample())
  parts = quality.placements(*ranked(labels, scores, everyone), items)
  fast = deviations(parts, resampling.draw(items, 4000, 1))[:, 0, 0]
  slowly = slow.weighted_auc(labels, scores, 4000, 2)
  slowly -= quality.auc(labels, scores)
  width = np.ptp(np.quantile(slowly, [0.025, 0.975]))
  for share in (0.025, 0.5, 0.975):
    gap = np.quantile(fast, share) - np.quantile(slowly, share)
    assert abs(gap) < 0.06 * width
  assert fast.std() == pytest.approx(slowly.std(), rel=0.06)


def test_further_rows_leave_doubt_of_a_perfect_order():
  """20 rows in order: 1 − AUC reaches Newcombe's upper limit of 0.2."""
  labels = np.repeat([0, 1], 10)
  everyone = np.ones((1, 20), bool)
  items = resampling.blocks(20, RowSample())
  parts = quality.placements(*ranked(labels, np.arange(20.0), everyone), items)
  weights = resampling.draw(items, 4000, 1)
  plain = deviations(parts, weights)[:, 0, 0]
  np.testing.assert_allclose(plain, 0, atol=1e-6)
  low = np.quantile(deviations(parts, weights, 1)[:, 0, 0], 0.025)
  assert -0.26 < low < -0.16


def test_blocks_have_the_spread_of_rows():
  labels, scores, members = some(20_000, seed=4)
  items = resampling.blocks(len(labels), RowSample())
  assert len(items.size) == resampling.BLOCKS
  parts = quality.placements(*ranked(labels, scores, members), items)
  found = deviations(parts, resampling.draw(items, 1500, 1))
  for g, member in enumerate(members):
    p, n = scores[member & (labels == 1)], scores[member & (labels == 0)]
    # DeLong: the variance of the placements of either side.
    over_n = np.searchsorted(np.sort(n), p) / len(n)
    below_p = 1 - np.searchsorted(np.sort(p), n) / len(p)
    delong = over_n.var() / len(p) + below_p.var() / len(n)
    spread = float(found[:, g, 0].std())
    assert spread == pytest.approx(delong**0.5, rel=0.08)


@pytest.mark.parametrize('classes', [2, 4])
def test_counts_are_sklearns(classes):
  rng = np.random.default_rng(classes)
  labels = rng.integers(0, classes, 300)
  decisions = np.where(rng.random(300) < 0.6, labels, 0)
  found = quality.from_confusion(
    sk.confusion_matrix(labels, decisions).astype(np.float64)[None]
  )
  average = {'average': 'macro'} if classes > 2 else {}
  for name, value in {
    'accuracy': sk.accuracy_score(labels, decisions),
    'balanced_accuracy': sk.balanced_accuracy_score(labels, decisions),
    'majority': np.bincount(labels).max() / len(labels),
    'f1' if classes == 2 else 'macro_f1': sk.f1_score(
      labels, decisions, **average
    ),
    'mcc': sk.matthews_corrcoef(labels, decisions),
  }.items():
    assert found[name] == pytest.approx(value, abs=1e-12), name


def test_matthews_of_a_constant_predictor_is_zero_and_of_one_label_undefined():
  found = quality.from_confusion(np.array([[[7.0, 0], [3, 0]]], np.float32))
  assert found['mcc'] == 0 and found['f1'] == 0
  one = quality.from_confusion(np.array([[[7.0, 2], [0, 0]]], np.float32))
  assert np.isnan(one['mcc'])


def test_log_loss_is_sklearns():
  labels, scores, _ = some(100)
  both = np.stack([1 - scores, scores], -1)[None]
  expected = sk.log_loss(labels, scores)
  assert quality.log_loss(labels, scores[None]).mean() == pytest.approx(
    expected
  )
  assert quality.log_loss(labels, both).mean() == pytest.approx(expected)


@pytest.mark.parametrize('n', [10, 2_000_000, 10**10])
def test_one_right_row_of_a_rare_class_has_its_mcc(n):
  # φ = (ad − bc) / √ of the product of the four margins.
  a, b, c, d = n - 3, 1, 1, 1
  margins = (a + b) * (c + d) * (a + c) * (b + d)
  found = quality.mcc(np.array([[[a, b], [c, d]]], float))
  expected = (a * d - b * c) / math.sqrt(margins)
  assert found == pytest.approx(expected, rel=1e-6)
