"""Published data sets through tensorflow-datasets, as tables.

A builder prepares its records once (array_record); they are parsed straight
from the stored protos into columns (60 times the speed of tfds' decoding) and
kept as parquet under the cache folder, keyed by the content of the source
files. After that neither tfds nor the source is read again.

Column names, labels and groups have defaults per data set; the fields of
`config.data` override them. Splits that a data set lacks are cut from its
training rows (splits.py). GLUE's test labels are unpublished (-1), so there
`validation` is the test split, and a validation split is cut off.
"""

import contextlib
import dataclasses
import hashlib
import io
import os
import pathlib

import numpy as np
import pandas as pd
from absl import logging

from fairjax.config import Data
from fairjax.core import artefacts, cache
from fairjax.core.errors import UserError
from fairjax.data.tables import files
from fairjax.data.tables.schema import Tables

OWN = {  # builder class and defaults of config.data
  'twitter_sexism': ('TwitterSexism', {'text': 'tweet', 'label': 'Class'}),
  'wiki_toxicity': (
    'WikiToxicity',
    {'text': 'comment', 'label': 'toxicity', 'labels': '>0.5'},
  ),
  'bias_in_bios': ('BiasInBios', {'label': 'profession', 'group': 'gender'}),
  'echr': (
    'Echr',
    {
      'label': 'violation',
      'labels': 'no=0,yes=1',
      'group': 'defendant_state',
    },
  ),
  'panda': (
    'Panda',
    {
      'text': 'original',
      'label': 'target_attribute',
      'group': 'target_attribute',
    },
  ),
}
TWINS = {'twitter_sexism': 'twin', 'panda': 'perturbed'}

IDENTITIES = (
  *('male', 'female', 'transgender', 'other_gender', 'heterosexual'),
  *('homosexual_gay_or_lesbian', 'bisexual', 'other_sexual_orientation'),
  *('christian', 'jewish', 'muslim', 'hindu', 'buddhist', 'atheist'),
  *('other_religion', 'black', 'white', 'asian', 'latino'),
  *('other_race_or_ethnicity', 'physical_disability'),
  *('intellectual_or_learning_disability', 'psychiatric_or_mental_illness'),
  'other_disability',
)
_PAIRS = {
  'mrpc': ('sentence1', 'sentence2'),
  'rte': ('sentence1', 'sentence2'),
  'stsb': ('sentence1', 'sentence2'),
  'wnli': ('sentence1', 'sentence2'),
  'qqp': ('question1', 'question2'),
  'qnli': ('question', 'sentence'),
  'mnli': ('premise', 'hypothesis'),
}
BUILTIN = {
  'civil_comments/CivilCommentsIdentities': {
    'label': 'toxicity',
    'labels': '>=0.5',
    'group': 'identity',
  },
  'wikipedia_toxicity_subtypes/EnglishSubtypes': {
    'label': 'toxicity',
    'labels': '>=0.5',
  },
  'glue/cola': {'text': 'sentence'},
  'glue/sst2': {'text': 'sentence'},
  **{
    f'glue/{task}': {'text': one, 'text_pair': two}
    for task, (one, two) in _PAIRS.items()
  },
}
CLASSES = {  # names of the published numbers, where data.labels is not given
  'twitter_sexism': ('not sexist', 'sexist'),
  'glue/cola': ('unacceptable', 'acceptable'),
  'glue/sst2': ('negative', 'positive'),
  'glue/mrpc': ('not_equivalent', 'equivalent'),
  'glue/qqp': ('not_duplicate', 'duplicate'),
  'glue/mnli': ('entailment', 'neutral', 'contradiction'),
  'glue/qnli': ('entailment', 'not_entailment'),
  'glue/rte': ('entailment', 'not_entailment'),
  'glue/wnli': ('not_entailment', 'entailment'),
}
SPLITS = {  # of a built-in: ours -> tfds'
  'glue/mnli': {'train': 'train', 'test': 'validation_matched'},
  'glue': {'train': 'train', 'test': 'validation'},
  'wikipedia_toxicity_subtypes': {'train': 'train', 'test': 'test'},
  'civil_comments': {'train': 'train', 'valid': 'validation', 'test': 'test'},
}


def load(config) -> Tables:
  """Raw tables of the data set `config.data.name`, from OWN or BUILTIN."""
  data = config.data
  name = data.name
  if name in OWN:
    frames = _own(name, data.path)
    where, defaults = data.path or name, OWN[name][1]
  elif data.path:
    raise UserError(
      f'{name} is downloaded and data.path is not read; leave it out, or read '
      f'{data.path} with --config.data.name=file'
    )
  else:
    frames = _builtin(name)
    where, defaults = name, BUILTIN[name]
  for split, frame in frames.items():
    frame.attrs = {'source': f'{where} ({split})'}
  options = with_defaults(data, defaults)
  twins = {}
  if name in TWINS:
    for split, frame in frames.items():
      twin = frame[TWINS[name]].rename(options.text)
      if (twin != '').any():
        twins[split] = twin.to_frame()
        twins[split].attrs = frame.attrs
  tables = files.to_tables(frames, options, twins)
  if name in CLASSES and not data.labels and options.label == _label(defaults):
    for table in tables.values():
      table.attrs['classes'] = CLASSES[name]
  return tables


def _label(defaults: dict[str, str]) -> str:
  return defaults.get('label', Data().label)


def with_defaults(data: Data, defaults: dict[str, str]) -> Data:
  """`data` with a data set's column names where the user named none."""
  plain = Data()
  names = [field.name for field in dataclasses.fields(data)]
  values = {name: getattr(data, name) for name in names}
  for field, value in defaults.items():
    if values[field] == getattr(plain, field):
      values[field] = value
  return Data(**values)


