"""The stages that recipes call, each leaving one artefact in the run's folder.

    config → tables → model, pools → fit → predictions → measures → report

A stage whose artefact is there with the same fingerprint is not run again.
"""

import contextlib
import difflib
import importlib.metadata
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pandas as pd
from scipy.special import softmax

import fairjax
from fairjax import artefacts, data, lock
from fairjax.config import Config
from fairjax.data import batches, labels, schema, tokens
from fairjax.data.schema import Tables
from fairjax.data.templates import TEST_SETS
from fairjax.data.terms import read_terms, term_members
from fairjax.errors import UserError
from fairjax.identity import identity
from fairjax.methods import METHODS, ON_TEST_SETS, chain, project
from fairjax.metrics import measures, significance
from fairjax.metrics.assess import assess as measure
from fairjax.metrics.paired import compare as difference
from fairjax.models import Bundle, build, hf, word_level
from fairjax.registry import find
from fairjax.report import page, terminal
from fairjax.results import Results
from fairjax.train import checkpoint, loop, mesh
from fairjax.train.progress import Log

PACKAGES = ('jax', 'jaxlib', 'flax', 'optax', 'orbax-checkpoint', 'numpy')


def begin(
  config: Config, folder, address='', count=0, index=-1, join=False
) -> None:
  """Joins the processes and writes down what is about to run."""
  mesh.start(address, count, index, join)
  if not mesh.is_main():
    return
  if folder.exists() and not folder.is_dir():
    raise UserError(f'{folder} is a file; name a folder with --workdir')
  # Only the cells of a grid may be run side by side in one folder.
  alone = not config.grid.cells
  with lock.hold(folder) if alone else contextlib.nullcontext():
    keep_config(config, folder)
    artefacts.write_json(folder / 'versions.json', versions())


def keep_config(config: Config, folder: pathlib.Path) -> None:
  """config.json; that of an earlier run here stays in configs/, by content."""
  path = folder / 'config.json'
  if path.exists():
    earlier = path.read_text(encoding='utf-8')
    name = f'{artefacts.fingerprint(earlier)}.json'
    artefacts.write_text(folder / 'configs' / name, earlier)
  artefacts.write_json(path, config)
  name = f'{artefacts.fingerprint(path.read_text(encoding="utf-8"))}.json'
  artefacts.remove_file(folder / 'configs' / name)  # it is config.json again


def versions() -> dict:
  """What the run's numbers depend on beside its config."""
  result = {name: importlib.metadata.version(name) for name in PACKAGES}
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
    **result,
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
  log.line(labels.sentence(tables, config.measures.pos_label))
  for warning in report['warnings']:
    log.line(warning)
  return tables


def mitigate(config: Config, tables: Tables, log: Log) -> Tables:
  """The tables after the config's data-side methods, one after the other."""
  for name in chain(config.method.name):
    before, remarks = len(tables['train']), notes(tables)
    tables = schema.check(find(METHODS, 'method', name)(tables, config))
    log.line(
      f'method {name}: {before} training rows became {len(tables["train"])}'
    )
    for note in notes(tables):
      if note not in remarks:
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


def prepare(config: Config, tables: Tables, log: Log) -> Bundle:
  """The model of these tables, with its tokenizer and its layout of devices."""
  classes = schema.classes(tables)
  if classes < 2:
    raise UserError('the data has one class only; a classifier needs two')
  edit = None
  if config.net.remove_gender:
    edit = word_level.Edit(project.needs(), project.remove_gender)
  names = labels.class_names(tables)
  known = () if names == tuple(map(str, range(classes))) else names
  model = build.classifier(config, tables, classes, edit, known)
  log.line(f'model {config.model}: {classes} classes, length {model.longest}')
  return model.replace(device_mesh=mesh.make(config.mesh, config.seeds))


def pool(model: Bundle, table: pd.DataFrame, column: str = 'text'):
  """A table's texts as ids, with labels and weights, ready for batches."""
  pairs = list(table['text_pair']) if 'text_pair' in table else None
  ids = tokens.cached_encode(
    model.tokenizer,
    list(table[column]),
    model.longest,
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
    model.device_mesh,
    folder,
    made_from,
    log,
    lambda target: loop.fit(
      model,
      train_pool,
      valid_pool,
      config,
      target,
      model.device_mesh,
      log,
      rows,
      snapshots,
      part,
    ),
  )


def stage(
  path: pathlib.Path,
  made_from: str,
  make: Callable[[pathlib.Path], Any],
  load: Callable[[pathlib.Path], Any],
  log: Log | None = None,
  reuse: str = '',
) -> Any:
  """artefacts.stage for all processes: they agree on whether to make it.

  All of them call make(path); the main one writes and seals.
  """
  place = artefacts.finished(path, made_from, reuse)
  if not mesh.any_process(place is None):
    if log:
      log.line(f'{path.parent.name}/{path.name}: taken from {place}')
    return load(place)
  if mesh.is_main():
    artefacts.seal_path(path).unlink(missing_ok=True)
  make(path)
  if mesh.is_main():
    artefacts.seal(path, made_from)
  mesh.wait_for_all(str(path))
  return load(path)


