"""The fairscore of a classifier that exists, or of two side by side.

folder, paired file (or test rows) → decisions → fairscore, floor → report
"""

import pathlib

import jax

from fairjax import stages
from fairjax.config import Config
from fairjax.errors import UserError
from fairjax.models import Bundle, chances
from fairjax.models.folder import load
from fairjax.recipes import fairscores
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> Results:
  """Scores config.model, and fairscore.against beside it."""
  with Log(folder, config, main=mesh.is_main()) as log:
    rows = None
    if not config.fairscore.path:
      sets = stages.test_sets(config, stages.load(config, folder, log))
      rows = next(iter(sets.values()))
    pairs = fairscores.read_pairs(config, folder, rows, log)
    decided = {}
    for name, model in models(config).items():
      if int(pairs['label'].max()) >= model.classes:
        raise UserError(
          f'the paired file has label {pairs["label"].max()}, but {name} has '
          f'{model.classes} classes; give the file of its task'
        )
      params = jax.tree.map(lambda leaf: leaf[None], model.params)
      decided[name] = fairscores.decisions(config, model, params, pairs)
    scores, tests = fairscores.scored(config, pairs, decided)
    results = stages.results(
      config,
      title=f'fairscore of {config.model}',
      contenders={name: {'sets': own} for name, own in scores.items()},
      focus=list(decided)[-1],
      tests=stages.adjusted(tests, config.measures.adjust),
      notes=fairscores.NOTES,
      sections=[
        *fairscores.preservation(config, pairs, decided),
        *fairscores.by_attribute(config, pairs, decided),
      ],
    )
    return stages.publish(folder, results, log)


def models(config: Config) -> dict[str, Bundle]:
  """The classifiers by name: the second one, if any, comes first."""
  device_mesh = mesh.make(config.mesh, 1)
  out = {}
  for path in (config.fairscore.against, config.model):
    if path:
      name = _name(path, out)
      one = load(path, 'classify').replace(device_mesh=device_mesh)
      chances.require_one(one.config, one.classes, path)
      out[name] = one
  return out


def _name(path: str, known: dict) -> str:
  """The end of a folder's path that no other has."""
  parts = pathlib.Path(path).parts
  for k in range(1, len(parts) + 1):
    name = '/'.join(parts[-k:])
    if name not in known:
      return name
  raise UserError(
    f'fairscore.against is {path!r}, the model itself; name another one'
  )
