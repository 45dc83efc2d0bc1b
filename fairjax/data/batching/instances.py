"""Word occurrences: their contextual embeddings as a table, and batches.

An instance is one occurrence of a word in a text, with the embedding that an
encoder gave it there. Instances lie in a parquet file whose column `vector`
is a list of fixed length, float16 or float32; memory holds one row group more
than what is kept.
"""

import functools
import pathlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairjax.core import artefacts
from fairjax.core.errors import UserError, brief
from fairjax.data.batching import batches

PAIRS = 22  # stream of the pairing of instances


class Instances(NamedTuple):
  """n occurrences; `side` is -1 for the first group, +1 for the second."""

  id: np.ndarray  # str [n]: 'shard:row:first token'
  word: np.ndarray  # str [n]
  vector: np.ndarray  # float32 [n, d]
  logit: np.ndarray  # float32 [n]: above 0 for the second group
  side: np.ndarray  # int8 [n]; 0 where neither is sure

  def take(self, rows: np.ndarray) -> 'Instances':
    return Instances(*(column[rows] for column in self))


def unread(id, word, vector) -> Instances:
  """Instances of which no head has said anything yet."""
  n = len(word)
  return Instances(
    np.asarray(id, object),
    np.asarray(word, object),
    vector,
    np.zeros(n, np.float32),
    np.zeros(n, np.int8),
  )


def write(path: pathlib.Path, instances: Instances, half: bool = True) -> None:
  """One parquet file; `half` keeps vectors in float16."""
  import pyarrow as pa
  import pyarrow.parquet as pq

  vector = instances.vector.astype(np.float16 if half else np.float32)
  if not np.isfinite(vector).all():
    raise UserError(
      f'{path}: an embedding is not a finite number; the encoder overflows'
    )
  flat = pa.array(vector.reshape(-1))
  columns = {
    'id': pa.array(instances.id, pa.string()),
    'word': pa.array(instances.word, pa.string()),
    'logit': pa.array(instances.logit),
    'side': pa.array(instances.side),
    'vector': pa.FixedSizeListArray.from_arrays(flat, vector.shape[1]),
  }
  with artefacts.atomic(path) as part:
    pq.write_table(pa.table(columns), part, row_group_size=1 << 16)


def read(path: pathlib.Path) -> Instances:
  import pyarrow as pa
  import pyarrow.parquet as pq

  try:
    table = pq.read_table(path)
    vector = table['vector'].combine_chunks()
    width = vector.type.list_size
    flat = vector.flatten().to_numpy(zero_copy_only=False)
  except (OSError, pa.ArrowInvalid, KeyError, AttributeError) as error:
    raise UserError(
      f'{path} holds no instances of words: {brief(error)}'
    ) from error
  column = lambda name: table[name].to_numpy()
  return Instances(
    column('id').astype(object),
    column('word').astype(object),
    flat.astype(np.float32).reshape(-1, width),
    column('logit'),
    column('side'),
  )


def join(parts: Sequence[Instances]) -> Instances:
  return Instances(*map(np.concatenate, zip(*parts, strict=True)))


def read_all(paths: Sequence[pathlib.Path], count: int) -> Instances:
  """The `count` instances of several files, one file at a time beside them."""
  columns: list[np.ndarray] = []
  done = 0
  for path in paths:
    part = read(path)
    columns = columns or [
      np.empty((count, *one.shape[1:]), one.dtype) for one in part
    ]
    for column, own in zip(columns, part):
      column[done : done + len(own)] = own
    done += len(part.word)
  return Instances(*columns)


def _source(n, draw, fill, seeds, batch, accumulate) -> batches.Batches:
  """Batches of `fill(rows [s, b, …])`, in micro-batches."""

  def made(rows: np.ndarray, at: int, _) -> dict[str, np.ndarray]:
    arrays = fill(rows[at])
    if accumulate == 1:
      return arrays
    return {
      name: a.reshape(len(a), accumulate, -1, *a.shape[2:])
      for name, a in arrays.items()
    }

  return batches.Batches(n, draw, seeds, batch, made)


def labelled(
  vector: np.ndarray,
  label: np.ndarray,
  seeds: Sequence[int],
  batch: int,
  accumulate: int = 1,
) -> batches.Batches:
  """Every row once an epoch, with its label."""

  def fill(rows):
    return {
      'vector': vector[rows],
      'label': label[rows].astype(np.int32),
      'weight': (rows >= 0).astype(np.float32),
      'example': rows.astype(np.int32),
    }

  draw = functools.partial(batches.order, len(label))
  return _source(len(label), draw, fill, seeds, batch, accumulate)


def paired(
  vector: np.ndarray,
  side: np.ndarray,
  seeds: Sequence[int],
  batch: int,
  accumulate: int = 1,
) -> batches.Batches:
  """Pairs of one side's instances, drawn anew each epoch.

  Each side is shuffled and cut in two halves, whose rows are matched: what a
  pair has in common is the side, not the word.
  """
  own = [np.flatnonzero(side == which) for which in (-1, 1)]
  if min(map(len, own)) < 2:
    raise UserError(
      f'there are {len(own[0])} and {len(own[1])} instances of the two sides; '
      'a pair needs two of one side: lower --config.fairflow.threshold, or '
      'give more text'
    )

  def order(seed, epoch):
    pairs = []
    for which, rows in enumerate(own):
      draw = np.random.default_rng([seed, PAIRS, epoch, which])
      half = len(rows) // 2
      shuffled = rows[draw.permutation(len(rows))]
      pairs.append(np.stack([shuffled[:half], shuffled[half : 2 * half]], 1))
    pairs = np.concatenate(pairs)
    draw = np.random.default_rng([seed, PAIRS, epoch, 2])  # 0 and 1: sides
    return pairs[draw.permutation(len(pairs))]

  def fill(pairs):
    first, second = pairs[..., 0], pairs[..., 1]
    return {
      'first': vector[first],
      'second': vector[second],
      'side': np.where(first >= 0, side[first], 0).astype(np.int32),
      'example': first.astype(np.int32),
    }

  n = sum(len(rows) // 2 for rows in own)
  return _source(n, order, fill, seeds, batch, accumulate)
