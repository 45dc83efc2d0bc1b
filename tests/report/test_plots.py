"""What plots draw is what they were given; svg texts are safe and steady."""

import re
import xml.dom.minidom

import drawn
import numpy as np
import pytest
from sklearn import metrics

from fairjax.report.pictures import figures, group_plots, plots, spoken


@pytest.fixture(scope='module', autouse=True)
def drawn_anew(drawn_once):
  """Each picture, with all of its lines, also of the same data."""
  drawn_once.undo()
  yield
  drawn.once(drawn_once)


def made(value, low=None, high=None):
  return {'value': value, 'low': low, 'high': high}


def line(axes, k=0):
  return axes.lines[k].get_xydata()


def segments(axes, k=0):
  return axes.containers[k][2][0].get_segments()


def legend(axes):
  return [text.get_text() for text in axes.get_legend().get_texts()]


def test_rates_show_values_intervals_and_what_is_undefined():
  figure = plots.rates(
    {
      'women': {'rows': 1200, 'fpr': made(0.2, 0.1, 0.35), 'tpr': made(0.9)},
      'men': {'rows': 9, 'fpr': made(None), 'tpr': made(0.7, 0.6, 0.8)},
    }
  )
  fpr, tpr = figure.axes
  of = lambda axes: axes.containers[0][0].get_xydata()
  np.testing.assert_allclose(of(fpr), [[0.2, 1], [np.nan, 0]])
  np.testing.assert_allclose(of(tpr), [[0.9, 1], [0.7, 0]])
  np.testing.assert_allclose(segments(fpr)[0], [[0.1, 1], [0.35, 1]])
  np.testing.assert_allclose(segments(tpr)[1], [[0.6, 0], [0.8, 0]])
  assert [t.get_text() for t in fpr.texts] == ['undefined']
  names = [t.get_text() for t in fpr.get_yticklabels()]
  assert names == ['women (1,200)', 'men (9)']


def test_roc_curve_against_scikit_learn():
  rng = np.random.default_rng(0)
  label = rng.integers(0, 2, 300)
  score = np.round(label * 0.3 + rng.random(300), 1)  # many ties
  x, y, _ = metrics.roc_curve(label, score, drop_intermediate=False)
  np.testing.assert_allclose(plots.roc_curve(label, score), [x, y])


def test_roc_is_the_mean_over_seeds_with_their_range():
  rng = np.random.default_rng(1)
  label = rng.integers(0, 2, 200)
  scores = label * 0.5 + rng.random((3, 200))
  figure = plots.roc({'all': (label, scores), 'none': (label * 0, scores)})
  axes = figure.axes[0]
  area = np.mean([metrics.roc_auc_score(label, s) for s in scores])
  assert legend(axes) == [f'all: {area:.3f}', 'none: one class only']
  mean = line(axes, 1)
  for x in (0.1, 0.5, 0.9):
    each = [np.interp(x, *metrics.roc_curve(label, s)[:2]) for s in scores]
    at = np.interp(x, *mean.T)
    assert at == pytest.approx(np.mean(each), abs=1e-9)
    band = axes.collections[0].get_paths()[0].vertices
    ys = band[np.isclose(band[:, 0], x), 1]
    assert ys.min() == pytest.approx(min(each))
    assert ys.max() == pytest.approx(max(each))


def test_best_front_against_all_pairs():
  points = np.random.default_rng(2).random((60, 2)).round(1)
  points[7] = np.nan
  found = points[plots.best_front(points)]
  kept = points[~np.isnan(points).any(1)]
  beaten = lambda p: any((q >= p).all() and (q > p).any() for q in kept)
  expected = sorted({tuple(p) for p in kept if not beaten(p)})
  assert [tuple(p) for p in found] == expected


