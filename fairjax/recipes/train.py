"""One classifier after one data-side method: trained, measured, reported."""

import pathlib

from fairjax import stages
from fairjax.config import Config
from fairjax.train import mesh
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> dict:
  """config → tables → method → model → predictions → measures → report."""
  log = Log(folder, config, main=mesh.is_main())
  tables = stages.load(config, folder, log)
  sets = stages.test_sets(config, tables)
  tables = stages.mitigate(config, tables, log)
  ready = stages.prepare(config, tables, log)
  fitted = stages.train(
    config,
    ready,
    stages.pool(ready, tables['train']),
    stages.pool(ready, tables['valid']),
    folder,
    log,
  )
  stages.export(config, ready, fitted.params, folder, log)
  chances = {
    name: stages.probabilities(config, ready, fitted.params, table)
    for name, table in stages.as_read(config, sets).items()
  }
  results = stages.assess(config, sets, chances)
  results['notes'] += stages.notes(tables)
  stages.publish(folder, sets, chances, results, log)
  return results
