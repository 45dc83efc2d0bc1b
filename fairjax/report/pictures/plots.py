"""Plots: plain arrays and dicts in, a matplotlib Figure out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairjax.report import tables
from fairjax.report.pictures import group_plots, word_plots
from fairjax.report.pictures.figures import (
  COLOURS,
  INK,
  LINES,
  PALE,
  blank,
  bounds,
  dots,
  legend,
  name,
  named_rows,
  of_series,
  square,
  styled,
  tall,
)

if TYPE_CHECKING:
  from matplotlib.axes import Axes
  from matplotlib.figure import Figure

OVER: dict[str, Any] = {'y': np.mean, 'low': np.min, 'high': np.max}  # seeds
Series = Mapping[str, Mapping[str, Any]]


@styled
def rates(groups: Mapping[str, Mapping[str, Any]]) -> 'Figure':
  """One panel a rate: {group: {rate: Estimate}}, with error bars.

  `rows` of a group, where given, stands beside its name. All panels have one
  scale; an undefined rate says so.
  """
  labels = [
    name(g) + (f' ({r["rows"]:,})' if 'rows' in r else '')
    for g, r in groups.items()
  ]
  names = list(dict.fromkeys(k for r in groups.values() for k in r))
  names = [k for k in names if k != 'rows']
  height = 0.75 + tall(labels)
  figure, panels = blank(len(names), 2, height, sharex=True, sharey=True)
  for axes, rate in zip(panels, names):
    values, reach = bounds([r.get(rate) for r in groups.values()])
    dots(axes, labels, values, reach, [False] * len(labels))
    axes.set_title(name(rate))
    axes.tick_params(labelbottom=True)
  return figure


def roc_curve(label: np.ndarray, score: np.ndarray) -> np.ndarray:
  """Points [2, k] (false, true positive rate) at each distinct threshold."""
  order = np.argsort(-score, kind='stable')
  ranked = score[order]
  ends = np.r_[np.flatnonzero(np.diff(ranked)), len(ranked) - 1]
  true = np.cumsum(label[order])[ends]
  false = ends + 1 - true
  curve = np.stack([false / false[-1], true / true[-1]])
  return np.concatenate([np.zeros((2, 1)), curve], axis=1)


@styled
def roc(
  sets: Mapping[str, tuple[np.ndarray, np.ndarray]],
  false: str = 'false positive rate',
  true: str = 'true positive rate',
) -> 'Figure':
  """ROC curves: {name: (label [n] of 0 and 1, scores [s, n])}.

  The line is the mean over seeds, the band their range; the name shows the
  area under the curve.
  """
  figure, axes = square(false, true)
  grid = np.linspace(0, 1, 201)
  for k, (title, (label, scores)) in enumerate(sets.items()):
    label = np.asarray(label).astype(bool)
    style = of_series(k) | {'marker': ''}
    if label.all() or not label.any():
      axes.plot([], [], label=f'{name(title)}: one class only', **style)
      continue
    curves = [roc_curve(label, s) for s in np.atleast_2d(scores)]
    area = np.mean([np.trapezoid(y, x) for x, y in curves])
    lines = np.stack([np.interp(grid, x, y) for x, y in curves])
    lines[:, 0] = 0
    axes.plot(grid, lines.mean(0), label=f'{name(title)}: {area:.3f}', **style)
    if len(lines) > 1:
      axes.fill_between(
        grid, lines.min(0), lines.max(0), alpha=0.18, color=COLOURS[k % 6], lw=0
      )
  axes.legend(loc='lower right', title='area', title_fontsize=9)
  return figure


@styled
def score_histograms(
  label: np.ndarray,
  scores: np.ndarray,
  group: Sequence[str],
  bins: int = 20,
  sides: Sequence[str] = ('negative', 'positive'),
) -> 'Figure':
  """Share of the rows of a group and label in each bin of the score.

  One panel a group (the eight largest), scores [s, n] of all seeds together.
  """
  label, of = np.asarray(label), np.asarray(group)
  scores = np.atleast_2d(scores)
  names, counts = np.unique(of, return_counts=True)
  names = names[np.argsort(-counts, kind='stable')][:8]
  figure, panels = blank(len(names), 2, 1.9, sharex=True, sharey=True)
  edges = np.linspace(0, 1, bins + 1)
  for axes, title in zip(panels, names):
    for k, (value, line) in enumerate([(0, '-'), (1, '--')]):
      rows = (of == title) & (label == value)
      counts = np.histogram(scores[:, rows], edges)[0]
      share = counts / max(counts.sum(), 1)
      axes.stairs(share, edges, fill=True, color=COLOURS[k], alpha=0.22)
      shown = f'{name(sides[value])} ({rows.sum():,})'
      axes.stairs(share, edges, color=COLOURS[k], ls=line, label=shown)
    axes.set_title(name(title) if title else 'no group')
    axes.set_xlim(0, 1)
    axes.legend(loc='upper center', fontsize=8)
  axes.set_ylim(0, 1.6 * axes.get_ylim()[1])  # room for legends above bars
  figure.supxlabel('score', size=10)
  figure.supylabel('share of rows', size=10)
  return figure


def learning_series(rows: Sequence[Mapping]) -> dict[str, dict[str, dict]]:
  """{measure: {split: x, y, low, high}} of the rows of metrics.jsonl.

  y is the mean over seeds, low and high their range. `train_loss` beside a
  validation row is the loss of the training split.
  """
  points: dict[tuple, dict[float, list[float]]] = {}
  for row in rows:
    for key, value in row.items():
      if key in ('step', 'epoch', 'split', 'seed') or not tables.defined(value):
        continue
      split = row.get('split', '')
      if key == 'train_loss':
        key, split = 'loss', 'train'
      at = points.setdefault((key, split), {})
      at.setdefault(row['step'], []).append(float(value))
  measures: dict[str, dict[str, dict]] = {}
  for (measure, split), at in points.items():
    steps = sorted(at)
    measures.setdefault(measure, {})[split] = {
      'x': np.array(steps),
      **{k: np.array([of(at[s]) for s in steps]) for k, of in OVER.items()},
    }
  return measures


@styled
def learning(rows: Sequence[Mapping[str, Any]]) -> 'Figure':
  """Learning curves of metrics.jsonl: a panel a measure, bands over seeds."""
  measures = learning_series(rows)
  figure, panels = blank(len(measures), 2, 2.3)
  for axes, (measure, series) in zip(panels, measures.items()):
    _bands(axes, series)
    axes.set(title=name(measure), xlabel='step')
    legend(axes, len(series))
  return figure


def _bands(axes: 'Axes', series: Series) -> None:
  for k, (title, at) in enumerate(series.items()):
    style, colour = of_series(k), COLOURS[k % 6]
    x, y = np.asarray(at['x'], float), np.asarray(at['y'], float)
    style['marker'] = style['marker'] if len(x) <= 12 else ''
    axes.plot(x, y, **style, ms=4, label=name(title))
    if at.get('low') is not None:
      low, high = (np.asarray(at[key], float) for key in ('low', 'high'))
      axes.fill_between(x, low, high, color=colour, alpha=0.16, lw=0)


def curve(
  x: Sequence[float], estimates: Sequence[Any]
) -> dict[str, np.ndarray]:
  """The Estimates at each x as a series of `curves`."""
  y, (down, up) = bounds(estimates)
  return {'x': np.array(x), 'y': y, 'low': y - down, 'high': y + up}


@styled
def curves(
  series: Series, x_label: str, y_label: str, reference: float | None = None
) -> 'Figure':
  """Curves with bands: {name: {'x', 'y', 'low'?, 'high'?}}."""
  figure, (axes,) = blank(1, 1, 3.3 + 0.1 * len(series))
  if reference is not None:
    axes.axhline(reference, color=PALE, ls=':', lw=1)
  _bands(axes, series)
  axes.set(xlabel=name(x_label, 60), ylabel=name(y_label, 60))
  legend(axes, len(series), below=True)
  return figure


def best_front(points: np.ndarray) -> np.ndarray:
  """Indices of the points [n, 2] that no other beats in both, by x.

  More is better in both coordinates.
  """
  order = np.lexsort((-points[:, 1], -points[:, 0]))
  order = order[~np.isnan(points[order]).any(1)]
  y = points[order, 1]
  before = np.r_[-np.inf, np.maximum.accumulate(y)[:-1]]
  return order[y > before][::-1]


@styled
def front(
  series: Mapping[str, Sequence[tuple[Any, Any]]],
  x_label: str,
  y_label: str,
  less: bool = False,
) -> 'Figure':
  """Points {name: [(x, y)]}, numbers or Estimates, and their best front.

  For measures of which more is better, or `less` of both; the thin steps join
  the points that no other point beats in both.
  """
  figure, (axes,) = blank(1, 1, 3.4 + 0.1 * len(series))
  every = []
  for k, (title, points) in enumerate(series.items()):
    (x, x_reach), (y, y_reach) = (bounds(v) for v in zip(*points))
    every += list(zip(x, y))
    axes.errorbar(
      *(x, y, y_reach, x_reach),
      **of_series(k) | {'ls': '', 'ms': 5, 'elinewidth': 0.7},
      ecolor=COLOURS[k % 6] + '70',
      label=name(title),
    )
  ends = np.array(every, float).reshape(-1, 2)
  best = ends[best_front(-ends if less else ends)]
  axes.step(*best.T, where='pre', color=PALE, lw=1, zorder=0)
  axes.set(xlabel=name(x_label, 60), ylabel=name(y_label, 60))
  legend(axes, len(series), below=True)
  return figure


@styled
def forest(
  effects: Mapping[str, Any], x_label: str, zero: float | None = 0.0
) -> 'Figure':
  """Effects with their intervals, a row each: {name: Estimate}.

  An interval that holds `zero`, or none, is hollow: the data do not decide.
  With None the values are no effects, and there is nothing to decide.
  """
  labels = [name(e) for e in effects]
  figure, (axes,) = blank(1, 1, 0.8 + tall(labels))
  values, reach = bounds(list(effects.values()))
  hollow = [
    zero is not None and (value - down <= zero <= value + up or not up + down)
    for value, (down, up) in zip(values, reach.T)
  ]
  dots(axes, labels, values, reach, hollow)
  if zero is not None:
    axes.axvline(zero, color=PALE, ls=':', lw=1.2)
  axes.set_xlabel(name(x_label, 60))
  return figure


def histogram(values: Mapping[str, np.ndarray], bins: int = 40) -> dict:
  """What `distribution` draws of {name: array}: shares of finite values."""
  flat = {title: np.asarray(of, float).ravel() for title, of in values.items()}
  finite = {title: of[np.isfinite(of)] for title, of in flat.items()}
  every = np.concatenate([*finite.values(), np.empty(0)])
  edges = np.histogram_bin_edges(every, bins)
  return {
    'edges': edges,
    'shares': {
      title: np.histogram(array, edges)[0] / max(len(array), 1)
      for title, array in finite.items()
    },
  }


@styled
def distribution(
  edges: Sequence[float], shares: Mapping[str, Sequence[float]], x_label: str
) -> 'Figure':
  """Histograms {name: share in each bin}, as `histogram` counts them."""
  figure, (axes,) = blank(1, 1, 2.6 + 0.1 * len(shares))
  for k, (title, share) in enumerate(shares.items()):
    colour = COLOURS[k % 6]
    axes.stairs(share, edges, fill=True, color=colour, alpha=0.16)
    axes.stairs(share, edges, color=colour, ls=LINES[k % 6], label=name(title))
  axes.set(xlabel=name(x_label, 60), ylabel='share')
  legend(axes, len(shares), below=True)
  return figure


@styled
def bars(
  terms: Sequence[str], series: Mapping[str, Sequence[Any]], x_label: str
) -> 'Figure':
  """Bars by term, a colour a series: {name: [number or Estimate a term]}."""
  tall = 0.7 + 0.2 * -(-len(series) // 3)
  tall += len(terms) * (0.1 + 0.14 * len(series))
  figure, (axes,) = blank(1, 1, tall)
  thick = 0.8 / max(len(series), 1)
  places = named_rows(axes, [name(t) for t in terms])
  for k, (title, values) in enumerate(series.items()):
    middle, reach = bounds(values)
    axes.barh(
      places + 0.4 - thick * (k + 0.5),
      middle,
      thick,
      xerr=reach if reach.any() else None,
      color=COLOURS[k % 6],
      error_kw={'elinewidth': 0.8, 'ecolor': INK},
      label=name(title),
    )
  axes.axvline(0, color=PALE, lw=1)
  axes.set_xlabel(name(x_label, 60))
  if len(series) > 1:
    columns = min(len(series), 3)  # a row of six is wider than the picture
    axes.legend(loc='lower left', bbox_to_anchor=(0, 1), ncols=columns)
  return figure


# Those that results.json may name, with their arguments as plain values.
PLOTS = {
  plot.__name__: plot
  for plot in (
    *(rates, curves, front, forest, distribution, bars),
    *(group_plots.scale, group_plots.over_thresholds),
    *(group_plots.reliability, group_plots.wordings, word_plots.word_map),
  )
}
