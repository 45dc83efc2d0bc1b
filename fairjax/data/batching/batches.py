"""Packed batches, planned from lengths and filled by array operations.

A batch of b examples is packed into r rows of t places: exactly the examples
that an unpacked batch would hold, without its padding. An epoch is planned at
once: the k-th longest example of *every* batch is placed in one operation
(best fit decreasing), so that the loop runs over b positions and not over the
examples. The order of an epoch is a function of (seed, epoch) and a batch one
of its step, so the state of the data is the number of the step.

Keys of a batch (a stacked one has leading axes: seeds, then micro-batches)

  tokens, positions         int32 [r, t]: positions restart with each example
  segment_ids               int32 [r, t]: k for the k-th example of a row
                            (from 1), 0 on padding
  types                     int32 [r, t], only with text pairs
  head_columns               int32 [r, m]: columns of the first tokens in a row
  head_index                 int32 [b]: the example's flat index into [r, m]
  example                   int32 [b]: row of the pool, -1 for padding
  label, weight             int32 and float32 [b]; weight 0 for padding
  states                    float32 [b, d], only where the encoder stays
"""

import collections
import itertools
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from typing import Any, NamedTuple

import numpy as np

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged

ORDER = 3  # the random stream of the order of examples
SHAPES = 4  # row counts, hence compiled shapes, of a layout
FEW = 64  # batches an epoch that repay no second compiled shape on a CPU
SAMPLE = 1 << 14  # examples drawn to see what batches need
CHUNK = 1 << 17  # examples packed at a time: the tables stay in the cache
STEPS = 512  # lengths that steps of a few examples are tried on
LAST = 8  # what all places cost to what the last layer does at a few


class Pool(NamedTuple):
  """All that can be trained on or predicted."""

  tokens: Ragged
  label: np.ndarray  # int32 [n]
  weight: np.ndarray  # float32 [n], or [s, n]: each seed's own
  states: np.ndarray | None = None  # float32 [n, d]: what an encoder said


def of_texts(texts: Ragged) -> Pool:
  """Texts that are read and not trained on: no label, no weight."""
  label = np.zeros(len(texts.lengths), np.int32)
  return Pool(texts, label, label.astype(np.float32))


class Layout(NamedTuple):
  """The few shapes that the batches of a run have."""

  width: int  # t: places in a row
  head_columns: int  # m: examples a row may hold
  rows: tuple[int, ...]  # the allowed r, rising; the last holds any batch
  batch: int  # b: examples in a (micro-)batch


class Plan(NamedTuple):
  """Where each example of many batches goes; [steps, …, b] but for rows."""

  example: np.ndarray  # int32: row of the pool, -1 for padding
  place: np.ndarray  # int32: flat index of its first token into [r, t]
  head_index: np.ndarray  # int32: flat index into [r, m]
  rows: np.ndarray  # int64 [steps]: r


