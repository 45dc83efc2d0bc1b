"""Exact gradient norms, GE and EL2N of a table's rows, by a folder's model."""

import pathlib

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
  table = files.columns(readers.read(data.path), data)
  table = table if data.id else table.drop(columns='id')
  model = classifier.load(e.config.model)
  rows = inputs.table(table, list(model.classes_))
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
