"""Rates of groups, and the gaps between them.

Everything starts from confusion counts (y, ŷ) of each group, in the order
(true negatives, false positives, false negatives, true positives). Groups may
overlap; the overall counts stand after the groups.

Rates are ratios of sums of those four counts and undefined (NaN), never 0,
where the denominator is. A gap leaves undefined groups out; with fewer than
two left it is undefined itself.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from fairjax.core.errors import UserError
from fairjax.data.tables import group_names
from fairjax.metrics import measures
from fairjax.metrics.inference import extremes, row_weights
from fairjax.metrics.kernels import kernel

# rate: which of (tn, fp, fn, tp) are counted, and among which.
RATES = measures.rates()
NAMES = tuple(RATES)

# Rates that are 1 − another share its pseudo-rows, in the other order.
PSEUDO_OF = (0, 1, 2, 3, 4, 4, 3, 5)
SWAPPED = np.array([name in ('tnr', 'fnr') for name in NAMES])
PSEUDO = (6, 2)

# Every rate also has these over the groups, named '{rate}_{aggregate}'.
AGGREGATES = {
  **{'difference': 'range', 'ratio': 'ratio', 'min': 'min', 'max': 'max'},
}


def rates(counts: Float[np.ndarray, '*b four']) -> Float[np.ndarray, '*b rate']:
  """The RATES of counts (tn, fp, fn, tp), NaN where the denominator is 0."""
  above, below = fractions(counts)
  with np.errstate(divide='ignore', invalid='ignore'):
    above /= below
  above[~(below > 0)] = np.nan
  return np.asarray(above)


def fractions(counts: Float[Any, '*b four']) -> tuple[Any, Any]:
  """What is counted and among which; one product, not one for each of *b."""
  flat = counts.reshape(-1, counts.shape[-1])
  above, below = (
    flat @ np.array([RATES[name][part] for name in NAMES], counts.dtype).T
    for part in (0, 1)
  )
  shape = *counts.shape[:-1], len(NAMES)
  return above.reshape(shape), below.reshape(shape)


def denominators(
  counts: Float[np.ndarray, '*b four'],
) -> Float[np.ndarray, '*b rate']:
  """How many rows are behind each rate."""
  return np.asarray(counts @ np.array([RATES[name][1] for name in NAMES]).T)


@kernel
def rates_with(
  xp: Any,
  counts: Float[Any, 'b s k g four'],
  observed: Float[Any, 's k g four'],
  halves: Float[Any, 'b run g pair 2'],
) -> Float[Any, 'b s k g rate']:
  """Rates of resampled counts with pseudo-rows, each a draw of Gamma(1/2).

  One is added to either side of a rate; where one side was never observed,
  both to that side. Runs have draws of their own, seeds do not.
  """
  above, below = fractions(counts)
  rates, among = fractions(observed)
  more = xp.repeat(halves, counts.shape[1] // halves.shape[1], 1)[:, :, None]
  pairs, side = np.array(PSEUDO_OF), SWAPPED.astype(int)
  first, second = more[..., pairs, side], more[..., pairs, 1 - side]
  both = first + second
  plus = xp.where(rates == 0, both, xp.where(rates == among, 0, first))
  return xp.where(among > 0, (above + plus) / (below + both), xp.nan)


def total(values: Float[np.ndarray, 'g *b']) -> Float[np.ndarray, '*b']:
  """Sum of absolute values over the groups where they are defined."""
  known = ~np.isnan(values)
  gap = np.where(known, np.abs(values), 0).sum(0)
  return np.where(known.sum(0) > 1, gap, np.nan)


def _groups_first(
  values: Float[np.ndarray, '*b g1 rate'],
) -> Float[np.ndarray, 'g1 *b rate']:
  """Contiguous: reducing the axis before the last takes ten times as long."""
  return np.ascontiguousarray(np.moveaxis(values, -2, 0))


def reduce(
  values: Float[np.ndarray, '*b g1 rate'],
) -> dict[str, Float[np.ndarray, '*b rate']]:
  """What gaps and AGGREGATES are made of; the last group is everyone.

  Of rates that differ by noise alone it is what chance shows.
  """
  values = _groups_first(values)
  groups = values[:-1]
  low, high = np.fmin.reduce(groups), np.fmax.reduce(groups)
  several = (~np.isnan(groups)).sum(0) > 1
  return {
    'range': np.where(several, high - low, np.nan),
    'sum': total(groups - values[-1]),
    'min': low,
    'max': high,
  }


def reduce_noise(
  values: Float[np.ndarray, 'b s k g1 rate'],
  centre: Float[np.ndarray, 's k g1 rate'],
) -> list[dict[str, Float[np.ndarray, 'b s k rate']]]:
  """The least and the largest distance of `reduce` of `values` and `centre`.

  'sum' is a seminorm; the others depend on the groups that may be the least or
  the largest (inference/extremes.py); −log(min/max), the log of a ratio, is
  the range of the logs.
  """
  values = _groups_first(values)
  centre = _groups_first(np.broadcast_to(centre, (1, *centre.shape)))
  noise = values - centre
  own, at = noise[:-1], centre[:-1]
  with np.errstate(divide='ignore', invalid='ignore'):
    log = np.log(at)
    ratio = extremes.of_range(np.log(values[:-1]) - log, log)
  both = {
    'sum': total(own - noise[-1]),
    'min': extremes.of_largest(own, -at),
    'max': extremes.of_largest(own, at),
  }
  ends = {'range': extremes.of_range(own, at), 'ratio': ratio}
  return [
    {name: sign * size for name, size in both.items()}
    | {name: end[side] for name, end in ends.items()}
    for side, sign in enumerate((-1, 1))
  ]


def confusion(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'],
  members: Bool[np.ndarray, 'g n'],
  thresholds: Float[np.ndarray, ' k'],
  weight: Float[np.ndarray, ' n'] | None = None,
) -> Integer[np.ndarray, 's k g four'] | Float[np.ndarray, 's k g four']:
  """Counts (tn, fp, fn, tp) at every threshold, in one pass over the rows.

  A row is positive at t where its score is at least t. Each row is counted
  once, in the bin between two thresholds; sums from the right give the rest.
  """
  thresholds = np.asarray(thresholds, scores.dtype)
  order = np.argsort(thresholds, kind='stable')
  k = len(thresholds)
  kind = np.int64 if weight is None else np.float64
  out = np.empty((len(scores), k, len(members), 4), kind)
  for s, row in enumerate(scores):
    bins = np.searchsorted(thresholds[order], row, side='right')
    bins += (k + 1) * (labels > 0)
    for g, member in enumerate(members):
      chosen = bins if member.all() else bins[member]
      own = row_weights.taken(weight, member)
      count = np.bincount(chosen, own, 2 * (k + 1)).reshape(2, k + 1)
      above = count[:, ::-1].cumsum(1)[:, ::-1][:, 1:]
      all_ = count.sum(1, keepdims=True)
      cells = np.stack([(all_ - above), above], -1)  # y, threshold, ŷ
      out[s, order, g] = cells.transpose(1, 0, 2).reshape(k, 4)
  return out


def equal_error(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'],
  weight: Float[np.ndarray, ' n'] | None = None,
) -> Float[np.ndarray, ' s']:
  """Threshold of each seed at which as many errors are of either kind.

  The rule of Dixon et al. (2018): the 101 points 0, 0.01 … 1 in order; keep
  the one with the least |FN − FP| in counts, the later of equals; stop at the
  first that is worse.
  """
  points = np.linspace(0, 1, 101)
  everyone = np.ones((1, len(labels)), bool)
  counts = confusion(labels, scores, everyone, points, weight)[:, :, 0]
  out = np.zeros(len(scores))
  for s, row in enumerate(np.abs(counts[..., 2] - counts[..., 1])):
    worse = np.flatnonzero(row[1:] > row[:-1])
    out[s] = points[worse[0] if len(worse) else 100]
  return out


class Memberships(NamedTuple):
  """Groups of one or several attributes."""

  members: Bool[np.ndarray, 'g n']
  names: list[str]
  attributes: list[str]  # of each group
  # The one group of each row, −1 for none, where there is one attribute.
  code: Integer[np.ndarray, ' n'] | None


def memberships(
  columns: Mapping[str, Sequence[Any] | np.ndarray],
  rows: int = 0,
  *,
  intersections: bool = False,
) -> Memberships:
  """The groups of columns; of none there is no group of these `rows`.

  A column holds one value a row ('' or None: in no group of this attribute).
  With `intersections`, each combination of values that occurs is a group too,
  of the attribute 'a × b'.
  """
  lengths = {name: len(values) for name, values in columns.items()}
  if len(set(lengths.values())) > 1:
    raise UserError(f'the group columns have different lengths: {lengths}')
  n = next(iter(lengths.values()), rows)
  codes, texts, names, attributes = [], [], [], []
  for attribute, values in columns.items():
    code, own = _codes(values)
    codes.append(code)
    texts.append(np.array([*own, ''], object))  # −1 is the last
    names += own if len(columns) == 1 else [f'{attribute}: {v}' for v in own]
    attributes += [attribute] * len(own)
  if intersections and len(columns) > 1:
    each = zip(texts, codes)
    combined = functools.reduce(
      lambda a, b: a + ' × ' + b, (text[code] for text, code in each)
    )
    combined[np.min(codes, 0) < 0] = ''
    code, own = _codes(combined)
    codes.append(code)
    names += own
    attributes += [' × '.join(columns)] * len(own)
  members = np.zeros((len(names), n), bool)
  first = 0
  for code in codes:
    inside = np.flatnonzero(code >= 0)
    members[first + code[inside], inside] = True
    first += int(code.max(initial=-1)) + 1
  alone = codes[0] if len(codes) == 1 else None
  return Memberships(members, names, attributes, alone)


def of_rows(
  members: Bool[np.ndarray, 'g n'],
  names: Sequence[str],
  attributes: Sequence[str],
) -> np.ndarray:
  """Each row's group of the first attribute, '' for none or for several."""
  first = [kind == attributes[0] for kind in attributes]
  own = members[np.array(first, bool)]
  name = np.array([*itertools.compress(names, first), ''], object)
  alone = own.sum(0) == 1
  return name[np.where(alone, own.argmax(0) if len(own) else 0, len(own))]


def _codes(values: Sequence[Any] | np.ndarray) -> tuple[np.ndarray, list[str]]:
  """The number of each row's value in sorted order, −1 for none; the values.

  Of numbers only the different ones become texts; bands are in their own order.
  """
  numbers = getattr(values, 'dtype', None)
  if not (isinstance(numbers, np.dtype) and numbers.kind in 'biuf'):
    values = np.array(
      ['' if v is None or v != v else str(v) for v in values], object
    )
  code, distinct = pd.factorize(np.asarray(values))
  texts = [*map(str, distinct)]
  ranked = group_names.in_order(set(texts) - {''})
  number = {text: i for i, text in enumerate(ranked)}
  place = [number.get(text, -1) for text in texts]
  return np.array([*place, -1], np.intp)[code], ranked
