"""The stages that recipes call, each leaving one artefact in the run's folder.

    config → tables → model, pools → fit → predictions → measures → report

A stage whose artefact is there with the same fingerprint is not run again.
"""

import importlib.metadata
import pathlib
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from scipy.special import softmax

import fairjax
from fairjax import artefacts, data
from fairjax.config import Config
from fairjax.data import batches, schema, tokens
from fairjax.data.schema import Tables
from fairjax.data.templates import TEST_SETS
from fairjax.data.terms import read_terms, term_members
from fairjax.errors import UserError
from fairjax.methods import METHODS, ON_TEST_SETS, chain, project
from fairjax.metrics.assess import assess as measure
from fairjax.models import Bundle, build, hf, word_level
from fairjax.registry import find
from fairjax.report import page
from fairjax.report import tables as tabular
from fairjax.train import checkpoint, loop, mesh
from fairjax.train.progress import Log

PACKAGES = ('jax', 'jaxlib', 'flax', 'optax', 'orbax-checkpoint', 'numpy')


def begin(config: Config, folder, address='', count=0, index=-1) -> None:
  """Joins the processes and writes down what is about to run."""
  mesh.start(address, count, index)
  if not mesh.is_main():
    return
  if folder.exists() and not folder.is_dir():
    raise UserError(f'{folder} is a file; name a folder with --workdir')
  artefacts.write_json(folder / 'config.json', config)
  artefacts.write_json(folder / 'versions.json', versions())


def versions() -> dict:
  """What the run's numbers depend on beside its config."""
  found = {name: importlib.metadata.version(name) for name in PACKAGES}
  root = pathlib.Path(fairjax.__file__).parent.parent
  git = ['git', '-C', str(root)]
  try:
    commit = subprocess.check_output(
      [*git, 'rev-parse', 'HEAD'], text=True, stderr=subprocess.DEVNULL
    ).strip()
    changed = bool(
      subprocess.check_output(
        [*git, 'status', '--porcelain'], text=True, stderr=subprocess.DEVNULL
      ).strip()
    )
  except (OSError, subprocess.CalledProcessError):
    commit, changed = '', False
  return {
    'fairjax': fairjax.__version__,
    'python': platform.python_version(),
    **found,
    'backend': jax.default_backend(),
    'devices': jax.device_count(),
    'processes': jax.process_count(),
    'git': {'commit': commit, 'changed': changed},
    'command': sys.argv,
  }


def load(config: Config, folder: pathlib.Path, log: Log) -> Tables:
  """The tables, clean and checked; what was found wrong is written down."""
  tables, report, bad = data.load_tables(config)
  if mesh.is_main():
    artefacts.write_json(folder / 'hygiene.json', report)
    artefacts.write_text(folder / 'bad_rows.csv', bad.to_csv(index=False))
  if len(bad):
    log.line(f'{len(bad)} rows dropped; see {folder / "bad_rows.csv"}')
  sizes = ', '.join(f'{len(t)} {name}' for name, t in tables.items())
  log.line(f'data {config.data.name}: {sizes}')
  for warning in report['warnings']:
    log.line(warning)
  return tables


def mitigate(config: Config, tables: Tables, log: Log) -> Tables:
  """The tables after the config's data-side methods, one after the other."""
  for name in chain(config.method.name):
    before, told = len(tables['train']), notes(tables)
    tables = schema.check(find(METHODS, 'method', name)(tables, config))
    log.line(
      f'method {name}: {before} training rows became {len(tables["train"])}'
    )
    for note in notes(tables):
      if note not in told:
        log.line(note)
  return tables


def notes(tables: Tables) -> list[str]:
  """What a method has to say about the tables that it made."""
  return [n for table in tables.values() for n in table.attrs.get('notes', ())]


def as_read(config: Config, sets: Tables) -> Tables:
  """Test sets as the model reads them; a blind one reads blind texts."""
  for name in chain(config.method.name):
    if name in ON_TEST_SETS:
      sets = find(METHODS, 'method', name)(sets, config)
  return sets


class Ready(NamedTuple):
  """Everything that training and prediction need, made once."""

  model: Bundle
  tokenizer: Any
  max_length: int
  classes: int
  device_mesh: Any


