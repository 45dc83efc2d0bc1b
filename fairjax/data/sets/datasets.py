"""Published data sets, the user's copies and tensorflow-datasets', as tables.

The user's copies are read by own_sets.py. A builder of tfds prepares its
records once (array_record); they are parsed straight from the stored protos (60
times the speed of tfds' decoding). Either way the columns are kept as parquet
under the cache folder, keyed by the content of the source files; after that
neither tfds nor the source is read again.

Column names, labels and groups have defaults per data set; the fields of
`config.data` override them. Splits that a data set lacks are cut from its
training rows (splits.py).
"""

import contextlib
import dataclasses
import hashlib
import io
import os
import pathlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from absl import logging

from fairjax.config import Data
from fairjax.core import artefacts, cache
from fairjax.core.errors import UserError
from fairjax.data.sets import own_sets
from fairjax.data.tables import files
from fairjax.data.tables.schema import Tables
from fairjax.data.word_tables import table_rows

VERSION = 2  # of the columns of own_sets.py, as they are kept

IDENTITIES = [row[0] for row in table_rows(__file__, 'identity/annotated.csv')]


class PublishedSet(NamedTuple):
  """What is known of a data set beside its rows."""

  columns: Mapping[str, str]  # defaults of config.data
  twin: str  # the column of counterfactual texts
  classes: tuple[str, ...]  # of numbers, where data.labels is not given
  # Of tfds' sets ours -> theirs; the others are read by own_sets.py.
  splits: Mapping[str, str]


def _known(row: list[str]) -> PublishedSet:
  each = lambda cell: tuple(filter(None, cell.split('|')))
  *columns, twin, classes, splits = row
  fields = dict(zip(('text', 'text_pair', 'label', 'labels', 'group'), columns))
  return PublishedSet(
    {field: column for field, column in fields.items() if column},
    *(twin, each(classes)),
    dict(split.split('=') for split in each(splits)),
  )


SETS = {
  name: _known(row) for name, _, *row in table_rows(__file__, 'published.csv')
}


def load(config) -> Tables:
  """Raw tables of the data set `config.data.name`, from OWN or BUILTIN."""
  data = config.data
  name, one = data.name, SETS[data.name]
  if not one.splits:
    key = f'{name}-{VERSION}-{content(data.path)}'
    frames = cached(key, lambda: getattr(own_sets, name)(data.path))
  elif data.path:
    raise UserError(
      f'{name} is downloaded and data.path is not read; leave it out, or read '
      f'{data.path} with --config.data.name=file'
    )
  else:
    frames = _builtin(name, one.splits)
  for split, frame in frames.items():
    frame.attrs = {'source': f'{data.path or name} ({split})'}
  options = with_defaults(data, one.columns)
  twins = {}
  for split, frame in frames.items() if one.twin else ():
    twin = frame[one.twin].rename(options.text)
    if (twin != '').any():
      twins[split] = twin.to_frame()
      twins[split].attrs = frame.attrs
  tables = files.to_tables(frames, options, twins)
  usual = one.columns.get('label', Data().label)
  if one.classes and not data.labels and options.label == usual:
    for table in tables.values():
      table.attrs['classes'] = one.classes
  return tables


def with_defaults(data: Data, defaults: Mapping[str, str]) -> Data:
  """`data` with a data set's column names where the user named none."""
  plain = Data()
  names = [field.name for field in dataclasses.fields(data)]
  values = {name: getattr(data, name) for name in names}
  for field, value in defaults.items():
    if values[field] == getattr(plain, field):
      values[field] = value
  return Data(**values)


def _builtin(name: str, splits: Mapping[str, str]) -> dict[str, pd.DataFrame]:
  from fairjax.data.sets import tfless

  tfds = tfless.datasets()
  root = cache.folder('tfds')
  builder = tfds.builder(name, data_dir=root, file_format='array_record')
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


def prepared(builder, splits: Mapping[str, str]) -> dict[str, pd.DataFrame]:
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
  except Exception as error:
    raise UserError(
      f'cannot prepare {builder.info.full_name}: {type(error).__name__}: '
      f'{str(error).splitlines()[0] if str(error) else "no details"}; check '
      'the network, or read a copy of the data with --config.data.name=file'
    ) from error


def _read_splits(builder, splits: Mapping[str, str]) -> dict[str, pd.DataFrame]:
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
