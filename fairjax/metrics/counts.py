"""Estimates of the measures of counts: rates, gaps, accuracy, F1, Matthews."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Integer

from fairjax.metrics import groups, intervals, measures, quality
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
  ends: intervals.Ends | None  # of the means over seeds, [k, g+1, rate]


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


def rates(table: Table, drawn: np.ndarray | None, how: How) -> Rates:
  """Rates of every group, and of every resample."""
  sums = table.groups.sum(0, dtype=np.float64)
  with jax.enable_x64(True):
    values = np.asarray(groups.rates(sums))
  if drawn is None:
    return Rates(values, None, None)
  totals = intervals.resampled(drawn, intervals.pad(table.groups))
  draws = np.array(groups.rates(totals))
  _loosen(draws, values, sums, how.seed)
  return Rates(values, draws, intervals.percentiles(draws, how))


def _loosen(draws, values, sums, seed: int) -> None:
  """Gives rates of exactly 0 or 1 the doubt that resampling cannot.

  No resample of 0 of n finds one. Draws from Beta(1, n) have the exact
  (Clopper-Pearson) upper limits; all seeds have the same draws.
  """
  edge = (values == 0) | (values == 1)
  rng = np.random.default_rng([seed, intervals.EDGES])
  for k, g, r in np.argwhere(edge.any(0)):
    u = rng.random(len(draws), np.float32)
    among = np.array(groups.RATES[groups.NAMES[r]][1])
    for s in np.flatnonzero(edge[:, k, g, r]):
      reach = 1 - u ** (1 / (sums[s, k, g] @ among))
      draws[:, s, k, g, r] = np.abs(values[s, k, g, r] - reach)


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
    rows = int((sums[:, 0] @ np.array(among)).min())
    note = empty or NOTES.get(name, '')
    out[name] = _rate(rates, (0, g, r), rows, note, how)
  return out


def _rate(rates: Rates, where: tuple, rows: int, note: str, how: How) -> dict:
  values = rates.values[(slice(None), *where)]
  ends = rates.ends or (None, None)
  low, high = (None if end is None else float(end[where]) for end in ends)
  return intervals.at_edge(intervals.noted(values, low, high, note), rows, how)


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
    rows = int(sums[:, k, 2:].sum(-1).min())
    note = empty or f'no row of label {k}'
    out[f'tpr_{k}'] = _rate(rates, (k, g, r), rows, note, how)
  return out


def _all_gaps() -> list[tuple[str, str, list[int], bool]]:
  """Every gap: its name, how it reduces groups, of which rates, 1 − gap."""
  index = groups.NAMES.index
  return [
    (name, kind, [index(rate) for rate in chosen], one_minus)
    for name, (chosen, kind, one_minus) in measures.gaps().items()
  ] + [
    (f'{rate}_{name}', kind, [r], False)
    for r, rate in enumerate(groups.NAMES)
    for name, kind in groups.AGGREGATES.items()
  ]


def gaps(rates: Rates, chosen: Sequence[int], how: How) -> dict:
  """All gaps, and the AGGREGATES of every rate, over some of the groups.

  With many classes each is taken for every class against the rest, and the
  worst class counts, named by `class`.
  """
  index = np.array([*chosen, -1])
  values = rates.values[:, :, index]
  with jax.enable_x64(True):
    found = {key: np.asarray(v) for key, v in groups.reduce(values).items()}
  found['ratio'] = _shares(found['min'], found['max'])
  worst, classes = _worst(_columns(found))
  half = None
  if rates.draws is not None:
    noise = groups.reduce_noise(
      rates.draws[:, :, :, index], values.astype(np.float32)
    )
    # Over classes the largest bound: the worst value is at most so far away.
    noise = {key: np.asarray(_largest(v)) for key, v in noise.items()}
    ratio = np.array([kind == 'ratio' for _, kind, _, _ in _all_gaps()])
    logs = np.log(
      np.where(ratio & (worst <= 0), np.nan, worst),
      where=ratio,
      out=worst.copy(),
    )
    half = intervals.radius(logs, _columns(noise), how)
  out = {}
  for i, (name, kind, _, one_minus) in enumerate(_all_gaps()):
    c = None if half is None else float(half[i])
    one = _gap_estimate(kind, worst[:, i], c)
    if one['value'] is not None and values.shape[1] > 1:
      one['class'] = int(classes[i])
    out[name] = intervals.complement(one) if one_minus else one
  return out


def _columns(found: dict[str, np.ndarray]) -> np.ndarray:
  """[…, rate] of each reduction to […, gap]."""
  return np.stack(
    [found[kind][..., rates].mean(-1) for _, kind, rates, _ in _all_gaps()], -1
  )


def _worst(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """[s, k, gap] to the worst class's value [s, gap], and that class [gap]."""
  # Ratios and minima are worst where they are least.
  sign = np.array(
    [-1 if kind in ('ratio', 'min') else 1 for _, kind, _, _ in _all_gaps()]
  )
  signed = np.where(np.isnan(values), -np.inf, values * sign)
  top = signed.max(1)
  return np.where(np.isfinite(top), top * sign, np.nan), signed.mean(0).argmax(
    0
  )


def _shares(low: np.ndarray, high: np.ndarray) -> np.ndarray:
  return np.divide(low, high, out=np.full(low.shape, np.nan), where=high > 0)


@jax.jit
def _largest(
  noise: Float[Array, 'resample s k rate'],
) -> Float[Array, 'resample s rate']:
  return jnp.nanmax(noise, -2)


def _gap_estimate(kind: str, values: np.ndarray, half: float | None) -> dict:
  if np.isnan(values).all():
    few = 'fewer than two groups in which it is defined'
    return estimate(values, note=few)
  if kind == 'ratio':
    return intervals.of_ratio(values, half)
  high = np.inf if kind == 'sum' else 1.0
  return intervals.of_gap(values, half, 0.0, high)
