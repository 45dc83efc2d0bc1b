"""Predictions of edited texts beside predictions of rows.

Predictions alone cannot say what an edit would change. The texts of
to_score.csv, scored elsewhere, can: a column of that file is of one model.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from fairjax.config import Config
from fairjax.core.errors import UserError, count
from fairjax.data.tables import answers, readers
from fairjax.stages.asking import AuditedModel


def models(
  config: Config,
  read: Sequence[answers.Answers],
  classes: Sequence[str],
  columns: Sequence[str] | None = None,
) -> list[AuditedModel]:
  """Predictions of rows as models, with those of edited texts where a file has
  them: in a column called as that of the rows, by default audit.scores."""
  names = config.audit.scores if columns is None else columns
  both = zip(read, names or [''])
  found = [_scored(config, one, column, classes) for one, column in both]
  return [dataclasses.replace(one, by_scores=columns is None) for one in found]


def _scored(
  config: Config, rows: answers.Answers, column: str, classes: Sequence[str]
) -> AuditedModel:
  model = AuditedModel(
    rows.name, rows.scores, hard=rows.hard, remarks=rows.remarks
  )
  path = config.audit.edited
  if not path:
    return model
  frame = readers.read(path)
  readers.need(frame, path, ['text'], 'score to_score.csv as it is')
  own = column and (column in frame or column.endswith('*'))
  named = (column,) if own else config.audit.scores[:1]
  plain = frame.drop(columns='id', errors='ignore')
  plain.attrs['source'] = path
  (one,) = answers.of_columns(plain, named, classes, config.measures.positive)
  if one.scores.shape[::2] != rows.scores.shape[::2]:
    sizes = [
      f'{count(s, "seed")} and {count(c, "class", "classes")}'
      for s, _, c in (one.scores.shape, rows.scores.shape)
    ]
    raise UserError(
      f'{path} has predictions of {sizes[0]}, and {rows.name} of {sizes[1]}; '
      'give both of one seed and of as many classes, or leave '
      '--config.audit.edited out'
    )
  at = _places(path, frame['text'].astype(str), one.scores)

  def predict(texts: Sequence[str]) -> np.ndarray:
    missing = next((text for text in texts if text not in at), None)
    if missing is not None:
      raise UserError(
        f'{path} has no prediction of the edited text {missing[:80]!r}; score '
        'every line of to_score.csv, which the audit writes into its folder'
      )
    return one.scores[:, [at[text] for text in texts]]

  return dataclasses.replace(model, predict=predict, edited=one.name)


def _places(path: str, texts: Sequence[str], scores: np.ndarray) -> dict:
  """The row of each text; a text may stand twice with one prediction alone."""
  at: dict[str, int] = {}
  for k, text in enumerate(texts):
    first = at.setdefault(text, k)
    if (scores[:, first] != scores[:, k]).any():
      raise UserError(
        f'{path} has two predictions of the text {text[:80]!r}, in rows '
        f'{first} and {k}; leave one of them'
      )
  return at


def apart(models: Sequence[AuditedModel], path: str) -> list[AuditedModel]:
  """Models whose edits are known: a column of `path` is of one model alone."""
  out = []
  owner: dict = {}
  for model in models:
    first = owner.setdefault(model.edited, model.name)
    if model.edited and first != model.name:
      remark = (
        f'{path} has predictions of edited texts by {first}, and none by '
        f'{model.name}: what edits change is not measured of it; add a column '
        'of its name'
      )
      remarks = (*model.remarks, remark)
      model = dataclasses.replace(model, predict=None, remarks=remarks)
    out.append(model)
  return out