def test_forest_is_hollow_where_the_data_do_not_decide():
  rows = {'a': made(0.2, 0.1, 0.3), 'b': made(-0.1, -0.2, 0.1), 'c': made(None)}
  axes = plots.forest(rows, 'difference').axes[0]
  fills = [c[0].get_markerfacecolor() for c in axes.containers]
  assert fills[0] != 'none' and fills[1] == 'none'
  np.testing.assert_allclose(segments(axes, 1)[0], [[-0.2, 1], [0.1, 1]])


HOSTILE = '<script>x</script> $a_{ $b_{$ _x a"b \'\' id="x" 名'.split()


def test_svg_is_one_steady_element_with_escaped_text():
  draw = lambda: plots.rates({g: {'rows': 1, 'r': 0.5} for g in HOSTILE})
  first = figures.svg(draw(), 'a "title" <b>')
  assert first == figures.svg(draw(), 'a "title" <b>')
  parsed = xml.dom.minidom.parseString(first)  # well-formed
  shown = [t.firstChild.data for t in parsed.getElementsByTagName('text')]
  for g in HOSTILE:
    assert any(g in text for text in shown)
  assert not parsed.getElementsByTagName('script')
  said = {
    part.getAttribute('id'): part.firstChild.data
    for kind in ('title', 'desc')
    for part in parsed.getElementsByTagName(kind)
  }
  title, about = parsed.documentElement.getAttribute('aria-labelledby').split()
  assert said[title] == 'a "title" <b>'
  assert said[about].startswith('r: ') and said[about].endswith('0.5.')
  assert 'http' not in first and 'currentColor' in first
  ids = re.findall(r' id="([^"]*)"', re.sub(r'>[^<]*<', '><', first))
  used = re.findall(r'(?:href="#|url\(#)([^")]*)', first)
  assert len(ids) == len(set(ids)) and set(used) <= set(ids)
  other = figures.svg(plots.rates({'b': {'r': 0.5}}))
  assert not set(ids) & set(re.findall(r' id="([^"]*)"', other))


def test_a_picture_says_what_it_shows():
  said = lambda plot: spoken.describe(plot)
  values = {f'g{i}': made(i / 10, 0, 1) for i in range(9)}
  assert said(plots.forest({'a': made(0.2), 'b': made(0.3)}, 'x')) == (
    'x: b 0.3; a 0.2.'
  )
  many = said(plots.forest(values, 'x'))
  assert 'g8 0.8' in many and 'g0 0' in many and '3 between' in many
  bars = said(plots.bars(['t', 'u'], {'one': [1, 2], 'two': [3, None]}, 'x'))
  assert bars == 'x: t (two) 3; u (one) 2; t (one) 1.'
  curve = said(plots.curves({'c': {'x': [0, 1, 2], 'y': [1, 5, 2]}}, 'x', 'y'))
  assert curve == ('y: c from 1 at 0 to 2 at 2, highest 5 at 1.')
  groups = {'women': made(0.5, 0.4, 0.6), 'men': made(None)}
  plot = group_plots.scale(groups, 'of 100', 0.4)
  assert said(plot) == 'of 100: women 50.'


def test_an_svg_after_a_png_is_the_same(tmp_path):
  draw = lambda: plots.forest({'a': made(0.2, 0.1, 0.3)}, 'x')
  figure = draw()
  figures.save(figure, tmp_path / 'deep' / 'a.png')
  assert figures.svg(figure) == figures.svg(draw())
  figures.save(draw(), tmp_path / 'b.png')
  png = (tmp_path / 'deep' / 'a.png').read_bytes()
  assert png == (tmp_path / 'b.png').read_bytes()


def test_the_user_s_own_style_is_left_alone():
  import matplotlib

  with matplotlib.rc_context({'lines.linewidth': 7, 'axes.facecolor': 'red'}):
    first = figures.svg(plots.forest({'a': made(0.2, 0.1, 0.3)}, 'x'))
    assert matplotlib.rcParams['lines.linewidth'] == 7
  assert first == figures.svg(plots.forest({'a': made(0.2, 0.1, 0.3)}, 'x'))
