"""Measures of ranks and probabilities: AUCs, log loss."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.metrics import measures, quality
from fairjax.metrics.inference import (
  estimates,
  extremes,
  intervals,
  resampling,
  row_weights,
)
from fairjax.metrics.inference.estimates import Estimate, Estimates, estimate
from fairjax.metrics.inference.resampling import Items
from fairjax.metrics.inference.sample import RowSample


class Suites(NamedTuple):
  """The five AUC-like measures of every group, everyone last."""

  values: np.ndarray  # [s, g+1, suite]
  draws: np.ndarray | None  # [resample, s, g+1, suite]
  ends: intervals.Ends | None  # of the means over seeds, [g+1, suite]
  rows: np.ndarray  # [g+1, suite]: rows in the smaller of the two sets


def suites(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'],
  masks: Sequence[Bool[np.ndarray, ' n']],
  items: Items,
  weights: np.ndarray | None,
  options: RowSample,
  runs: int = 1,
) -> Suites:
  """quality.SUITE of every seed and group, and of every resample."""
  members = quality.rows_of(masks)
  values = np.empty((len(scores), len(members), len(quality.SUITE)))
  draws = None
  if weights is not None:
    rng = np.random.default_rng([options.seed, resampling.EDGES])
    shape = (runs, len(weights), len(members), 4)
    unit = _unit(labels, members, items)
    extra = rng.standard_normal(shape, np.float32) ** 2 / 2
    places = rng.random(shape, np.float32)
    draws = np.empty((len(weights), *values.shape), np.float32)
  for s, one in enumerate(scores):
    by_score = quality.in_order(one)
    if items.weight is None:
      values[s] = quality.ranks(labels, by_score, members)
    else:
      values[s] = quality.weighted_ranks(
        labels, by_score, members, items.weight
      )
    if draws is not None:
      sums, sizes = quality.placements(labels, by_score, members, items)
      run = s * runs // len(scores)
      draws[:, s] = quality.resampled_ranks(
        weights,
        resampling.pad(sums),
        resampling.pad(sizes),
        extra[run],
        places[run],
        unit,
      )
  rows = _rows(labels, members, items.weight)
  if draws is None:
    return Suites(values, None, None, rows)
  plain = values - quality.OFFSET  # in [0, 1]
  draws += plain.astype(np.float32)
  np.clip(draws, 0, 1, out=draws)
  ends = intervals.percentiles(plain, draws, options, intervals.SHARES)
  draws += quality.OFFSET.astype(np.float32)
  ends = intervals.Ends(*(end + quality.OFFSET for end in ends))
  return Suites(values, draws, ends, rows)


def _sets(
  labels: np.ndarray, members: Sequence[np.ndarray], weight: np.ndarray | None
) -> np.ndarray:
  """The total of `weight` (or the rows) in each set of each group, [g, 4]."""
  counted = (
    (lambda x: len(x)) if weight is None else (lambda x: weight[x].sum())
  )
  positive = labels > 0
  ones = np.array([counted(own[positive[own]]) for own in members])
  zeros = np.array([counted(own) for own in members]) - ones
  both = [counted(np.flatnonzero(one)) for one in (~positive, positive)]
  return np.stack([zeros, ones, both[0] - zeros, both[1] - ones], -1)


def _rows(
  labels: np.ndarray, members: Sequence[np.ndarray], weight: np.ndarray | None
) -> np.ndarray:
  sets = _sets(labels, members, weight)
  if weight is not None:
    squares = _sets(labels, members, weight * weight)
    sets = row_weights.effective(sets, squares.clip(0))
  a, b = np.array(list(quality.SUITE.values())).T
  return np.asarray(np.minimum(sets[:, a], sets[:, b]))


def _unit(labels: np.ndarray, members: Sequence[Any], items: Items) -> Any:
  """What a further row of each set weighs: as a cluster of rows, or a row."""
  unit = np.float32(len(labels) / items.clusters if items.clusters else 1)
  if items.weight is None:
    return unit
  pairs = (_sets(labels, members, w) for w in (items.weight, items.weight**2))
  own = row_weights.unit(*pairs).astype(np.float32)
  return np.maximum(own, unit) if items.together else own


def of_group(suites: Suites, g: int) -> Estimates:
  """The five measures of one group (−1: everyone)."""
  out = {}
  for i, name in enumerate(quality.MEASURES):
    ends = suites.ends or (None, None)
    low, high = (None if end is None else float(end[g, i]) for end in ends)
    empty = measures.MEASURES[name].empty
    out[name] = estimates.noted(suites.values[:, g, i], low, high, empty)
  return out


def gaps(
  suites: Suites, chosen: Sequence[int], options: RowSample, min_group: int = 1
) -> Estimates:
  """Largest AUC difference between groups, least AUCs, largest AEGs.

  AUCs of fewer than `min_group` rows of a kind are left out.
  """
  few = suites.rows[chosen] < min_group
  values = np.where(few, np.nan, suites.values[:, chosen])
  noise: Any = None
  alike: Any = None
  if suites.draws is not None:
    noise = suites.draws[:, :, chosen] - values.astype(np.float32)
    alike = intervals.alike(values, noise, options)
  out = {}
  for name, row in measures.of_kind('rank gap').items():
    kind = row.kernel
    i = quality.MEASURES.index(row.of[0])
    value = _reduce(kind, values[..., i])
    if np.isnan(value).all():
      note = 'fewer groups in which it is defined than it needs'
      if min_group > 1 and len(chosen) > 1:
        note += f', by {min_group} rows of either kind or more'
      out[name] = estimate(value, note=note)
      continue
    bound = null = None
    if noise is not None:
      part = 'range' if kind == 'range' else 'largest'
      bound = _bound(kind, noise[..., i], values[..., i])
      null = _reduce(part, alike[..., i])
    out[name] = intervals.of_gap(
      value, bound, options, row.high, null, kind != 'min'
    )
  return out


def _bound(
  kind: str,
  noise: Float[np.ndarray, 'resample s g'],
  values: Float[np.ndarray, 's g'],
) -> Float[np.ndarray, 'resample s']:
  """Of the error of a reduction (inference/extremes.py)."""
  noise, centre = extremes.groups_first(noise, values)
  if kind == 'range':
    return extremes.size(extremes.of_range(noise, centre))
  centre = -centre if kind == 'min' else np.abs(centre)
  return extremes.of_largest(noise, centre)


def _reduce(kind: str, x: Float[np.ndarray, '*b g']) -> np.ndarray:
  if kind == 'range':
    return extremes.gap(x)
  known = ~np.isnan(x)
  low = np.where(known, x, np.inf).min(-1, initial=np.inf)
  high = np.where(known, x, -np.inf).max(-1, initial=-np.inf)
  out = low if kind == 'min' else np.maximum(high, -low)
  return np.where(known.any(-1), out, np.nan)


def macro_auc(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  items: Items,
  weights: np.ndarray | None,
  options: RowSample,
) -> Estimate | None:
  """Mean AUC over ordered pairs of classes (Hand and Till 2001).

  A(a|b) is the AUC of p_a among the rows of classes a and b. Two classes have
  their one AUC instead.
  """
  if scores.ndim == 2:
    return None
  present = np.unique(labels)
  parts = []
  for a in present:
    masks = [(labels == a) | (labels == b) for b in present if b != a]
    if masks:
      own = (labels == a).astype(np.int64)
      parts.append(suites(own, scores[..., a], masks, items, weights, options))
  if not parts:
    return estimate(
      [None] * len(scores), note=measures.MEASURES['macro_auc'].empty
    )
  values = np.mean([p.values[..., 0] for p in parts], axis=(0, 2))
  draws = None
  if weights is not None:
    each = [np.asarray(p.draws)[..., 0].mean(-1) for p in parts]
    draws = np.mean(each, axis=0)
  return intervals.of_mean(values, draws, options, bounds=intervals.SHARES)


def log_loss(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  items: Items,
  weights: np.ndarray | None,
  options: RowSample,
) -> Estimate:
  """Mean of −log p(label)."""
  m, values, totals = len(items.size), [], [items.size]
  for one in scores:
    losses = quality.log_loss(labels, one[None])[0]
    values.append(row_weights.mean(losses, items.weight))
    if items.weight is not None:
      losses = losses * items.weight
    totals.append(np.bincount(items.item, losses, minlength=m))
  draws = None
  if weights is not None:
    sums = weights @ resampling.pad(np.stack(totals, 1))
    draws = sums[:, 1:] / sums[:, :1]
  return intervals.of_mean(
    np.array(values), draws, options, bounds=intervals.POSITIVE
  )
