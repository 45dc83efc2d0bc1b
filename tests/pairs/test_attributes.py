"""Samples of occurrences, sides of words, and seed pairs grown from one."""

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, tokens
from fairjax.pairs import attributes, flow_words

TEXTS = ["The duchess wasn't there; a king, unbelievably, sang.", '', 'King!']


@pytest.fixture(scope='module')
def tokenizer():
  return tokens.train_tokenizer(TEXTS + ['king sang there a the'] * 9, 60)


def words_of(tokenizer, texts):
  ids = tokens.encode(tokenizer, texts, None)
  known = corruption.vocabulary(tokenizer)
  found = attributes.spans(ids, known.begins, known.special)
  return ids, found


def test_whole_words_are_the_words_of_the_pre_tokenizer(tokenizer):
  ids, found = words_of(tokenizer, TEXTS)
  names, which = attributes.spelled(tokenizer, ids, found)
  expected = []
  for i, text in enumerate(TEXTS):
    encoding = tokenizer.encode(text)
    for number in sorted(set(encoding.word_ids) - {None}):
      places = [k for k, w in enumerate(encoding.word_ids) if w == number]
      pieces = [encoding.tokens[k].removeprefix('##') for k in places]
      expected.append((i, places[0], len(places), ''.join(pieces)))
  got = zip(found.text, found.start, found.size, names[which])
  assert list(got) == expected
  assert max(found.size) > 1
  assert attributes.is_word('mother-in-law') and not attributes.is_word('1st')
  assert not attributes.is_word('a') and not attributes.is_word('…!')


def test_a_sample_is_the_least_of_each_word():
  draw = np.random.default_rng(0)
  word, priority = draw.integers(0, 9, 500), draw.permutation(500)
  kept = attributes.least(word, priority, 7)
  expected = [
    row
    for w in range(9)
    for row in sorted(np.flatnonzero(word == w), key=lambda r: priority[r])[:7]
  ]
  assert list(kept) == sorted(expected)


def test_samples_of_shards_merge_to_the_sample_of_the_whole():
  draw = np.random.default_rng(1)
  word = draw.integers(0, 5, 400)
  rank = attributes.priority(3, 'a.txt', np.arange(400), np.int64(2))
  whole = attributes.least(word, rank, 10)
  parts = [np.arange(k, 400, 4) for k in range(4)]  # any cut
  some = np.concatenate(
    [rows[attributes.least(word[rows], rank[rows], 10)] for rows in parts]
  )
  merged = some[attributes.least(word[some], rank[some], 10)]
  assert set(merged) == set(whole)


def test_a_priority_is_uniform_and_of_seed_shard_row_and_place():
  of = lambda *a: attributes.priority(*a)
  rows = np.arange(4000)
  share = of(0, 'a', rows, rows % 7) / 2.0**64
  assert abs(share.mean() - 0.5) < 0.02 and len(set(share)) == 4000
  base = of(0, 'a', 5, 1)
  assert base == of(0, 'a', 5, 1)
  assert len({base, of(1, 'a', 5, 1), of(0, 'b', 5, 1), of(0, 'a', 6, 1)}) == 4
  assert base != of(0, 'a', 5, 2)


def test_a_word_shows_the_side_of_most_of_its_occurrences():
  word = np.array(['b', 'a', 'a', 'b', 'c', 'b'], object)
  logit = np.float32([5, -4, -5, 4, 9, 0])
  table = attributes.word_table(
    word, logit, attributes.signs(logit, 3), {'a': 40, 'b': 3}, share=0.6
  )
  assert table['word'].tolist() == ['a', 'b', 'c']
  assert table['side'].tolist() == [-1, 1, 1]
  assert table['count'].tolist() == [40, 3, 0]
  np.testing.assert_allclose(table['second'], [0, 2 / 3, 1])


def test_a_text_is_held_out_whole():
  id = np.array([f'a.txt:{row}:{k}' for row in range(400) for k in (1, 9)])
  out = attributes.held_out(id, 0, 0.25)
  assert (out[::2] == out[1::2]).all()
  assert abs(out.mean() - 0.25) < 0.08
  assert (out != attributes.held_out(id, 1, 0.25)).any()


@pytest.mark.parametrize(
  ('first', 'second', 'says'),
  [
    ('', 'he', 'fairflow.first is empty'),
    ('she', ' , ', 'fairflow.second is empty'),
    ('she, her', 'he,HER', "'her' is on both sides"),
  ],
)
def test_seed_words_are_checked(first, second, says):
  with pytest.raises(UserError, match=says):
    attributes.seed_words(first, second)


