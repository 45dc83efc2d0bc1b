"""Measures of confusion counts: rates, gaps, accuracy, F1, Matthews."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.metrics import groups, measures, quality
from fairjax.metrics.inference import (
  clustered_rates,
  estimates,
  extremes,
  intervals,
  resampling,
  row_weights,
)
from fairjax.metrics.inference.estimates import Estimate, Estimates, estimate
from fairjax.metrics.inference.resampling import Items
from fairjax.metrics.inference.sample import RowSample

Place = tuple[int, int, int]  # class, group, rate
DENSE = 0.25  # share of items in a group from which one product is faster


class Case(NamedTuple):
  """One set of predictions, and how it is assessed."""

  labels: Any  # [n]; None where there are none
  scores: np.ndarray  # [s, n], or [s, n, c] with three or more classes
  decisions: np.ndarray  # [s, n]
  groups: groups.Groups
  options: RowSample
  min_group: int = 1

  def of(self, kind: str) -> 'Case':
    """The same, of an attribute's groups."""
    return self._replace(groups=self.groups.of(kind))

  def large(self) -> list[int]:
    """The numbers of the groups that have rows enough to be in a gap."""
    rows = map(self.options.rows, self.groups.members)
    return [g for g, count in enumerate(rows) if count >= self.min_group]

  def table(self) -> 'Table':
    """The counts of its rows."""
    classes = self.scores.shape[-1] if self.scores.ndim == 3 else 2
    of = self.labels, self.decisions, self.groups.masks
    return tabulate(*of, classes, self.options, self.groups.code)


class Table(NamedTuple):
  """Counts of every item: what a resample adds up."""

  groups: np.ndarray  # [m, s, k, g+1, 4]: (tn, fp, fn, tp), everyone last
  confusion: np.ndarray  # [m, s, c, c]: label, decision
  items: Items
  squares: np.ndarray | None = None  # [s, k, g+1, 4]: of weights; None: all 1

  @property
  def unit(self) -> Any:
    """The weight of an effective row behind each rate, [s, k, g+1, rate]."""
    if self.squares is None:
      return 1.0
    total = groups.denominators(self.groups.sum(0, dtype=np.float64))
    return row_weights.unit(total, groups.denominators(self.squares))

  @property
  def rows(self) -> np.ndarray:
    """Rows behind each rate, effectively, in the seed of fewest."""
    total = groups.denominators(self.groups.sum(0, dtype=np.float64))
    if self.squares is not None:
      squares = groups.denominators(self.squares)
      total = row_weights.effective(total, squares)
    return np.asarray(total.min(0))


class Draws(NamedTuple):
  """What the resamples of a table give."""

  rates: np.ndarray  # [resample, s, k, g+1, rate]
  everyone: dict[str, np.ndarray]  # [resample, s] of the confusion's measures


class Rates(NamedTuple):
  """Rates of groups, everyone last; class k against the rest."""

  values: np.ndarray  # [s, k, g+1, rate]
  draws: np.ndarray | None  # [resample, s, k, g+1, rate]
  ends: intervals.Ends | None  # of the means over seeds, [k, g+1, rate]
  rows: np.ndarray  # [k, g+1, rate]: Table.rows
  clustered: bool = False  # draws are over clusters


