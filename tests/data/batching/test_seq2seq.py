"""Pairs as packed batches: every pair once, whole, and at its own places."""

import numpy as np
import pandas as pd
import pytest

from fairjax.core.errors import UserError
from fairjax.data.batching import seq2seq
from fairjax.data.batching.tokens import ragged


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
    ({'target': None}, "have no column 'target'"),
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
