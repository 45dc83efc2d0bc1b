"""Models of tables: prepared, fitted, exported, asked for probabilities."""

import dataclasses
import pathlib
import tempfile

import jax
import numpy as np
import pandas as pd
from scipy.special import softmax

from fairjax.config import Config, Mesh, seed_list
from fairjax.core import announce, artefacts, cache, ended
from fairjax.core.errors import UserError
from fairjax.data.batching import batches, tokens
from fairjax.data.tables import labels, schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import ON_TEST_SETS, chain, project
from fairjax.models import Bundle, build
from fairjax.models.folders import hf, of_runs
from fairjax.models.words import word_level
from fairjax.stages import loading
from fairjax.train import checkpoint, loop, mesh
from fairjax.train.progress import Log

WORDS = 'tokenizer.json'  # of a fit: what its tokenizer learned
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
    cache=cache.subfolder('tokens'),
  )
  if ids.cut_lengths:
    announce.note(
      f'the model reads {model.longest} tokens of a text (tokens.max_length); '
      'the ends of longer ones are cut'
    )
  weight = table['weight'] if 'weight' in table else np.ones(len(table))
  pool = batches.Pool(
    ids, table['label'].to_numpy(np.int32), np.asarray(weight, np.float32)
  )
  if model.stays:
    pool = pool._replace(states=_states(model, model.stays(), pool))
  return pool


def _states(model: Bundle, own: dict, pool: batches.Pool) -> np.ndarray:
  """What the encoder that stays says of each text at its first place [n, d]."""
  encoder, one = model.module.encoder, mesh.make(Mesh(), 1)
  reads = lambda p, batch, _: encoder.apply({'params': p}, batch, None, True)
  reader = Bundle(None, reads, encoder)
  params = mesh.put_state(one, jax.tree.map(lambda leaf: leaf[None], own))
  shape = batches.layout_of_sweep(pool.tokens.lengths, 32)
  return loop.predict(reader, params, pool, one, 32, shape)[0, :, 0]


def pools(model: Bundle, tables: Tables) -> tuple[batches.Pool, batches.Pool]:
  """What a fit trains on, and what it stops by."""
  return pool(model, tables['train']), pool(model, tables['valid'])


def parts_of(*pools: batches.Pool) -> list:
  """What pools hold, for an identity."""
  out: list = []
  for pool in pools:
    kinds = pool.tokens.types
    out += [pool.tokens.flat, pool.tokens.offsets]
    out += [[] if kinds is None else kinds, pool.label, pool.weight]
  return out


def keep_words(config: Config, model: Bundle, path: pathlib.Path) -> None:
  """The tokenizer of a fit that learned its own of the tables: from tables
  that have changed since, other ids would come."""
  if not config.tokens.tokenizer and build.model_folder(config) is None:
    artefacts.write_text(path / WORDS, model.tokenizer.to_str())


def write(path: pathlib.Path, fit: loop.Fitted) -> None:
  """Weights and notes of a fit, by the main process alone."""
  weights = mesh.to_host(fit.params)
  if not mesh.is_main():
    return
  names = lambda files: {k: file.name for k, file in files.items()}
  checkpoint.write_weights(path / 'weights.safetensors', weights)
  known = {'steps': fit.steps, 'kept': fit.kept, 'history': fit.history}
  known |= {'snapshots': names(fit.snapshots), 'tracks': names(fit.tracks)}
  artefacts.write_json(path / 'fit.json', known)
  artefacts.remove(path / 'checkpoints')  # the weights are all it needs


def read(path: pathlib.Path, device_mesh) -> loop.Fitted:
  """What `write` left."""
  notes = artefacts.read_json(path / 'fit.json')
  params = checkpoint.read_weights(path / 'weights.safetensors')
  return loop.Fitted(
    mesh.put_state(device_mesh, params),
    *(notes['steps'], notes['kept'], notes['history']),
    {int(k): path / 'snapshots' / p for k, p in notes['snapshots'].items()},
    {int(k): path / 'tracks' / p for k, p in notes['tracks'].items()},
  )


def export(config: Config, model: Bundle, params, folder, log: Log) -> None:
  """A Hugging Face folder for each seed, where the config asks for them."""
  if not config.train.export:
    return
  export = folder / 'export'
  write_models(config, model, params, export)
  if mesh.is_main():  # of an earlier run of more seeds here
    own = {export / f'seed_{seed}' for seed in seed_list(config)}
    for other in sorted(set(export.glob('seed_*')) - own):
      artefacts.remove(other)
      log.line(f'{other} was of an earlier run and is removed')
    ended.describe(_keep_run, folder / 'config.json', export)
  log.line(f'models for transformers: {export}')


def _keep_run(run: pathlib.Path, export: pathlib.Path) -> None:
  if run.is_file():
    artefacts.write_json(export / of_runs.RUN, artefacts.read_json(run))


def write_models(
  own: Config, model: Bundle, params, folder: pathlib.Path, below: str = ''
) -> None:
  """`folder`/seed_K/`below` for each seed, as transformers reads it."""
  params = mesh.to_host(params)
  if not mesh.is_main():
    return
  stays = {'encoder': model.stays()} if model.stays else {}
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
      hf.save(target, model.module, stays | one, names, config, model.labels)


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
