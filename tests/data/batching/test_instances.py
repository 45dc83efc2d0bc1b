"""Pairs of texts in batches, and instances of two sides."""

import numpy as np
import pandas as pd
import pytest

from fairjax.core.errors import UserError
from fairjax.data.batching import instances, seq2seq
from fairjax.data.batching.tokens import ragged


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


def some_pairs(n=23, seed=0):
  draw = np.random.default_rng(seed)
  side = lambda: [
    draw.integers(5, 40, draw.integers(2, 12)).tolist() for _ in range(n)
  ]
  return side(), side()


def read_back(batch):
  """{example: (source, target)} of one batch without leading axes."""
  out = {}
  for k, example in enumerate(batch['example']):
    if example >= 0:
      pick = lambda name, owner, k=k: batch[name][batch[owner] == k + 1]
      out[int(example)] = (
        pick('tokens', 'segment_ids').tolist(),
        pick('target', 'target_segment_ids').tolist(),
      )
  return out


def test_every_pair_of_an_epoch_comes_once_and_whole():
  sources, targets = some_pairs()
  pairs = seq2seq.pool(ragged(sources), ragged(targets))
  made = seq2seq.training(pairs, [0, 1], 8, accumulate=2)
  for s in range(2):
    back = {}
    for step in range(made.steps_per_epoch):
      batch = made[step]
      asked = (batch['target_segment_ids'][s] > 0).sum()
      np.testing.assert_allclose(batch['share'][s], 1 / asked, rtol=1e-6)
      for k in range(2):
        one = {name: value[s, k] for name, value in batch.items()}
        rows, columns = np.nonzero(one['target_positions'])
        before = one['target_segment_ids'][rows, columns - 1]
        assert (before == one['target_segment_ids'][rows, columns]).all()
        back |= read_back(one)
    assert back == dict(enumerate(zip(sources, targets)))


def test_a_decoder_only_model_is_asked_for_the_target_alone():
  sources, targets = some_pairs()
  pairs = seq2seq.pool(ragged(sources), ragged(targets), separator=3)
  back = {}
  for batch in seq2seq.sweep(pairs, 8):
    back |= read_back(batch)
  joined = [[*a, 3, *b] for a, b in zip(sources, targets)]
  assert back == dict(enumerate(zip(joined, targets)))


def test_changed_tokens_are_those_that_were_not_copied():
  assert seq2seq.changed([1, 2, 3, 4], [1, 9, 3, 4, 5]).tolist() == [
    *(False, True, False, False, True)
  ]
  source, target, text = [[7, 8, 1, 2, 3]], [[1, 9, 3]], [[1, 2, 3]]
  pairs = seq2seq.pool(ragged(source), ragged(target), ragged(text))
  batch = next(seq2seq.sweep(pairs, 1))
  real = batch['target_segment_ids'] > 0
  assert batch['changed'][real].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
  ('change', 'sentence'),
  [
    ({'target': None}, "pairs has no column 'target'"),
    ({'split': 'train'}, 'no row of split'),
    ({'source': ' '}, 'row 0 of the pairs has no source'),
  ],
)
def test_pairs_that_cannot_be_trained_on_are_one_sentence(change, sentence):
  table = pd.DataFrame(
    {'source': ['a', 'b'], 'target': ['b', 'a'], 'split': ['train', 'valid']}
  )
  for name, value in change.items():
    table = table.drop(columns=name) if value is None else table
    table = table if value is None else table.assign(**{name: value})
  with pytest.raises(UserError, match=sentence):
    seq2seq.check(table)
