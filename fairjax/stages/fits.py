"""Models of tables: prepared, fitted, exported, asked for probabilities."""

import dataclasses
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pandas as pd
from scipy.special import softmax

from fairjax.config import Config, seed_list
from fairjax.core import announce, artefacts, cache
from fairjax.core.errors import UserError
from fairjax.data.batching import batches, tokens
from fairjax.data.tables import labels, schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import ON_TEST_SETS, chain, project
from fairjax.models import Bundle, build
from fairjax.models.folders import hf
from fairjax.models.words import word_level
from fairjax.stages import loading
from fairjax.stages.identity import identity
from fairjax.stages.reuse import stage
from fairjax.train import checkpoint, loop, mesh
from fairjax.train.progress import Log

READ = ('id', 'text', 'text_pair')  # what a model is given of a test set
WORDS = 'tokenizer.json'  # of a fit: what its tokenizer learned
RUN = 'run.json'  # of an export: the config of the run that wrote it
BLIND = 'blind.json'  # of a model that reads blind texts: how they are made


def prepare(config: Config, tables: Tables, log: Log) -> Bundle:
  """The model of these tables, with its tokenizer and its layout of devices."""
  classes = schema.classes(tables)
  if classes < 2:
    raise UserError('the data has one class only; a classifier needs two')
  edit = None
  if config.net.remove_gender:
    edit = word_level.VectorEdit(project.needs(), project.remove_gender)
  names = labels.class_names(tables)
  known = () if names == tuple(map(str, range(classes))) else names
  model = build.classifier(config, tables, classes, edit, known)
  log.line(f'model {config.model}: {classes} classes, length {model.longest}')
  return model.replace(device_mesh=mesh.make(config.mesh, config.seeds))


def pool(model: Bundle, table: pd.DataFrame, column: str = 'text'):
  """A table's texts as ids, with labels and weights, ready for batches."""
  second = 'text_pair'
  if column == 'twin' and 'twin_pair' in table:
    second = 'twin_pair'
  reads = model.reads or list
  pairs = reads(table[second]) if second in table else None
  ids = tokens.cached_encode(
    model.tokenizer,
    reads(table[column]),
    model.longest,
    pairs,
    cache=cache.kept('tokens'),
  )
  if ids.cut_lengths:
    announce.note(
      f'the model reads {model.longest} tokens of a text (tokens.max_length); '
      'the ends of longer ones are cut'
    )
  weight = table['weight'] if 'weight' in table else np.ones(len(table))
  return batches.Pool(
    ids,
    table['label'].to_numpy(np.int32),
    np.asarray(weight, np.float32),
  )


def train(
  config: Config,
  model: Bundle,
  train_pool: batches.Pool,
  valid_pool: batches.Pool,
  folder: pathlib.Path,
  log: Log,
  rows: np.ndarray | None = None,
  snapshots: tuple[int, ...] = (),
  part: str = '',
) -> loop.Fitted:
  """Fits, or reads what the same fit left in `folder`/training."""
  made_from = identity(
    config,
    'training',
    *pool_parts(train_pool),
    *pool_parts(valid_pool),
    'all' if rows is None else np.asarray(rows),
    list(snapshots),
  )
  return fitted_once(
    config,
    model,
    (train_pool, valid_pool),
    folder,
    made_from,
    log,
    rows=rows,
    snapshots=snapshots,
    part=part,
    beside=lambda path: _keep_words(config, model, path),
  )


def _keep_words(config: Config, model: Bundle, path: pathlib.Path) -> None:
  """The tokenizer of a fit that learned its own of the tables: from tables
  that have changed since, other ids would come."""
  if not config.tokens.tokenizer and build.model_folder(config) is None:
    artefacts.write_text(path / WORDS, model.tokenizer.to_str())


def fitted_once(
  config: Config,
  model: Bundle,
  sets: tuple[Any, Any],
  folder: pathlib.Path,
  made_from: str,
  log: Log,
  beside: Callable[[pathlib.Path], None] = lambda path: None,
  **options: Any,
) -> loop.Fitted:
  """Trains by `loop.fit`, or reads what the same fit left.

  That is looked for in `folder` and in the run that is reused. The model knows
  its mesh; `sets` are the data to train on and to evaluate by, `options` those
  of `loop.fit`; `beside` writes what is kept beside the weights. The
  checkpoints go once the weights are written: they are all it needs.
  """
  device_mesh = model.device_mesh
  results = []  # what was fitted just now is not read back

  def make(path: pathlib.Path) -> None:
    result = loop.fit(model, *sets, config, path, device_mesh, log, **options)
    weights = mesh.to_host(result.params)
    if mesh.is_main():
      checkpoint.write_weights(path / 'weights.safetensors', weights)
      artefacts.write_json(
        path / 'fit.json',
        {
          'steps': result.steps,
          'kept': result.kept,
          'history': result.history,
          'snapshots': {k: p.name for k, p in result.snapshots.items()},
          'tracks': {k: p.name for k, p in result.tracks.items()},
        },
      )
      beside(path)
      artefacts.remove(path / 'checkpoints')
    results.append(result)

  def read(path: pathlib.Path) -> loop.Fitted:
    return results[0] if results else _read_fit(path, device_mesh)

  return stage(
    folder / 'training' / made_from, made_from, make, read, log, config.reuse
  )


