"""Calibration: do scores mean what they say, for every group?

With rows in bins of their score, of B equal widths,

  ece = Σ_b (n_b / n) |share positive in b − mean score in b|

(Naeini et al. 2015). Counted like this a perfectly calibrated model has an ECE
above 0, by chance, and the more the fewer its rows; that value stands beside
it as 'null'. The vector r of the signed terms (n_b / n)(ȳ_b − p̄_b) makes ECE
a norm f(r), so as with gaps (intervals.py) f(r̂) ± c covers, with c the level
quantile of f(r* − r̂). Each bin has Jeffreys's half a row of either label.
Coverage at an ECE of 0, where the triangle inequality leaves no room: .942
(standard error .005) of 2,200 sets of 1,000 rows, .960 of 1,600 sets of 150.

`overconfidence` is the mean score less the share positive: signed, and of all
bins together. With three or more classes a score is the probability of the
likeliest class, and positive means that it is right (Guo et al. 2017).
"""

import numpy as np
from jaxtyping import Float, Integer

from fairjax.metrics.counts import Case
from fairjax.metrics.inference import (
  clusters,
  intervals,
  resampling,
  row_weights,
)
from fairjax.metrics.inference.estimates import Estimates, Row, estimate
from fairjax.metrics.inference.resampling import Items
from fairjax.metrics.inference.sample import RowSample

BINS = 10


def confidence(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
) -> tuple[Integer[np.ndarray, 's n'], Float[np.ndarray, 's n']]:
  """What is predicted, and how sure: (y, p) of two classes, or of the best."""
  if scores.ndim == 2:
    y = np.broadcast_to((labels > 0).astype(np.int64), scores.shape)
    return y, scores
  return (scores.argmax(-1) == labels).astype(np.int64), scores.max(-1)


def measure(
  case: Case, given: tuple[Items, np.ndarray | None] | None = None
) -> tuple[Estimates, list[Estimates], Estimates]:
  """(quality, a dict a group, fairness): ece, overconfidence, ece_max.

  `given` are resampling.weights of these rows, the same for any groups.
  """
  truth, score = confidence(case.labels, case.scores)
  masks, options = np.stack(case.groups.masks), case.options
  items, drawn = given or resampling.weights(len(case.labels), options)
  sums, sizes = _totals(truth, score, masks, items)
  n = masks.sum(1) if options.weight is None else masks @ options.weight
  below = np.where(n > 0, n, 1)[:, None]
  gaps = sums.sum(0) / below  # s, g, bin: (Σ y − p)/n
  ece = np.where(n > 0, np.abs(gaps).sum(-1), np.nan)
  over = np.where(n > 0, -gaps.sum(-1), np.nan)
  noise = shift = alike = None
  if drawn is not None:
    draws = _draws(sums, sizes, score, masks, items, drawn, options.seed)
    centred = draws - draws.mean(0)
    noise = np.abs(centred).sum(-1)  # resample, s, g
    own = intervals.seeds_alike(gaps, len(draws), options.seed)
    # Of several seeds each is off by chance, though their mean is not.
    alike = noise if own is None else np.abs(centred + own).sum(-1)
    shift = -centred.sum(-1)
  by_group = []
  for g in range(len(masks)):
    note = {} if n[g] else {'note': 'no rows'}
    bound, null, apart = (
      None if x is None or note else x[:, :, g] for x in (noise, alike, shift)
    )
    shifted = None if apart is None else over[:, g] + apart
    one = {
      'ece': intervals.of_gap(ece[:, g], bound, options, alike=null) | note,
      'overconfidence': intervals.of_mean(
        over[:, g], shifted, options, bounds=(-1.0, 1.0), **note
      ),
    }
    by_group.append(one)
  everyone = by_group.pop()
  fair, large = {}, case.large()
  if len(large) > 1:
    value = ece[:, large].max(1)
    bound, null = (
      None if x is None else x[:, :, large].max(-1) for x in (noise, alike)
    )
    fair['ece_max'] = intervals.of_gap(value, bound, options, alike=null)
  elif by_group:
    few = f'fewer than two groups of {case.min_group} rows'
    fair['ece_max'] = estimate(np.full(len(score), np.nan), note=few)
  return everyone, by_group, fair


def _bins(score: np.ndarray) -> np.ndarray:
  return np.minimum((score * BINS).astype(np.int64), BINS - 1)


