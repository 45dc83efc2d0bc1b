"""Descriptive statistics of scores, for a run's page.

A score is easily something else than its name says: a model that predicts one
class only turns EL2N and GraNd into the label, and a long text moves GE more
than a short one. So the page shows each score's AUC against the label, its
rank correlation with the length of the text and with the other scores, and
the rows at either end.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.stats import rankdata

from fairjax.data.tables import schema
from fairjax.data.tables import score_table as scores_table
from fairjax.metrics import quality

ENDS = 8  # rows shown of either end of a ranking
SAME = 0.99  # an AUC against the label from which a score is the label
LITTLE = 0.55  # an AUC of the scoring model under which it has learned little


def describe(scores: pd.DataFrame, table: pd.DataFrame, positive: int = 1):
  """A plain dict: rows, twins, auc, length, between, ends, warnings."""
  by_id = table.set_index('id').loc[list(scores['id'])]
  label = (by_id['label'] == positive).to_numpy(np.int64)
  words = by_id['text'].str.split().str.len().to_numpy(np.float64)
  values = {
    name: scores[name].to_numpy(np.float64)
    for name in scores_table.names(scores)
  }
  result = {
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
  return result | {'warnings': warnings(result)}


def number(value: float) -> float | None:
  return None if np.isnan(value) else float(value)


def spearman(
  a: Float[np.ndarray, ' n'], b: Float[np.ndarray, ' n']
) -> float | None:
  """Correlation of the mid-ranks; None where one side is constant."""
  a, b = rankdata(a), rankdata(b)
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


def warnings(facts: Mapping) -> list[str]:
  """What a reader of the scores must know first, in sentences."""
  sentences, model = [], facts['model']
  counts = np.array(model.get('predicted', []))
  if len(counts):
    alone = (counts > 0).sum(1) == 1
    if alone.any():
      seeds = ', '.join(str(s) for s, one in zip(model['seeds'], alone) if one)
      which = sorted({int(c.argmax()) for c in counts[alone]})
      sentences.append(
        f'The scoring model predicts one class only (class '
        f'{" or ".join(map(str, which))}; seeds {seeds}): its errors tell the '
        'labels apart and little else. Score a model that was trained longer, '
        'or with a higher rate.'
      )
  learned = model.get('auc')
  if learned and np.mean(learned) < LITTLE:
    sentences.append(
      f'The scoring model ranks its own training rows with an AUC of '
      f'{np.mean(learned):.3f}: it has learned little, and so its scores say '
      'little.'
    )
  for name, auc in facts['auc'].items():
    if auc is not None and max(auc, 1 - auc) > SAME:
      first = 'positive' if auc > 0.5 else 'negative'
      sentences.append(
        f'{name} separates the labels (AUC {auc:.3f}): its ranking is '
        f'"{first} rows first".'
      )
  for name, ends in facts['ends'].items():
    values = [row[name] for row in (*ends['top'], *ends['bottom'])]
    if values and min(values) == max(values):
      sentences.append(
        f'{name} is the same for every row: it ranks by id alone.'
      )
  if not facts['twins']:
    sentences.append(
      'No row has a counterfactual, so GE and the other scores of twins are 0 '
      'everywhere.'
    )
  return sentences
