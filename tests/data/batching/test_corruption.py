"""Rows of a corpus, and what is hidden in them, by slow twins and rates."""

import math

import numpy as np
import pandas as pd
import pytest
from corpus import pieces_of, whole
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from fairjax.core import artefacts
from fairjax.data.batching import corruption, rows
from fairjax.data.corpora import texts


def test_lines_rows_and_what_is_skipped(tmp_path):
  (tmp_path / 'a.txt').write_text('one\ntwo\n\n  \nthree\n')
  (tmp_path / 'b.jsonl').write_text('{"text": "four"}\n{"text": " "}\n')
  artefacts.write_table(
    tmp_path / 'c.parquet', pd.DataFrame({'text': ['five', '', 'six']})
  )
  for blank, expected in (
    (True, ['one\ntwo', 'three', 'four', 'five', 'six']),
    (False, ['one', 'two', 'three', 'four', 'five', 'six']),
  ):
    source, counts = texts.find(str(tmp_path), 'text', blank), {}
    found = [d for some in texts.documents(source, counts) for d in some]
    assert found == expected
    assert counts['empty'] == 4
  before = texts.find(str(tmp_path), 'text', True).content
  (tmp_path / 'a.txt').write_text('one\ntwo\n\n  \nthree!\n')
  assert texts.find(str(tmp_path), 'text', True).content != before


def slow_rows(documents, length, first, last, closed):
  """Each row as a list of pieces, one token after another."""
  stream = []
  for i, ids in enumerate(documents):
    stream += [(i, token) for token in ids]
    stream += [(i, 'last')] * len(last) + [(i, 'first')] * len(first)
  inner = length - len(first) - closed * len(last)
  out = []
  for start in range(0, len(stream), inner):
    pieces = {}
    for i, token in stream[start : start + inner]:
      if token not in ('first', 'last'):
        pieces.setdefault(i, []).append(token)
      elif token == 'last' and i in pieces:
        pieces[i] = [*pieces[i], *last]
    ended = lambda ids: bool(last) and ids[-1:] == list(last)
    row = [[*first, *ids] for ids in pieces.values()]
    row = [[*p, *last] if closed and not ended(p) else p for p in row]
    out.append(row)
  return out


@pytest.mark.parametrize(
  ('first', 'last', 'closed'),
  [((2,), (3,), True), ((2,), (3,), False), ((), (3,), False)],
)
@pytest.mark.parametrize('length', [8, 9, 11, 32])
def test_rows_are_the_documents_cut_into_pieces(first, last, closed, length):
  draw = np.random.default_rng(length)
  documents = [list(draw.integers(5, 99, n)) for n in draw.integers(1, 40, 60)]
  flat = np.concatenate(documents).astype(np.uint16)
  offsets = np.cumsum([0, *map(len, documents)])
  store = texts.Store(flat, offsets, 0)
  made = rows.rows(store, np.arange(60), length, first, last, closed)
  batch = whole(made)
  expected = slow_rows(documents, length, first, last, closed)
  while expected and not expected[-1]:
    expected.pop()
  assert made.total - len(expected) in ((0,) if closed else (0, 1))
  expected += [[]] * (made.total - len(expected))
  assert made.tokens == len(flat)
  found = [[] for _ in expected]
  for r, _, ids in pieces_of(batch):
    found[r].append(ids)
  assert found == expected
  for r, k, ids in pieces_of(batch):
    at = batch['segment_ids'][r] == k
    np.testing.assert_array_equal(
      batch['positions'][r, at], np.arange(len(ids))
    )
    assert batch['example'][r, k - 1] == r * made.pieces + k - 1
  # All but the last row are full, but for marks without a text.
  assert (batch['segment_ids'][:-1] == 0).sum(1).max(initial=0) <= 4
  # Rows may be asked for in any order, and number -1 is an empty one.
  some = rows.read(made, np.array([3, -1, 0]))
  np.testing.assert_array_equal(some['tokens'][0], batch['tokens'][3])
  assert not some['segment_ids'][1].any() and (some['example'][1] == -1).all()


def test_documents_know_their_pieces(read):
  _, words, store, made = read
  batch = whole(made)
  for i in range(len(store.offsets) - 1):
    own = store.flat[store.offsets[i] : store.offsets[i + 1]]
    found = []
    for r, k, ids in pieces_of(batch):
      if batch['document'][r, k - 1] == i:
        found += [t for t in ids if not words.special[t]]
    np.testing.assert_array_equal(found, own[~words.special[own]])


