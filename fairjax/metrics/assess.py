"""The assessment of one test set: quality, fairness, groups, warnings.

`assess` is the one door to the measures: it turns labels, the probabilities of
stacked seeds and group memberships into the nested dictionary of results.json,
each number with an interval over examples and seeds (intervals.py says how).
Decision thresholds are held fixed while resampling.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.core.errors import UserError
from fairjax.metrics import counts, groups, measures, rankings, warn
from fairjax.metrics.inference import clusters, intervals, resampling
from fairjax.metrics.inference.estimates import Estimates, Row

MIN_GROUP = 10  # rows that a rate needs to count in a gap


def assess(
  labels: Integer[np.ndarray, ' n'],
  probabilities: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  members: Bool[np.ndarray, 'g n'] | None = None,
  group_names: Sequence[str] = (),
  *,
  attributes: Sequence[str] = (),
  threshold: str | float = '0.5',
  options: intervals.RowSample = intervals.DEFAULTS,
  min_group: int = MIN_GROUP,
  code: Integer[np.ndarray, ' n'] | None = None,
) -> dict[str, Any]:
  """Measures of one set of predictions, in the format of results.json.

  Args:
    labels: classes 0 … c−1 of the rows.
    probabilities: of class 1, or of every class, one line for each seed.
    members: which rows are in which group; groups may overlap.
    group_names: one for each group.
    attributes: the attribute of each group (gender, religion …): gaps are
      taken between groups of one attribute. With several, the names of
      fairness measures start with the attribute: 'gender/dp'.
    threshold: a row is positive where its probability is at least this
      number; 'eer' takes the equal-error threshold of each seed. With three
      or more classes the most probable one is decided.
    options: of the intervals, with the clusters and weights of the rows.
    min_group: rates of a group with fewer rows behind them (AUCs: of either
      kind) are left out of gaps and extremes, and named in a warning.
    code: the one group of each row, where it is known (groups.memberships).

  Returns:
    rows, effective_rows (of weighted ones), threshold, quality, fairness,
    groups, warnings. Measures that are undefined have the value None and a note
    that says why. Gaps have a 'null': what chance alone gives (estimates.py).

  >>> labels = np.array([0, 0, 1, 1, 0, 0, 1, 1])
  >>> scores = np.array([[.2, .6, .9, .4, .7, .8, .95, .55]])
  >>> members = np.repeat(np.eye(2, dtype=bool), 4, axis=1)
  >>> results = assess(labels, scores, members, ['m', 'f'], min_group=1)
  >>> results['fairness']['dp']['value'], results['quality']['auc']['value']
  (0.5, 0.625)
  """
  if members is None:
    members = np.zeros((0, len(labels)), bool)
  attributes = list(attributes) or ['group'] * len(members)
  check(labels, probabilities, members, group_names, attributes)
  scores = binary(probabilities)
  by_kind: dict[str, list[int]] = {}
  for g, attribute in enumerate(attributes):
    by_kind.setdefault(attribute, []).append(g)
  decisions, limits = decide(labels, scores, threshold, options.weight)
  masks = [*members, np.ones(len(labels), bool)]
  case = Case(
    labels, scores, decisions, masks, options, min_group, by_kind, code
  )
  quality, by_group, fairness = _of_counts(case)
  _add_ranks(case, quality, by_group, fairness)
  note = warn.note_of_constant(decisions)  # where seeds decide all alike
  void = [fairness] if note else [quality, fairness] if options.thin else []
  for one in (one for each in void for one in each.values()):
    one.setdefault('note', note or clusters.THIN)
  rows = labels, scores, decisions, members

  def counted(mask: np.ndarray) -> Row:
    known: Row = {'rows': int(mask.sum())}
    if options.weight is not None:
      known['effective_rows'] = round(options.rows(mask), 1)
    return known

  return {
    **counted(masks[-1]),
    'threshold': limits,
    'quality': quality,
    'fairness': fairness,
    'groups': {
      name: {**counted(member), **one}
      for name, member, one in zip(group_names, members, by_group)
    },
    'warnings': [
      *warn.of_reversed(quality.get('auc', {})),
      *warn.sentences(
        *rows, group_names, attributes, fairness, min_group, options.weight
      ),
      *clusters.warnings(options.cluster),
      *warn.of_chosen('these rows' if threshold == 'eer' else ''),
      *warn.of_resamples(options),
    ],
  }


class Case(NamedTuple):
  """One set of predictions, and how it is assessed."""

  labels: Integer[np.ndarray, ' n']
  scores: np.ndarray  # [s, n], or [s, n, c] with three or more classes
  decisions: np.ndarray  # [s, n]
  # The groups, and everyone as the last: many rows, so no copy.
  masks: Sequence[Bool[np.ndarray, ' n']]
  options: intervals.RowSample
  min_group: int
  groups: dict[str, list[int]]  # the numbers of each attribute's groups
  code: Integer[np.ndarray, ' n'] | None = None

  def table(self) -> counts.Table:
    """The counts of its rows."""
    classes = self.scores.shape[-1] if self.scores.ndim == 3 else 2
    of = self.labels, self.decisions, self.masks
    return counts.tabulate(*of, classes, self.options, self.code)


def _by_attribute(
  case: Case, gaps: Callable[[list[int]], Estimates]
) -> Estimates:
  """The gaps of each attribute, under its name where there are several."""
  several = len(case.groups) > 1
  return {
    (f'{kind}/' if several else '') + name: value
    for kind, numbers in case.groups.items()
    for name, value in gaps(numbers).items()
  }


def _of_counts(case: Case) -> tuple[Estimates, list[Estimates], Estimates]:
  """Quality, groups and fairness as far as they are counts."""
  options, least = case.options, case.min_group
  table = case.table()
  draws = counts.draw(table, options)
  quality = counts.of_everyone(table, draws, options)
  rates = counts.rates(table, draws, options)
  if case.scores.ndim == 2:
    shares = counts.of_group(table, rates, -1, options)
    # Accuracy is in both: as a rate it has the interval of a share of rows.
    quality = {**shares, **quality, 'accuracy': shares['accuracy']}
  by_group = [
    counts.marked(counts.of_group(table, rates, g, options), rates, g, least)
    for g in range(len(case.masks) - 1)
  ]
  fairness = _by_attribute(
    case, lambda numbers: counts.gaps(rates, numbers, options, least)
  )
  return quality, by_group, fairness


def _add_ranks(
  case: Case, quality: Estimates, by_group: list[Estimates], fairness: Estimates
) -> None:
  """Adds the measures of ranks and probabilities."""
  labels, scores, options = case.labels, case.scores, case.options
  draws = *resampling.weights(len(labels), options), options
  for name, row in measures.of_kind('scores').items():
    one = measures.load(row)(labels, scores, *draws)
    if one is not None:
      quality[name] = one
  if scores.ndim == 3:
    return
  suites = rankings.suites(labels, scores, case.masks, *draws)
  quality['auc'] = rankings.of_group(suites, -1)['auc']
  for g, one in enumerate(by_group):
    one.update(rankings.of_group(suites, g))
  gaps = lambda numbers: rankings.gaps(suites, numbers, options, case.min_group)
  fairness.update(_by_attribute(case, gaps))


def binary(
  probabilities: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
) -> np.ndarray:
  """[s, n] for two classes, [s, n, c] for more."""
  if probabilities.ndim == 3 and probabilities.shape[-1] == 2:
    return probabilities[..., 1]
  return probabilities


def decide(
  labels: Integer[np.ndarray, ' n'],
  scores: np.ndarray,
  threshold: str | float,
  weight: Float[np.ndarray, ' n'] | None = None,
) -> tuple[np.ndarray, float | str | list[float]]:
  """Decisions [s, n] and the thresholds that made them."""
  if scores.ndim == 3:
    return scores.argmax(-1), 'argmax'
  if threshold == 'eer':
    limits = groups.equal_error(labels, scores, weight)
    thresholds: Any = [float(limit) for limit in limits]
  else:
    try:
      thresholds = float(threshold)
    except ValueError as error:
      raise UserError(
        f"the threshold is {threshold!r}; it must be a number or 'eer'"
      ) from error
    if not 0 <= thresholds <= 1:
      raise UserError(
        f'the threshold is {threshold}; scores are from 0 to 1, and so must it '
        'be'
      )
    limits = np.full(len(scores), thresholds)
  limits = limits.astype(scores.dtype)
  return (scores >= limits[:, None]).astype(np.int8), thresholds


def check(
  labels: np.ndarray,
  probabilities: np.ndarray,
  members: np.ndarray,
  names: Sequence[str],
  attributes: Sequence[str],
) -> None:
  """Raises UserError where the parts do not belong together."""
  n = len(labels)
  if not n:
    raise UserError('there are no rows to assess; the set is empty')
  if probabilities.shape[1] != n or members.shape[1] != n:
    raise UserError(
      f'{n} labels, {probabilities.shape[1]} probabilities and '
      f'{members.shape[1]} memberships cannot be assessed together; each row '
      'needs one of each'
    )
  if not len(members) == len(names) == len(attributes):
    raise UserError(
      f'{len(members)} groups have {len(names)} names and {len(attributes)} '
      'attributes; each needs one'
    )
  wrong = ~np.isfinite(probabilities).reshape(len(probabilities), n, -1)
  if wrong.any():
    s, row, _ = np.argwhere(wrong)[0]
    raise UserError(
      f'the probability of row {row} of seed {s} is not a number; the '
      'training has diverged or the predictions file is damaged'
    )
  classes = probabilities.shape[-1] if probabilities.ndim == 3 else 2
  if labels.min() < 0 or labels.max() >= classes:
    row = int(np.argmax((labels < 0) | (labels >= classes)))
    raise UserError(
      f'row {row} has label {labels[row]}, but there are probabilities of '
      f'{classes} classes only'
    )
