"""Plots of groups and flips, on one scale of percent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairjax.report.pictures import figures

if TYPE_CHECKING:
  from matplotlib.figure import Figure


@figures.styled
def scale(
  groups: Mapping[str, Mapping[str, Any]],
  x_label: str,
  everyone: float | None = None,
) -> 'Figure':
  """One measure of every group on one scale, in percent: {group: Estimate}.

  The dashed line is everyone: equal groups would lie on it. A group with too
  few rows (`few`) is grey and hollow; its `rows` stand beside its name.
  """
  labels = [
    figures.name(g, 30) + (f' ({row["rows"]:,})' if 'rows' in row else '')
    for g, row in groups.items()
  ]
  figure, (axes,) = figures.blank(1, 1, 0.95 + figures.tall(labels))
  values, reach = (100 * of for of in figures.bounds(list(groups.values())))
  if everyone is not None:
    axes.axvline(100 * everyone, color=figures.PALE, ls='--', lw=1.2)
    figures.marked(axes, 100 * everyone, 'everyone')
  few = [bool(row.get('few')) for row in groups.values()]
  colours = [figures.PALE if one else figures.COLOURS[0] for one in few]
  figures.dots(axes, labels, values, reach, few, colours)
  ends = np.r_[values - reach[0], values + reach[1]]
  if np.isfinite(ends).any():
    low, high = np.nanmin(ends), np.nanmax(ends)
    room = max(0.08 * (high - low), 1)
    axes.set_xlim(max(low - room, -2), min(high + room, 102))
  axes.set_xlabel(figures.name(x_label, 76))
  return figure


@figures.styled
def over_thresholds(
  x: Sequence[float],
  series: Mapping[str, Sequence[float | None]],
  chosen: Sequence[float] = (),
) -> 'Figure':
  """Measures over thresholds, with the chosen one (or one a seed) marked."""
  figure, (axes,) = figures.blank(1, 1, 3.2 + 0.1 * len(series))
  for limit in chosen:
    axes.axvline(limit, color=figures.INK, lw=1, ls=':')
  if len(chosen):
    figures.marked(
      axes, float(np.mean(chosen)), f'chosen: {np.mean(chosen):.2f}'
    )
  for k, (title, values) in enumerate(series.items()):
    y = np.array([np.nan if v is None else v for v in values], float)
    style = figures.of_series(k) | {
      'ms': 4,
      'markevery': 10,
      'label': figures.name(title, 40),
    }
    axes.plot(x, y, **style)
  axes.set(xlabel='decision threshold', xlim=(0, 1), ylim=(-0.02, 1.02))
  figures.legend(axes, 2, below=True)
  return figure


@figures.styled
def reliability(
  groups: Mapping[str, Sequence[Mapping[str, Any]]],
  share: str = 'share positive',
) -> 'Figure':
  """Share positive against mean score, bin by bin: {group: its bins}."""
  figure, axes = figures.square('mean score of a bin', share)
  for k, (title, rows) in enumerate(groups.items()):
    x = [row['mean score'] for row in rows]
    y, reach = figures.bounds([row['share positive'] for row in rows])
    shift = 0.006 * (k - (len(groups) - 1) / 2)
    axes.errorbar(
      *(np.array(x) + shift, y, reach),
      **figures.of_series(k)
      | {'ms': 4, 'lw': 1.2, 'elinewidth': 0.7, 'capsize': 2},
      label=figures.name(title),
    )
  figures.legend(axes, 2, below=True)
  return figure


@figures.styled
def wordings(
  rows: Sequence[Mapping[str, Any]], x_label: str = 'of 100 decisions'
) -> 'Figure':
  """Flips under a swap beside its control: rows {edit, Estimate}, percent."""
  figure, (axes,) = figures.blank(1, 1, 0.8 + figures.ROW * 1.2 * len(rows))
  values, reach = figures.bounds([row['value'] for row in rows])
  places = figures.named_rows(
    axes, [figures.name(row['edit'], 40) for row in rows]
  )
  colours = [
    figures.PALE
    if str(row['edit']).startswith('control')
    else figures.COLOURS[1]
    for row in rows
  ]
  axes.barh(
    places,
    values * 100,
    0.62,
    xerr=reach * 100,
    color=colours,
    error_kw={'elinewidth': 0.9, 'ecolor': figures.INK, 'capsize': 2.5},
  )
  axes.set_xlabel(figures.name(x_label, 60))
  return figure
