"""Audited models: anything that gives texts, or rows, probabilities.

A Hugging Face classifier folder; a run of ours (its exported models, else the
weights of its only fit); a file of predictions, several models as columns; any
Python function texts → probabilities, by name ('module:function') or itself;
or 'planted', a linear classifier that is fitted in a second on the embedded
data, whose bias is known.
"""

import dataclasses
import functools
import inspect
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import Config, ignored_knobs
from fairjax.config.audit import FILES
from fairjax.core import artefacts, knobs
from fairjax.core.errors import UserError, nearest
from fairjax.data.tables import answers, join, labels, readers
from fairjax.models.families import chances
from fairjax.models.folders import of_runs
from fairjax.report import names
from fairjax.stages import asking, edited
from fairjax.stages.asking import AuditedModel

THEIRS = 'the table of predictions'
FUNCTION = re.compile(r'[A-Za-z_][\w.]*:[A-Za-z_][\w.]*')


def load(
  source: Any, config: Config, table: pd.DataFrame, classes: Sequence[str]
) -> list[AuditedModel]:
  """Every model that `source` holds; none is named where it is empty."""
  if source is None or isinstance(source, str | os.PathLike):
    return _named(os.fspath(source or ''), config, table, classes)
  if (frame := readers.as_frame(source)) is not None:
    frame = frame.rename(columns=str)  # audit.scores names them by texts
    frame.attrs.setdefault('source', THEIRS)
    return _of_frame(frame, config, table, classes)
  if (found := readers.as_values(source)) is not None:
    # Predictions of the rows in their order: numbers, or labels by name.
    asked = answers.Asked(classes, config.measures.positive, f'{THEIRS} has')
    read = answers.of_values(found, len(table), asked)
    said = join.in_order('the list of predictions'), *read.remarks
    return edited.models(config, [read._replace(remarks=said)], classes, ())
  if hasattr(source, 'bundle'):  # fairjax.load
    return classifier([source], config)
  name = getattr(source, '__name__', type(source).__name__)
  if (one := _asked(source, name, config, table, classes)) is not None:
    return [one]
  raise UserError(
    f'an audit cannot read {type(source).__name__}; give a folder, a file, a '
    'table of predictions, a model with predict_proba, or a function of texts'
  )


def _asked(
  source: Any, name: str, config, table, classes, made_from=None
) -> AuditedModel | None:
  """An estimator, or a function of texts; None for what is neither."""
  if hasattr(source, 'predict_proba'):
    names = tuple(map(str, getattr(source, 'classes_', ())))
    ask = source.predict_proba
    return asking.function(ask, name, config, table, names, made_from)
  if hasattr(source, 'base_model_prefix'):  # a model of transformers
    raise UserError(
      f'{name} reads tokens, not texts; give its folder, or a pipeline of it: '
      "pipeline('text-classification', model, tokenizer=…)"
    )
  if inspect.iscoroutinefunction(source):
    raise UserError(
      f'{name} is asynchronous; give lambda texts: asyncio.run({name}(texts))'
    )
  if not callable(source) and callable(getattr(source, 'predict', None)):
    source = source.predict  # one that only decides
  if callable(source):
    own = config, table, (), made_from, classes
    return asking.function(source, name, *own)
  return None


def _in_data(config: Config, table, classes) -> list[AuditedModel]:
  """Predictions that stand in the data itself."""
  frame = _other_columns(table)
  named = re.compile(r'(p|prob|score)_.+|p\d+', re.IGNORECASE)
  usual = {str(c).lower() for c in frame} & set(answers.USUAL)
  likely = usual or any(named.fullmatch(str(c)) for c in frame)
  if not (config.audit.scores or likely):
    raise UserError(
      'audit.model is empty and the data has no column of predictions; name a '
      "model folder, a file of predictions or 'module:function' with "
      '--config.audit.model, or the column with --config.audit.scores'
    )
  read = answers.of_columns(
    frame, config.audit.scores, classes, config.measures.positive, table
  )
  return edited.models(config, read, classes)


def _other_columns(table: pd.DataFrame) -> pd.DataFrame:
  """The columns of the data that predictions may stand in, row by row."""
  made = ['id'] if table.attrs.get('ids') == join.MADE else []
  frame = table.drop(columns=['text', 'label', *made], errors='ignore')
  frame.attrs['source'] = table.attrs.get('source', 'the data')
  return frame