def pack(
  lengths: np.ndarray, width: int, head_columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Best fit decreasing of many batches at once.

  lengths [g, b], 0 for padding examples. Returns row, column and slot of each
  example, [g, b]; padding examples may lie anywhere. At most
  `head_columns` examples share a row.
  """
  step = max(1, CHUNK // lengths.shape[1])
  parts = [
    _pack(lengths[i : i + step], width, head_columns)
    for i in range(0, len(lengths), step)
  ]
  row, column, slot = map(np.concatenate, zip(*parts))
  return row, column, slot


def _pack(lengths, width, head_columns):
  g, b = lengths.shape
  order = np.argsort(-lengths, axis=1, kind='stable')
  size = np.uint16 if width < 1 << 16 else np.uint32  # narrow: in the cache
  falling = np.take_along_axis(lengths, order, 1).T.astype(size, order='C')
  free = np.full((g, b), width, size)
  count = np.zeros((g, b), np.int32)
  free_flat, count_flat = free.reshape(-1), count.reshape(-1)
  batch = np.arange(g)
  result = np.empty((3, b, g), np.int32)
  window = 1  # rows looked at: all that are in use anywhere, and one more
  for k, need in enumerate(falling):
    # What does not fit wraps round to a huge number: the least is the best.
    room = free[:, :window] - need[:, None]
    row = room.argmin(1)
    at = batch * b + row
    room = room[batch, row]
    slot = count_flat[at]
    result[:, k] = row, width - need - room, slot
    count_flat[at] = slot + 1
    free_flat[at] = np.where(slot + 1 == head_columns, 0, room)  # no slot left
    window = min(max(window, int(row.max()) + 2), b)  # one row may be opened
  out = np.empty((3, g, b), np.int32)
  np.put_along_axis(
    out, np.broadcast_to(order, out.shape), result.transpose(0, 2, 1), 2
  )
  return out


def plan(lengths: np.ndarray, example: np.ndarray, layout: Layout) -> Plan:
  """Packs the batches `example` [steps, …, b]; one r for all of a step."""
  flat = example.reshape(-1, layout.batch)
  need = np.where(flat >= 0, lengths[flat], 0)
  real = flat >= 0
  if need.max() > layout.width or need[real].min(initial=1) < 1:
    raise ValueError(
      f'texts of {need[real].min()} to {need.max()} ids do not fit rows of '
      f'{layout.width}; the layout was made for other texts'
    )
  row, column, slot = pack(need, layout.width, layout.head_columns)
  used = np.where(real, row + 1, 0).max(1).reshape(len(example), -1).max(1)
  shapes = np.array(layout.rows)
  place = np.where(real, row * np.int32(layout.width) + column, 0)
  head_index = np.where(real, row * np.int32(layout.head_columns) + slot, 0)
  return Plan(
    example,
    place.reshape(example.shape),
    head_index.reshape(example.shape),
    shapes[np.searchsorted(shapes, used)],  # the smallest that holds them
  )


def batch_of(pool: Pool, plan: Plan, layout: Layout, step: int) -> dict:
  """The arrays of one planned batch."""
  r, t, m, b = (
    int(plan.rows[step]),
    layout.width,
    layout.head_columns,
    layout.batch,
  )
  lead = plan.example.shape[1:-1]
  stack = math.prod(lead)
  example = plan.example[step].reshape(-1)
  real = np.flatnonzero(example >= 0)
  row = example[real]
  head_index = plan.head_index[step].reshape(-1)
  which = real // b  # the batch of the stack that an example is in
  begin = plan.place[step].reshape(-1)[real]

  # Tokens lie end to end in `flat`, texts apart in the rows: two shifts a text.
  # Values are cast to int32 before they are placed: placing casts slowly.
  offset = pool.tokens.offsets[row]
  length = pool.tokens.offsets[row + 1] - offset
  before = length.cumsum() - length
  run = np.arange(length.sum())
  source = run + (offset - before).repeat(length)
  target = run + (which * (r * t) + begin - before).repeat(length)

  def spread(values):
    out = np.zeros((*lead, r, t), np.int32)
    out.reshape(-1)[target] = values.astype(np.int32, copy=False)
    return out

  def by_example(values, dtype):
    out = np.zeros(stack * b, dtype)
    if values.ndim == 1:
      out[real] = values[row]
    else:
      out[real] = values[real * len(values) // len(example), row]  # by seed
    return out.reshape(*lead, b)

  head_columns = np.zeros(stack * r * m, np.int32)
  head_columns[which * (r * m) + head_index[real]] = begin % t
  batch = {
    'tokens': spread(pool.tokens.flat.take(source)),
    'segment_ids': spread((real % b + 1).astype(np.int32).repeat(length)),
    'positions': spread(run - before.repeat(length)),
    'head_columns': head_columns.reshape(*lead, r, m),
    'head_index': head_index.reshape(*lead, b),
    'example': example.reshape(*lead, b),
    'label': by_example(pool.label, np.int32),
    'weight': by_example(pool.weight, np.float32),
  }
  if pool.tokens.types is not None:
    batch['types'] = spread(pool.tokens.types.take(source))
  if pool.states is not None:
    states = np.zeros((stack * b, pool.states.shape[1]), np.float32)
    states[real] = pool.states[row]
    batch['states'] = states.reshape(*lead, b, -1)
  return batch


def layout(
  lengths: np.ndarray,
  batch: int,
  rows_multiple: int = 1,
  accumulate: int = 1,
  seeds: int = 1,
  epoch: int | None = None,
  few: int = FEW,
) -> Layout:
  """The shapes for texts of these lengths: a function of the lengths alone.

  Batches are drawn from the lengths and packed at several widths; the width
  that costs least is taken. A row of t places costs t·(1 + t/2048): products
  are linear in t, attention is not. The row counts are the three that waste
  least on batches so drawn (on the largest of `accumulate`·`seeds` of them,
  which share a shape), and as the last resort one row for each example. Up to
  `few` batches have one count, as compiling another takes longer than it
  saves; `epoch` is how many examples a seed trains on, all by default. Every
  count is a multiple of `rows_multiple`, the number of devices.
  """
  b = batch // accumulate
  many = (epoch or len(lengths)) >= few * batch
  ladder = _ladder if many else _single
  sample = _draw(np.maximum(lengths, 1), b)
  widths = _widths(int(sample.max()))

  def needed(width, head_columns):
    row, _, slot = pack(sample, width, head_columns)
    up = np.where(sample > 0, row + 1, 0).max(1)
    return -(-up // rows_multiple) * rows_multiple, row, slot

  def cost(width):
    _, mean = ladder(needed(width, b)[0], b, rows_multiple, 1)
    return mean * width * (1 + width / 2048)

  width = min(widths, key=cost)
  _, row, slot = needed(width, b)
  # Examples in a row: rows that would hold more than nearly all others do are
  # rare, and each place kept for a first token costs a row of the last layer.
  last = np.zeros((len(row), b + 1), np.int64)
  np.maximum.at(
    last, (np.arange(len(row))[:, None], row), np.where(sample > 0, slot + 1, 0)
  )
  head_columns = int(np.ceil(np.quantile(last[last > 0], 0.995)))
  used = needed(width, head_columns)[0]
  rows, _ = ladder(used, b, rows_multiple, accumulate * seeds)
  return Layout(width, head_columns, rows, b)


def layout_of_sweep(
  lengths: np.ndarray, batch: int, rows_multiple: int = 1
) -> Layout:
  """The one shape that serves a sweep of these texts at the least cost.

  Which texts share a batch is known here, as `sweep` deals them, so each
  width is planned and the plan's own cost taken: rows as in `layout`, and a
  place of the last layer alone for each first token that a row keeps ready.
  """
  return _of_sweep(lengths, batch, rows_multiple)[1]


def layout_of_steps(
  lengths: np.ndarray, batch: int, places: int, rows_multiple: int = 1
) -> Layout:
  """The same of steps of about so many places, of at most `batch` examples.

  Of a few examples the rows are few, and how many fit them well is tried on
  some of the lengths. Any batch fits the layout.
  """
  some = np.sort(lengths)
  if len(some) > STEPS:
    some = some[np.linspace(0, len(some) - 1, STEPS).round().astype(np.int64)]
  about = min(batch, max(1.0, places / some.mean()))
  tried = {min(batch, round(about * k)) or 1 for k in (0.8, 0.9, 1, 1.1, 1.2)}
  of = lambda b: _of_sweep(some, b, rows_multiple)
  best = min((of(b) for b in sorted(tried)), key=lambda one: one[0])[1]
  last = -(-best.batch // rows_multiple) * rows_multiple  # one row each
  return best._replace(rows=tuple(sorted({*best.rows, last})))


def _of_sweep(
  lengths: np.ndarray, batch: int, rows_multiple: int
) -> tuple[float, Layout]:
  """(what an example costs, the layout)"""
  dealt = _dealt(lengths, np.arange(len(lengths)), batch)
  every = tuple(range(rows_multiple, batch + rows_multiple, rows_multiple))
  best = []
  for width in _widths(int(lengths.max())):
    each = plan(lengths, dealt, Layout(width, batch, every, batch))
    rows = int(each.rows.max())
    most = int((each.head_index[dealt >= 0] % batch).max()) + 1
    cost = rows * (width * (1 + width / 2048) + most / LAST)
    best.append((cost, width, most, rows))
  cost, width, most, rows = min(best)
  return cost / batch, Layout(width, most, (rows,), batch)


def _widths(longest: int) -> list[int]:
  """Widths of rows that are tried: up to four times the longest text."""
  return sorted(
    {-(-int(longest * k) // 16) * 16 for k in (1, 1.25, 1.5, 2, 3, 4)}
  )


def _draw(lengths: np.ndarray, b: int) -> np.ndarray:
  """Lengths of random batches [g, b] as an epoch would have; 0 is padding."""
  lengths = np.sort(lengths)
  size = max(SAMPLE, 8 * b)
  if len(lengths) > size:  # evenly from short to long, the longest included
    lengths = lengths[
      np.linspace(0, len(lengths) - 1, size).round().astype(np.int64)
    ]
  n = len(lengths)
  if n < b:
    return np.pad(lengths, (0, b - n))[None].astype(np.int32)
  draw = np.random.default_rng([0, ORDER])  # shapes do not depend on the seed
  rounds = max(1, min(SAMPLE // n, 256 * b // n + 1))
  batches = [
    lengths[draw.permutation(n)[: n // b * b]].reshape(-1, b)
    for _ in range(rounds)
  ]
  sample = np.concatenate(batches)[: max(8, SAMPLE // b)].astype(np.int32)
  sample[0, 0] = lengths[-1]  # every width must hold it
  return sample


def _ladder(
  used: np.ndarray, b: int, multiple: int, alike: int
) -> tuple[tuple[int, ...], float]:
  """The row counts that waste least, and the mean count they lead to.

  `used` is what each drawn batch needs; the largest of `alike`
  independent ones decides, whose distribution is the power of theirs.
  """
  spare, last = _ample(used, b, multiple)
  values = np.unique(np.append(used, spare))
  if len(values) > 64:
    keep = np.linspace(0, len(values) - 1, 64).round().astype(int)
    values = values[keep]
  below = (used[:, None] <= values).mean(0) ** alike
  low, middle = np.meshgrid(np.arange(len(values)), np.arange(len(values)))
  mean = (
    values[low] * below[low]
    + values[middle] * (below[middle] - below[low])
    + values[-1] * (1 - below[middle])
  )
  mean[low > middle] = np.inf  # each pair once
  best = np.unravel_index(mean.argmin(), mean.shape)
  rows = {int(values[low[best]]), int(values[middle[best]]), spare, last}
  return tuple(sorted(rows))[-SHAPES:], float(mean[best])


def _single(
  used: np.ndarray, b: int, multiple: int, alike: int
) -> tuple[tuple[int, ...], float]:
  """One row count that nearly all batches fit, as `_ladder` gives several.

  A multiple of a 32nd of the batch: then fits of a run, whose texts differ
  little, are likely to share a compiled program. The count before it is
  rounded, which differs as little, is what widths are compared by.
  """
  ample, last = _ample(used, b, math.lcm(multiple, max(1, b // 32)))
  return tuple(sorted({ample, last})), _most(used)


def _ample(used: np.ndarray, b: int, multiple: int) -> tuple[int, int]:
  """The row counts that nearly every batch and that any batch fits."""
  up = lambda rows: math.ceil(rows / multiple) * multiple
  return min(up(_most(used)), up(b)), up(b)


def _most(used: np.ndarray) -> float:
  """Rows of nearly every batch: rare ones need more than any drawn did."""
  return float(max(used.max(), used.mean() + 4 * used.std()))


def order(n: int, seed: int, epoch: int) -> np.ndarray:
  """The order of n examples in an epoch: a function of (seed, epoch)."""
  return np.random.default_rng([seed, ORDER, epoch]).permutation(n)


class Batches:
  """Item i is the batch of step i, for all seeds: a random-access source.

  `draw(seed, epoch)` are the rows [n, …] of an epoch in their order, of which
  each step takes `size`; -1 stands for no row. `plan` is made once of an
  epoch's rows [steps, s, size, …], and `fill(planned, at, step)` makes the
  batch of its step `at` of it.
  """

  def __init__(
    self,
    n: int,
    draw: Callable[[int, int], np.ndarray],
    seeds: Sequence[int],
    size: int,
    fill: Callable[[Any, int, int], dict],
    plan: Callable[[np.ndarray], Any] = lambda rows: rows,
  ):
    self.draw, self.seeds, self.size = draw, list(seeds), size
    self.make_plan, self.fill = plan, fill
    self.steps_per_epoch = -(-n // size)
    self._plans: dict[int, Any] = {}
    self._lock = threading.Lock()

  def __len__(self) -> int:
    return sys.maxsize  # there is always another epoch

  def __getitem__(self, step: int) -> dict[str, Any]:
    epoch, at = divmod(int(step), self.steps_per_epoch)
    return self.fill(self.plan(epoch), at, int(step))

  def plan(self, epoch: int) -> Any:
    """The plan of an epoch; the last two asked for are kept."""
    with self._lock:
      if epoch not in self._plans:
        rows = np.stack([self._steps(seed, epoch) for seed in self.seeds], 1)
        made = self.make_plan(rows)
        self._plans = dict([*self._plans.items(), (epoch, made)][-2:])
      return self._plans[epoch]

  def _steps(self, seed: int, epoch: int) -> np.ndarray:
    rows = self.draw(seed, epoch)
    spare = self.steps_per_epoch * self.size - len(rows)
    widths = [(0, spare), *[(0, 0)] * (rows.ndim - 1)]
    rows = np.pad(rows, widths, constant_values=-1)
    return rows.reshape(-1, self.size, *rows.shape[1:])


def packed(
  pool: Pool,
  rows: np.ndarray,
  seeds: Sequence[int],
  layout: Layout,
  accumulate: int = 1,
  fill: Callable[[Plan, int, int], dict] | None = None,
) -> Batches:
  """Packed batches of the rows [s, n] of the pool that each seed trains on.

  The last batch of an epoch holds what is left over.
  """
  rows = np.asarray(rows, np.int32)
  if not rows.size:
    raise UserError('there are no rows to train on; the method took them all')
  lengths = pool.tokens.lengths.astype(np.int32)
  own, n = dict(zip(seeds, rows, strict=True)), rows.shape[1]

  def planned(example: np.ndarray) -> Plan:
    if accumulate > 1:
      example = example.reshape(*example.shape[:2], accumulate, layout.batch)
    return plan(lengths, np.ascontiguousarray(example), layout)

  return Batches(
    n,
    lambda seed, epoch: own[seed][order(n, seed, epoch)],
    seeds,
    layout.batch * accumulate,
    fill or (lambda made, at, _: batch_of(pool, made, layout, at)),
    planned,
  )


class Sweep:
  """Each example once, without a seed axis: a source for prediction."""

  def __init__(self, pool: Pool, plan: Plan, layout: Layout):
    self.pool, self.plan, self.layout = pool, plan, layout

  def __len__(self) -> int:
    return len(self.plan.rows)

  def __getitem__(self, step: int) -> dict[str, Any]:
    return batch_of(self.pool, self.plan, self.layout, int(step))

  def __iter__(self) -> Iterator[dict[str, Any]]:
    return (self[step] for step in range(len(self)))


def sweep(pool: Pool, rows: np.ndarray, layout: Layout) -> Sweep:
  """Deals the rows to batches like cards, from the longest to the shortest.

  All batches then hold nearly equally many tokens, so one shape serves all.
  """
  rows = np.asarray(rows, np.int32)
  lengths = pool.tokens.lengths.astype(np.int32)
  dealt = _dealt(lengths, rows, layout.batch)  # nearly equal: one shape serves
  # That shape need not be one of the layout's, only as divisible.
  unit = math.gcd(*layout.rows)
  every = tuple(range(unit, layout.rows[-1] + 1, unit))
  batches = plan(lengths, dealt, layout._replace(rows=every))
  batches = batches._replace(
    rows=np.full_like(batches.rows, batches.rows.max())
  )
  return Sweep(pool, batches, layout)


def flat_places(
  texts: Ragged, host: dict
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Where the tokens of a packed batch stand in `texts.flat`; row, column."""
  row, column = np.nonzero(host['segment_ids'])
  text = host['example'][host['segment_ids'][row, column] - 1]
  return texts.offsets[text] + host['positions'][row, column], row, column


def _dealt(lengths: np.ndarray, rows: np.ndarray, batch: int) -> np.ndarray:
  """Which of `rows` each batch [steps, batch] has; -1 where none is left."""
  steps = -(-len(rows) // batch)
  example = np.full(steps * batch, -1, np.int32)
  example[: len(rows)] = rows[np.argsort(-lengths[rows], kind='stable')]
  rounds = example.reshape(batch, steps)
  rounds[1::2] = rounds[1::2, ::-1]  # there and back again
  return np.ascontiguousarray(rounds.T)


def stream(
  batches: Any, start: int, stop: int, threads: int = 2
) -> Iterator[dict]:
  """Batches start … stop-1 in order, made ahead of need by `threads`."""
  if stop <= start:
    return
  # In blocks: passing one between threads costs as much as filling it.
  size = min(16, max(1, 1024 // batches[start]['example'].size))
  make = lambda first: [
    batches[step] for step in range(first, min(first + size, stop))
  ]
  firsts = iter(range(start, stop, size))
  pool = futures.ThreadPoolExecutor(threads)
  try:
    ahead = itertools.islice(firsts, 2 * threads)
    waiting = collections.deque(pool.submit(make, first) for first in ahead)
    while waiting:
      block = waiting.popleft().result()
      waiting += (pool.submit(make, k) for k in itertools.islice(firsts, 1))
      yield from block
  finally:  # where the reader stops early, what was begun is thrown away
    pool.shutdown(wait=False, cancel_futures=True)
