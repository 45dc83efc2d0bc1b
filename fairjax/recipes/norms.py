"""Exact gradient norms, GE and EL2N of a table's rows, by a folder's model."""

import pathlib

import pandas as pd

from fairjax import api, stages
from fairjax.core.errors import UserError
from fairjax.data.tables import files, inputs, readers
from fairjax.results import Results
from fairjax.scores import describe
from fairjax.stages import Experiment, classifier


@stages.recipe
def run(e: Experiment) -> Results:
  """rows → scores of each, as `fairjax.score` has them → scores.parquet."""
  data = e.config.data
  if not data.path:
    raise UserError(
      'data.path is empty; name a file of texts and labels with '
      '--config.data.path'
    )
  frame = readers.read(data.path)
  own = {
    name: files.column(frame, column, f'data.{name}')
    for name, column in (
      *(('id', data.id), ('text', data.text), ('label', data.label)),
      ('twin', data.twin),
    )
    if column
  }
  number = pd.to_numeric(own['label'], errors='coerce')
  if number.notna().all():  # else the names of classes
    own['label'] = number
  model = classifier.load(e.config.model)
  rows = inputs.table(frame[[]].assign(**own), list(model.classes_))
  e.log.line(f'{len(rows):,} rows, scored by {model.name}')
  names = e.config.scoring.names
  scored = api.score(model, rows, names, e.config.train.batch)
  stages.write_table(e.folder / 'scores.parquet', scored)
  return e.results(
    data=pathlib.Path(data.path).name,
    seeds=[],
    title=f'Example scores by {model.name}',
    facts={'rows': len(rows), 'file': data.path},
    sections=[
      describe.section(
        scored[['id', *names]], rows, e.config.measures.pos_label
      )
    ],
  )
