"""A threshold for each group, so that a chosen rate is equal in all of them.

The mitigation that needs no training (Hardt, Price and Srebro 2016): a target
rate is met by every group at a threshold of its own, and of all targets the one
with the most right decisions is taken. What is equal:

  demographic_parity  the share that is decided positive
  equal_opportunity   the share of the positives that is found (TPR)
  equal_fpr           the share of the negatives that is blamed (FPR)

No decision is drawn by lot, so rates are equal to about one row of a group: of
weighted rows, to about the heaviest.
"""

import dataclasses
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from fairjax.core import artefacts
from fairjax.core.errors import UserError, is_listed, need
from fairjax.data.tables import audit_table, group_names
from fairjax.metrics.inference import row_weights
from fairjax.metrics.inference.sample import RowSample

CRITERIA = {
  'demographic_parity': 'dp',
  'equal_opportunity': 'eqopp1',
  'equal_fpr': 'eqopp0',
}
TARGETS = 1001  # rates that are tried
VERSION = 1  # of the file
STREAM = 0x202  # of the halves


@dataclasses.dataclass(frozen=True)
class Thresholds:
  """What decides: a row is positive from its group's threshold on."""

  criterion: str
  thresholds: Mapping[str, float]
  otherwise: float = 0.5  # of rows of no group

  def decide(
    self, scores: Float[np.ndarray, '*s n'], groups: Sequence[Any] | np.ndarray
  ) -> Integer[np.ndarray, '*s n']:
    """1 where a row is positive."""
    need(is_listed(groups), 'groups', groups, 'the group of each row is needed')
    names = audit_table.as_known(list(groups), self.thresholds)
    if names.shape != scores.shape[-1:]:
      raise UserError(
        f'there are {len(names)} groups for {scores.shape[-1]} scores; give '
        'each row its group'
      )
    strange = sorted({*names.tolist()} - {*self.thresholds, ''})
    if strange:
      raise UserError(
        f'there is no threshold of group {strange[0]!r}; there are those of '
        f"{', '.join(map(repr, self.thresholds))} ('' decides as for everyone)"
      )
    limits = np.array([self.thresholds.get(g, self.otherwise) for g in names])
    return (scores >= limits).astype(np.int64)

  def save(self, path: str | os.PathLike[str]) -> None:
    """Writes a small json, which `read` and `Classifier.predict` take."""
    artefacts.write_json(path, {'version': VERSION, **dataclasses.asdict(self)})


def read(path: str | os.PathLike[str]) -> Thresholds:
  """Those of a file."""
  tree = artefacts.read_json(path)
  number: Callable[[Any], bool] = lambda one: (
    type(one) in (int, float) and abs(one) < 1e9
  )
  right = (
    isinstance(tree, dict)
    and tree.get('version') == VERSION
    and isinstance(tree.get('thresholds'), dict)
    and all(map(number, tree['thresholds'].values()))
    and number(tree.get('otherwise'))
    and isinstance(tree.get('criterion'), str)
    and tree['criterion'] in CRITERIA
  )
  if not right:
    raise UserError(
      f'{path} holds no thresholds of groups (version, criterion, thresholds, '
      'otherwise); write it with `save`'
    )
  found = {group: float(at) for group, at in tree['thresholds'].items()}
  return Thresholds(tree['criterion'], found, float(tree['otherwise']))


def known(criterion: Any) -> None:
  need(
    isinstance(criterion, str) and criterion in CRITERIA,
    *('criterion', criterion),
    f'it must be one of {", ".join(map(repr, CRITERIA))}',
  )


