"""The assessment of one test set: quality, fairness, groups, warnings.

`assess` is the one door to the measures: it turns labels, the probabilities of
stacked seeds and group memberships into the nested dictionary of results.json,
each number with an interval over examples and seeds (intervals.py says how).
Decision thresholds are held fixed while resampling.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.errors import UserError
from fairjax.metrics import counts, groups, intervals, rankings, warn

MIN_GROUP = 10  # rows that a rate needs to count in a gap


def assess(
  labels: Integer[np.ndarray, ' n'],
  probabilities: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  members: Bool[np.ndarray, 'g n'] | None = None,
  group_names: Sequence[str] = (),
  *,
  attributes: Sequence[str] = (),
  threshold: str | float = '0.5',
  level: float = 0.95,
  resamples: int = 10000,
  seed: int = 0,
  min_group: int = MIN_GROUP,
) -> dict:
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
    level: of the intervals.
    resamples: draws of each interval; 0 gives values without intervals.
    seed: of the draws.
    min_group: rates of a group with fewer rows behind them (AUCs: of either
      kind) are left out of gaps and extremes, and named in a warning.

  Returns:
    rows, threshold, quality, fairness, groups, warnings. Measures that are
    undefined have the value None and a note that says why. Gaps have a
    'null': what chance alone gives (estimates.py).

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
  options = intervals.IntervalOptions(level, resamples, seed)
  scores = binary(probabilities)
  decisions, limits = decide(labels, scores, threshold)
  masks = np.concatenate([members, np.ones((1, len(labels)), bool)])
  kinds = {
    kind: [g for g, a in enumerate(attributes) if a == kind]
    for kind in dict.fromkeys(attributes)
  }
  good, by_group, fair = _counted(
    labels, scores, decisions, masks, kinds, options, min_group
  )
  _ranked(
    labels, scores, masks, kinds, options, min_group, good, by_group, fair
  )
  stuck = warn.constant(decisions)
  for one in fair.values() if stuck else ():
    one.setdefault('note', f'constant predictor in seeds {stuck}')
  return {
    'rows': len(labels),
    'threshold': limits,
    'quality': good,
    'fairness': fair,
    'groups': {
      name: {'rows': int(member.sum()), **one}
      for name, member, one in zip(group_names, members, by_group)
    },
    'warnings': warn.sentences(
      labels,
      scores,
      decisions,
      members,
      group_names,
      attributes,
      fair,
      min_group,
    ),
  }


def _named(kinds: dict, kind: str, measures: dict) -> dict:
  prefix = f'{kind}/' if len(kinds) > 1 else ''
  return {prefix + name: value for name, value in measures.items()}


def _counted(
  labels, scores, decisions, masks, kinds, options, min_group
) -> tuple:
  """Quality, groups and fairness as far as they are counts."""
  classes = scores.shape[-1] if scores.ndim == 3 else 2
  table = counts.tabulate(labels, decisions, masks, classes, options.seed)
  weights = None
  if options.resamples:
    weights = intervals.draw(table.items, options.resamples, options.seed)
  rates = counts.rates(table, weights, options)
  good = counts.of_everyone(table, weights, options)
  if classes == 2:
    shares = counts.of_group(table, rates, -1, options)
    # Accuracy is in both: as a rate it has the interval of a share of rows.
    good = {**shares, **good, 'accuracy': shares['accuracy']}
  by_group = [
    counts.marked(
      counts.of_group(table, rates, g, options), rates, g, min_group
    )
    for g in range(len(masks) - 1)
  ]
  fair = {}
  for kind, chosen in kinds.items():
    gaps = counts.gaps(rates, chosen, options, min_group)
    fair.update(_named(kinds, kind, gaps))
  return good, by_group, fair


def _ranked(
  labels, scores, masks, kinds, options, min_group, good, by_group, fair
) -> None:
  """Adds the measures of ranks and probabilities."""
  items = intervals.blocks(len(labels), options.seed)
  weights = None
  if options.resamples:
    count = min(options.resamples, intervals.RANKS)
    weights = intervals.draw(items, count, options.seed)
  good['log_loss'] = rankings.log_loss(labels, scores, items, weights, options)
  if scores.ndim == 3:
    good['macro_auc'] = rankings.macro_auc(
      labels, scores, items, weights, options
    )
    return
  suites = rankings.suites(labels, scores, masks, items, weights, options)
  good['auc'] = rankings.of_group(suites, -1)['auc']
  for g, one in enumerate(by_group):
    one.update(rankings.of_group(suites, g))
  for kind, chosen in kinds.items():
    gaps = rankings.gaps(suites, chosen, options, min_group)
    fair.update(_named(kinds, kind, gaps))


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
) -> tuple[np.ndarray, float | str | list[float]]:
  """Decisions [s, n] and the thresholds that made them."""
  if scores.ndim == 3:
    return scores.argmax(-1), 'argmax'
  if threshold == 'eer':
    limits = groups.equal_error(labels, scores)
    thresholds = [float(limit) for limit in limits]
  else:
    try:
      thresholds = float(threshold)
    except ValueError as error:
      raise UserError(
        f"the threshold is {threshold!r}; it must be a number or 'eer'"
      ) from error
    limits = np.full(len(scores), thresholds)
  limits = limits.astype(scores.dtype)
  return (scores >= limits[:, None]).astype(np.int64), thresholds


def check(labels, probabilities, members, names, attributes) -> None:
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
