"""Estimates of the measures of counts: rates, gaps, accuracy, F1, Matthews."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Integer

from fairjax.metrics import groups, intervals, quality
from fairjax.metrics.intervals import How, estimate

NOTES = {
  'tpr': 'no row of label 1',
  'fnr': 'no row of label 1',
  'fpr': 'no row of label 0',
  'tnr': 'no row of label 0',
  'precision': 'no row is decided 1',
  'balanced_accuracy': 'rows of one label only',
  'f1': 'no row has label 1 or is decided 1',
  'macro_f1': 'no rows',
  'mcc': 'all labels or all decisions agree',
}


class Table(NamedTuple):
  """Counts of every item: what a resample adds up."""

  groups: np.ndarray  # [m, s, k, g+1, 4]: (tn, fp, fn, tp), everyone last
  confusion: np.ndarray  # [m, s, c, c]: label, decision
  items: intervals.Items


class Rates(NamedTuple):
  """Rates of groups, everyone last; class k against the rest."""

  values: np.ndarray  # [s, k, g+1, rate]
  draws: np.ndarray | None  # [resample, s, k, g+1, rate]


def tabulate(
  labels: Integer[np.ndarray, ' n'],
  decisions: Integer[np.ndarray, 's n'],
  masks: Bool[np.ndarray, 'g n'],
  classes: int,
  seed: int,
) -> Table:
  """Counts of the cells of rows, or of blocks where there are many cells.

  `masks` are the groups and then everyone. With two classes k is class 1
  alone, else every class against the rest.
  """
  items = intervals.cells([*masks[:-1], labels, *decisions])
  chosen = np.array([1]) if classes == 2 else np.arange(classes)
  if len(items.size) > intervals.CELLS:
    items = intervals.blocks(len(labels), seed)
    return Table(
      _by_rows(labels, decisions, masks, chosen, items),
      _confusion(labels, decisions, classes, items),
      items,
    )
  # Rows of a cell are alike: one of them, times their number.
  y, d = labels[items.first], decisions[:, items.first]
  code = 2 * (y == chosen[:, None]) + (d[:, None] == chosen[:, None])
  one = (code.transpose(2, 0, 1)[..., None] == np.arange(4)) * 1.0
  one *= items.size[:, None, None, None]
  member = masks[:, items.first].T  # m, g+1
  pair = (y * classes + d).T[..., None] == np.arange(classes**2)
  pair = pair * items.size[:, None, None]
  return Table(
    one[:, :, :, None, :] * member[:, None, None, :, None],
    pair.reshape(len(y), len(decisions), classes, classes),
    items,
  )


def _by_rows(labels, decisions, masks, chosen, items) -> np.ndarray:
  m = len(items.size)
  out = np.empty((m, len(decisions), len(chosen), len(masks), 4), np.float32)
  for g, mask in enumerate(masks):
    rows = np.flatnonzero(mask)
    for s, decided in enumerate(decisions):
      for k, c in enumerate(chosen):
        code = 2 * (labels[rows] == c) + (decided[rows] == c)
        code += 4 * items.item[rows]
        out[:, s, k, g] = np.bincount(code, minlength=4 * m).reshape(m, 4)
  return out


def _confusion(labels, decisions, classes, items) -> np.ndarray:
  m = len(items.size)
  out = np.empty((m, len(decisions), classes**2), np.float32)
  for s, decided in enumerate(decisions):
    code = (items.item * classes + labels) * classes + decided
    out[:, s] = np.bincount(code, minlength=m * classes**2).reshape(m, -1)
  return out.reshape(m, len(decisions), classes, classes)


def rates(table: Table, drawn: np.ndarray | None) -> Rates:
  """Rates of every group, and of every resample."""
  with jax.enable_x64(True):
    values = groups.rates(table.groups.sum(0, dtype=np.float64))
  if drawn is None:
    return Rates(np.asarray(values), None)
  totals = intervals.resampled(drawn, intervals.pad(table.groups))
  return Rates(np.asarray(values), np.asarray(groups.rates(totals)))


def of_everyone(table: Table, drawn: np.ndarray | None, how: How) -> dict:
  """Accuracy, balanced accuracy, F1 and Matthews."""
  with jax.enable_x64(True):
    found = quality.from_confusion(table.confusion.sum(0, dtype=np.float64))
  spread = {}
  if drawn is not None:
    totals = intervals.resampled(drawn, intervals.pad(table.confusion))
    spread = quality.from_confusion(totals)
  return {
    name: intervals.of_mean(
      np.asarray(value), _get(spread, name), how, NOTES.get(name, '')
    )
    for name, value in found.items()
  }


def _get(draws: dict, name: str) -> np.ndarray | None:
  return np.asarray(draws[name]) if name in draws else None


def of_group(table: Table, rates: Rates, g: int, how: How) -> dict:
  """The rates of one group (−1: everyone)."""
  sums = table.groups[:, :, :, g].sum(0, dtype=np.float64)  # s, k, 4
  empty = 'no rows' if not sums.any() else ''
  if sums.shape[1] > 1:
    return _of_classes(sums, rates, g, how, empty)
  out = {}
  for r, (name, (_, among)) in enumerate(groups.RATES.items()):
    value = rates.values[:, 0, g, r]
    draws = None if rates.draws is None else rates.draws[:, :, 0, g, r]
    found = intervals.of_mean(value, draws, how, empty or NOTES.get(name, ''))
    rows = int((sums[:, 0] @ np.array(among)).min())
    out[name] = intervals.at_edge(found, rows, how)
  return out


def _of_classes(sums, rates, g, how, empty) -> dict:
  """With many classes: accuracy, and the share of each that is found."""
  r = groups.NAMES.index('tpr')
  n = sums[:, 0].sum(-1)
  with np.errstate(invalid='ignore'):
    right = sums[..., 3].sum(-1) / n
  out = {'accuracy': estimate(right, note=empty)}
  if rates.draws is not None and not empty:
    # P(right) = Σ_k P(y = k) P(ŷ = k | y = k).
    base = rates.draws[..., g, groups.NAMES.index('base_rate')]
    draws = np.nansum(base * rates.draws[..., g, r], -1)
    out['accuracy'] = intervals.of_mean(right, draws, how)
  for k in range(sums.shape[1]):
    draws = None if rates.draws is None else rates.draws[:, :, k, g, r]
    note = empty or f'no row of label {k}'
    found = intervals.of_mean(rates.values[:, k, g, r], draws, how, note)
    rows = int(sums[:, k, 2:].sum(-1).min())
    out[f'tpr_{k}'] = intervals.at_edge(found, rows, how)
  return out


def gaps(rates: Rates, chosen: Sequence[int], how: How) -> dict:
  """GAPS, and the aggregates of every rate, of some groups.

  With many classes each is taken for every class against the rest, and the
  worst class counts, named by `class`.
  """
  index = np.array([*chosen, -1])
  values = rates.values[:, :, index]
  draws = values[None] if rates.draws is None else rates.draws[:, :, :, index]
  with jax.enable_x64(True):
    found = _all_gaps(values)
  noise = _all_noise(np.asarray(draws, np.float32), values.astype(np.float32))
  out = {}
  for name, value in found.items():
    bound = None if rates.draws is None else np.asarray(noise[name])
    out[name] = _gap_estimate(name, np.asarray(value), bound, how)
  return out


@jax.jit
def _all_gaps(values: Float[Array, 's k g rate']) -> dict:
  out = {name: groups.gap(name, values) for name in groups.GAPS}
  for r, rate in enumerate(groups.NAMES):
    for kind in groups.AGGREGATES:
      column = values[:, :, :-1, r]
      out[f'{rate}_{kind}'] = groups.aggregate(kind, column)
  return out


@jax.jit
def _all_noise(
  draws: Float[Array, 'resample s k g rate'],
  values: Float[Array, 's k g rate'],
) -> dict:
  """Bounds of the noise of each gap; over classes, the largest."""
  worst = lambda bound: jnp.nanmax(bound, -1)
  noise = draws - values
  out = {name: worst(groups.gap(name, noise)) for name in groups.GAPS}
  for r, rate in enumerate(groups.NAMES):
    for kind in groups.AGGREGATES:
      a, b = draws[:, :, :, :-1, r], values[:, :, :-1, r]
      out[f'{rate}_{kind}'] = worst(groups.aggregate_noise(kind, a, b))
  return out


def _gap_estimate(name: str, values, noise, how: How) -> dict:
  """The worst class's gap [s, k] with noise [resample, s]."""
  kind = groups.GAPS[name][1] if name in groups.GAPS else name.split('_')[-1]
  least = kind in ('ratio', 'min')
  if np.isnan(values).all():
    few = 'fewer than two groups in which it is defined'
    return estimate([None] * len(values), note=few)
  filled = np.where(np.isnan(values), np.inf if least else -np.inf, values)
  k = int((filled.mean(0).argmin if least else filled.mean(0).argmax)())
  worst = filled.min(1) if least else filled.max(1)
  worst = np.where(np.isfinite(worst), worst, np.nan)
  if name in groups.GAPS and groups.GAPS[name][2]:
    found = intervals.of_gap(worst, noise, how, 0, 1)
    found = intervals.complement(found)
  elif kind == 'ratio':
    found = intervals.of_ratio(worst, noise, how)
  else:
    high = np.inf if kind == 'sum' else 1
    found = intervals.of_gap(worst, noise, how, 0, high)
  if values.shape[1] > 1:
    found['class'] = k
  return found