def prepare(config: Config, tables: Tables, log: Log) -> Ready:
  """The model and its tokenizer for these tables."""
  classes = schema.classes(tables)
  if classes < 2:
    raise UserError('the data has one class only; a classifier needs two')
  edit = None
  if config.net.remove_gender:
    edit = word_level.Edit(project.needs(), project.remove_gender)
  model = build.classifier(config, tables, classes, edit)
  log.line(f'model {config.model}: {classes} classes, length {model.longest}')
  device_mesh = mesh.make(config.mesh, config.seeds)
  return Ready(model, model.tokenizer, model.longest, classes, device_mesh)


def pool(ready: Ready, table: pd.DataFrame, column: str = 'text'):
  """A table's texts as ids, with labels and weights, ready for batches."""
  pairs = list(table['text_pair']) if 'text_pair' in table else None
  ids = tokens.cached_encode(
    ready.tokenizer,
    list(table[column]),
    ready.max_length,
    pairs,
    cache=artefacts.cache_folder() / 'tokens',
  )
  weight = table['weight'] if 'weight' in table else np.ones(len(table))
  return batches.Pool(
    ids,
    table['label'].to_numpy(np.int32),
    np.asarray(weight, np.float32),
  )


def train(
  config: Config,
  ready: Ready,
  train_pool: batches.Pool,
  valid_pool: batches.Pool,
  folder: pathlib.Path,
  log: Log,
  rows: np.ndarray | None = None,
  snapshots: tuple[int, ...] = (),
  part: str = '',
) -> loop.Fitted:
  """Fits, or reads what the same fit left in `folder`/training."""
  made_from = artefacts.fingerprint(
    *_pool_parts(train_pool),
    *_pool_parts(valid_pool),
    'all' if rows is None else np.asarray(rows),
    [config.model, config.seeds, config.seed, list(snapshots)],
    config.net,
    artefacts.content(config.net.glove),
    config.tokens,
    config.train,
  )
  return fitted_once(
    config,
    ready,
    folder / 'training' / made_from,
    log,
    lambda target: loop.fit(
      ready.model,
      train_pool,
      valid_pool,
      config,
      target,
      ready.device_mesh,
      log,
      rows,
      snapshots,
      part,
    ),
  )


def fitted_once(
  config: Config,
  ready: Ready,
  target: pathlib.Path,
  log: Log,
  fit: Callable[[pathlib.Path], loop.Fitted],
) -> loop.Fitted:
  """fit(target), or what it left there or in the run that is reused.

  The checkpoints go once the weights are written: they are all it needs.
  """
  if config.reuse and not (target / 'fit.json').exists():
    other = pathlib.Path(config.reuse) / 'training' / target.name
    target = other if (other / 'fit.json').exists() else target
  if (target / 'fit.json').exists():
    log.line(f'training: taken from {target}')
    return _read_fit(target, ready)
  fitted = fit(target)
  weights = mesh.to_host(fitted.params)
  if mesh.is_main():
    checkpoint.write_weights(target / 'weights.safetensors', weights)
    artefacts.write_json(
      target / 'fit.json',
      {
        'steps': fitted.steps,
        'kept': fitted.kept,
        'history': fitted.history,
        'snapshots': {k: p.name for k, p in fitted.snapshots.items()},
        'tracks': {k: p.name for k, p in fitted.tracks.items()},
      },
    )
    artefacts.remove(target / 'checkpoints')
  mesh.wait_for_all('fitted')
  return fitted


def _pool_parts(given: batches.Pool):
  kinds = given.tokens.types
  return (
    given.tokens.flat,
    given.tokens.offsets,
    [] if kinds is None else kinds,
    given.label,
    given.weight,
  )


def _read_fit(target: pathlib.Path, ready: Ready) -> loop.Fitted:
  notes = artefacts.read_json(target / 'fit.json')
  params = checkpoint.read_weights(target / 'weights.safetensors')
  return loop.Fitted(
    mesh.put_state(ready.device_mesh, params),
    notes['steps'],
    notes['kept'],
    notes['history'],
    {int(k): target / 'snapshots' / p for k, p in notes['snapshots'].items()},
    {int(k): target / 'tracks' / p for k, p in notes['tracks'].items()},
  )


def export(config: Config, ready: Ready, params, folder, log: Log) -> None:
  """A Hugging Face folder for each seed, where the config asks for them."""
  if not config.train.export:
    return
  if ready.model.shape is None:
    raise UserError(
      f'model {config.model!r} has no Hugging Face form; leave '
      '--config.train.export off, its weights are in training/'
    )
  write_models(config, ready, params, folder / 'export')
  log.line(f'models for transformers: {folder / "export"}')


