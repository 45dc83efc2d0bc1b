"""Rates of groups, and the gaps between them.

Everything starts from confusion counts (y, ŷ) of each group, in the order
(true negatives, false positives, false negatives, true positives). Groups may
overlap; the overall counts stand after the groups.

Rates are ratios of sums of those four counts and undefined (NaN), never 0,
where the denominator is. A gap leaves undefined groups out; with fewer than
two left it is undefined itself.
"""

import functools
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


class Groups(NamedTuple):
  """Which rows are in which group; groups may overlap."""

  members: Bool[np.ndarray, 'g n']
  names: Sequence[str]
  attributes: Sequence[str]  # gender, religion … of each group
  # The one group of each row, −1 for none, where there is one attribute.
  code: Integer[np.ndarray, ' n'] | None = None

  @property
  def kinds(self) -> list[str]:
    """The attributes; gaps are between groups of one."""
    return [*dict.fromkeys(self.attributes)]

  @property
  def masks(self) -> list[Bool[np.ndarray, ' n']]:
    """The groups, and everyone as the last: many rows, so no copy."""
    return [*self.members, np.ones(self.members.shape[1], bool)]

  @property
  def each(self) -> list[tuple[str, Bool[np.ndarray, ' n']]]:
    """(name, its rows) of every group."""
    return [*zip(self.names, self.members)]

  @property
  def first(self) -> 'Groups':
    """Those of the first attribute."""
    return self.of(self.kinds[0]) if self.kinds else self

  @property
  def titles(self) -> list[str]:
    """The names, each led by its attribute."""
    named = [f'{kind}: ' for kind in self.attributes]
    pairs = zip(named, self.names)
    return [kind + name.removeprefix(kind) for kind, name in pairs]

  def at(self, kind: str) -> list[int]:
    """The numbers of an attribute's groups."""
    return [g for g, own in enumerate(self.attributes) if own == kind]

  def of(self, kind: str) -> 'Groups':
    """Those of an attribute."""
    return self if self.kinds == [kind] else self.taken(self.at(kind))

  def taken(self, chosen: Sequence[int] | np.ndarray) -> 'Groups':
    """Those of these numbers."""
    names = [self.names[g] for g in chosen]
    kinds = [self.attributes[g] for g in chosen]
    return Groups(self.members[chosen], names, kinds)

  def with_more(self, more: 'Groups') -> 'Groups':
    """These and more groups of the same rows."""
    members = np.concatenate([self.members, more.members])
    names = [*self.names, *more.names]
    return Groups(members, names, [*self.attributes, *more.attributes])

  def key(self, kind: str, measure: str) -> str:
    """A measure's name, led by the attribute where there are several."""
    return f'{kind}/{measure}' if len(self.kinds) > 1 else measure

  def by_row(self) -> np.ndarray:
    """Each row's group of the first attribute, '' for none or for several."""
    name, own = np.array([*self.first.names, ''], object), self.first.members
    g = len(own)
    return name[np.where(own.sum(0) == 1, own.argmax(0) if g else 0, g)]

  def check_weight(
    self, weight: Float[np.ndarray, ' n'] | None, name: str = 'sample_weight'
  ) -> None:
    """Raises UserError where a group has rows, and no weight."""
    for group, member in self.each:
      if weight is not None and member.any() and not weight[member].any():
        raise UserError(
          f'{name} is 0 in every row of group {group!r}, so that nothing is '
          'known of it; leave its group empty, or give it a weight'
        )


def of_masks(
  members: Bool[np.ndarray, 'g n'],
  names: Sequence[str],
  attribute: str = 'group',
) -> Groups:
  """Groups of one attribute."""
  return Groups(members, names, [attribute] * len(names))


def of_columns(
  columns: Mapping[str, Sequence[Any] | np.ndarray],
  rows: int = 0,
  *,
  intersections: bool = False,
) -> Groups:
  """The groups of columns; of none there is no group of these `rows`.

  A column holds one value a row ('' or None: in no group of this attribute).
  With `intersections`, each combination of values that occurs is a group too,
  of the attribute 'a × b'.
  """
  lengths = {name: len(values) for name, values in columns.items()}
  if len(set(lengths.values())) > 1:
    raise UserError(f'the group columns have different lengths: {lengths}')
  n, several = next(iter(lengths.values()), rows), len(columns) > 1
  coded = [_codes(values) for values in columns.values()]
  kinds = [*columns]
  names = [
    f'{kind}: {name}' if several else name
    for kind, (_, own) in zip(kinds, coded)
    for name in own
  ]
  if intersections and several:
    each = [np.array([*own, ''], object)[code] for code, own in coded]
    combined = functools.reduce(lambda a, b: a + ' × ' + b, each)
    combined[np.min([code for code, _ in coded], 0) < 0] = ''
    coded.append(_codes(combined))
    kinds.append(' × '.join(columns))
    names += coded[-1][1]
  members = np.zeros((len(names), n), bool)
  first = 0
  for code, own in coded:
    inside = np.flatnonzero(code >= 0)
    members[first + code[inside], inside] = True
    first += len(own)
  of = [kind for kind, (_, own) in zip(kinds, coded) for _ in own]
  return Groups(members, names, of, coded[0][0] if len(coded) == 1 else None)


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
