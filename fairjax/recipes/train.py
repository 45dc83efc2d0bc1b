"""One classifier after one data-side method: trained, measured, reported."""

import pathlib

from fairjax import stages
from fairjax.config import Config
from fairjax.data.tables.schema import Tables
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → tables → method → model → predictions → measures → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    tables = stages.load(config, folder, log)
    results = after_method(config, tables, folder, log)
    return stages.publish(folder, results, log)


def after_method(
  config: Config, tables: Tables, folder: pathlib.Path, log: Log
) -> Results:
  """The classifier after the config's method, and its measures."""
  sets = stages.test_sets(config, tables)
  tables = stages.mitigate(config, tables, log)
  model = stages.prepare(config, tables, log)
  fit = stages.train(config, model, *stages.pools(model, tables), folder, log)
  stages.export(config, model, fit.params, folder, log)
  chances = stages.of_sets(config, model, fit.params, sets)
  own = config.method.name
  stages.keep_predictions(folder, sets, {own: chances}, own)
  return stages.results(
    config,
    contenders={own: {'sets': stages.assess(config, sets, chances)}},
    notes=stages.notes(tables),
  )
