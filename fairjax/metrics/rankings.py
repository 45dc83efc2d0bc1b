"""Estimates of measures of ranks and probabilities: AUCs, log loss."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.metrics import intervals, measures, quality
from fairjax.metrics.intervals import How, Items, estimate

NOTES = {
  'auc': 'rows of one label only',
  'bnsp_auc': 'no row of label 1 inside, or of label 0 outside',
  'bpsn_auc': 'no row of label 0 inside, or of label 1 outside',
  'positive_aeg': 'no row of label 1 inside, or outside',
  'negative_aeg': 'no row of label 0 inside, or outside',
}


class Suites(NamedTuple):
  """The five AUC-like measures of every group, everyone last."""

  values: np.ndarray  # [s, g+1, suite]
  draws: np.ndarray | None  # [resample, s, g+1, suite]
  ends: intervals.Ends | None  # of the means over seeds, [g+1, suite]


def suites(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'],
  masks: Bool[np.ndarray, 'g n'],
  items: Items,
  drawn: np.ndarray | None,
  how: How,
) -> Suites:
  """quality.SUITE of every seed and group, and of every resample."""
  ordered = [quality.in_order(one) for one in scores]
  values = np.stack([quality.ranks(labels, one, masks) for one in ordered])
  if drawn is None:
    return Suites(values, None, None)
  # A first row of ones gives the value that placements from bins have.
  drawn = np.concatenate([np.ones((1, drawn.shape[1]), np.float32), drawn])
  draws = []
  for value, one in zip(values, ordered):
    sums, sizes = quality.placements(labels, one, masks, items)
    found = np.asarray(
      quality.resampled_ranks(drawn, intervals.pad(sums), intervals.pad(sizes))
    )
    draws.append(found[1:] + (value - found[0]).astype(np.float32))
  draws = np.stack(draws, 1)
  return Suites(values, draws, intervals.percentiles(draws, how))


def of_group(suites: Suites, g: int) -> dict:
  """The five measures of one group (−1: everyone)."""
  out = {}
  for i, name in enumerate(quality.MEASURES):
    ends = suites.ends or (None, None)
    low, high = (None if end is None else float(end[g, i]) for end in ends)
    out[name] = intervals.noted(suites.values[:, g, i], low, high, NOTES[name])
  return out


def gaps(suites: Suites, chosen: Sequence[int], how: How) -> dict:
  """Largest AUC difference between groups, least AUCs, largest AEGs."""
  values = suites.values[:, chosen]
  noise = None
  if suites.draws is not None:
    noise = suites.draws[:, :, chosen] - values
  out = {}
  for name, row in measures.of_kind('rank gap').items():
    kind = row.kernel
    i = quality.MEASURES.index(row.of[0])
    found = _reduce(kind, values[..., i])
    if np.isnan(found).all():
      few = 'fewer groups in which it is defined than it needs'
      out[name] = estimate(found, note=few)
      continue
    half = None
    if noise is not None:
      bound = _reduce('range' if kind == 'range' else 'largest', noise[..., i])
      half = float(intervals.radius(found, bound, how))
    out[name] = intervals.of_gap(found, half, row.low, row.high)
  return out


def _reduce(kind: str, x: Float[np.ndarray, '*b g']) -> np.ndarray:
  known = ~np.isnan(x)
  low = np.where(known, x, np.inf).min(-1, initial=np.inf)
  high = np.where(known, x, -np.inf).max(-1, initial=-np.inf)
  if kind == 'range':
    return np.where(known.sum(-1) > 1, high - low, np.nan)
  out = low if kind == 'min' else np.maximum(high, -low)
  return np.where(known.any(-1), out, np.nan)


def macro_auc(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n c'],
  items: Items,
  drawn: np.ndarray | None,
  how: How,
) -> dict:
  """Mean AUC over ordered pairs of classes (Hand and Till 2001).

  A(a|b) is the AUC of p_a among the rows of classes a and b.
  """
  present = np.unique(labels)
  parts = []
  for a in present:
    masks = [(labels == a) | (labels == b) for b in present if b != a]
    if masks:
      own = (labels == a).astype(np.int64)
      found = suites(own, scores[..., a], np.stack(masks), items, drawn, how)
      parts.append(found)
  if not parts:
    return estimate([None] * len(scores), note=NOTES['auc'])
  values = np.mean([p.values[..., 0] for p in parts], axis=(0, 2))
  draws = None
  if drawn is not None:
    draws = np.mean([p.draws[..., 0].mean(-1) for p in parts], axis=0)
  return intervals.of_mean(values, draws, how)


def log_loss(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  items: Items,
  drawn: np.ndarray | None,
  how: How,
) -> dict:
  """Mean of −log p(label)."""
  losses = quality.log_loss(labels, scores)
  draws = None
  if drawn is not None:
    m = len(items.size)
    sums = [np.bincount(items.item, one, minlength=m) for one in losses]
    totals = intervals.pad(np.stack([*sums, items.size], 1))
    found = np.asarray(intervals.resampled(drawn, totals))
    draws = found[:, :-1] / found[:, -1:]
  return intervals.of_mean(losses.mean(1), draws, how)