def tabulate(
  labels: Integer[np.ndarray, ' n'],
  decisions: Integer[np.ndarray, 's n'],
  masks: Sequence[Bool[np.ndarray, ' n']],
  classes: int,
  options: RowSample,
  code: Integer[np.ndarray, ' n'] | None = None,
) -> Table:
  """Counts of the cells of rows, or of blocks where there are many cells.

  `masks` are the groups and then everyone. With two classes k is class 1
  alone, else every class against the rest. `code` is the one group of each row,
  −1 for none, where that is known (groups.Groups).
  """
  items = None
  if options.cluster is None and options.weight is None:
    if code is None:
      columns = resampling.distinct(masks[:-1])
    else:  # two bytes where they do: less memory to pass
      few = np.uint16 if len(masks) < 2**16 else np.int64
      columns = [np.add(code, 1, dtype=few, casting='unsafe')]
    items = resampling.cells([*columns, labels, *decisions])
  chosen = np.array([1]) if classes == 2 else np.arange(classes)
  if items is None or len(items.size) > resampling.CELLS:
    items = resampling.blocks(len(labels), options)
    of, squares = (labels, decisions, masks, chosen), None
    if items.weight is not None:  # as if all rows were one item
      one, n = np.zeros(len(labels), np.int64), np.array([len(labels)])
      whole = Items(one, n, False, None, weight=items.weight * items.weight)
      squares = by_rows(*of, whole)[0].astype(np.float64)
    confusion = confusion_of(labels, decisions, classes, items)
    return Table(by_rows(*of, items), confusion, items, squares)
  # Rows of a cell are alike: one of them, times their number.
  y, d = labels[items.first], decisions[:, items.first]
  code = 2 * (y == chosen[:, None]) + (d[:, None] == chosen[:, None])
  one = (code.transpose(2, 0, 1)[..., None] == np.arange(4)) * 1.0
  one *= items.size[:, None, None, None]
  member = np.stack([mask[items.first] for mask in masks], 1)  # m, g+1
  pair = (y * classes + d).T[..., None] == np.arange(classes**2)
  pair = pair * items.size[:, None, None]
  return Table(
    one[:, :, :, None, :] * member[:, None, None, :, None],
    pair.reshape(len(y), len(decisions), classes, classes),
    items,
  )


def by_rows(
  labels: np.ndarray,
  decisions: np.ndarray,
  masks: Sequence[np.ndarray],
  chosen: np.ndarray,
  items: Items,
) -> np.ndarray:
  m = len(items.size)
  out = np.empty((m, len(decisions), len(chosen), len(masks), 4), np.float32)
  for g, mask in enumerate(masks):
    rows = np.flatnonzero(mask)
    for s, decision in enumerate(decisions):
      for k, c in enumerate(chosen):
        code = 2 * (labels[rows] == c) + (decision[rows] == c)
        code += 4 * items.item[rows]
        own = row_weights.taken(items.weight, rows)
        out[:, s, k, g] = np.bincount(code, own, 4 * m).reshape(m, 4)
  return out


def confusion_of(
  labels: np.ndarray, decisions: np.ndarray, classes: int, items: Items
) -> np.ndarray:
  m = len(items.size)
  out = np.empty((m, len(decisions), classes**2), np.float32)
  for s, decision in enumerate(decisions):
    code = (items.item * classes + labels) * classes + decision
    count = np.bincount(code, items.weight, m * classes**2)
    out[:, s] = count.reshape(m, -1)
  return out.reshape(m, len(decisions), classes, classes)


def draw(table: Table, options: RowSample, runs: int = 1) -> Draws | None:
  """Measures of every resample; None where no resamples are asked for.

  Rates have Jeffreys's half a row of either kind: a rate of x of n has draws
  from Beta(x + 1/2, n − x + 1/2), and at 0 of n from Beta(1, n), the exact
  (Clopper-Pearson) upper limits. What is added is the same in all seeds of a
  run. Clusters have draws of their own (clustered_rates.py). Weights are used
  as they are drawn: all of them would be the largest array of an assessment.
  """
  count = options.resamples
  if not count:
    return None
  sums = table.groups.sum(0, dtype=np.float32)
  clustered, confusion = table.items.clusters, resampling.pad(table.confusion)
  of_groups = None if clustered else adder(table.groups)
  rng = np.random.default_rng([options.seed, resampling.EDGES])
  rates = np.empty((count, *sums.shape[:-1], len(groups.NAMES)), np.float32)
  totals = np.empty((count, *confusion.shape[1:]), np.float32)
  for some, weights in resampling.drawn(table.items, count, options.seed):
    if of_groups is not None:
      halves = _halves(rng, (len(weights), runs, sums.shape[2], *groups.PSEUDO))
      rates[some] = groups.rates_with(of_groups(weights), sums, halves)
    flat = weights @ confusion.reshape(len(confusion), -1)
    totals[some] = flat.reshape(-1, *confusion.shape[1:])
  if clustered:
    rates = clustered_rates.drawn(table.groups, options, table.unit)
  return Draws(rates, _of_totals(table, totals, options, runs))


