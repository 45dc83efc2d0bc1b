"""The fairscore of a classifier that exists, or of two side by side.

folder, paired file (or rows) → decisions → fairscore, floor → report

Nothing is trained, so every row of the user's file is a test row, unless the
config names test rows. A model is a folder of weights or a run of ours: all
the seeds that it exported, or else its only fit.
"""

import pathlib
from typing import Any

import jax
import jax.numpy as jnp

from fairjax import results, stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.models import Bundle
from fairjax.models.families import chances
from fairjax.models.folders import of_runs
from fairjax.models.folders.folder import load
from fairjax.recipes.perturbation import paired_file
from fairjax.report import names
from fairjax.results import Results
from fairjax.stages import Experiment, audited
from fairjax.train import mesh


@stages.recipe
def run(e: Experiment) -> Results:
  """Scores config.model, and audit.against beside it."""
  config, rows = e.config, None
  if not config.fairscore.path:
    e.load(trains=False)
    rows = next(iter(e.sets.values()))
  pairs = paired_file.read_pairs(e, rows)
  decided = {}
  for name, (model, params) in models(config).items():
    if int(pairs['label'].max()) >= model.classes:
      raise UserError(
        f'the paired file has label {pairs["label"].max()}, but {name} has '
        f'{model.classes} classes; give the file of its task'
      )
    decided[name] = paired_file.decisions(config, model, params, pairs)
  sections = paired_file.measure(e, pairs, decided)
  data = pathlib.Path(config.fairscore.path).name or stages.data_of(config)
  return e.results(
    title=f'Fairscore of {list(decided)[-1]} on {data}',
    focus=list(decided)[-1],
    tests=stages.adjusted(e.tests),
    sections=sections,
  )


def models(config: Config) -> dict[str, tuple[Bundle, Any]]:
  """{name: model, weights [s, …]}; a second one comes first."""
  device_mesh, out = mesh.make(config.mesh, 1), {}
  for path in (config.audit.against, config.model):
    if path:
      # The run of a seed; the end of the folder's path that no other has.
      whole = pathlib.Path(path).absolute()
      ends = ['/'.join(whole.parts[-k:]) for k in range(1, len(whole.parts))]
      ends[:0] = [names.named(str(whole))] * whole.name.startswith('seed_')
      name = next((end for end in ends if end not in out), '')
      if not name:
        raise UserError(
          f'audit.against is {path!r}, the model itself; name another one'
        )
      model, params = classifier(path)
      chances.require_one(model.config, model.classes, path)
      reads, _ = audited.reader(pathlib.Path(path).expanduser())
      model = model.replace(device_mesh=device_mesh, reads=reads)
      out[name] = model, params
  return out


def classifier(path: str) -> tuple[Bundle, Any]:
  """The model of a folder, or of a run of ours, with its weights [s, …]."""
  folder = pathlib.Path(path).expanduser()
  exported = of_runs.exports(folder)
  is_run = (folder / 'results.json').is_file()
  if is_run and not exported:
    fits = sorted(folder.glob('training/*/weights.safetensors'))
    recipe = results.read(folder).recipe
    if recipe == 'train' and len(fits) == 1:
      _, _, model, params = audited.made_again(folder, fits[0])
      return model, params
  seeds = [load(one, 'classify') for one in exported or (path,)]
  params = [one.params for one in seeds]
  return seeds[0], jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
