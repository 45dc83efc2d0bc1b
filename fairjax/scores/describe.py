"""Descriptive statistics of scores, for a run's page.

A score is easily something else than its name says: a model that predicts one
class only turns EL2N and GraNd into the label, and a long text moves GE more
than a short one. So the page shows each score's AUC against the label, its
rank correlation with the length of the text and with the other scores, and
the rows at either end.
"""

import numpy as np
import pandas as pd
from jaxtyping import Float

from fairjax.data.tables import schema
from fairjax.data.tables import score_table as scores_table
from fairjax.metrics import quality

ENDS = 8  # rows shown of either end of a ranking


def describe(scores: pd.DataFrame, table: pd.DataFrame, positive: int = 1):
  """A plain dict: rows, twins, auc, length, between, ends, model."""
  by_id = table.set_index('id').loc[list(scores['id'])]
  label = (by_id['label'] == positive).to_numpy(np.int64)
  words = by_id['text'].str.split().str.len().to_numpy(np.float64)
  values = {
    name: scores[name].to_numpy(np.float64)
    for name in scores_table.names(scores)
  }
  return {
    'rows': len(scores),
    'twins': float(schema.has_twin(by_id).mean()),
    'auc': {n: number(quality.auc(label, v)) for n, v in values.items()},
    'length': {n: spearman(v, words) for n, v in values.items()},
    'between': {
      a: {b: spearman(values[a], values[b]) for b in values} for a in values
    },
    'ends': {n: _ends(scores, by_id, n) for n in values},
    'model': dict(scores.attrs),
  }


def number(value: float) -> float | None:
  return None if np.isnan(value) else float(value)


def spearman(
  a: Float[np.ndarray, ' n'], b: Float[np.ndarray, ' n']
) -> float | None:
  """Correlation of the mid-ranks; None where one side is constant."""
  a, b = (pd.Series(x).rank().to_numpy() for x in (a, b))
  if np.ptp(a) == 0 or np.ptp(b) == 0:
    return None
  return float(np.corrcoef(a, b)[0, 1])


def _ends(scores: pd.DataFrame, by_id: pd.DataFrame, name: str) -> dict:
  """The rows at the top and at the bottom of a ranking, with their twins."""
  order = np.argsort(scores[f'{name}_rank'].to_numpy()).tolist()
  show = min(ENDS, len(order) // 2)  # in the middle both ends would meet
  both = lambda one, two: one if two is None else f'{one} / {two}'
  pair = lambda own: own.get('twin_pair', own.get('text_pair'))

  def row(i: int) -> dict:
    own = by_id.iloc[i]
    return {
      'id': str(scores['id'].iloc[i]),
      name: float(scores[name].iloc[i]),
      'label': int(own['label']),
      'text': both(own['text'], own.get('text_pair')),
      'twin': both(own.get('twin', own['text']), pair(own)),
    }

  return {
    'top': [row(i) for i in order[:show]],
    'bottom': [row(i) for i in order[len(order) - show :]],
  }