def adder(
  totals: Float[np.ndarray, 'item s k g1 four'],
) -> Callable[[np.ndarray], np.ndarray]:
  """Weights of items to the totals of every group.

  Where there are many groups few items are in each, and most of one product
  for all would be of zeros: then a group has a product of its items alone.
  """
  m, s, k, count, _ = totals.shape
  inside = np.asarray(totals.any((1, 2, 4)))  # item, g+1
  if inside.mean() > DENSE:
    padded = resampling.pad(totals)
    return lambda weights: resampling.resampled(weights, padded)
  parts = []
  for g, column in enumerate(inside.T):
    own = slice(0, m) if column.all() else np.flatnonzero(column)
    parts.append((own, totals[own, :, :, g].astype(np.float32)))

  def add(weights: Float[np.ndarray, 'resample item']) -> np.ndarray:
    out = np.empty((len(weights), s, k, count, 4), np.float32)
    for g, (own, part) in enumerate(parts):
      flat = weights[:, own] @ part.reshape(len(part), s * k * 4)
      out[:, :, :, g] = flat.reshape(-1, s, k, 4)
    return out

  return add


def decided(
  labels: Integer[np.ndarray, ' n'] | None,
  decisions: Integer[np.ndarray, 's n'],
  members: Sequence[Bool[np.ndarray, ' n']] | Bool[np.ndarray, 'g n'],
  options: RowSample,
) -> tuple[Table, Rates]:
  """Rates of groups of two classes, and their table; everyone is the last."""
  n = decisions.shape[1]
  truth = np.zeros(n, np.int64) if labels is None else labels
  masks = [*members, np.ones(n, bool)]
  table = tabulate(truth, decisions, masks, 2, options)
  return table, rates(table, draw(table, options), options)


def rates(table: Table, draws: Draws | None, options: RowSample) -> Rates:
  """Rates of every group, and of every resample."""
  values = groups.rates(table.groups.sum(0, dtype=np.float64))
  rows = table.rows
  if draws is None:
    return Rates(values, None, None, rows)
  clustered = bool(table.items.clusters)
  ends = intervals.percentiles(values, draws.rates, options, intervals.SHARES)
  if clustered:
    drawn = clustered_rates.straight(draws.rates, table.groups, table.unit)
    return Rates(values, drawn, ends, rows, clustered)
  return Rates(values, draws.rates, ends, rows)