def write_table(path: pathlib.Path, table: pd.DataFrame) -> None:
  """By the main process alone."""
  if mesh.is_main():
    artefacts.write_table(path, table)


def write_json(path: pathlib.Path, value: Any) -> None:
  """By the main process alone."""
  if mesh.is_main():
    artefacts.write_json(path, value)


def fitted_once(
  config: Config,
  device_mesh: jax.sharding.Mesh,
  folder: pathlib.Path,
  made_from: str,
  log: Log,
  fit: Callable[[pathlib.Path], loop.Fitted],
) -> loop.Fitted:
  """fit(path), or what it left in `folder` or in the run that is reused.

  The checkpoints go once the weights are written: they are all it needs.
  """
  results = []  # what was fitted just now is not read back

  def make(path: pathlib.Path) -> None:
    result = fit(path)
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
      artefacts.remove(path / 'checkpoints')
    results.append(result)

  def read(path: pathlib.Path) -> loop.Fitted:
    return results[0] if results else _read_fit(path, device_mesh)

  return stage(
    folder / 'training' / made_from, made_from, make, read, log, config.reuse
  )


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
  write_models(config, model, params, folder / 'export')
  log.line(f'models for transformers: {folder / "export"}')


def write_models(
  config: Config, model: Bundle, params, folder: pathlib.Path, below: str = ''
) -> None:
  """`folder`/seed_K/`below` for each seed, as transformers reads it."""
  params = mesh.to_host(params)
  if not mesh.is_main():
    return
  with tempfile.TemporaryDirectory() as files:
    tokens.save_tokenizer(model.tokenizer, files)
    names = sorted(pathlib.Path(files).iterdir())
    # How a folder's model decodes stays as it was.
    source = build.model_folder(config)
    if source and (source / 'generation_config.json').is_file():
      names.append(source / 'generation_config.json')
    for i, seed in enumerate(loop.seed_list(config)):
      one = jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i]), params)
      target = folder / f'seed_{seed}' / below
      hf.save(target, model.module, one, names, model.config, model.labels)


def probabilities(
  config: Config, model: Bundle, params, table: pd.DataFrame, column='text'
) -> np.ndarray:
  """softmax(logits) [s, n, c] of a table's rows."""
  logits = loop.predict(
    model,
    params,
    pool(model, table, column),
    model.device_mesh,
    config.train.batch,
  )
  return softmax(logits.astype(np.float64), axis=-1)


def test_sets(config: Config, tables: Tables) -> Tables:
  """The tables that the config measures on: splits, or made test sets.

  What is wrong with groups, labels or terms is told here, before training.
  """
  sets = {
    name: tables[name]
    if name in tables
    else find(TEST_SETS, 'test set', name)(config)
    for name in config.measures.sets
  }
  classes = schema.classes(tables)
  if config.measures.pos_label >= classes:
    raise UserError(
      f'measures.pos_label is {config.measures.pos_label}, but the labels are '
      f'0 to {classes - 1}'
    )
  column = config.measures.groups
  if column and not column.startswith('terms:'):
    known = {c for table in sets.values() for c in table}
    if column not in known:
      near = difflib.get_close_matches(column, known, n=1)
      names = ', '.join(sorted(known))
      hint = f'did you mean {near[0]!r}?' if near else f'there are {names}'
      raise UserError(
        f'measures.groups is {column!r}, and no test set has such a column; '
        f'{hint}'
      )
  for table in sets.values():
    membership(config, table)
  return sets


def prediction_table(
  name: str, table: pd.DataFrame, chances: np.ndarray
) -> pd.DataFrame:
  """One row an example: id, set, label, group and each seed's p."""
  result = pd.DataFrame({'id': table['id'], 'set': name})
  result['label'] = table['label']
  result['group'] = table['group'] if 'group' in table else ''
  if chances.shape[2] == 2:
    for i, row in enumerate(chances[..., 1]):
      result[f'p{i}'] = row
  else:
    for i, rows in enumerate(chances):
      for c in range(rows.shape[1]):
        result[f'p{i}_c{c}'] = rows[:, c]
  return result.reset_index(drop=True)


def predictions(frame: pd.DataFrame) -> dict[str, np.ndarray]:
  """What `prediction_table` was made of: {set: [s, n, c]}."""
  columns = [c for c in frame if re.fullmatch(r'p\d+(_c\d+)?', c)]
  seeds = len({c.split('_')[0] for c in columns})
  out = {}
  for name, rows in frame.groupby('set', sort=False):
    values = rows[columns].to_numpy().reshape(len(rows), seeds, -1)
    if values.shape[2] == 1:
      values = np.concatenate([1 - values, values], 2)
    out[str(name)] = values.swapaxes(0, 1)
  return out


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
  names = sorted(set(table[column].dropna()) - {''})
  return np.stack([table[column] == n for n in names]), names


