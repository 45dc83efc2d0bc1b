"""Every measure over thresholds, and the one that validation rows choose.

All rows are counted once (groups.confusion); a threshold is a number of the
counts from the right.
"""

import numpy as np
from jaxtyping import Float, Integer

from fairjax.core.errors import UserError
from fairjax.metrics import groups
from fairjax.metrics.counts import Case
from fairjax.metrics.inference import extremes, row_weights

POINTS = np.linspace(0, 1, 101)
MOST = 2000  # scores between which thresholds are tried
SHOWN = {  # name in the table of measures: its gap's rates
  'dp': ('selection_rate',),
  'eqopp1': ('tpr',),
  'eqodd': ('fpr', 'tpr'),
}


def sweep(
  case: Case,
) -> dict[str, Float[np.ndarray, ' k']]:
  """{measure: its mean over seeds at each of POINTS}; NaN where undefined."""
  labels, scores, weight = case.labels, case.scores, case.options.weight
  truth = np.zeros(scores.shape[1], np.int64) if labels is None else labels
  masks = np.stack(case.groups.masks)
  counts = groups.confusion(truth, scores, masks, POINTS, weight)
  counts = counts.astype(np.float64)
  rates = groups.rates(counts)  # s, k, g+1, rate
  out = {}
  at = groups.NAMES.index
  if labels is not None:
    out['accuracy'] = rates[:, :, -1, at('accuracy')].mean(0)
  out['selection_rate'] = rates[:, :, -1, at('selection_rate')].mean(0)
  rows = groups.denominators(counts[0, 0])
  if weight is not None:
    squares = groups.confusion(truth, scores, masks, POINTS[:1], weight**2)
    squares = groups.denominators(squares[0, 0])
    rows = row_weights.effective(rows, squares)
  few = rows < case.min_group
  own = np.where(few[None, None, :-1], np.nan, rates[:, :, :-1])
  for name, chosen in SHOWN.items():
    if labels is None and name != 'dp':
      continue
    parts = [extremes.gap(own[..., at(rate)]) for rate in chosen]
    out[name] = 1 - np.mean(parts, 0).mean(0)
  return {name: one for name, one in out.items() if np.isfinite(one).any()}


def choose(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'],
  rule: str,
  weight: Float[np.ndarray, ' n'] | None = None,
) -> float:
  """The threshold that is best on these rows, for all seeds together.

  Of equally good ones the middle: what lies between two scores is all alike.
  """
  everyone = np.ones((1, len(labels)), bool)
  values = np.unique(scores)
  if len(values) > MOST:
    values = np.quantile(values, np.linspace(0, 1, MOST))
  points = np.unique(np.r_[POINTS, (values[1:] + values[:-1]) / 2])
  counts = groups.confusion(labels, scores, everyone, points, weight)[:, :, 0]
  tn, fp, fn, tp = counts.sum(0).astype(np.float64).T
  if rule != 'accuracy' and not ((tn + fp)[0] and (fn + tp)[0]):
    raise UserError(
      'the validation rows have one label only, so no threshold can be '
      f'chosen by {rule}; give rows of both'
    )
  if rule == 'eer':
    worth = -np.abs(fp / (tn + fp) - fn / (fn + tp))
  elif rule == 'balanced_accuracy':
    worth = tn / (tn + fp) + tp / (fn + tp)
  else:
    worth = tn + tp
  best = np.flatnonzero(worth >= worth.max() - 1e-12)
  return float(points[best[len(best) // 2]])
