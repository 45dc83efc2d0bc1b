"""The page's section on what scores measure (templates/scores.txt)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairjax import results
from fairjax.data.tables import labels
from fairjax.report import names, words, written
from fairjax.scores import describe

SAME = 0.99  # an AUC against the label from which a score is the label
LITTLE = 0.55  # an AUC of the scoring model under which it has learned little


def section(
  scores: pd.DataFrame, table: pd.DataFrame, positive: int = 1
) -> dict:
  """What each score goes with, and the rows at either end."""
  found = describe.describe(scores, table, positive)
  classes = table.attrs.get('classes', ())
  of = results.Results(classes=list(classes), pos_label=positive)
  named = dict(enumerate(classes))
  said = [words.in_classes(of, one) for one in warnings(found, named)]
  blur = labels.offensive(classes)
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
  own = lambda row: row | {'label': named.get(row['label'], row['label'])}
  ends = {
    f'{end}_{k}': results.texts([*map(own, of[end])], blur=blur)
    for k, of in enumerate(found['ends'].values())
    for end in ('top', 'bottom')
  }
  shown = {'each': rows, 'called': [*called.values()], 'warnings': said}
  return written.sections('scores.txt', **found, **ends, **shown)[0]


def warnings(found: Mapping, named: Mapping[int, str]) -> list[str]:
  """What a reader of the scores must know first, in sentences."""
  model = found['model']
  known = {n: a for n, a in found['auc'].items() if a is not None}
  each = zip(model.get('seeds', ()), map(np.array, model.get('predicted', ())))
  alone = {s: int(n.argmax()) for s, n in each if (n > 0).sum() == 1}
  learned = np.mean(model.get('auc') or [1.0])
  ends = {n: [*e['top'], *e['bottom']] for n, e in found['ends'].items()}
  return written.lines(
    'score_warnings.txt',
    seeds=[*alone],
    classes=[named.get(k, f'class {k}') for k in sorted({*alone.values()})],
    learned=learned if learned < LITTLE else None,
    labels={n: a for n, a in known.items() if max(a, 1 - a) > SAME},
    alike=[n for n, rows in ends.items() if len({r[n] for r in rows}) == 1],
    twins=found['twins'],
  )
