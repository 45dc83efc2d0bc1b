"""The assessment of one test set: quality, fairness, groups, warnings.

`assess` is the one door to the measures: it turns labels, the probabilities of
stacked seeds and groups of rows into the nested dictionary of results.json,
each number with an interval over examples and seeds (intervals.py says how).
Decision thresholds are held fixed while resampling.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from fairjax.core.errors import UserError
from fairjax.metrics import counts, measures, rankings, warn
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import Groups, equal_error, of_columns
from fairjax.metrics.inference import clusters, intervals, resampling
from fairjax.metrics.inference.estimates import Estimates, Row

MIN_GROUP = 10  # rows that a rate needs to count in a gap


def assess(
  labels: Integer[np.ndarray, ' n'],
  probabilities: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  groups: Groups | None = None,
  *,
  threshold: str | float = '0.5',
  options: intervals.RowSample = intervals.DEFAULTS,
  min_group: int = MIN_GROUP,
) -> dict[str, Any]:
  """Measures of one set of predictions, in the format of results.json.

  Args:
    labels: classes 0 … c−1 of the rows.
    probabilities: of class 1, or of every class, one line for each seed.
    groups: gaps are taken between groups of one attribute. With several, the
      names of fairness measures start with the attribute: 'gender/dp'.
    threshold: a row is positive where its probability is at least this
      number; 'eer' takes the equal-error threshold of each seed. With three
      or more classes the most probable one is decided.
    options: of the intervals, with the clusters and weights of the rows.
    min_group: rates of a group with fewer rows behind them (AUCs: of either
      kind) are left out of gaps and extremes, and named in a warning.

  Returns:
    rows, effective_rows (of weighted ones), threshold, quality, fairness,
    groups, warnings. Measures that are undefined have the value None and a note
    that says why. Gaps have a 'null': what chance alone gives (estimates.py).

  >>> labels = np.array([0, 0, 1, 1, 0, 0, 1, 1])
  >>> scores = np.array([[.2, .6, .9, .4, .7, .8, .95, .55]])
  >>> sex = of_columns({'sex': list('mmmmffff')})
  >>> results = assess(labels, scores, sex, min_group=1)
  >>> results['fairness']['dp']['value'], results['quality']['auc']['value']
  (0.5, 0.625)
  """
  groups = groups or of_columns({}, len(labels))
  check(labels, probabilities, groups)
  scores = binary(probabilities)
  decisions, limits = decide(labels, scores, threshold, options.weight)
  case = Case(labels, scores, decisions, groups, options, min_group)
  quality, by_group, fairness = _of_counts(case)
  _add_ranks(case, quality, by_group, fairness)
  note = warn.note_of_constant(decisions)  # where seeds decide all alike
  void = [fairness] if note else [quality, fairness] if options.thin else []
  for one in (one for each in void for one in each.values()):
    one.setdefault('note', note or clusters.THIN)

  def counted(mask: np.ndarray) -> Row:
    known: Row = {'rows': int(mask.sum())}
    if options.weight is not None:
      known['effective_rows'] = round(options.rows(mask), 1)
    return known

  return {
    **counted(groups.masks[-1]),
    'threshold': limits,
    'quality': quality,
    'fairness': fairness,
    'groups': {
      name: {**counted(member), **one}
      for (name, member), one in zip(groups.each, by_group)
    },
    'warnings': [
      *warn.of_reversed(quality.get('auc', {})),
      *warn.sentences(case, fairness),
      *clusters.warnings(options.cluster),
      *warn.of_chosen('these rows' if threshold == 'eer' else ''),
      *warn.of_resamples(options),
    ],
  }


def _by_attribute(
  case: Case, gaps: Callable[[list[int]], Estimates]
) -> Estimates:
  """The gaps of each attribute, under its name where there are several."""
  groups = case.groups
  return {
    groups.key(kind, name): value
    for kind in groups.kinds
    for name, value in gaps(groups.at(kind)).items()
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
    for g in range(len(case.groups.names))
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
  suites = rankings.suites(labels, scores, case.groups.masks, *draws)
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
    limits = equal_error(labels, scores, weight)
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
  labels: np.ndarray, probabilities: np.ndarray, groups: Groups
) -> None:
  """Raises UserError where the parts do not belong together."""
  n, rows = len(labels), groups.members.shape[1]
  if not n:
    raise UserError('there are no rows to assess; the set is empty')
  if probabilities.shape[1] != n or rows != n:
    raise UserError(
      f'{n} labels, {probabilities.shape[1]} probabilities and {rows} '
      'memberships cannot be assessed together; each row needs one of each'
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
