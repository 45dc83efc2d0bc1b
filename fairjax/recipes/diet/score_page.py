"""The page's section on what scores measure (templates/scores.txt)."""

import pandas as pd

from fairjax import results
from fairjax.data.tables import labels
from fairjax.report import names, written
from fairjax.scores import describe


def section(
  scores: pd.DataFrame, table: pd.DataFrame, positive: int = 1
) -> dict:
  """What each score goes with, and the rows at either end."""
  found = describe.describe(scores, table, positive)
  blur = labels.offensive(table.attrs.get('classes', ()))
  called = {name: names.SCORES.get(name, name) for name in found['auc']}
  rows = [
    {
      'score': called[name],
      'AUC against the label': found['auc'][name],
      'correlation with length': found['length'][name],
      **{f'with {called[b]}': v for b, v in found['between'][name].items()},
    }
    for name in called
  ]
  ends = {
    f'{end}_{k}': results.texts(of[end], blur=blur)
    for k, of in enumerate(found['ends'].values())
    for end in ('top', 'bottom')
  }
  own = {'each': rows, 'called': [*called.values()]}
  return written.sections('scores.txt', **found, **ends, **own)[0]
