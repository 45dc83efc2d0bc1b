"""Counterfactual decisions against slow twins, and what they must be."""

import numpy as np
import pytest
from scipy import stats

from fairjax.metrics.counts import Case
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference import row_means
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import flips
from fairjax.metrics.texts.flips import EditScores

OPTIONS = RowSample(0.95, 400, 0)


def made(seeds=2, n=300, classes=2):
  rng = np.random.default_rng(classes)
  shape = (seeds, n) if classes == 2 else (seeds, n, classes)
  draw = lambda: (
    rng.random(shape)
    if classes == 2
    else rng.dirichlet(np.ones(classes), shape[:2])
  )
  scores = draw()
  mix = lambda other, share: scores * (1 - share) + other * share
  edited = rng.random(n) < 0.8
  edit = EditScores(
    edited,
    mix(draw(), 0.6),
    edited & (rng.random(n) < 0.9),
    mix(draw(), 0.2),
    rng.integers(-1, 2, n),
  )
  labels = rng.integers(0, classes, n)
  return labels, scores, edit, of_columns({'group': [*'ab'] * (n // 2)})


def measured(labels, scores, edit, groups, how=OPTIONS):
  hard = flips.decisions(scores, 0.5)
  return flips.measure(Case(labels, scores, hard, groups, how), edit, 0.5)


def slow(labels, scores, edit, limit):
  """Every measure by a loop over seeds and rows."""
  out = {}
  add = lambda key, value: out.setdefault(key, []).append(value)
  for s in range(len(scores)):
    cells = {}
    put = lambda key, value, cells=cells: cells.setdefault(key, []).append(
      value
    )
    for i in range(len(labels)):
      if not edit.edited[i]:
        continue
      p, q, r = scores[s, i], edit.scores[s, i], edit.control[s, i]
      d, e, c = p >= limit, q >= limit, r >= limit
      put('flips', d != e)
      put('flips_up', not d and e)
      put('flips_down', d and not e)
      put('flips_positive' if labels[i] else 'flips_negative', d != e)
      put('score_change', abs(p - q))
      if edit.controlled[i]:
        put('control_flips', d != c)
        put('excess_flips', int(d != e) - int(d != c))
        put('excess_change', abs(p - q) - abs(p - r))
      if edit.side[i]:
        female, male = (d, e) if edit.side[i] > 0 else (e, d)
        put('tprd' if labels[i] else 'fprd', int(female) - int(male))
    for key, values in cells.items():
      add(key, np.mean(values))
  return {key: np.mean(values) for key, values in out.items()}


def test_measures_are_those_of_a_loop():
  labels, scores, edit, groups = made()
  found = measured(labels, scores, edit, groups)
  expected = slow(labels, scores, edit, 0.5)
  assert expected.keys() == found.measures.keys()
  for name, value in expected.items():
    one = found.measures[name]
    assert one['value'] == pytest.approx(value, abs=1e-12), name
    assert one['low'] <= value <= one['high'], name
    assert one['high'] > one['low'], name
  for g, name in enumerate('ab'):
    part = edit._replace(edited=edit.edited & groups.members[g])
    own = slow(labels, scores, part, 0.5)['flips']
    assert found.groups[name]['flips']['value'] == pytest.approx(own)
  sides = (edit.edited, edit.scores), (edit.controlled, edit.control)
  for one, (rows, after) in zip(found.quantiles, sides, strict=True):
    assert one['rows'] == rows.sum()
    parts = (after - scores)[:, rows]
    assert one['5%'] == pytest.approx(np.quantile(parts, 0.05))
    assert one['95%'] == pytest.approx(np.quantile(parts, 0.95))
  # A score at the threshold is positive, in the precision of the scores.
  edge = np.array([[0.3, 0.29]], np.float32)
  assert flips.decisions(edge, 0.3).tolist() == [[1, 0]]


def test_wordings_of_an_axis_are_those_of_a_loop():
  """Each value's wording less the one that was drawn, row by row."""
  rng, n, values = np.random.default_rng(5), 400, ('a', 'b', 'c')
  scores, after = rng.random((2, n)), rng.random((2, n))
  edited, labels = rng.random(n) < 0.8, rng.integers(2, size=n)
  own = rng.integers(-2, 3, size=n)  # -1 names none, -2 several
  twin = np.where(own >= 0, (own + 1 + rng.integers(2, size=n)) % 3, own)
  edit = EditScores(edited, after, edited & False, after, np.zeros(n, int))
  options = RowSample(0.95, 200, 0)
  wording = np.stack([own, twin])
  found = flips.by_value(labels, scores, edit, wording, values, 0.5, options)
  assert [(o['wording'], o['rows labelled']) for o in found] == [
    (v, k) for v in values for k in ('positive', 'negative')
  ]
  for one in found:
    mine, theirs = [], []
    for i in range(n):
      value, label = values.index(one['wording']), one['rows labelled']
      if not edited[i] or own[i] < 0 or labels[i] != (label == 'positive'):
        continue
      for s in range(2):
        both = scores[s, i] >= 0.5, after[s, i] >= 0.5
        if own[i] == value:
          mine.append(both[0])
          theirs.append(both[1])
        elif twin[i] == value:
          mine.append(both[1])
          theirs.append(both[0])
    assert one['how many'] == len(mine) / 2
    gap = np.mean(mine) - np.mean(theirs)
    assert one['difference']['value'] == pytest.approx(gap)
    assert one['decided positive'] == pytest.approx(np.mean(mine))
    assert one['difference']['low'] < gap < one['difference']['high']
    assert one['p (Holm)'] >= one['difference']['p']
  few = flips.by_value(
    labels, scores, edit, wording, values, 0.5, options, least=1000
  )
  assert not few


def test_a_model_that_ignores_the_words_flips_nothing_yet_is_not_sure():
  labels, scores, edit, groups = made(1)
  same = edit._replace(scores=scores, control=scores)
  found = measured(labels, scores, same, groups)
  for name in ('flips', 'control_flips', 'excess_flips', 'tprd', 'fprd'):
    one = found.measures[name]
    assert one['value'] == 0
    assert 0.005 < one['high'] < 0.06, name
  assert found.measures['excess_flips']['p'] > 0.05


def test_more_than_two_classes_flip_by_the_likeliest():
  labels, scores, edit, groups = made(2, 200, 3)
  found = measured(labels, scores, edit, groups)
  d, e = scores.argmax(-1), edit.scores.argmax(-1)
  value = (d != e)[:, edit.edited].mean()
  assert found.measures['flips']['value'] == pytest.approx(value)
  change = np.abs(scores - edit.scores).sum(-1)[:, edit.edited].mean() / 2
  assert found.measures['score_change']['value'] == pytest.approx(change)
  assert 'flips_up' not in found.measures and 'tprd' not in found.measures


def test_without_controls_or_labels_that_is_said():
  _, scores, edit, groups = made()
  none = edit._replace(controlled=np.zeros_like(edit.edited))
  found = measured(None, scores, none, groups)
  assert 'tprd' not in found.measures
  for name in ('control_flips', 'excess_flips', 'excess_change'):
    assert found.measures[name]['value'] is None
    assert 'control' in found.measures[name]['note']


def test_a_word_is_tested_by_mcnemar():
  _, scores, edit, _ = made(2)
  words = [['he → she'] if i % 3 else ['x → y', 'he → she'] for i in range(300)]
  found = {
    one['word']: one for one in flips.by_word(words, scores, edit, 0.5, OPTIONS)
  }
  rows = [i for i in range(0, 300, 3) if edit.edited[i]]
  d, e, c = ((x >= 0.5) for x in (scores, edit.scores, edit.control))
  # In half of the seeds or more.
  flip, under = ((d != x).mean(0) >= 0.5 for x in (e, c))
  one = sum(flip[i] and not under[i] for i in rows if edit.controlled[i])
  two = sum(under[i] and not flip[i] for i in rows if edit.controlled[i])
  p = stats.binomtest(one, one + two).pvalue
  assert found['x → y']['p'] == pytest.approx(p)
  assert found['x → y']['rows'] == len(rows)
  # Without controls: its rows against the others, by Fisher's test.
  none = edit._replace(controlled=np.zeros_like(edit.edited))
  every = flips.by_word(words, scores, none, 0.5, OPTIONS)
  adjusted = stats.false_discovery_control([one['p'] for one in every])
  assert [one['adjusted'] for one in every] == pytest.approx(adjusted)
  first = next(one for one in every if one['word'] == 'x → y')
  rest = [i for i in np.flatnonzero(edit.edited) if i % 3]
  cells = [[flip[r].sum(), (~flip[r]).sum()] for r in (rows, rest)]
  assert first['p'] == pytest.approx(stats.fisher_exact(cells).pvalue)


def test_two_models_are_compared_row_by_row():
  _, scores, edit, _ = made(1)
  calm = edit._replace(scores=scores, control=scores)
  found = {
    one['measure']: one
    for one in flips.compare((scores, calm, 0.5), (scores, edit, 0.5), OPTIONS)
  }
  assert found['flips']['p'] < 0.01
  share = ((scores >= 0.5) != (edit.scores >= 0.5))[:, edit.edited].mean()
  assert found['flips']['difference']['value'] == pytest.approx(-share)
  excess = found['excess_flips']['difference']
  assert excess['value'] == pytest.approx(
    -slow(np.zeros(300), scores, edit, 0.5)['excess_flips']
  )
  # One flips by the swap alone, the other by the control alone: 1 - (-1).
  none, every = np.zeros((1, 300)), np.ones((1, 300))
  swaps = edit._replace(scores=every, control=none)
  apart = flips.compare(
    (none, swaps, 0.5),
    (none, edit._replace(scores=none, control=every), 0.5),
    OPTIONS,
  )[1]['difference']
  assert (apart['value'], apart['high']) == (2, 2) and 1.9 < apart['low'] < 2
  same = flips.compare((scores, edit, 0.5), (scores, edit, 0.5), OPTIONS)
  assert all(one['p'] == 1 and one['difference']['value'] == 0 for one in same)


def coverage(estimate, truth, draws=300):
  return np.mean(
    [
      one['low'] - 1e-9 <= truth <= one['high'] + 1e-9
      for one in map(estimate, range(draws))
    ]
  )


@pytest.mark.slow
@pytest.mark.parametrize('rate', [0.0, 0.02, 0.2])
@pytest.mark.parametrize('n', [60, 400])
def test_intervals_of_excess_and_of_wordings_cover(rate, n):
  """z in −1, 0, 1: of the excess over the control, of TPRD and FPRD."""

  def draw(k):
    rng = np.random.default_rng([k, n])
    swap = rng.random((1, n)) < rate + 0.05
    control = rng.random((1, n)) < 0.05
    options = RowSample(0.95, 1000, k)
    return row_means.difference(swap * 1.0 - control, options)

  found = coverage(draw, rate)
  print(f'excess {rate} of {n}: coverage {found:.3f}')
  assert 0.92 <= found <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize('rate', [0.01, 0.2])
def test_intervals_of_flips_cover(rate):
  def draw(k):
    rng = np.random.default_rng([k, 1])
    scores = np.full((1, 200), 0.9)
    after = np.where(rng.random((1, 200)) < rate, 0.1, 0.9)
    everyone = np.ones(200, bool)
    edit = EditScores(everyone, after, everyone, scores, np.zeros(200, int))
    options = RowSample(0.95, 1000, k)
    none = of_columns({}, 200)
    return measured(None, scores, edit, none, options).measures['flips']

  found = coverage(draw, rate, 200)
  print(f'flips {rate}: coverage {found:.3f}')
  assert 0.92 <= found <= 1.0
