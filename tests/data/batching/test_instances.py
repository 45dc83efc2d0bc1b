"""Instances of words: written, read, and batched as pairs."""

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.data.batching import instances


def drawn(n=21, d=4):
  draw = np.random.default_rng(0)
  vector = np.float32(draw.normal(size=(n, d)))
  id = [f'a.txt:{i}:1' for i in range(n)]
  made = instances.unread(id, list('abc' * (n // 3)), vector)
  side = np.int8(np.arange(n) % 3 - 1)
  return made._replace(side=side, logit=np.float32(side))


def test_written_is_read_again(tmp_path):
  made = drawn()
  instances.write(tmp_path / 'i.parquet', made, half=False)
  for a, b in zip(made, instances.read(tmp_path / 'i.parquet')):
    np.testing.assert_array_equal(a, b)
    assert a.dtype == b.dtype
  instances.write(tmp_path / 'h.parquet', made)
  again = instances.read(tmp_path / 'h.parquet')
  np.testing.assert_allclose(again.vector, made.vector, atol=1e-3)
  both = instances.join([made, again])
  assert len(both.word) == 42 and both.take(np.arange(3)).vector.shape == (3, 4)


def test_files_read_one_by_one_are_the_whole_in_their_order(tmp_path):
  made = drawn()
  paths = [tmp_path / f'{k}.parquet' for k in range(4)]
  for path, rows in zip(paths, ([0, 1, 2], [], [3], range(4, 21))):
    instances.write(path, made.take(np.array(rows, int)), half=False)
  for a, b in zip(made, instances.read_all(paths, 21)):
    np.testing.assert_array_equal(a, b)
    assert a.dtype == b.dtype


def test_what_is_no_table_of_instances_is_one_sentence(tmp_path):
  (tmp_path / 'x.parquet').write_text('pickle')
  with pytest.raises(UserError, match='holds no instances'):
    instances.read(tmp_path / 'x.parquet')
  bad = drawn()
  bad.vector[3, 1] = np.inf
  with pytest.raises(UserError, match='not a finite number'):
    instances.write(tmp_path / 'y.parquet', bad)


def test_pairs_share_a_side_and_are_drawn_anew_each_epoch():
  made = drawn(60)
  source = instances.paired(made.vector, made.side, [0, 3], 8)
  assert source.steps_per_epoch == 3
  epochs = []
  for epoch in range(2):
    batches = [source[3 * epoch + k] for k in range(3)]
    example = np.concatenate([b['example'][0] for b in batches])
    side = np.concatenate([b['side'][0] for b in batches])
    first = np.concatenate([b['first'][0] for b in batches])
    second = np.concatenate([b['second'][0] for b in batches])
    real = example >= 0
    assert real.sum() == 20 and (side[~real] == 0).all()
    row_of = lambda v: np.flatnonzero((made.vector == v).all(1))[0]
    rows = np.array([[row_of(a), row_of(b)] for a, b in zip(first, second)])
    assert (made.side[rows[real]] == side[real, None]).all()
    assert len(np.unique(rows[real])) == 40  # each instance once
    assert (rows[real, 0] == example[real]).all()
    epochs.append({frozenset(pair) for pair in rows[real].tolist()})
  assert len(epochs[0] & epochs[1]) < 10  # matched anew, not only reordered


def test_a_batch_is_a_function_of_seed_and_step_alone():
  made = drawn(60)
  both = instances.paired(made.vector, made.side, [0, 3], 8)
  alone = instances.paired(made.vector, made.side, [3], 8)
  late = instances.paired(made.vector, made.side, [3], 8)[7]
  for name, value in late.items():
    np.testing.assert_array_equal(value[0], both[7][name][1])
    np.testing.assert_array_equal(value, alone[7][name])


def test_micro_batches_are_the_batch_cut():
  made = drawn(60)
  label = (made.side > 0).astype(int)
  whole = instances.labelled(made.vector, label, [1], 16)
  cut = instances.labelled(made.vector, label, [1], 16, accumulate=4)
  assert cut[3]['vector'].shape == (1, 4, 4, 4)
  for name, value in whole[3].items():
    np.testing.assert_array_equal(
      value, cut[3][name].reshape(1, 16, *value.shape[2:])
    )
  assert whole[3]['weight'].sum() == 60 - 48


def test_a_side_without_two_instances_is_one_sentence():
  made = drawn()
  with pytest.raises(UserError, match='1 and 7 instances'):
    instances.paired(
      made.vector,
      np.where(np.arange(21) == 0, -1, np.maximum(made.side, 0)),
      [0],
      4,
    )