def _own(name: str, source: str) -> dict[str, pd.DataFrame]:
  from fairjax.data.sets import tfds_builders  # imports tfds: slow

  kind = getattr(tfds_builders, OWN[name][0])
  key = f'{name}-{kind.VERSION}-{content(source)}'

  def make():
    place = cache.folder('tfds') / key
    builder = kind(source=source, data_dir=place)
    splits = {s: s for s in files.SPLIT_NAMES.values()}
    return prepared(builder, splits)

  return cached(key, make)


def _builtin(name: str) -> dict[str, pd.DataFrame]:
  from fairjax.data.sets import tfless

  tfds = tfless.datasets()
  root = cache.folder('tfds')
  builder = tfds.builder(name, data_dir=root, file_format='array_record')
  splits = SPLITS.get(name) or SPLITS[name.split('/')[0]]
  key = f'{name.replace("/", "-")}-{builder.version}'
  frames = cached(key, lambda: prepared(builder, splits))
  if name.startswith('civil_comments'):
    for frame in frames.values():
      frame['identity'] = strongest(frame)
  return frames


def strongest(frame: pd.DataFrame) -> pd.Series:
  """The identity most annotators saw, where at least half did; else ''."""
  shares = frame[list(IDENTITIES)].to_numpy()
  best = shares.argmax(axis=1)  # the first of equals
  names = np.array(IDENTITIES, object)[best]
  present = shares.max(axis=1) >= 0.5
  return pd.Series(np.where(present, names, ''), index=frame.index)


def content(source: str) -> str:
  """A hash of the file, or of all files of the folder, at `source`."""
  if not source:
    return 'published'
  path = pathlib.Path(source).expanduser()
  paths = sorted(p for p in path.rglob('*') if p.is_file())
  total = hashlib.sha256()
  for one in paths or [path]:
    if not one.is_file():
      what = 'has no files' if path.is_dir() else 'is not there'
      raise UserError(f'{source} {what}; check --config.data.path')
    with open(one, 'rb') as file:
      digest = hashlib.file_digest(file, 'sha256')
    inside = one.relative_to(path).as_posix() if paths else one.suffix
    total.update(f'{inside}\0{digest.hexdigest()}\n'.encode())
  return total.hexdigest()[:16]


def cached(key: str, make) -> dict[str, pd.DataFrame]:
  """The frames kept under `key`, made where they are missing or damaged."""

  def write(folder: pathlib.Path) -> None:
    frames = make()
    with artefacts.atomic(folder) as part:
      part.mkdir()
      for split, frame in frames.items():
        table = frame.reset_index(names='row')
        artefacts.write_table(part / f'{split}.parquet', table)

  def read(folder: pathlib.Path) -> dict[str, pd.DataFrame]:
    paths = {s: folder / f'{s}.parquet' for s in ('train', 'valid', 'test')}
    return {
      split: artefacts.read_table(path).set_index('row')
      for split, path in paths.items()
      if path.exists()
    }

  return cache.stage('columns', key, key, write, read)


def prepared(builder, splits: dict[str, str]) -> dict[str, pd.DataFrame]:
  """Downloads and writes a builder's records, and reads them as columns.

  Records have checksums of their own; damaged ones are prepared again.
  """
  _prepare(builder)
  try:
    return _read_splits(builder, splits)
  except Exception as error:  # of array_record and protobuf, of many kinds
    logging.warning('%s is damaged: %s', builder.data_path, error)
    artefacts.remove(builder.data_path)
    _prepare(builder)
    return _read_splits(builder, splits)


def _prepare(builder) -> None:
  logging.info('preparing %s, once', builder.info.full_name)
  try:
    with contextlib.redirect_stdout(io.StringIO()):  # tfds is talkative
      builder.download_and_prepare()
  except UserError:
    raise
  except Exception as error:
    cause = error
    while cause.__cause__ is not None:
      cause = cause.__cause__
    if isinstance(cause, UserError):
      raise cause from error
    raise UserError(
      f'cannot prepare {builder.info.full_name}: {type(error).__name__}: '
      f'{str(error).splitlines()[0] if str(error) else "no details"}; check '
      'the network, or read a copy of the data with --config.data.name=file'
    ) from error


def _read_splits(builder, splits: dict[str, str]) -> dict[str, pd.DataFrame]:
  there = builder.info.splits
  return {s: columns(builder, t) for s, t in splits.items() if t in there}


def columns(builder, split: str) -> pd.DataFrame:
  """All records of a split, parsed from the stored protos into columns."""
  from array_record.python import array_record_module
  from tensorflow_datasets.proto import tf_example_pb2

  parse = tf_example_pb2.Example.FromString
  values: dict[str, list] = {}
  kinds: dict[str, str] = {}  # of each feature's list; the same in all records
  for path in builder.info.splits[split].filepaths:
    reader = array_record_module.ArrayRecordReader(os.fspath(path))
    for record in reader.read_all():
      feature = parse(record).features.feature
      if not kinds:
        kinds = {k: feature[k].WhichOneof('kind') for k in sorted(feature)}
        values = {k: [] for k in kinds}
      for name, kind in kinds.items():
        values[name].append(getattr(feature[name], kind).value[0])
    reader.close()
  frame = pd.DataFrame({k: _plain(v) for k, v in values.items()})
  if 'row' in frame:
    return frame.set_index('row').sort_index()
  return frame.rename_axis('row')


def _plain(values: list) -> pd.Series:
  if values and isinstance(values[0], bytes):
    return pd.Series([v.decode('utf-8') for v in values], dtype=object)
  return pd.Series(values)