def test_seed_words_that_are_rare_are_told_with_counts():
  seeds = (['she'], ['he', 'hee'])
  attributes.check_seeds(seeds, {'she': 20, 'he': 20})
  with pytest.raises(UserError, match=r"'he' 7, 'hee' 0; 20 are needed"):
    attributes.check_seeds(seeds, {'she': 99, 'he': 7})


PAIRS, ALONE, WIDTH = 8, 6, 16


def planted(noise=0.05):
  """Means of pairs (2k, 2k + 1) one offset apart, then words by themselves."""
  draw = np.random.default_rng(0)
  offset = np.eye(WIDTH)[0]
  roles = 3 * draw.normal(size=(PAIRS, WIDTH))
  pairs = np.stack([roles - offset / 2, roles + offset / 2], 1)
  mean = np.concatenate(
    [pairs.reshape(-1, WIDTH), 3 * draw.normal(size=(ALONE, WIDTH))]
  )
  return mean + noise * draw.normal(size=mean.shape)


def test_pairs_one_offset_apart_are_grown_from_the_first():
  pairs = attributes.grow(planted(), ([0], [1]), rounds=4)
  assert set(pairs) == {(2 * k, 2 * k + 1) for k in range(1, PAIRS)}
  assert attributes.grow(planted(), ([0], [1]), rounds=0) == []


def test_words_that_show_both_sides_are_left_out():
  """Three words in a row: the middle is one's second and another's first."""
  line = np.array([[-9.0, 9], [-8, 9], [0, 0], [1, 0], [2, 0], [20, 5]])
  pairs = attributes.reciprocal(line, np.array([1.0, 0]))
  assert {(2, 3), (3, 4)} <= set(pairs)
  assert attributes.grow(line, ([0], [1]), 3, alpha=1.0) == []


def test_reciprocal_neighbours_are_those_of_a_plain_search(monkeypatch):
  mean = np.random.default_rng(1).normal(size=(23, 5))
  shift = np.linspace(-1, 1, 5)
  monkeypatch.setattr(attributes, 'ROWS', 7)

  def closest(x, own):
    others = [k for k in range(len(mean)) if k != own]
    return min(others, key=lambda k: np.linalg.norm(mean[k] - x))

  expected = []
  for a in range(len(mean)):
    b = closest(mean[a] + shift, a)
    if closest(mean[b] - shift, b) == a:
      expected.append((a, b))
  assert attributes.reciprocal(mean, shift) == expected and expected


def test_the_discriminant_is_scikit_learn_s():
  lda = pytest.importorskip('sklearn.discriminant_analysis')
  draw = np.random.default_rng(2)
  x = draw.normal(size=(60, 6)) @ draw.normal(size=(6, 6))
  y = np.arange(60) % 2
  x[y == 1] += 0.7
  share = 0.3 / 1.3  # sklearn shrinks (1 - s) S + s tr(S)/d I
  theirs = lda.LinearDiscriminantAnalysis('lsqr', shrinkage=share).fit(x, y)
  w, b = attributes.discriminant(x, y, np.arange(60), 0.3)
  np.testing.assert_allclose(w / (1 - share), theirs.coef_[0], rtol=1e-4)
  np.testing.assert_allclose(b / (1 - share), theirs.intercept_[0], rtol=1e-4)


def test_a_frequent_word_weighs_no_more_than_another():
  draw = np.random.default_rng(3)
  x = draw.normal(size=(12, 4))
  y, word = np.arange(12) % 2, np.arange(12)
  often = np.r_[np.arange(12), np.zeros(50, int)]
  np.testing.assert_allclose(
    attributes.discriminant(x[often], y[often], word[often])[0],
    attributes.discriminant(x, y, word)[0],
    rtol=1e-5,
  )


def test_a_pair_s_difference_must_point_along_the_move():
  frame = flow_words.ballots(
    np.array(['a', 'A', 'b', 'B']),
    np.array([-1, 1, -1, 1]),
    np.array(['A', 'a', 'B', 'b']),
  ).assign(along=[0.9, 0.8, 0.9, 0.1])
  votes = flow_words.tally(frame)
  both = flow_words.mutual(votes)
  assert list(both['first']) == ['a', 'b']
  assert list(flow_words.mutual(votes, 0.5)['first']) == ['a']


def test_the_sides_means_are_those_of_typical_rows():
  z = np.float32([[0, 5], [2, 5], [10, 5], [4, 5]])
  side, typical = np.array([-1, -1, 1, 1]), np.array([True, False, True, False])
  out = flow_words.moved(z, side, 'shift', 1.0, 1, typical=typical)
  np.testing.assert_allclose(out[:, 0], [10, 12, 0, -6])
  np.testing.assert_array_equal(out[:, 1], 5)