def pools(model: Bundle, tables: Tables) -> tuple[batches.Pool, batches.Pool]:
  """What a fit trains on, and what it stops by."""
  return pool(model, tables['train']), pool(model, tables['valid'])


def pool_parts(pool: batches.Pool) -> tuple:
  """What a pool holds, for an identity."""
  kinds = pool.tokens.types
  return (
    pool.tokens.flat,
    pool.tokens.offsets,
    [] if kinds is None else kinds,
    pool.label,
    pool.weight,
  )


def _read_fit(path: pathlib.Path, device_mesh) -> loop.Fitted:
  notes = artefacts.read_json(path / 'fit.json')
  params = checkpoint.read_weights(path / 'weights.safetensors')
  return loop.Fitted(
    mesh.put_state(device_mesh, params),
    notes['steps'],
    notes['kept'],
    notes['history'],
    {int(k): path / 'snapshots' / p for k, p in notes['snapshots'].items()},
    {int(k): path / 'tracks' / p for k, p in notes['tracks'].items()},
  )


def export(config: Config, model: Bundle, params, folder, log: Log) -> None:
  """A Hugging Face folder for each seed, where the config asks for them."""
  if not config.train.export:
    return
  if model.shape is None:
    raise UserError(
      f'model {config.model!r} has no Hugging Face form; leave '
      '--config.train.export off, its weights are in training/'
    )
  export = folder / 'export'
  write_models(config, model, params, export)
  if mesh.is_main():  # of an earlier run of more seeds here
    own = {export / f'seed_{seed}' for seed in seed_list(config)}
    for other in sorted(set(export.glob('seed_*')) - own):
      artefacts.remove(other)
      log.line(f'{other} was of an earlier run and is removed')
    run = folder / 'config.json'
    if run.is_file():
      artefacts.write_json(export / RUN, artefacts.read_json(run))
  log.line(f'models for transformers: {export}')


def write_models(
  own: Config, model: Bundle, params, folder: pathlib.Path, below: str = ''
) -> None:
  """`folder`/seed_K/`below` for each seed, as transformers reads it."""
  params = mesh.to_host(params)
  if not mesh.is_main():
    return
  with tempfile.TemporaryDirectory() as files:
    tokens.save_tokenizer(model.tokenizer, files, model.longest)
    names = sorted(pathlib.Path(files).iterdir())
    # How a folder's model decodes stays as it was.
    source = build.model_folder(own)
    if source and (source / 'generation_config.json').is_file():
      names.append(source / 'generation_config.json')
    if {*ON_TEST_SETS} & {*chain(own.method.name)}:  # so would a copy read
      method = dataclasses.asdict(own.method)
      names.append(pathlib.Path(files) / BLIND)
      artefacts.write_json(names[-1], {'method': method, 'seed': own.seed})
    for i, seed in enumerate(seed_list(own)):
      one = jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i]), params)
      target = folder / f'seed_{seed}' / below
      # The fit's classes exclude each other, whatever it began from.
      config = {k: v for k, v in model.config.items() if k != 'problem_type'}
      hf.save(target, model.module, one, names, config, model.labels)


def answers_once(
  config: Config,
  model: Bundle,
  train_pool: batches.Pool,
  valid_pool: batches.Pool,
  sets: Tables,
  folder: pathlib.Path,
  log: Log,
  rows: np.ndarray | None = None,
  part: str = '',
  keep: Callable[[Any], None] | None = None,
) -> dict[str, np.ndarray]:
  """Probabilities [s, n, c] of each set by the classifier of these rows.

  They lie in `folder`/answers, so that a run that goes on, on another machine
  too, needs neither the weights nor their training. `keep` is given the
  weights, which are then trained or read in any case.
  """
  texts = loading.as_read(config, sets)
  made_from = identity(
    config,
    'training',
    *pool_parts(train_pool),
    *pool_parts(valid_pool),
    'all' if rows is None else np.asarray(rows),
    list(texts),
    *(t[[c for c in READ if c in t]] for t in texts.values()),
  )

  def make(path: pathlib.Path) -> None:
    pools = train_pool, valid_pool
    fit = train(config, model, *pools, folder, log, rows=rows, part=part)
    if keep:
      keep(fit.params)
    chances = of_sets(config, model, fit.params, sets)
    if mesh.is_main():
      with artefacts.atomic(path) as temporary:
        np.savez(temporary, allow_pickle=False, **chances)

  path = folder / 'answers' / f'{made_from}.npz'
  if keep:
    artefacts.seal_path(path).unlink(missing_ok=True)
  read = lambda path: dict(np.load(path))
  return stage(path, made_from, make, read, log, config.reuse)


def probabilities(
  config: Config, model: Bundle, params, table: pd.DataFrame, column='text'
) -> np.ndarray:
  """softmax(logits) [s, n, c] of a table's rows."""
  # In the precision of training: a rank of nearly equal scores, and with it an
  # AUC, may change by more than decisions.py bounds.
  rows = pool(model, table, column), model.device_mesh
  logits = loop.predict(model, params, *rows, config.train.batch)
  return softmax(logits.astype(np.float64), axis=-1)


def of_sets(
  config: Config, model: Bundle, params, sets: Tables
) -> dict[str, np.ndarray]:
  """The probabilities of each test set's rows, as the model reads them."""
  return {
    name: probabilities(config, model, params, table)
    for name, table in loading.as_read(config, sets).items()
  }
