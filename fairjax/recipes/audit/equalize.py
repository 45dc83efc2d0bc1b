"""What thresholds of groups would mitigate, and at what price.

They are chosen on half of the rows and judged on the other half
(metrics/group_thresholds.py); the folder gets thresholds.json.
"""

import pandas as pd

from fairjax import api, results
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.metrics.group_thresholds import CRITERIA
from fairjax.recipes.audit import measure
from fairjax.recipes.audit.groups import Who
from fairjax.recipes.audit.measure import Measured
from fairjax.report.assessments import Equalized

WORDS = {
  'equal_opportunity': ('found of the positives', 'equal opportunity'),
  'equal_fpr': ('blamed of the negatives', 'equal false positive rates'),
  'demographic_parity': ('decided positive', 'demographic parity'),
}


def thresholds(
  config: Config, table: pd.DataFrame, one: Measured, groups: Who
) -> Equalized | None:
  """Those that the config asks for; None where it asks for none."""
  criterion = config.audit.equalize
  if not criterion:
    return None
  why = (
    'there are no labels'
    if 'label' not in table
    else 'there are no groups'
    if not groups.columns
    else 'the predictions are of three or more classes, or of several seeds'
    if one.scores.ndim != 2 or len(one.scores) > 1
    else 'the predictions are decisions'
    if 'auc' not in one.set['quality']
    else ''
  )
  if why:
    raise UserError(
      f'audit.equalize is {criterion!r}, but {why}; it needs labels, groups, '
      'and one score a row'
    )
  limit = one.limit
  return api.thresholds(
    measure.truth(config, table, 2),
    one.scores[0],
    next(iter(groups.columns.values())),
    criterion=criterion,
    threshold=limit[0] if isinstance(limit, list) else limit,
    confidence_level=config.measures.confidence_level,
    n_resamples=config.measures.resamples,
    random_state=config.seed,
  )


def section(found: Equalized, groups: Who) -> dict:
  """The page's: what becomes of the gap, and what it costs."""
  name = CRITERIA[found.rule.criterion]
  shown, criterion = WORDS[found.rule.criterion]
  rate = {'dp': 'selection_rate', 'eqopp1': 'tpr', 'eqopp0': 'fpr'}[name]
  before, after = found.before.groups, found.after.groups
  gap = lambda one: float(one[rate].max() - one[rate].min())
  price = found.price
  points = 100 * price['difference']['value']
  cost = 'cost' if points < 0 else 'gain'
  kind = next(iter(groups.columns))
  rows = [
    {
      kind: group,
      'threshold': f'{limit:.3g}',
      f'{shown}, before': f'{before[rate][group]:.1%}',
      'after': f'{after[rate][group]:.1%}',
      'right, before': f'{before["accuracy"][group]:.1%}',
      'right, after': f'{after["accuracy"][group]:.1%}',
    }
    for group, limit in found.thresholds.items()
    if group in before.index
  ]
  return results.section(
    f'A threshold for each group would narrow the gap from '
    f'{gap(before):.0%} to {gap(after):.0%}',
    results.text(
      f'With a threshold of its own each group meets {criterion}; nothing is '
      f'trained. They were chosen on half of the rows. On the other '
      f'{len(found.after.labels):,} they {cost} {abs(points):.1f} points of '
      f'accuracy (interval {100 * price["difference"]["low"]:+.1f} to '
      f'{100 * price["difference"]["high"]:+.1f}). The file thresholds.json '
      'has them; to decide by them the group of a row must be known, and '
      'lawful to use.'
    ),
    results.table(rows, screen=True),
  )