def test_micro_batches_and_devices_do_not_change_what_is_asked(read):
  _, words, _, made = read
  corrupt = lambda batch, draw: corruption.masked(batch, draw, words)
  plain = rows.training(made, [4], 8, corrupt)[3]
  micro = rows.training(made, [3, 4], 8, corrupt, 2, 3)[3]
  assert micro['tokens'].shape == (2, 2, 6, 32)
  for k in range(2):
    half = plain['tokens'][0, 4 * k : 4 * k + 4]
    np.testing.assert_array_equal(micro['tokens'][1, k, :4], half)
    np.testing.assert_array_equal(
      micro['asked'][1, k, :4] > 0, plain['asked'][0, 4 * k : 4 * k + 4] > 0
    )
    assert not micro['segment_ids'][1, k, 4:].any()
  example, segment_ids = micro['example'][1, 1], micro['segment_ids'][1, 1]
  mine = plain['example'][0].reshape(8, -1)[4:]
  np.testing.assert_array_equal(
    example[segment_ids[segment_ids > 0] - 1],
    mine.ravel()[
      plain['segment_ids'][0, 4:][plain['segment_ids'][0, 4:] > 0]
      - 1
      - 4 * made.pieces
    ],
  )
  np.testing.assert_allclose(micro['share'][1], plain['share'][0])


# Corruption.


def test_masks_come_at_their_rates(read):
  _, words, _, made = read
  plain = whole(made)
  able = (plain['segment_ids'] > 0) & ~words.special[plain['tokens']]
  counts = np.zeros(4)
  for seed in range(200):
    batch = corruption.masked(plain, np.random.default_rng(seed), words)
    real = batch['asked'] > 0
    pick = lambda a: np.take_along_axis(a, batch['places'], 1)[real]
    truth, now = pick(plain['tokens']), pick(batch['tokens'])
    assert pick(able).all()
    np.testing.assert_array_equal(batch['labels'][real], truth)
    same = batch['tokens'] == plain['tokens']
    untouched = np.ones_like(same)
    np.put_along_axis(untouched, batch['places'], ~real, 1)
    row = np.broadcast_to(np.arange(len(real))[:, None], real.shape)
    untouched[row[real], batch['places'][real]] = False
    assert same[able & untouched].all() and same[~able].all()
    assert batch['share'] == np.float32(1 / real.sum())
    masked, kept = now == words.mask, now == truth
    counts += [real.sum(), masked.sum(), (~masked & ~kept).sum(), kept.sum()]
  chosen, masked, other, kept = counts
  assert abs(chosen / (200 * able.sum()) - 0.15) < 0.002
  # One of a hundred other tokens is the true one.
  same = 0.1 / len(words.ordinary)
  for part, share in ((masked, 0.8), (other, 0.1 - same), (kept, 0.1 + same)):
    error = 4 * math.sqrt(share * (1 - share) / chosen)
    assert abs(part / chosen - share) < error


def test_whole_words_are_masked_whole(read):
  tokenizer, words, _, made = read
  plain = whole(made)
  many = 0
  for seed in range(20):
    draw = np.random.default_rng(seed)
    batch = corruption.masked(plain, draw, words, whole_word=True)
    for r in range(len(plain['tokens'])):
      chosen = set(batch['places'][r][batch['asked'][r] > 0].tolist())
      for column in range(1, 32):
        name = tokenizer.id_to_token(int(plain['tokens'][r, column]))
        if name.startswith('##') and plain['segment_ids'][r, column]:
          before = plain['tokens'][r, column - 1]
          if not words.special[before]:
            assert (column in chosen) == (column - 1 in chosen)
            many += column in chosen
  assert many > 50


def test_whole_words_of_a_sentencepiece_are_words():
  """A row was one word, which is too long for its share: nothing was asked."""
  pieces = ['<s>', '</s>', '<unk>', '<mask>', '▁she', '▁nur', 'se', '.', '▁.']
  tokenizer = Tokenizer(models.Unigram([(p, -1.0) for p in pieces], 2, False))
  tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
  tokenizer.add_special_tokens(pieces[:4])
  tokenizer.post_processor = processors.TemplateProcessing(
    single='<s> $A </s>', special_tokens=[('<s>', 0), ('</s>', 1)]
  )
  words = corruption.vocabulary(tokenizer)
  ids = np.array([tokenizer.encode('she nurse. she nurse').ids])
  assert ids.tolist() == [[0, 4, 5, 6, 7, 4, 5, 6, 1]]
  row = {'tokens': ids, 'segment_ids': np.ones_like(ids)}
  unit = corruption.units(row, words, whole_word=True)
  assert unit.tolist() == [[-1, 0, 1, 1, 1, 2, 3, 3, -1]]
  assert np.flatnonzero(words.stops).tolist() == [7, 8]


def slow_infilled(batch, unit, first, length, mask):
  """One row, one place after another."""
  out = []
  for ids, segment_ids, units, begins, sizes in zip(
    batch['tokens'], batch['segment_ids'], unit, first, length
  ):
    n = units.max() + 1
    spans = [(a, size) for a, size in zip(begins, sizes) if size >= 0]
    covered = {u: a for a, size in spans if size for u in range(a, a + size)}

    def write(
      added,
      ids=ids,
      segment_ids=segment_ids,
      units=units,
      n=n,
      spans=spans,
      covered=covered,
    ):
      row, seen, done = [], set(), set()
      for place in range(len(ids)):
        u, who = units[place], segment_ids[place]
        behind = u < 0 and place and units[place - 1] == n - 1
        if added and ((u >= 0 and u not in seen) or behind):
          here = n if behind else u
          row += [(mask, who)] * sum(s == 0 and a == here for a, s in spans)
        seen.add(u)
        if u in covered:
          if (covered[u], who) not in done:
            row.append((mask, who))
          done.add((covered[u], who))
        elif who:
          row.append((ids[place], who))
      return row

    row = write(True)
    row = row if len(row) <= len(ids) else write(False)
    out.append(row + [(0, 0)] * (len(ids) - len(row)))
  return np.array(out)