def write_models(
  config: Config, ready: Ready, params, folder: pathlib.Path, below: str = ''
) -> None:
  """`folder`/seed_K/`below` for each seed, as transformers reads it."""
  params = mesh.to_host(params)
  if not mesh.is_main():
    return
  with tempfile.TemporaryDirectory() as files:
    tokens.save_tokenizer(ready.tokenizer, files)
    names = sorted(pathlib.Path(files).iterdir())
    # How a folder's model decodes stays as it was.
    source = build.model_folder(config)
    if source and (source / 'generation_config.json').is_file():
      names.append(source / 'generation_config.json')
    for i, seed in enumerate(loop.seed_list(config)):
      one = jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i]), params)
      target = folder / f'seed_{seed}' / below
      model = ready.model
      hf.save(target, model.module, one, names, model.config, model.labels)


def probabilities(
  config: Config, ready: Ready, params, table: pd.DataFrame, column='text'
) -> np.ndarray:
  """softmax(logits) [s, n, c] of a table's rows."""
  logits = loop.predict(
    ready.model,
    params,
    pool(ready, table, column),
    ready.device_mesh,
    config.train.batch,
  )
  return softmax(logits.astype(np.float64), axis=-1)


def test_sets(config: Config, tables: Tables) -> Tables:
  """The tables that the config measures on: splits, or made test sets."""
  return {
    name: tables[name]
    if name in tables
    else find(TEST_SETS, 'test set', name)(config)
    for name in config.measures.sets
  }


def prediction_table(
  name: str, table: pd.DataFrame, chances: np.ndarray
) -> pd.DataFrame:
  """One row an example: id, set, label, group and each seed's p."""
  found = pd.DataFrame({'id': table['id'], 'set': name})
  found['label'] = table['label']
  found['group'] = table['group'] if 'group' in table else ''
  if chances.shape[2] == 2:
    for i, row in enumerate(chances[..., 1]):
      found[f'p{i}'] = row
  else:
    for i, rows in enumerate(chances):
      for c in range(rows.shape[1]):
        found[f'p{i}_c{c}'] = rows[:, c]
  return found.reset_index(drop=True)


def membership(
  config: Config, table: pd.DataFrame
) -> tuple[np.ndarray, list[str]]:
  """Which rows belong to which group: bool [g, n] and the groups' names."""
  if config.measures.groups.startswith('terms:'):
    path = config.measures.groups.removeprefix('terms:')
    terms = read_terms(path, 'measures.groups')
    return term_members(list(table['text']), terms), terms
  column = config.measures.groups or 'group'
  if column not in table:
    return np.zeros((0, len(table)), bool), []
  names = sorted(set(table[column]) - {''})
  return np.stack([table[column] == n for n in names]), names


def assess(
  config: Config, sets: Tables, chances: dict[str, np.ndarray]
) -> dict:
  """The measures of every test set, each number with its interval."""
  options = config.measures
  found = {}
  for name, table in sets.items():
    members, names = membership(config, table)
    chance = chances[name]
    found[name] = measure(
      table['label'].to_numpy(np.int32),
      chance[..., options.pos_label] if chance.shape[2] == 2 else chance,
      members,
      names,
      threshold=options.threshold,
      level=options.confidence_level,
      resamples=options.resamples,
      seed=config.seed,
    )
  return {
    'name': config.data.name,
    'recipe': config.recipe,
    'model': config.model,
    'seeds': loop.seed_list(config),
    'sets': found,
    'tests': [],
    'notes': [],
  }


def publish(
  folder: pathlib.Path,
  sets: Tables,
  chances: dict[str, np.ndarray],
  results: dict,
  log: Log,
  extra: list = (),
) -> None:
  """Predictions, results, the page, and the summary on the screen."""
  if not mesh.is_main():
    return
  tables = [prediction_table(n, t, chances[n]) for n, t in sets.items()]
  artefacts.write_table(folder / 'predictions.parquet', pd.concat(tables))
  artefacts.write_json(folder / 'results.json', results)
  artefacts.write_text(folder / 'report.html', page.report(folder, extra))
  log.line(tabular.summary(results))
  log.line(f'the report is {folder / "report.html"}')
