"""Packing against a slow twin, and against the batches nobody packed."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairjax.core.errors import UserError
from fairjax.data.batching import batches
from fairjax.data.batching.batches import Layout, Pool, packed
from fairjax.data.batching.tokens import Ragged


def make_pool(lengths, types=False) -> Pool:
  """Texts of random ids; example i has label i and weight i + 1."""
  lengths = np.asarray(lengths)
  offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
  draw = np.random.default_rng(0)
  flat = draw.integers(1, 1000, offsets[-1]).astype(np.int32)
  kind = (flat % 2).astype(np.int8) if types else None
  n = len(lengths)
  return Pool(
    Ragged(flat, offsets, kind),
    np.arange(n, dtype=np.int32),
    np.arange(1, n + 1, dtype=np.float32),
  )


def every(n: int, s: int = 1) -> np.ndarray:
  return np.broadcast_to(np.arange(n, dtype=np.int32), (s, n))


def unpack(batch: dict) -> dict[int, list[int]]:
  """example -> its ids, read place by place; checks that all keys agree."""
  found = {}
  m = batch['head_columns'].shape[1]
  assert not batch['tokens'][batch['segment_ids'] == 0].any()
  for k, example in enumerate(batch['example']):
    places = np.argwhere(batch['segment_ids'] == k + 1)
    if example < 0:
      assert not len(places)
      assert batch['weight'][k] == 0 and batch['label'][k] == 0
      assert batch['head_index'][k] == 0
      continue
    assert len(set(places[:, 0])) == 1  # one row
    columns = places[:, 1]
    assert (np.diff(columns) == 1).all()  # one run
    row = places[0, 0]
    assert batch['positions'][row, columns].tolist() == list(range(len(places)))
    assert batch['head_index'][k] // m == row
    assert (
      batch['head_columns'].reshape(-1)[batch['head_index'][k]] == columns[0]
    )
    assert batch['label'][k] == example
    assert batch['weight'][k] == example + 1
    assert example not in found
    found[int(example)] = batch['tokens'][row, columns].tolist()
  assert (batch['segment_ids'] > 0).sum() == sum(map(len, found.values()))
  taken = batch['head_index'][batch['example'] >= 0]
  assert len(set(taken.tolist())) == len(taken)
  return found


def ids(pool: Pool, i: int) -> list[int]:
  offsets = pool.tokens.offsets
  return pool.tokens.flat[offsets[i] : offsets[i + 1]].tolist()


def slow_pack(lengths, width, head_columns):
  """Best fit decreasing of one batch, one example at a time."""
  free, held = [], []
  row, column, slot = ([0] * len(lengths) for _ in range(3))
  for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
    fits = [
      (free[r], r)
      for r in range(len(free))
      if free[r] >= lengths[i] and held[r] < head_columns
    ]
    r = min(fits)[1] if fits else len(free)
    if not fits:
      free.append(width)
      held.append(0)
    row[i], column[i], slot[i] = r, width - free[r], held[r]
    free[r] -= lengths[i]
    held[r] += 1
  return row, column, slot


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_pack_equals_slow_twin(data):
  width = data.draw(st.integers(1, 90))
  b, g = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
  head_columns = data.draw(st.integers(1, b))
  lengths = np.array(
    data.draw(
      st.lists(
        st.lists(st.integers(1, width), min_size=b, max_size=b),
        min_size=g,
        max_size=g,
      )
    ),
    np.int32,
  )
  packed = batches.pack(lengths, width, head_columns)
  for i in range(g):
    for got, expected in zip(
      packed, slow_pack(lengths[i], width, head_columns)
    ):
      assert got[i].tolist() == expected


def test_pack_is_the_same_in_chunks(monkeypatch):
  lengths = np.random.default_rng(0).integers(1, 40, (50, 16)).astype(np.int32)
  whole = batches.pack(lengths, 64, 4)
  monkeypatch.setattr(batches, 'CHUNK', 48)
  for a, b in zip(whole, batches.pack(lengths, 64, 4)):
    np.testing.assert_array_equal(a, b)


def test_pack_of_rows_wider_than_16_bits():
  lengths = np.array([[60000, 40000, 30000, 9000]], np.int32)
  row, column, _ = batches.pack(lengths, 70000, 4)
  assert row.tolist() == [[0, 1, 1, 0]]
  assert column.tolist() == [[0, 0, 40000, 60000]]


@settings(max_examples=40, deadline=None)
@given(
  lengths=st.lists(st.integers(1, 70), min_size=1, max_size=60),
  b=st.sampled_from([1, 2, 8, 24]),
  accumulate=st.sampled_from([1, 2]),
  multiple=st.sampled_from([1, 3]),
  s=st.sampled_from([1, 3]),
  types=st.booleans(),
)
def test_batches_hold_what_unpacked_ones_would(
  lengths, b, accumulate, multiple, s, types
):
  pool, n, size = make_pool(lengths, types), len(lengths), b * accumulate
  seeds = [5 + k for k in range(s)]
  layout = batches.layout(pool.tokens.lengths, size, multiple, accumulate, s)
  source = packed(pool, every(n, s), seeds, layout, accumulate)
  assert layout.batch == b and layout.width >= max(lengths)
  assert len(layout.rows) <= 4 and list(layout.rows) == sorted(layout.rows)
  assert all(r % multiple == 0 for r in layout.rows)
  for step in range(2 * source.steps_per_epoch):
    epoch, at = divmod(step, source.steps_per_epoch)
    batch = source[step]
    assert ('types' in batch) == types
    lead = (s,) if accumulate == 1 else (s, accumulate)
    r = batch['tokens'].shape[-2]
    assert r in layout.rows
    for name, shape in {
      **dict.fromkeys(
        ('tokens', 'segment_ids', 'positions'), (r, layout.width)
      ),
      'head_columns': (r, layout.head_columns),
      **dict.fromkeys(('head_index', 'example', 'label', 'weight'), (b,)),
    }.items():
      assert batch[name].shape == (*lead, *shape)
      assert batch[name].dtype == (np.float32 if name == 'weight' else np.int32)
    for k, seed in enumerate(seeds):
      order = batches.order(n, seed, epoch)[at * size : (at + 1) * size]
      micros = [{key: value[k] for key, value in batch.items()}]
      if accumulate > 1:
        micros = [
          {key: value[k, j] for key, value in batch.items()}
          for j in range(accumulate)
        ]
      seen = [e for m in micros for e in m['example'].tolist() if e >= 0]
      assert seen == order.tolist()  # the unpacked batch, in its order
      for micro in micros:
        for example, own in unpack(micro).items():
          assert own == ids(pool, example)
        if types:
          assert (micro['types'] == micro['tokens'] % 2).all()


def test_few_batches_are_of_one_shape():
  lengths = np.random.default_rng(4).integers(2, 60, 200)
  layout = batches.layout(lengths, 16, seeds=2)
  source = packed(make_pool(lengths), every(200, 2), [0, 1], layout)
  rows = np.concatenate([source.plan(epoch).rows for epoch in range(4)])
  assert len(set(rows.tolist())) == 1
  many = np.tile(lengths, 6)
  assert len(batches.layout(many, 16, seeds=2).rows) > 2
  few = batches.layout(many, 16, seeds=2, epoch=200)  # of those in the pool
  assert len(few.rows) == 2
  assert len(batches.layout(many, 16, seeds=2, few=76).rows) == 2
  assert len(batches.layout(many, 16, seeds=2, few=75).rows) > 2


def test_fits_of_like_texts_share_a_shape():
  draw = np.random.default_rng(8)
  texts = [draw.integers(6, 38, n) for n in (2400, 3000, 3600)]
  shapes = {batches.layout(lengths, 64, seeds=5).rows for lengths in texts}
  assert len(shapes) == 1


def test_a_seed_is_the_same_alone_and_in_a_stack():
  lengths = np.random.default_rng(3).integers(2, 40, 100)
  pool = make_pool(lengths)
  stacked = batches.layout(lengths, 16, seeds=3)
  single = batches.layout(lengths, 16)
  assert stacked[:2] == single[:2]  # only the padding rows may differ
  together = packed(pool, every(100, 3), [7, 8, 9], stacked)
  alone = packed(pool, every(100), [8], single)
  for i in range(10):
    a, b = together[i], alone[i]
    r = min(a['tokens'].shape[1], b['tokens'].shape[1])
    for name in ('tokens', 'segment_ids', 'positions', 'head_columns'):
      np.testing.assert_array_equal(a[name][1, :r], b[name][0, :r])
      assert not a[name][1, r:].any() and not b[name][0, r:].any()
    for name in ('head_index', 'example', 'label', 'weight'):
      np.testing.assert_array_equal(a[name][1], b[name][0])


def test_seeds_of_a_stack_have_labels_of_their_own():
  pool = make_pool(np.full(40, 5))
  pool = pool._replace(label=np.arange(120, dtype=np.int32).reshape(3, 40))
  layout = batches.layout(pool.tokens.lengths, 16, seeds=3)
  batch = packed(pool, every(40, 3), [7, 8, 9], layout)[0]
  expected = batch['example'] + np.array([[0], [40], [80]])
  real = batch['example'] >= 0
  np.testing.assert_array_equal(batch['label'][real], expected[real])


@pytest.mark.parametrize('threads', [1, 3])
def test_stream_is_the_batches_in_order(threads):
  lengths = np.random.default_rng(4).integers(2, 40, 90)
  pool, layout = make_pool(lengths), batches.layout(lengths, 16)
  source = packed(pool, every(90), [0], layout)
  got = list(batches.stream(source, 3, 41, threads))
  assert len(got) == 38
  for batch, step in zip(got, itertools.count(3)):
    for name, value in source[step].items():
      np.testing.assert_array_equal(batch[name], value)
  assert list(batches.stream(source, 5, 5)) == []


@settings(max_examples=25, deadline=None)
@given(
  st.lists(st.integers(1, 70), min_size=1, max_size=80),
  st.sampled_from([1, 8, 32]),
  st.sampled_from([1, 4]),
)
def test_a_sweep_holds_each_example_once(lengths, b, multiple):
  pool = make_pool(lengths)
  layout = batches.layout(np.array(lengths), b, multiple)
  rows = np.arange(len(lengths))[::-1]
  source = batches.sweep(pool, rows, layout)
  found = {}
  for i in range(len(source)):
    assert source[i]['tokens'].shape == source[0]['tokens'].shape
    assert source[i]['tokens'].shape[0] % multiple == 0
    found |= unpack(source[i])
  assert found == {i: ids(pool, i) for i in rows.tolist()}
  assert len(source) == -(-len(lengths) // b)


def test_rows_drawn_twice_are_two_examples():
  pool = make_pool([30, 2, 2, 30])
  layout = batches.layout(pool.tokens.lengths, 4)
  batch = packed(pool, np.zeros((1, 4), int), [0], layout)[0]
  assert batch['example'][0].tolist() == [0, 0, 0, 0]
  for k in range(4):  # the last of the row counts holds even the worst batch
    own = batch['tokens'][0][batch['segment_ids'][0] == k + 1]
    assert own.tolist() == ids(pool, 0)


def test_texts_that_do_not_fit_and_no_rows_are_refused():
  pool = make_pool([5, 40])
  with pytest.raises(ValueError, match='do not fit'):
    packed(pool, every(2), [0], Layout(16, 2, (1, 2), 2))[0]
  with pytest.raises(ValueError, match='do not fit'):
    packed(make_pool([0, 4]), every(2), [0], Layout(16, 2, (1, 2), 2))[0]
  with pytest.raises(UserError, match='no rows'):
    packed(pool, np.zeros((1, 0), int), [0], Layout(48, 2, (1, 2), 2))


@settings(max_examples=40, deadline=None)
@given(
  lengths=st.lists(st.integers(1, 70), min_size=1, max_size=60),
  b=st.sampled_from([1, 2, 8, 24]),
  multiple=st.sampled_from([1, 3]),
)
def test_the_layout_of_a_sweep_fits_it_and_wastes_no_more(lengths, b, multiple):
  """A seat for each text, one shape, never more places than `layout` takes."""
  pool, n = make_pool(lengths), len(lengths)
  layout = batches.layout_of_sweep(pool.tokens.lengths, b, multiple)
  swept = batches.sweep(pool, np.arange(n), layout)
  plan = swept.plan
  assert set(plan.rows.tolist()) == set(layout.rows)
  assert layout.rows[0] % multiple == 0
  example = plan.example[plan.example >= 0]
  assert sorted(example.tolist()) == list(range(n))
  slots = plan.head_index[plan.example >= 0]
  assert slots.max() < layout.rows[0] * layout.head_columns
  other = batches.layout(pool.tokens.lengths, b, multiple)
  rows = batches.sweep(pool, np.arange(n), other).plan.rows
  cost = lambda rows, at: (
    rows * (at.width * (1 + at.width / 2048) + at.head_columns / batches.LAST)
  )
  # A row may hold fewer in `layout`, which serves batches not yet drawn.
  few = batches.LAST * multiple
  assert cost(layout.rows[0], layout) <= cost(rows[0], other) + few