@pytest.mark.parametrize('whole_word', [False, True])
@pytest.mark.parametrize('mean', [0.4, 3.0])
def test_infilling_is_the_slow_one(read, whole_word, mean):
  _, words, _, made = read
  plain = whole(made)
  unit = corruption.units(plain, words, whole_word)
  crowded = 0
  for seed in range(10):
    draw = np.random.default_rng(seed)
    first, length = corruption.spans(unit.max(1) + 1, 0.3, mean, draw)
    fast = corruption.infilled(plain, unit, first, length, words.mask)
    slow = slow_infilled(plain, unit, first, length, words.mask)
    np.testing.assert_array_equal(fast['tokens'], slow[..., 0])
    np.testing.assert_array_equal(fast['segment_ids'], slow[..., 1])
    crowded += (slow[..., 1] > 0).all(1).sum()
    for r, k, ids in pieces_of(fast):
      at = fast['positions'][r][fast['segment_ids'][r] == k]
      np.testing.assert_array_equal(at, np.arange(len(ids)))
  assert crowded or mean > 1


def test_spans_are_poisson_and_cover_every_place_alike():
  draw = np.random.default_rng(0)
  n, k = 6000, 100
  first, length = corruption.spans(np.full(n, k), 0.3, 3.0, draw)
  used = length >= 0
  covered = np.where(used, length, 0).sum(1)
  assert (covered == 30).all()
  for a, size in zip(first[:50], length[:50]):
    ends = 0
    for begin, m in sorted(zip(a[size >= 0], size[size >= 0])):
      assert ends <= begin and begin + m <= k
      ends = begin + m
  # A span over a row's end lies at both ends; its parts are one draw.
  cut = length[:, -1] > 0
  assert 0.1 < cut.mean() < 0.3
  whole = length[:, :-1].copy()
  at_end = (first[:, :-1] + whole == k) & (whole > 0) & cut[:, None]
  assert (at_end.sum(1) == cut).all()
  whole += at_end * length[:, -1:]
  # The last span of a row is cut and long ones are likelier to be last; the
  # first four are neither.
  drawn = whole[:, :4].ravel()
  expected = [math.exp(-3) * 3**k / math.factorial(k) for k in range(9)]
  found = np.bincount(drawn, minlength=9)[:9] / len(drawn)
  assert abs(found - expected).max() < 0.01
  # Places are covered alike, those at the ends too.
  inside = np.zeros((n, k + 1))
  row = np.broadcast_to(np.arange(n)[:, None], first.shape)
  np.add.at(inside, (row[used], first[used]), 1)
  np.add.at(inside, (row[used], (first + length)[used]), -1)
  share = np.cumsum(inside, 1)[:, :k].mean(0)
  assert abs(share.mean() - 0.3) < 1e-9
  assert abs(share - 0.3).max() < 4.5 * math.sqrt(0.3 * 0.7 / n)
  # A share that is no whole number is met on average.
  _, length = corruption.spans(np.full(4000, 11), 0.3, 3.0, draw)
  assert abs(np.maximum(length, 0).sum(1).mean() - 3.3) < 0.05
  # A row without a unit has no span.
  _, length = corruption.spans(np.zeros(5, int), 0.3, 3.0, draw)
  assert (length == -1).all()


def test_every_place_is_masked_alike():
  draw = np.random.default_rng(0)
  n, k = 8000, 60
  unit = np.broadcast_to(np.arange(k), (n, k))
  column, taken = corruption.choose(unit, 0.15, draw)
  share = np.bincount(column[taken], minlength=k) / n
  assert abs(share - 0.15).max() < 4.5 * math.sqrt(0.15 * 0.85 / n)


def test_sentences_move_within_their_piece(read):
  _, words, _, made = read
  plain = whole(made)
  now = corruption.permuted(plain, np.random.default_rng(0), words)
  moved = 0

  def split(ids):
    out, one = [], []
    for i, token in enumerate(ids):
      one.append(token)
      after = ids[i + 1] if i + 1 < len(ids) else None
      if words.stops[token] and (after is None or not words.stops[after]):
        out.append(tuple(one))
        one = []
    return out + ([tuple(one)] if one else [])

  for (_, _, old), (_, _, new) in zip(
    pieces_of(plain), pieces_of(plain | {'tokens': now})
  ):
    assert (old[0], old[-1]) == (new[0], new[-1])
    assert sorted(old) == sorted(new)
    # A piece that a cut left with half a sentence is not looked into.
    if words.stops[old[-2]] and not words.stops[old[1]]:
      assert sorted(split(old[1:-1])) == sorted(split(new[1:-1]))
      moved += old != new
  assert moved > 5