def _named(name: str, config, table, classes) -> list[AuditedModel]:
  if not name:
    return _in_data(config, table, classes)
  path = pathlib.Path(name).expanduser()
  if name in table and name not in ('text', 'label'):  # a column of the data
    read = answers.of_columns(
      _other_columns(table), (name,), classes, config.measures.positive, table
    )
    return edited.models(config, read, classes, (name,))
  if name == 'planted':
    return [planted(config)]
  if os.path.isdir(path):
    return of_folder(path, config, table, classes)
  if os.path.isfile(path) or path.suffix.lower() in FILES:
    return _of_frame(readers.read(name), config, table, classes)
  if FUNCTION.fullmatch(name):
    target = asking.imported(name)
    made_from = functools.partial(asking.made_from, name)
    one = _asked(target, name, config, table, classes, made_from)
    return [one] if one else []
  from fairjax.models.folders import hub

  try:
    folder = hub.find(name)
  except UserError as error:
    why = f' (nor on the hub: {error})' if '/' in name else ''
    hint = nearest(name, map(str, _other_columns(table)), 'check the name')
    raise UserError(
      f'there is no model {name!r}: no folder, no file or column of '
      f"predictions, and not written as 'module:function'{why}; {hint}"
    ) from error
  if folder is None:
    raise UserError(f'model {name!r} has no weights; name a model folder')
  return of_folder(pathlib.Path(folder), config, table, classes, name)


def _of_frame(frame, config, table, classes) -> list[AuditedModel]:
  read = answers.of_table(
    frame, table, config.audit.scores, classes, config.measures.positive
  )
  return edited.models(config, read, classes)


def classifier(
  seeds: Sequence, config: Config, name: str = '', made_from=None
) -> list[AuditedModel]:
  """`fairjax.load`ed ones of a run; of labels that may hold together, a model
  each."""
  model, asked = seeds[0], [asked_as(seed, config) for seed in seeds]
  predict = lambda texts: np.stack([one.predict_proba(texts) for one in asked])
  classes = tuple(map(str, model.classes_))
  one = AuditedModel(
    name or pathlib.Path(model.name).name or 'model',
    *(None, predict, classes),
    kind='folder',
    bundle=model.bundle,
    made_from=made_from,
  )
  wanted = config.audit.classes
  if model.problem == chances.ONE:
    if wanted:
      raise UserError(
        f'audit.classes is {", ".join(wanted)}, but one of the classes of '
        f'{one.name} is right ({", ".join(classes)}); leave it out, or say '
        'which is positive with --config.measures.pos_label'
      )
    return [one]
  low = [name.casefold() for name in classes]
  strange = [name for name in wanted if name.casefold() not in low]
  if strange:
    raise UserError(
      f'audit.classes names {strange[0]!r}, but the labels of {one.name} are '
      f'{", ".join(classes)}'
    )
  places = [low.index(name.casefold()) for name in wanted] or range(len(low))
  known = functools.lru_cache(4)(predict)  # each label asks again
  one = dataclasses.replace(
    one,
    predict=lambda texts: known(tuple(texts)),
    bundle=None,
    positive=config.measures.positive,
  )
  return [_of_label(one, place) for place in places]


def asked_as(model, config: Config):
  """The classifier with the config's products and thresholds of decisions."""
  from fairjax.train import decisions

  how = decisions.reading(config)
  if getattr(model, 'how', None) and how.precision == 'float32':
    return dataclasses.replace(model, how=None)
  return model.deciding_at(how.thresholds)


def _of_label(one: AuditedModel, place: int) -> AuditedModel:
  """One label of several: it holds, or it does not."""
  label = one.classes[place]
  named = not re.fullmatch(r'label_\d+', label, re.IGNORECASE)
  alone = len(one.classes) == 1
  return dataclasses.replace(
    one,
    name=one.name if alone else f'{one.name} {label}',
    classes=(f'not {label}', label) if named else (),
    label=place,
  )


def of_folder(
  path: pathlib.Path, config, table, classes, name: str = ''
) -> list[AuditedModel]:
  """A Hugging Face folder, or the folder of a run of ours."""
  from fairjax.stages.classifier import load as loaded

  models = of_runs.exports(path)
  if not models and (path / 'results.json').is_file():
    return [_run(path, config, table, classes)]
  models = models or [path]
  seeds = [loaded(one) for one in models]
  made_from = _made_from(config, *models, *reader(path)[1])
  # A seed of a run is called as its run.
  of_run = path.name.startswith('seed_')
  own = names.named(str(path.absolute())) if of_run else path.name
  return classifier(seeds, config, name or own, made_from)