def fit(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, ' n'],
  groups: Sequence[str] | np.ndarray,
  criterion: str = 'equal_opportunity',
  otherwise: float = 0.5,
  weight: Float[np.ndarray, ' n'] | None = None,
) -> Thresholds:
  """The thresholds that meet the criterion on these rows, most rows right.

  With weights (over 0) a row is as many as it weighs, in rates and in what is
  right.

  >>> y, p = np.array([0, 1, 0, 1]), np.array([0.1, 0.3, 0.6, 0.9])
  >>> fit(y, p, ['a', 'a', 'b', 'b']).thresholds
  {'a': 0.2, 'b': 0.75}
  """
  names = np.array([str(g) for g in groups])
  each = need_rows(labels, names, criterion)
  weight = row_weights.given(weight, len(labels))
  targets = np.linspace(0, 1, TARGETS)
  right, limits = np.zeros(TARGETS), {}
  for name in each:
    own = names == name
    rate, hits, edges = _curve(
      labels[own], scores[own], criterion, row_weights.taken(weight, own)
    )
    # The threshold whose rate is nearest the target; of equal ones the one
    # with the most right.
    order = np.lexsort((-hits, rate))
    kept = order[np.r_[True, np.diff(rate[order]) > 0]]
    rate, hits, edges = rate[kept], hits[kept], edges[kept]
    # Rounded, so that two that are as near stay so in sums of weights.
    at = np.abs(rate[:, None] - targets).round(12).argmin(0)
    right += hits[at]
    limits[name] = edges[at]
  best = np.flatnonzero(right >= right.max() * (1 - 1e-12))
  best = best[len(best) // 2]
  found = {name: float(limits[name][best]) for name in each}
  return Thresholds(criterion, found, otherwise)


def halves(
  rows: int, holdout: float, sample: RowSample
) -> tuple[Integer[np.ndarray, ' a'], Integer[np.ndarray, ' b']]:
  """The rows that choose the thresholds, and those that judge them.

  A row that weighs nothing is in neither, as if it were not there; rows of one
  cluster are in the same.
  """
  weight = sample.weight
  some = np.arange(rows) if weight is None else np.flatnonzero(weight)
  code = sample.of(some).units(len(some))
  size = np.bincount(code)
  order = np.random.default_rng([sample.seed, STREAM]).permutation(len(size))
  cut = round(len(some) * (1 - float(holdout)))
  # A cluster is where its middle is.
  middle = size[order].cumsum() - size[order] / 2
  first = np.zeros(len(size), bool)
  first[order] = middle < cut
  return some[first[code]], some[~first[code]]


def need_rows(
  labels: np.ndarray,
  groups: Sequence[str] | np.ndarray,
  criterion: str,
  own: np.ndarray | slice = slice(None),
) -> list[str]:
  """The groups; UserError for the first whose rate has no row among `own`."""
  known(criterion)
  names = np.array([str(g) for g in groups])
  each = group_names.in_order({*names.tolist()} - {''})
  if len(each) < 2:
    raise UserError('thresholds are of two groups or more; there are not two')
  labels, names = labels[own], names[own]
  for name in each:
    if not (names == name).any():
      raise UserError(
        f'group {name!r} has no row among those that the thresholds are chosen '
        'on, so it would have none; leave it out'
      )
  if criterion == 'demographic_parity':
    return each
  wanted = int(criterion == 'equal_opportunity')
  for name in each:
    if not ((labels > 0) == wanted)[names == name].any():
      raise UserError(
        f'group {name!r} has no row of label {wanted} among those that the '
        f'thresholds are chosen on, so {criterion} says nothing of it; leave '
        'it out'
      )
  return each


def _curve(
  labels: np.ndarray,
  scores: np.ndarray,
  criterion: str,
  weight: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """At every threshold: the rate, the rows that are right, the threshold."""
  order = np.argsort(-scores, kind='stable')
  y, p = labels[order] > 0, scores[order]
  w = np.ones(len(y), int) if weight is None else weight[order]
  last = np.r_[True, p[1:] != p[:-1], True]  # thresholds between equal scores
  tp, fp = (np.r_[0, np.cumsum(w * one)][last] for one in (y, ~y))
  ones, zeros = tp[-1], fp[-1]
  above, below = {
    'demographic_parity': (tp + fp, ones + zeros),
    'equal_opportunity': (tp, ones),
    'equal_fpr': (fp, zeros),
  }[criterion]
  upper = np.r_[math.inf, p][last]
  lower = np.r_[p, -math.inf][last]
  edges = (upper + lower) / 2
  edges[0] = np.nextafter(p[0], math.inf)  # nobody
  edges[-1] = 0.0  # everyone
  edges = np.where(edges > lower, edges, upper)  # of neighbouring numbers
  # In few digits, where these decide the same: lower < edge ≤ upper.
  near = edges.round(12)
  edges = np.where((lower < near) & (near <= upper), near, edges)
  return above / below, tp + zeros - fp, edges