def judged(
  config: Config, table: pd.DataFrame, *chances: np.ndarray
) -> tuple[np.ndarray, ...]:
  """Labels [n] and scores, turned so that 1 is `measures.pos_label`.

  The scores are those of the positive label [s, n] where there are two
  classes; of more, all of them stay as they are. [s, n] is taken as P(1).
  """
  labels = table['label'].to_numpy(np.int32)
  if chances[0].ndim == 3 and chances[0].shape[2] > 2:
    return labels, *chances
  of_one = [c[..., 1] if c.ndim == 3 else c for c in chances]
  if config.measures.pos_label == 1:
    return labels, *of_one
  return 1 - labels, *(1 - one for one in of_one)


def assess(
  config: Config, sets: Tables, chances: dict[str, np.ndarray], more=()
) -> dict[str, dict]:
  """{set: its measures}, each number with its interval.

  `more` are further thresholds, at which the leading gaps are taken too, as
  `NAME at THRESHOLD`.
  """
  out = {}
  for name, table in sets.items():
    of = lambda limit, name=name, table=table: measure(
      *judged(config, table, chances[name]),
      *membership(config, table),
      **inference(config, limit),
    )
    out[name] = of(config.measures.threshold)
    for limit in more:
      again = of(limit)['fairness']
      gaps = filter(measures.is_gap, measures.leading(again))
      out[name]['fairness'] |= {f'{k} at {limit}': again[k] for k in gaps}
  return out


def compare(
  config: Config,
  sets: Tables,
  chances: dict[str, dict[str, np.ndarray]],
  pairs: Sequence[tuple[str, str]],
  more=(),
) -> list[dict]:
  """Paired tests of the leading measures: ours − theirs of each pair.

  `chances` are {contender: {set: [s, n, c]}}; `more` as in `assess`.
  """
  tests = []
  for ours, theirs in pairs:
    for name, table in sets.items():
      for limit in (config.measures.threshold, *more):
        end = f' at {limit}' if limit in more else ''
        lines = difference(
          *judged(config, table, chances[ours][name], chances[theirs][name]),
          *membership(config, table),
          **inference(config, limit),
        )
        tests += [
          {'set': name, 'ours': ours, 'theirs': theirs, **line}
          | {'measure': line['measure'] + end}
          for line in lines
          if measures.leading([line['measure']])
          and (not end or measures.is_gap(line['measure']))
        ]
  return adjusted(tests, config.measures.adjust)


def adjusted(tests: list[dict], method: str) -> list[dict]:
  """The tests, leading ones with p adjusted for their number on the page."""
  leads = [i for i, test in enumerate(tests) if 't-test' not in test['test']]
  if method == 'none' or not leads:
    return tests
  own = significance.with_adjusted([tests[i] for i in leads], method)
  known = dict(zip(leads, own))
  return [known.get(i, test) for i, test in enumerate(tests)]


def inference(config: Config, threshold: str | float) -> dict:
  """How sure numbers are to be: the options of `assess` and `compare`."""
  options = config.measures
  return {
    'threshold': threshold,
    'level': options.confidence_level,
    'resamples': options.resamples,
    'seed': config.seed,
    'min_group': options.min_group,
  }


def results(config: Config, **parts) -> Results:
  """Results of this config."""
  own = {
    'recipe': config.recipe,
    'data': config.data.name,
    'model': config.model,
    'seeds': loop.seed_list(config),
    'level': config.measures.confidence_level,
    'pos_label': config.measures.pos_label,
  }
  return Results(**{**own, **parts})


def keep_predictions(
  folder: pathlib.Path, sets: Tables, chances: dict[str, dict], focus: str
) -> None:
  """predictions.parquet of the contender in focus, predictions/ of others."""
  for name, of in chances.items() if mesh.is_main() else ():
    parts = [prediction_table(n, t, of[n]) for n, t in sets.items()]
    place = folder / 'predictions' / f'{file_name(name)}.parquet'
    if name == focus:
      place = folder / 'predictions.parquet'
    artefacts.write_table(place, pd.concat(parts))


def file_name(name: str) -> str:
  """A contender's name as that of a file or folder."""
  return re.sub(r'[^\w.=+-]+', '-', name)


def publish(folder: pathlib.Path, results: Results, log: Log) -> Results:
  """results.json, the page made of it, and the summary on the screen."""
  if not mesh.is_main():
    return results
  known = folder / 'hygiene.json'
  if not results.classes and known.exists():
    results.classes = artefacts.read_json(known).get('classes', [])
  results = page.publish(folder, results)
  log.line(terminal.summary(results))
  log.line(f'the report is {folder / "report.html"}')
  return results