def reader(path: pathlib.Path) -> tuple[Callable | None, list[pathlib.Path]]:
  """Texts as the models of a folder read them, and the file that says how.

  Those of a blind run read blind texts, and so does each that it exported,
  wherever it was copied to.
  """
  from fairjax.methods import ON_TEST_SETS, chain
  from fairjax.stages.fits import BLIND

  path = path.absolute()
  run = path.parent.parent
  file = (*of_runs.exports(path), path)[0] / BLIND
  if not file.is_file():  # of a run, or exported before there was this file
    of_run = path in of_runs.exports(run)
    file = (run if of_run else path) / 'config.json'
  tree = artefacts.read_json(file) if file.is_file() else {}
  method = tree.get('method') if isinstance(tree, dict) else None
  name = method.get('name', 'none') if isinstance(method, dict) else 'none'
  if not {*ON_TEST_SETS} & {*chain(name)}:
    return None, []
  config = knobs.of_tree(Config, tree, file)
  return functools.partial(_as_read, config), [file]


def _as_read(config: Config, texts: Sequence[str]) -> list[str]:
  from fairjax import stages

  frame = pd.DataFrame({'text': list(texts)})
  return stages.as_read(config, {'texts': frame})['texts']['text'].tolist()


def _made_from(config: Config, *paths: pathlib.Path) -> Callable[[], str]:
  """Of answers: the bytes of what the model lies in, and how it is read."""

  def known() -> str:
    from fairjax.train import decisions

    how = decisions.reading(config)
    files = [artefacts.content(path) for path in paths]
    return artefacts.fingerprint(files, how.precision, list(how.thresholds))

  return known


def _run(path: pathlib.Path, config, table, classes) -> AuditedModel:
  """A run without exported models: its fit, or else what it predicted."""
  found = artefacts.read_json(path / 'results.json')
  recipe = found.get('recipe') if isinstance(found, dict) else found
  fits = sorted(path.glob('training/*/weights.safetensors'))
  row = ignored_knobs.row(recipe) if isinstance(recipe, str) else None
  if row and row.remade and len(fits) == 1:
    return _fitted(path, fits[0])
  file = path / 'predictions.parquet'
  if file.is_file():
    frame = artefacts.read_table(file)
    frame.attrs['source'] = str(file)
    (one,) = answers.of_table(frame, table, (), ())
    one = one._replace(name=path.name)
    return edited.models(config, [one], classes, ())[0]
  raise UserError(
    f'{path} is a run of recipe {recipe!r} without one model or predictions '
    'to audit; train with --config.train.export and name a folder of export/'
  )


def made_again(path: pathlib.Path, weights: pathlib.Path) -> tuple:
  """The model of a run of recipe train from its config, weights and tables."""
  from fairjax import stages
  from fairjax.data import load_tables
  from fairjax.stages.fits import WORDS
  from fairjax.train import checkpoint, mesh
  from fairjax.train.progress import Log

  if not artefacts.whole(weights.parent):
    raise UserError(
      f'{weights} is not as the run wrote it, or its seal '
      f'({artefacts.seal_path(weights.parent).name}) is gone; run the command '
      'of the run again, which makes it anew'
    )
  file = path / 'config.json'
  config = knobs.of_tree(Config, artefacts.read_json(file), file)
  tables = load_tables(config)[0]
  tables = stages.mitigate(config, tables, Log(path, main=False))
  if (words := weights.parent / WORDS).is_file():
    config.tokens.tokenizer = str(words)  # tables may have changed since
  ready = stages.prepare(config, tables, Log(path, main=False))
  params = mesh.put_state(ready.device_mesh, checkpoint.read_weights(weights))
  return config, tables, ready, params


def _fitted(path: pathlib.Path, weights: pathlib.Path) -> AuditedModel:
  """The predictions of any text by a run of recipe train."""
  from fairjax import stages

  config, tables, ready, params = made_again(path, weights)

  def predict(texts: Sequence[str]) -> np.ndarray:
    frame = pd.DataFrame({'text': list(texts), 'label': 0})
    return stages.of_sets(config, ready, params, {'texts': frame})['texts']

  return AuditedModel(
    *(path.name, None, predict, labels.class_names(tables)),
    kind='run',
    made_from=_made_from(config, path / 'config.json', weights),
  )


def planted(config: Config) -> AuditedModel:
  """A bag of words on the planted training rows: it has learnt their bias."""
  from fairjax.data.sets import planted as data
  from fairjax.stages import bag_of_words

  train = data.load(config)['train']
  model = bag_of_words.fitted(train['text'], train['label'])
  predict = lambda texts: model.predict_proba(texts)[None]
  return AuditedModel('planted', None, predict, data.CLASSES, kind='function')
