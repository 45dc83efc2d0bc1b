"""Quality of predictions: from counts, ranks and probabilities.

A measure of ranks is P(a > b) + P(a = b)/2 for a drawn from one set of scores
and b from another. With g the rows of a group, b the background (all others)
and 0 or 1 their labels, five pairs of sets are looked at (Borkan et al. 2019):

  auc           g1 over g0   how well the group's rows are ranked
  bnsp_auc      g1 over b0   background negative, subgroup positive
  bpsn_auc      b1 over g0   background positive, subgroup negative
  positive_aeg  g1 over b1   average equality gap, minus 1/2
  negative_aeg  g0 over b0   likewise: above 0, the group scores higher

Values are exact (whole numbers from one sort, ties counted half). Resamples
weight each row's placement, its share of the other set below it: a resampled
value is the mean placement of either set plus the other's minus the value.
This leaves out a term of order 1/rows and sorts once for all resamples. Sets
with more than `BINS` distinct scores have placements from that many bins of
equal size.

The rows at hand do not tell how far a set's next row may lie: each set has a
further one of a weight from Gamma(1/2), placed anywhere with equal chance. So
20 rows in perfect order leave an AUC of 0.8 possible (as Newcombe's score
interval, Stat. Med. 25:559, does), and intervals of AUCs near 1 cover.
Deviations grow by sqrt((m + 1)/(m − 1)), which makes the variance of the mean
of m placements that of m − 1 degrees of freedom.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.metrics import measures
from fairjax.metrics.inference import resampling, row_weights
from fairjax.metrics.inference.estimates import Function
from fairjax.metrics.inference.intervals import chance
from fairjax.metrics.kernels import kernel

BINS = 2048
SOME = 256  # bins whose rows are counted at a time

# Sets of rows: 0 of the group, 1 of the group, 0 and 1 of the background.
G0, G1, B0, B1 = range(4)
SUITE = {
  'auc': (G1, G0),
  'bnsp_auc': (G1, B0),
  'bpsn_auc': (B1, G0),
  'positive_aeg': (G1, B1),
  'negative_aeg': (G0, B0),
}
MEASURES = tuple(SUITE)
OFFSET = np.array([0, 0, 0, -0.5, -0.5])
Confusion = Float[np.ndarray, 'b *s c c']  # rows of [label, decision]
OfConfusion = Float[np.ndarray, 'b *s']


def auc(
  labels: Integer[np.ndarray, ' n'], scores: Float[np.ndarray, ' n']
) -> float:
  """Area under the ROC curve, ties counted half; NaN with one class only."""
  everyone = np.arange(len(labels))
  return float(ranks(labels, in_order(scores), [everyone])[0, 0])


class Sorted(NamedTuple):
  """Scores in ascending order; computed once for all that needs it."""

  order: np.ndarray  # the row at each place
  place: np.ndarray  # the place of each row
  run: np.ndarray  # at each place, the number of its run of equal scores


def in_order(scores: Float[np.ndarray, ' n']) -> Sorted:
  """Sorts the scores of one seed."""
  n = len(scores)
  number = _number(n)
  order: np.ndarray = np.argsort(scores).astype(number)
  ordered = scores[order]
  run: np.ndarray = np.zeros(n, number)
  np.cumsum(ordered[1:] != ordered[:-1], out=run[1:])
  place: np.ndarray = np.empty(n, number)
  place[order] = np.arange(n, dtype=number)
  return Sorted(order, place, run)


def _number(n: int) -> type:
  """The whole numbers in which twice a place fits."""
  return np.int32 if n < 2**30 else np.int64


def rows_of(
  masks: Iterable[Bool[np.ndarray, ' n']],
) -> list[Integer[np.ndarray, ' _']]:
  """The rows of each group: looked up once for all seeds."""
  return [np.flatnonzero(mask).astype(_number(len(mask))) for mask in masks]


def ranks(
  labels: Integer[np.ndarray, ' n'],
  by_score: Sorted,
  rows: Sequence[Integer[np.ndarray, ' _']],
) -> Float[np.ndarray, 'g suite']:
  """The SUITE of each group's rows from one sort; NaN where a set is empty."""
  run = by_score.run
  positive = labels[by_score.order] > 0
  edges = _edges(run)
  ones = _before(positive)
  total = len(run) - int(ones[-1]), int(ones[-1])
  # Twice the rows below the score of each place: those in lower runs count
  # twice, those in the same run once.
  below = [
    (before[:-1] + before[1:]).astype(run.dtype)[run]
    for before in (edges - ones[edges], ones[edges])
  ]
  out = np.full((len(rows), len(SUITE)), np.nan)
  for g, own in enumerate(rows):
    if len(own) == len(run):  # no background
      if all(total):
        above = below[0][positive].sum(dtype=np.int64)
        out[g, 0] = int(above) / (2 * total[0] * total[1])
    elif len(own):
      place = np.sort(by_score.place[own])
      out[g] = _suite(place, run[place], positive[place], below, total)
  return out


