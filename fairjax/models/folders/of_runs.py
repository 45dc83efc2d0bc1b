"""The models that a run of ours left in its folder: `export`, a seed each."""

import pathlib

from fairjax.config import Config
from fairjax.core import artefacts, knobs, strict_json
from fairjax.core.errors import UserError
from fairjax.models.folders import weight_files

RUN = 'run.json'  # of an export: the config of the run that wrote it
# Stages of the config that make a run's models what they are.
MODELS = {'data', 'training', 'weights', 'scores'}


def exports(path: pathlib.Path) -> list[pathlib.Path]:
  """The folders that the last run in `path` exported, a seed each, in order."""
  seeds = [one for one in path.glob('export/seed_*') if one.name[5:].isdigit()]
  seeds = seeds if seeds and is_of_run(path) else []
  return sorted(seeds, key=lambda one: int(one.name[5:]))


def one_model(path: pathlib.Path) -> pathlib.Path:
  """The model of a run's folder; any other folder is one itself."""
  result, config = path / 'results.json', path / 'config.json'
  if not ((path / 'export').is_dir() or result.is_file()):
    return path
  if config.is_file() and 'model_type' in weight_files.read_json(config):
    return path
  found = exports(path) or [  # one that writes, or perturbs
    file.parent
    for end in ('', '*/')
    for file in sorted(path.glob(f'export/{end}config.json'))
    if not file.parent.name.startswith('seed_')
  ]
  if len(found) == 1:
    return found[0]
  inside = found or sorted(path.glob('*/export/seed_*'))
  said = weight_files.read_json(result) if result.is_file() else {}
  left = 'no classifier; train one with --config.train.export=true'
  if inside:
    left = f'{len(inside)} models; name one of them, such as {inside[0]}'
  raise UserError(
    f'{path} is a run of recipe {said.get("recipe")!r}, which left {left}'
  )


def is_of_run(path: pathlib.Path) -> bool:
  """Whether the exported models are of the last run in this folder.

  Not where a later one, of another config, exported nothing.
  """
  files = path / 'config.json', path / 'export' / RUN
  if not all(map(pathlib.Path.is_file, files)):
    return True
  last, made = (strict_json.flat(artefacts.read_json(file)) for file in files)
  leaves = [one for one in knobs.leaves(Config) if MODELS & {*one.changes}]
  names = ['recipe', *(leaf.name for leaf in leaves)]
  return all(last.get(name) == made.get(name) for name in names)