def _halves(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
  """Draws from Gamma(1/2): squares of normal ones, halved."""
  out = rng.standard_normal(shape, np.float32)
  out *= out
  out /= 2
  return out


def of_everyone(
  table: Table, draws: Draws | None, options: RowSample
) -> Estimates:
  """Accuracy, balanced accuracy, F1 and Matthews."""
  values = quality.from_confusion(table.confusion.sum(0, dtype=np.float64))
  return {
    name: intervals.of_mean(
      value,
      None if draws is None else draws.everyone[name],
      options,
      (row := measures.MEASURES[name]).empty,
      (row.low, row.high),
    )
    for name, value in values.items()
  }


def _of_totals(
  table: Table,
  totals: Float[np.ndarray, 'resample s c c'],
  options: RowSample,
  runs: int,
) -> dict[str, Float[np.ndarray, 'resample s']]:
  """The measures of every resample, with half a row right and half wrong.

  They are spread over the cells of the confusion. Where none of a kind was
  ever seen it is a whole row, as with rates; of clusters a whole cluster.
  """
  s, c = table.confusion.shape[1:3]
  right = np.eye(c, dtype=bool)
  kind = np.where(right, 1 / c, 1 / max(c * (c - 1), 1)) / 2
  rng = np.random.default_rng([options.seed, resampling.EDGES, c])
  shape = (2, len(totals), runs, c, c)
  more = np.repeat(rng.standard_gamma(kind, shape, np.float32), s // runs, 2)
  row: Any = 1.0
  if (weight := table.items.weight) is not None:
    row = row_weights.unit(weight.sum(), (weight**2).sum())
  observed = table.confusion.sum(0)
  unseen = np.where(
    right,
    (observed * right).sum((-1, -2), keepdims=True) == 0,
    (observed * ~right).sum((-1, -2), keepdims=True) == 0,
  )
  if clusters := table.items.clusters:
    size = observed.sum((-1, -2), keepdims=True) / clusters
    agree = unseen.any((-1, -2), keepdims=True)
    row = np.where(agree, np.maximum(size, row), row)
  more *= np.asarray(row, np.float32)
  return quality.from_confusion(totals + more[0] + unseen * more[1])


def of_group(
  table: Table, rates: Rates, g: int, options: RowSample
) -> Estimates:
  """The rates of one group (−1: everyone)."""
  sums = table.groups[:, :, :, g].sum(0, dtype=np.float64)  # s, k, 4
  empty = 'no rows' if not sums.any() else ''
  if sums.shape[1] > 1:
    return _of_classes(sums, rates, g, options, empty)
  return {
    name: rate(rates, (0, g, r), empty or measures.MEASURES[name].empty)
    for r, name in enumerate(groups.NAMES)
  }


def marked(one: Estimates, rates: Rates, g: int, min_group: int) -> Estimates:
  """Rates of a group with `few` where too few rows for a gap are behind."""
  index = groups.NAMES.index
  own = [(name, 0, r) for r, name in enumerate(groups.NAMES)]
  if len(rates.rows) > 1:
    own = [(f'tpr_{k}', k, index('tpr')) for k in range(len(rates.rows))]
    own.append(('accuracy', 0, index('accuracy')))
  for name, k, r in own:
    if rates.rows[k, g, r] < min_group:
      one[name]['few'] = True
  return one


def rate(rates: Rates, where: Place, note: str = 'no row to count') -> Estimate:
  """The estimate of one rate."""
  values = rates.values[:, *where]
  ends = rates.ends or (None, None)
  low, high = (None if end is None else float(end[where]) for end in ends)
  return estimates.noted(values, low, high, note)


def _of_classes(
  sums: np.ndarray, rates: Rates, g: int, options: RowSample, empty: str
) -> Estimates:
  """With many classes: accuracy, and the share of each that is found."""
  r = groups.NAMES.index('tpr')
  n = sums[:, 0].sum(-1)
  with np.errstate(invalid='ignore'):
    right = sums[..., 3].sum(-1) / n
  out = {'accuracy': estimate(right, note=empty)}
  if rates.draws is not None and not empty:
    # P(right) = Σ_k P(y = k) P(ŷ = k | y = k).
    base = rates.draws[..., g, groups.NAMES.index('base_rate')]
    base = base / base.sum(-1, keepdims=True)
    known = ~np.isnan(rates.draws[..., g, r])
    draws = (np.where(known, base * rates.draws[..., g, r], 0)).sum(-1)
    draws = np.clip(draws, 0, 1)
    out['accuracy'] = intervals.of_mean(
      right, draws, options, bounds=intervals.SHARES
    )
  for k in range(sums.shape[1]):
    out[f'tpr_{k}'] = rate(rates, (k, g, r), empty or f'no row of label {k}')
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


def gaps(
  rates: Rates, chosen: Sequence[int], options: RowSample, min_group: int = 1
) -> Estimates:
  """All gaps, and the AGGREGATES of every rate, over some of the groups.

  Rates with fewer than `min_group` rows behind them are left out. With many
  classes each is taken for every class against the rest, and the worst class
  counts, named by `class`.
  """
  index = np.array([*chosen, -1])
  large = large_enough(rates.rows[:, index], min_group)
  values = np.where(large, rates.values[:, :, index], np.nan)
  parts = groups.reduce(values)
  low, high = parts['min'], parts['max']
  parts['ratio'] = np.divide(low, high, out=low * np.nan, where=high > 0)
  worst, classes = _worst(_columns(parts))
  noise = alike = None
  if rates.draws is not None:
    more = None if rates.clustered else grown_by(rates.rows[:, index])
    noise, alike = _noise(rates.draws, index, values, options, more)
  few = 'fewer than two groups in which it is defined'
  if min_group > 1 and len(chosen) > 1:
    few += f' by {min_group} rows or more'
  # Everyone is at most 1 away from each; of all rows' groups from all but one.
  rows = rates.rows[0, :, 0]
  most = float(len(chosen) - np.isclose(rows[[*chosen]].sum(), rows[-1]))
  out = {}
  for i, (name, kind, _, one_minus) in enumerate(_all_gaps()):
    own, null = (None if x is None else x[:, :, i] for x in (noise, alike))
    one = _gap_estimate(kind, worst[:, i], own, null, options, most, few)
    if one['value'] is not None and values.shape[1] > 1:
      one['class'] = int(classes[i])
    out[name] = estimates.complement(one) if one_minus else one
  return out


def large_enough(
  rows: Float[np.ndarray, 'k g1 rate'], min_group: int
) -> Bool[np.ndarray, 'k g1 rate']:
  """Which rates of groups and, last, everyone have rows enough for gaps."""
  out = rows >= min_group
  out[:, -1] = True
  return out


def _noise(
  draws: Float[np.ndarray, 'resample s k g1 rate'],
  index: Integer[np.ndarray, ' g'],
  values: Float[np.ndarray, 's k g rate'],
  options: RowSample,
  grown: Float[np.ndarray, 'k g rate'] | None,
) -> tuple[np.ndarray, np.ndarray]:
  """Bounds of the error of every gap over the groups `index`, [resample, s,
  gap]; and the gaps of groups that are alike.

  Over classes the largest bound: the worst value is at most so far away.
  """
  out: list[np.ndarray] = []
  null: list[np.ndarray] = []
  centre = values.astype(np.float32)
  alike = intervals.seeds_alike(values, len(draws), options.seed)
  for some in resampling.chunks(len(draws)):
    own = draws[some].take(index, 3)
    if grown is not None:
      own = centre + (own - centre) * grown
    least, most = map(_columns, groups.reduce_noise(own, centre))
    out.append(np.fmax.reduce(extremes.size((least, most)), 2))
    apart = own - centre if alike is None else own - centre + alike[some]
    null.append(np.fmax.reduce(_columns(groups.reduce(apart)), 2))
  return np.concatenate(out), np.concatenate(null)


def grown_by(rows: Float[np.ndarray, '*rest']) -> Float[np.ndarray, '*rest']:
  """√((n + 2)/(n − 1)): Beta(x + ½, n − x + ½) has the variance
  θ (1 − θ)/(n + 2), and the unbiased one of a rate is r (1 − r)/(n − 1).
  """
  grown = np.sqrt((rows + 2) / np.maximum(rows - 1, 1))
  return np.asarray(grown, np.float32)


def _columns(parts: dict[str, np.ndarray]) -> np.ndarray:
  """[…, rate] of each reduction to […, gap]; NaN of those that are not in."""
  none = np.full_like(parts['range'], np.nan)
  columns = []
  for _, kind, rates, _ in _all_gaps():
    own = parts.get(kind, none)
    # Nearly all are of one rate, which needs no copy.
    columns.append(
      own[..., rates].mean(-1) if rates[1:] else own[..., rates[0]]
    )
  return np.stack(columns, -1)


def _worst(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """[s, k, gap] to the worst class's value [s, gap], and that class [gap]."""
  # Ratios and minima are worst where they are least.
  sign = np.array(
    [-1 if kind in ('ratio', 'min') else 1 for _, kind, _, _ in _all_gaps()]
  )
  signed = np.where(np.isnan(values), -np.inf, values * sign)
  top = signed.max(1)
  worst = signed.mean(0).argmax(0)
  return np.where(np.isfinite(top), top * sign, np.nan), worst


def _gap_estimate(
  kind: str,
  values: Float[np.ndarray, ' s'],
  noise: Float[np.ndarray, 'resample s'] | None,
  alike: Float[np.ndarray, 'resample s'] | None,
  options: RowSample,
  most: float,
  few: str,
) -> Estimate:
  if np.isnan(values).all():
    return estimate(values, note=few)
  if kind == 'ratio':
    if noise is None:
      return estimates.of_ratio(values, None)
    logs = np.log(np.where(values > 0, values, np.nan))
    null = intervals.chance(np.exp(-noise), 1)[:, None]
    null = intervals.chance(null, 0)[0]
    half = float(intervals.radius(logs, noise, options))
    return estimates.of_ratio(values, half, float(null))
  # A least or a largest rate has no value that chance alone gives.
  high = most if kind == 'sum' else 1.0
  tested = kind in ('range', 'sum')
  return intervals.of_gap(values, noise, options, high, alike, tested)