def weighted_ranks(
  labels: Integer[np.ndarray, ' n'],
  by_score: Sorted,
  rows: Sequence[Integer[np.ndarray, ' _']],
  weight: Float[np.ndarray, ' n'],
) -> Float[np.ndarray, 'g suite']:
  """`ranks` of rows that count `weight` times: each pair has the product."""
  n, run = len(labels), by_score.run[by_score.place]
  inside, positive = np.zeros(n, bool), labels > 0
  out = np.full((len(rows), len(SUITE)), np.nan)
  for g, own in enumerate(rows):
    inside[:] = False
    inside[own] = True
    sets = [
      np.flatnonzero(i & p)
      for i in (inside, ~inside)
      for p in (~positive, positive)
    ]
    total = [weight[one].sum() for one in sets]
    for k, (a, b) in enumerate(SUITE.values()):
      if not total[a] * total[b] > 0:
        continue
      at = np.bincount(run[sets[b]], weight[sets[b]], int(run.max()) + 1)
      below = np.cumsum(at) - at / 2
      above = weight[sets[a]] @ below[run[sets[a]]]
      out[g, k] = above / (total[a] * total[b])
  return np.asarray(np.clip(out, 0, 1) + OFFSET)


def _edges(run: Integer[np.ndarray, ' n']) -> Integer[np.ndarray, ' runs1']:
  """The place at which each run starts, and the number of places."""
  starts = np.flatnonzero(run[1:] != run[:-1]) + 1
  return np.concatenate([[0], starts, [len(run)]])


def _before(chosen: Bool[np.ndarray, ' n']) -> Integer[np.ndarray, ' n1']:
  """How many are chosen before each place, and in all."""
  out = np.zeros(len(chosen) + 1, np.int64)
  np.cumsum(chosen, out=out[1:])
  return out


def _suite(
  place: np.ndarray,
  run: np.ndarray,
  positive: np.ndarray,
  below: Sequence[np.ndarray],
  total: tuple[int, int],
) -> np.ndarray:
  """One group's SUITE from the places of its rows, in exact integers."""
  edges = _edges(run)
  ones = _before(positive)[edges]
  zeros = edges - ones
  n1, n0 = int(ones[-1]), int(zeros[-1])
  b0, b1 = total[0] - n0, total[1] - n1
  sums = [
    [int(one[label].sum(dtype=np.int64)) for one in below]
    for label in (place[~positive], place[positive])
  ]
  own = int((np.diff(ones) * (zeros[:-1] + zeros[1:])).sum())
  # Within a set every pair is counted once in each direction: n² in all.
  twice = {
    'auc': (own, n1 * n0),
    'bnsp_auc': (sums[1][0] - own, n1 * b0),
    'bpsn_auc': (2 * n0 * b1 - (sums[0][1] - (2 * n1 * n0 - own)), b1 * n0),
    'positive_aeg': (sums[1][1] - n1 * n1, n1 * b1),
    'negative_aeg': (sums[0][0] - n0 * n0, n0 * b0),
  }
  values = [
    above / (2 * pairs) if pairs else np.nan for above, pairs in twice.values()
  ]
  return np.asarray(values + OFFSET)


class Placements(NamedTuple):
  """Totals of each item that a resample of the SUITE needs."""

  sums: np.ndarray  # [item, g, A, B]: placements of the rows of A in B ≠ A
  sizes: np.ndarray  # [item, g, A]: rows of A