def _totals(
  truth: np.ndarray, score: np.ndarray, masks: np.ndarray, items: Items
) -> tuple[np.ndarray, np.ndarray]:
  """[item, s, g, bin] of y − p, and the rows of each item and group."""
  m = len(items.size)
  sums = np.zeros((m, len(score), len(masks), BINS), np.float32)
  sizes = np.zeros((m, len(masks)), np.float32)
  for g, mask in enumerate(masks):
    rows = np.flatnonzero(mask)
    own = row_weights.taken(items.weight, rows)
    sizes[:, g] = np.bincount(items.item[rows], own, m)
    for s in range(len(score)):
      code = items.item[rows] * BINS + _bins(score[s, rows])
      apart = truth[s, rows] - score[s, rows]
      if own is not None:
        apart = apart * own
      total = np.bincount(code, apart, minlength=m * BINS)
      sums[:, s, g] = total.reshape(m, BINS)
  return sums, sizes


def _draws(
  sums: np.ndarray,
  sizes: np.ndarray,
  score: np.ndarray,
  masks: np.ndarray,
  items: Items,
  drawn: np.ndarray,
  seed: int,
) -> np.ndarray:
  """The vector r of every resample, [resample, s, g, bin]."""
  resamples, drawn = len(drawn), drawn[:, : len(sums)]
  flat = drawn @ sums.reshape(len(sums), -1)
  totals = flat.reshape(-1, *sums.shape[1:])
  below = (drawn @ sizes)[:, None, :, None]
  rng = np.random.default_rng([seed, resampling.EDGES, 3])
  # Half a row of either label at the mean score of each bin that has rows.
  for g, mask in enumerate(masks):
    weight = np.ones(len(mask)) if items.weight is None else items.weight
    weight = weight[mask]
    for s in range(len(score)):
      at = _bins(own := score[s, mask])
      count, total, squares = (
        np.bincount(at, x, BINS) for x in (weight, weight * own, weight**2)
      )
      level = total / np.where(count > 0, count, 1)
      halves = rng.standard_normal((2, resamples, BINS), np.float32) ** 2 / 2
      more = halves[1] * (1 - level) - halves[0] * level
      row = row_weights.unit(count, squares)
      totals[:, s, g] += np.where(count > 0, more, 0) * row
  return np.asarray(totals / np.maximum(below, 1e-9))


def reliability(case: Case) -> dict[str, list[Row]]:
  """{group: bins with rows}: mean score, share positive with its interval.

  All seeds together; the interval is Jeffreys's for the rows of one seed, or of
  as many rows as tell what the bin's clusters do.
  """
  truth, score = confidence(case.labels, case.scores)
  names, masks = ['everyone', *case.groups.names], case.groups.masks
  out = {}
  for name, mask in zip(names, [masks.pop(), *masks]):
    y, p = truth[:, mask].ravel(), score[:, mask].ravel()
    own = case.options.of(np.tile(np.flatnonzero(mask), len(score)))
    at, rows = _bins(p), []
    for b in range(BINS):
      here = at == b
      inside, n = own.of(here), own.rows(here) / len(score)
      if not n:
        continue
      share = float(inside.mean(y[here]))
      worth = n
      if inside.cluster is not None:
        effect = _effect(y[here], inside, share) / len(score)
        worth = n / max(effect, 1.0)
      low, high = clusters.jeffreys(share * worth, worth, own.level)
      rows.append(
        {
          'bin': f'{b / BINS:.1f}–{(b + 1) / BINS:.1f}',
          'rows': round(float(n), 1) if n % 1 else int(n),
          'mean score': float(inside.mean(p[here])),
          'share positive': {'value': share, 'low': low, 'high': high},
        }
      )
    out[name] = rows
  return out


def _effect(y: np.ndarray, sample: RowSample, share: float) -> float:
  """How many times the variance of a share over clusters is that of its rows.

  Where all rows agree nothing says how alike a cluster's are: they count once.
  """
  weight = np.ones(len(y)) if sample.weight is None else sample.weight
  code = sample.units(len(y))
  total = np.bincount(code, weight)
  count = len(total)
  once = total.sum() ** 2 / (total**2).sum()  # clusters of one size (Kish)
  most = float(weight.sum() ** 2 / (weight**2).sum() / once)
  rows = (weight**2 * (y - share) ** 2).sum()
  if count < 2 or not rows:
    return most
  apart = np.bincount(code, weight * (y - share))
  return float((apart**2).sum() * count / (count - 1) / rows)
