"""Exact gradient norms, GE and EL2N of a table's rows, by a folder's model."""

import pathlib

from fairjax import api, results, stages
from fairjax.data.tables import files, inputs, readers
from fairjax.data.tables import score_table as scores
from fairjax.recipes.diet import score_page
from fairjax.report import words
from fairjax.report.names import SCORES
from fairjax.results import Results
from fairjax.stages import Experiment, classifier


@stages.recipe
def run(e: Experiment) -> Results:
  """rows → scores of each, as `fairjax.score` has them → scores.parquet."""
  data = e.config.data
  table = files.columns(readers.read(data.path), data)
  table = table if data.id else table.drop(columns='id')
  model = classifier.load(e.config.model)
  rows = inputs.table(table, list(model.classes_))
  e.log.line(f'{len(rows):,} rows, scored by {model.name}')
  names = e.config.scoring.names
  scored = api.score(model, rows, names, e.config.train.batch)
  for name in names:
    scored[f'{name}_rank'] = scores.rank(scored[name].to_numpy(), scored['id'])
  scored.attrs['classes'] = model.classes_.tolist()
  first = scored.set_index('id')[names[0]].astype(float)
  lead = results.text(words.said('scored', SCORES[names[0]], first))
  shown = score_page.section(scored, scored, e.config.measures.positive)
  stages.write_table(e.folder / 'scores.parquet', scored)
  return e.results(
    data=pathlib.Path(data.path).name,
    seeds=[],
    title=f'Example scores by {model.name}',
    facts={'rows': len(rows), 'file': data.path, 'scores': 'scores.parquet'},
    sections=[results.section('', lead), shown],
  )