def placements(
  labels: Integer[np.ndarray, ' n'],
  by_score: Sorted,
  rows: Sequence[Integer[np.ndarray, ' _']],
  items: resampling.Items,
) -> Placements:
  """Placements of all rows, summed over the rows of each item.

  Those of the background's rows are everyone's less the group's own: one
  product for all groups. Pairs of background sets, which no measure has, are
  left 0.
  """
  n, m, bin_ = len(labels), len(items.size), _bins(by_score.run)
  k = int(bin_[-1]) + 1
  positive = (labels > 0).astype(np.int32)
  bins = bin_[by_score.place]
  code = bins + k * positive
  where = items.item.astype(np.int32) + m * positive
  everyone = np.bincount(code, items.weight, 2 * k).reshape(2, k)
  shares = np.empty((len(rows), 2, k), np.float32)  # in the group's sets
  sums = np.zeros((m, len(rows), 4, 4), np.float32)
  sizes = np.zeros((m, len(rows), 4), np.float32)
  for g, own_rows in enumerate(rows):
    weight = row_weights.taken(items.weight, own_rows)
    own = np.bincount(code[own_rows], weight, 2 * k).reshape(2, k)
    sets = np.concatenate([own, everyone - own])
    with np.errstate(invalid='ignore'):
      share = (np.cumsum(sets, 1) - sets / 2) / sets.sum(1, keepdims=True)
    share = np.nan_to_num(share).astype(np.float32)
    shares[g] = share[:2]
    if len(own_rows) == n:
      continue
    at, own_bins = where[own_rows], bins[own_rows]
    sizes[:, g, :2] = np.bincount(at, weight, 2 * m).reshape(2, m).T
    for b in range(4):
      placed = share[b][own_bins]
      if weight is not None:
        placed = placed * weight
      part = np.bincount(at, placed, minlength=2 * m)
      sums[:, g, :2, b] = part.reshape(2, m).T
  all_sizes = np.bincount(where, items.weight, 2 * m).reshape(2, m).T
  sizes[..., 2:] = all_sizes[:, None] - sizes[..., :2]
  weight = row_weights.taken(items.weight, by_score.order)
  in_own = _summed(where[by_score.order], bin_, shares, 2 * m, weight)
  in_own = in_own.reshape(2, m, len(rows), 2)
  sums[..., 2:, :2] = in_own.transpose(1, 2, 0, 3) - sums[..., :2, :2]
  for g, own_rows in enumerate(rows):
    if len(own_rows) == n:  # no background: all is its own
      for each in (sums, sizes):
        each[:, g, :2] = each[:, g, 2:]
        each[:, g, 2:] = 0
  return Placements(sums, sizes)


def _bins(run: Integer[np.ndarray, ' n']) -> Integer[np.ndarray, ' n']:
  """The bin at each place: its run, or one of BINS where runs are more."""
  if run[-1] < BINS:
    return run
  # Runs stay whole: a bin is where the first row of the run would fall.
  start = _edges(run)[:-1] * BINS // len(run)
  return np.asarray(start[run], np.int32)


def _summed(
  where: Integer[np.ndarray, ' n'],
  bin_: Integer[np.ndarray, ' n'],
  shares: Float[np.ndarray, 'g 2 k'],
  count: int,
  weight: Float[np.ndarray, ' n'] | None,
) -> Float[np.ndarray, 'count g2']:
  """Sums of the shares of all rows, in order of scores, by `where` they are.

  Rows are counted by place and bin, some bins at a time: all at once would be
  the largest array of an assessment.
  """
  k = shares.shape[-1]
  flat = shares.reshape(-1, k)
  out = np.zeros((count, len(flat)), np.float32)
  for low in range(0, k, SOME):
    high = min(low + SOME, k)
    some = slice(*np.searchsorted(bin_, (low, high)))
    code = (bin_[some] - low) * count + where[some]
    own = row_weights.taken(weight, some)
    rows = np.bincount(code, own, (high - low) * count)
    rows = rows.reshape(-1, count).astype(np.float32)
    out += rows.T @ flat[:, low:high].T
  return out


