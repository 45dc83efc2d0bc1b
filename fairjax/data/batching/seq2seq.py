"""Packed batches of source and target, for models that rewrite.

A pair is packed like one text as long as the longer of its two: source and
target begin at the same place of their rows, so the plans of
batching/batches.py serve both. A decoder-only model reads source, separator and
target as one text and is asked for the target's tokens alone. Either way the
labels are `target` [r, u], asked where `target_segment_ids` is not 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.core import alignment
from fairjax.core.errors import UserError
from fairjax.data.batching import batches
from fairjax.data.batching.batches import Layout, Plan, Pool
from fairjax.data.batching.tokens import Ragged, offsets_of, ragged
from fairjax.data.tables import readers

ASKED, CHANGED = 1, 2  # bits of a flag


class PairPool(NamedTuple):
  """All pairs that can be trained on or judged."""

  read: Ragged  # the source; of a decoder-only model source and target
  labels: Ragged  # the target; of a decoder-only model the token after each
  flags: np.ndarray  # int32, beside labels.flat: ASKED | CHANGED
  label: np.ndarray  # int32 [n]: a number of each pair, for further losses

  @property
  def plain(self) -> Pool:
    """The pairs as texts of the lengths that are packed."""
    lengths = np.maximum(self.read.lengths, self.labels.lengths)
    packed = Ragged(np.zeros(0, np.int32), offsets_of(lengths))  # never read
    weight = np.ones(len(lengths), np.float32)
    return Pool(packed, self.label, weight)


def changed(old: Sequence[int], new: Sequence[int]) -> np.ndarray:
  """Which tokens of `new` are not copied from `old`: bool [len(new)]."""
  out = np.ones(len(new), bool)
  for _, begin, size in alignment.blocks(old, new):  # as difflib matches
    out[begin : begin + size] = False
  return out


def pool(
  source: Ragged,
  target: Ragged,
  original: Ragged | None = None,
  label: np.ndarray | None = None,
  separator: int | None = None,
) -> PairPool:
  """Pairs; with a `separator` for a model that reads both as one text.

  Changed tokens are those of the target that are not copied from `original`
  (the source, where nothing else is given).
  """
  sources, targets = source.split(), target.split()
  originals = sources if original is None else original.split()
  masks = [changed(a.tolist(), b.tolist()) for a, b in zip(originals, targets)]
  flags = [ASKED + CHANGED * mask for mask in masks]
  if label is None:
    label = np.zeros(len(sources))
  if separator is None:
    read, labels = source, target
  else:
    middle = np.array([separator], np.int32)
    joined = [np.concatenate([a, middle, b]) for a, b in zip(sources, targets)]
    read = ragged(joined)
    # The label of a place is the token after it; the last place has none.
    labels = ragged([np.append(row[1:], row[-1:]) for row in joined])
    flags = [
      np.concatenate([np.zeros(len(a), int), flag, [0]])
      for a, flag in zip(sources, flags)
    ]
  flat = np.concatenate([np.zeros(0, np.int32), *flags]).astype(np.int32)
  return PairPool(read, labels, flat, np.asarray(label, np.int32))


def layout(pairs: PairPool, batch: int, **options: int) -> Layout:
  return batches.layout(pairs.plain.tokens.lengths, batch, **options)


def fill(pairs: PairPool, plan: Plan, layout: Layout, step: int) -> dict:
  """The arrays of one planned batch."""
  plain = pairs.plain
  place = lambda texts: batches.batch_of(
    plain._replace(tokens=texts), plan, layout, step
  )
  read, labels = place(pairs.read), place(pairs.labels)
  flags = place(Ragged(pairs.flags, pairs.labels.offsets))['tokens']
  owner = np.where(flags > 0, labels['segment_ids'], 0)
  lead, seeded = owner.shape[:-2], plan.example.ndim > 2

  def share(counted: np.ndarray) -> np.ndarray:
    """1 / how many the step has, of each seed."""
    total = np.maximum(counted.sum(tuple(range(seeded, counted.ndim))), 1)
    one = (1 / total).reshape(total.shape + (1,) * (len(lead) - total.ndim))
    return np.broadcast_to(one, lead).astype(np.float32)

  names = ('tokens', 'segment_ids', 'positions', 'example', 'label')
  return {name: read[name] for name in names} | {
    'target': labels['tokens'],
    'target_segment_ids': owner,
    'target_positions': labels['positions'],
    'changed': (flags >= ASKED + CHANGED).astype(np.int32),
    'share': share(owner > 0),
    'pair_share': share(read['example'] >= 0),
  }


def training(
  pairs: PairPool,
  seeds: Sequence[int],
  batch: int,
  accumulate: int = 1,
  multiple: int = 1,
  few: int = batches.FEW,
) -> batches.Batches:
  """The batches of every step, for all seeds."""
  n = len(pairs.label)
  if not n:
    raise UserError('there are no pairs to train on; give some in the table')
  shapes = layout(
    pairs,
    batch,
    rows_multiple=multiple,
    accumulate=accumulate,
    seeds=len(seeds),
    few=few,
  )
  every = np.broadcast_to(np.arange(n, dtype=np.int32), (len(seeds), n))
  return batches.packed(
    pairs.plain,
    every,
    seeds,
    shapes,
    accumulate,
    fill=lambda plan, at, _: fill(pairs, plan, shapes, at),
  )


def sweep(pairs: PairPool, batch: int, multiple: int = 1):
  """Each pair once, without a seed axis: batches for judging."""
  shapes = layout(pairs, batch, rows_multiple=multiple)
  rows = np.arange(len(pairs.label), dtype=np.int32)
  plan = batches.sweep(pairs.plain, rows, shapes).plan
  for step in range(len(plan.rows)):
    yield fill(pairs, plan, shapes, step)


COLUMNS = ('source', 'target', 'split')


def check(table: pd.DataFrame) -> pd.DataFrame:
  """The pairs, if the table has what training needs; else one sentence."""
  remedy = 'source, target and split (train, valid or test) are needed'
  readers.need(table, 'the table of pairs', COLUMNS, remedy)
  for split in ('train', 'valid'):
    if not (table['split'] == split).any():
      raise UserError(f'the pairs have no row of split {split!r}; give it some')
  for column in ('source', 'target'):
    text = table[column]
    blank = ~text.map(lambda t: isinstance(t, str) and bool(t.strip()))
    if blank.any():
      row = table.index[blank.to_numpy().argmax()]
      raise UserError(
        f'row {row} of the pairs has no {column}; give it a text or drop it'
      )
  return table