@kernel
def resampled_ranks(
  xp: Any,
  weights: Float[Any, 'resample item'],
  sums: Float[Any, 'item g 4 4'],
  sizes: Float[Any, 'item g 4'],
  extra: Float[Any, 'resample g 4'],
  places: Float[Any, 'resample g 4'],
  unit: Any = 1.0,
) -> Float[Any, 'resample g suite']:
  """Deviations of the SUITE in every resample; NaN where a set is empty.

  `extra` and `places` are weight and placement of the further row of each set;
  of clusters, of a further one, of `unit` rows as the others have (one number,
  or [g, 4]).
  """
  pairs = list(SUITE.values())
  a, b = np.array(pairs + [(b, a) for a, b in pairs]).T
  some: Function = lambda x: xp.where(x > 0, x, xp.nan)
  resampled = resampling.resampled.over
  sums, total = sums[:, :, a, b], sizes.sum(0)
  centre = sums.sum(0) / some(total)[:, a]
  extra = extra * unit
  above = resampled(xp, weights, sums) + (extra * places)[..., a]
  below = some(resampled(xp, weights, sizes)) + extra
  units = total / unit
  grown = xp.sqrt((units + 1) / xp.maximum(units - 1, 1))
  off = (above / below[..., a] - centre) * grown[:, a]
  return off[..., : len(pairs)] - off[..., len(pairs) :]


def from_confusion(counts: Confusion) -> dict[str, OfConfusion]:
  """The measures of counts [label, decision]: rows of kind 'confusion'.

  F1 is of two classes, macro F1 of more.
  """
  other = 'macro_f1' if counts.shape[-1] == 2 else 'f1'
  rows = measures.of_kind('confusion')
  with np.errstate(invalid='ignore'):
    return {
      name: measures.load(row)(counts)
      for name, row in rows.items()
      if name != other
    }


def _some(x: np.ndarray) -> np.ndarray:
  return np.where(x > 0, x, np.nan)


def _right(counts: np.ndarray) -> np.ndarray:
  return np.diagonal(counts, axis1=-2, axis2=-1)


def accuracy(counts: Confusion) -> OfConfusion:
  """Share of right decisions."""
  return np.asarray(_right(counts).sum(-1) / _some(counts.sum((-1, -2))))


def majority(counts: Confusion) -> OfConfusion:
  """Share of the most frequent label: what a constant answer gets right."""
  labels = counts.sum(-1)
  return np.asarray(labels.max(-1) / _some(labels.sum(-1)))


def balanced_accuracy(counts: Confusion) -> OfConfusion:
  """Mean recall; of three or more classes those without rows are left out."""
  recall = _right(counts) / _some(counts.sum(-1))
  return recall.mean(-1) if counts.shape[-1] == 2 else chance(recall, -1)


def f1(counts: Confusion) -> OfConfusion:
  """F1 of class 1."""
  return _f1(counts)[..., 1]


def macro_f1(counts: Confusion) -> OfConfusion:
  """Mean F1 of the classes that have rows or are decided."""
  return chance(_f1(counts), -1)


def _f1(counts: np.ndarray) -> np.ndarray:
  decided = counts.sum(-1) + counts.sum(-2)
  return np.asarray(2 * _right(counts) / _some(decided))


def mcc(counts: Confusion) -> OfConfusion:
  """Matthews correlation: Gorodkin's R_K, the usual one for two classes.

  Where all decisions agree it is 0, as in GLUE and scikit-learn: a mean over
  seeds without those that learned nothing would flatter the rest. Where all
  labels agree it is undefined.
  """
  counts = np.asarray(counts, float)
  labels, decided = counts.sum(-1), counts.sum(-2)
  p, q = (some / counts.sum((-1, -2))[..., None] for some in (labels, decided))
  wide = (labels > 0).sum(-1) > 1, (decided > 0).sum(-1) > 1
  width = (p * (1 - p)).sum(-1) * (q * (1 - q)).sum(-1)  # 1 - Σ p² loses few
  above = accuracy(counts) - (p * q).sum(-1)
  matthews = np.where(wide[1], above, 0) / np.sqrt(
    np.where(wide[0] & wide[1], width, 1)
  )
  return np.where(wide[0], np.clip(matthews, -1, 1), np.nan)


def log_loss(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
) -> Float[np.ndarray, 's n']:
  """−log p(label) of each row, p kept above float32's epsilon."""
  if scores.ndim == 2:
    own = np.where(labels > 0, scores, 1 - scores)
  else:
    own = np.take_along_axis(scores, labels[None, :, None], -1)[..., 0]
  return -np.log(np.maximum(own.astype(np.float64), np.finfo(np.float32).eps))
