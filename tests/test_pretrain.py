"""Pretraining: corruption by its rates and slow twins, losses by torch."""

import dataclasses
import importlib.util
import json
import math
import signal

import jax
import numpy as np
import pytest
from tokenizers import Tokenizer, models

from fairjax import artefacts
from fairjax import config as c
from fairjax.data import corruption, rows, texts, tokens
from fairjax.errors import Interrupted, UserError
from fairjax.metrics import intervals
from fairjax.models import Model, bart, encoder, gpt2, hf, objectives
from fairjax.models.heads import Discriminator, MaskedLM
from fairjax.recipes import pretrain
from fairjax.recipes.pretrain import OBJECTIVES
from fairjax.train import loop, mesh

NOUNS = 'cat dog bird nurse doctor child teacher farmer painter sailor'.split()
VERBS = 'sees likes finds helps hears follows remembers unfolds'.split()


def sentences(count, seed=0):
  draw = np.random.default_rng(seed)
  one = lambda: (
    f'the {draw.choice(NOUNS)} {draw.choice(VERBS)} the {draw.choice(NOUNS)}'
    f'{draw.choice([".", "!", " there."])}'
  )
  return [one() for _ in range(count)]


def write_corpus(path, documents=80, most=9, seed=0):
  draw = np.random.default_rng(seed)
  sizes = draw.integers(1, most, documents)
  lines = sentences(int(sizes.sum()), seed)
  blocks = np.split(np.array(lines), np.cumsum(sizes)[:-1])
  path.write_text('\n\n'.join('\n'.join(block) for block in blocks) + '\n')
  return path


@pytest.fixture(scope='module', autouse=True)
def cache(tmp_path_factory):
  with pytest.MonkeyPatch.context() as patch:
    patch.setenv('FAIRJAX_CACHE', str(tmp_path_factory.mktemp('cache')))
    yield


@pytest.fixture(scope='module')
def corpus(tmp_path_factory):
  return write_corpus(tmp_path_factory.mktemp('text') / 'a.txt')


@pytest.fixture(scope='module')
def read(corpus, tmp_path_factory):
  """Tokenizer, vocabulary, store and all rows of the corpus."""
  cache = tmp_path_factory.mktemp('tokens')
  source = texts.find(str(corpus), 'text', True)
  tokenizer = texts.learn_tokenizer(source, 120, 0.1, 0, cache)
  words = corruption.vocabulary(tokenizer)
  store = texts.store(source, tokenizer, cache)
  every = np.arange(len(store.offsets) - 1)
  made = rows.rows(store, every, 32, words.first, words.last)
  return tokenizer, words, store, made


def whole(made):
  return rows.read(made, np.arange(made.count))


# Rows.


def pieces_of(batch, tokens='tokens', owner='owner'):
  """(row, owner, tokens) of every piece, in order."""
  for r, (ids, who) in enumerate(zip(batch[tokens], batch[owner])):
    for k in range(1, who.max(initial=0) + 1):
      if (who == k).any():
        yield r, k, list(ids[who == k])


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
  assert made.count - len(expected) in ((0,) if closed else (0, 1))
  expected += [[]] * (made.count - len(expected))
  assert made.tokens == len(flat)
  found = [[] for _ in expected]
  for r, _, ids in pieces_of(batch):
    found[r].append(ids)
  assert found == expected
  for r, k, ids in pieces_of(batch):
    at = batch['owner'][r] == k
    np.testing.assert_array_equal(
      batch['positions'][r, at], np.arange(len(ids))
    )
    assert batch['example'][r, k - 1] == r * made.pieces + k - 1
  # All but the last row are full, but for marks without a text.
  assert (batch['owner'][:-1] == 0).sum(1).max(initial=0) <= 4
  # Rows may be asked for in any order, and number -1 is an empty one.
  some = rows.read(made, np.array([3, -1, 0]))
  np.testing.assert_array_equal(some['tokens'][0], batch['tokens'][3])
  assert not some['owner'][1].any() and (some['example'][1] == -1).all()


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
  plain = rows.RowBatches(made, [4], 8, corrupt)[3]
  micro = rows.RowBatches(made, [3, 4], 8, corrupt, 2, 3)[3]
  assert micro['tokens'].shape == (2, 2, 6, 32)
  for k in range(2):
    half = plain['tokens'][0, 4 * k : 4 * k + 4]
    np.testing.assert_array_equal(micro['tokens'][1, k, :4], half)
    np.testing.assert_array_equal(
      micro['asked'][1, k, :4] > 0, plain['asked'][0, 4 * k : 4 * k + 4] > 0
    )
    assert not micro['owner'][1, k, 4:].any()
  example, owner = micro['example'][1, 1], micro['owner'][1, 1]
  mine = plain['example'][0].reshape(8, -1)[4:]
  np.testing.assert_array_equal(
    example[owner[owner > 0] - 1],
    mine.ravel()[
      plain['owner'][0, 4:][plain['owner'][0, 4:] > 0] - 1 - 4 * made.pieces
    ],
  )
  np.testing.assert_allclose(micro['share'][1], plain['share'][0])


# Corruption.


def test_masks_come_at_their_rates(read):
  _, words, _, made = read
  plain = whole(made)
  able = (plain['owner'] > 0) & ~words.special[plain['tokens']]
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
        if name.startswith('##') and plain['owner'][r, column]:
          before = plain['tokens'][r, column - 1]
          if not words.special[before]:
            assert (column in chosen) == (column - 1 in chosen)
            many += column in chosen
  assert many > 50


def slow_infilled(batch, unit, first, length, mask):
  """One row, one place after another."""
  out = []
  for ids, owner, units, begins, sizes in zip(
    batch['tokens'], batch['owner'], unit, first, length
  ):
    n = units.max() + 1
    spans = [(a, size) for a, size in zip(begins, sizes) if size >= 0]
    covered = {u: a for a, size in spans if size for u in range(a, a + size)}

    def write(
      added,
      ids=ids,
      owner=owner,
      units=units,
      n=n,
      spans=spans,
      covered=covered,
    ):
      row, seen, done = [], set(), set()
      for place in range(len(ids)):
        u, who = units[place], owner[place]
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
    np.testing.assert_array_equal(fast['owner'], slow[..., 1])
    crowded += (slow[..., 1] > 0).all(1).sum()
    for r, k, ids in pieces_of(fast):
      at = fast['positions'][r][fast['owner'][r] == k]
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


# Losses, against transformers and torch.

SMALL = encoder.Shape(
  vocab=120,
  width=32,
  depth=2,
  heads=4,
  hidden=48,
  positions=40,
  embedding=32,
)


def of_module(module):
  def init(seed):
    return hf.complete(module, {}, jax.random.key(seed))

  def apply(params, batch, dropout=None):
    return module.apply({'params': params}, batch, dropout)

  return Model(init, apply, module, module.shape)


def torch_twin(folder, module, params, name):
  """What transformers reads from the folder that we write."""
  transformers = pytest.importorskip('transformers')
  hf.save(folder, module, params)
  return getattr(transformers, name).from_pretrained(folder).eval()


def padded(lists, fill):
  width = max(map(len, lists))
  return np.array([list(x) + [fill] * (width - len(x)) for x in lists])


def some_rows(read, count=6):
  _, _, _, made = read
  return rows.read(made, np.arange(count)), made


def spoken(params, seed=1):
  """Parameters whose logits are not all alike."""
  draw = np.random.default_rng(seed)
  return jax.tree.map(
    lambda a: np.asarray(a) + draw.normal(0, 0.2, a.shape).astype(np.float32),
    params,
  )


def total(model, params, objective, batch):
  one = OBJECTIVES[objective]
  run = jax.jit(
    lambda p, b: objectives.loss(one.terms).total(model, p, b, None)
  )
  return float(run(params, batch))


def asked_labels(batch):
  labels = np.full(batch['tokens'].shape, -100)
  real = batch['asked'] > 0
  row = np.broadcast_to(np.arange(len(real))[:, None], real.shape)
  labels[row[real], batch['places'][real]] = batch['labels'][real]
  return labels


def unpacked(batch, *names):
  """Pieces one a row: padded arrays of each name, and the attention mask."""
  out = [
    padded([ids for _, _, ids in pieces_of(batch, name)], fill)
    for name, fill in names
  ]
  lengths = [len(ids) for _, _, ids in pieces_of(batch)]
  mask = np.arange(out[0].shape[1]) < np.array(lengths)[:, None]
  return [*out, mask.astype(np.int64)]


def test_masked_loss_is_that_of_transformers(read, tmp_path):
  torch = pytest.importorskip('torch')
  plain, made = some_rows(read)
  batch = corruption.masked(plain, np.random.default_rng(0), read[1], 0.3)
  model = of_module(MaskedLM(SMALL))
  params = spoken(model.init(0))
  ours = total(model, params, 'mlm', rows.finish(batch, made.pieces))
  twin = torch_twin(tmp_path / 'm', model.module, params, 'BertForMaskedLM')
  ids, labels, mask = unpacked(
    batch | {'labels': asked_labels(batch)}, ('tokens', 0), ('labels', -100)
  )
  with torch.no_grad():
    theirs = twin(
      *map(torch.tensor, (ids, mask)), labels=torch.tensor(labels)
    ).loss.item()
  assert abs(ours - theirs) < 1e-5 * max(1, theirs)


def electra_pair():
  shape = dataclasses.replace(SMALL, family='electra', embedding=16)
  small = dataclasses.replace(shape, width=16, heads=2, hidden=24)
  pair = objectives.Pair(MaskedLM(small), Discriminator(shape))
  each = [hf.complete(m, {}, jax.random.key(k)) for k, m in enumerate(pair)]
  params = {
    'generator': objectives.separated(each[0]),
    'discriminator': each[1],
  }
  return Model(None, None, pair, shape), spoken(params)


def test_detection_losses_are_those_of_transformers(read, tmp_path):
  torch = pytest.importorskip('torch')
  plain, made = some_rows(read)
  batch = corruption.hidden(plain, np.random.default_rng(0), read[1], 0.3)
  model, params = electra_pair()
  sent = rows.finish(batch, made.pieces)
  ours = total(model, params, 'electra', sent)
  judged = jax.jit(lambda p, b: objectives.judge(model, p, b, None))
  judged = jax.tree.map(np.asarray, judged(params, sent))
  np.testing.assert_array_equal(judged.original, plain['tokens'])
  real = batch['asked'] > 0
  at = np.zeros(plain['tokens'].shape, bool)
  row = np.broadcast_to(np.arange(len(real))[:, None], real.shape)
  at[row[real], batch['places'][real]] = True
  changed = judged.read != plain['tokens']
  assert changed.any() and not changed[~at].any()

  pair = model.module
  generator = torch_twin(
    tmp_path / 'g',
    pair.generator,
    objectives.shared(params),
    'ElectraForMaskedLM',
  )
  discriminator = torch_twin(
    tmp_path / 'd',
    pair.discriminator,
    params['discriminator'],
    'ElectraForPreTraining',
  )
  # One table of words, positions, types, and their norm, for both.
  theirs = discriminator.electra.embeddings.state_dict()
  for name, one in generator.electra.embeddings.state_dict().items():
    assert torch.equal(one, theirs[name]), name
  named = batch | {
    'labels': asked_labels(batch),
    'read': judged.read,
    'wrong': changed + 0,
  }
  ids, labels, new, wrong, mask = unpacked(
    named, ('tokens', 0), ('labels', -100), ('read', 0), ('wrong', 0)
  )
  with torch.no_grad():
    mask = torch.tensor(mask)
    first = generator(torch.tensor(ids), mask, labels=torch.tensor(labels))
    second = discriminator(torch.tensor(new), mask, labels=torch.tensor(wrong))
  theirs = first.loss.item() + 50 * second.loss.item()
  assert abs(ours - theirs) < 1e-5 * theirs


def test_a_drawn_token_follows_the_softmax():
  logits = np.array([0.0, 1.0, 2.0, -1.0], np.float32)
  many = jax.numpy.broadcast_to(logits, (1, 40000, 4))
  identity = jax.numpy.arange(40000, dtype=jax.numpy.uint32)[None]
  drawn = np.asarray(objectives.sample(many, identity, jax.numpy.uint32(7)))
  share = np.bincount(drawn[0], minlength=4) / 40000
  chance = np.exp(logits) / np.exp(logits).sum()
  assert abs(share - chance).max() < 0.01
  again = objectives.sample(many, identity, jax.numpy.uint32(8))
  assert (np.asarray(again) != drawn).any()


def test_denoising_loss_is_that_of_transformers(read, tmp_path):
  torch = pytest.importorskip('torch')
  plain, made = some_rows(read)
  words = read[1]
  batch = corruption.denoised(plain, np.random.default_rng(0), words)
  model = of_module(
    bart.Bart(
      bart.Shape(
        vocab=120,
        width=32,
        depth=1,
        decoder_depth=1,
        heads=4,
        decoder_heads=4,
        hidden=48,
        decoder_hidden=48,
        positions=42,
        pad=words.pad,
        bos=2,
        eos=3,
        start=3,
      )
    )
  )
  params = spoken(model.init(0))
  params['bias'] = np.zeros_like(params['bias'])
  ours = total(model, params, 'bart', rows.finish(batch, made.pieces))
  twin = torch_twin(
    tmp_path / 'm', model.module, params, 'BartForConditionalGeneration'
  )
  ids, mask = unpacked(batch, ('tokens', 0))
  targets = [i for _, _, i in pieces_of(batch, 'target', 'target_owner')]
  with torch.no_grad():
    theirs = twin(
      *map(torch.tensor, (ids, mask)),
      labels=torch.tensor(padded(targets, -100)),
    ).loss.item()
  assert abs(ours - theirs) < 1e-5 * max(1, theirs)


def test_perplexity_is_that_of_a_loop_over_documents(read, tmp_path):
  """GPT-2: each document's pieces one by one, and the whole bootstrap."""
  torch = pytest.importorskip('torch')
  _, words, store, _ = read
  every = np.arange(len(store.offsets) - 1)
  held = rows.HeldOut(
    rows.rows(store, every[::2], 32, words.first, words.last, False),
    corruption.continued,
    jax.device_count(),
  )
  held.size = 5
  model = of_module(
    gpt2.GPT2(
      gpt2.Shape(vocab=120, width=32, depth=1, heads=4, hidden=48, positions=40)
    )
  )
  params = spoken(model.init(0))
  place = mesh.make(c.Mesh(), 1)
  stacked = jax.tree.map(lambda a: np.asarray(a)[None], params)
  sums = pretrain.document_sums(
    model, objectives.continued, stacked, held, place
  )
  twin = torch_twin(tmp_path / 'm', model.module, params, 'GPT2LMHeadModel')
  plain = whole(held.rows)
  slow = np.zeros((len(every[::2]), 2))
  for r, k, ids in pieces_of(plain):
    if len(ids) < 2:
      continue
    at = list(every[::2]).index(plain['document'][r, k - 1])
    with torch.no_grad():
      ids = torch.tensor(np.array(ids)[None]).long()
      loss = twin(ids, labels=ids).loss.item()
    slow[at] += [loss * (ids.shape[1] - 1), ids.shape[1] - 1]
  np.testing.assert_allclose(sums[0], slow, rtol=1e-5)
  found = pretrain.overall(('loss',), sums.sum(1), 1.0)
  expected = math.exp(slow[:, 0].sum() / slow[:, 1].sum())
  np.testing.assert_allclose(found['perplexity'], expected, rtol=1e-5)

  how = intervals.How(0.95, 50, 3)
  fast = pretrain.resampled(sums, how)
  items = intervals.blocks(len(slow), 3)
  drawn = intervals.draw(items, 50, 3)[:, : len(slow)]
  np.testing.assert_allclose(fast[:, 0], drawn @ slow, rtol=1e-5)


# The recipe.


@pytest.fixture
def smaller(monkeypatch):
  """The smallest size smaller still: compiling is a test's time."""
  shape = encoder.Shape(depth=1, width=64, heads=2, hidden=128, embedding=64)
  monkeypatch.setitem(encoder.SHAPES, 'tiny', shape)


@pytest.fixture
def alone(monkeypatch):
  """One device: a program for several takes longer to compile."""
  axes = (jax.sharding.AxisType.Auto,) * 2
  one = jax.make_mesh(
    (1, 1), ('seed', 'data'), axis_types=axes, devices=jax.devices()[:1]
  )
  monkeypatch.setattr(mesh, 'make', lambda options, seeds: one)


def config(corpus, objective, **changes):
  mask = 0.3 if objective == 'bart' else 0.15
  made = c.Config(
    recipe='pretrain',
    model='tiny',
    seeds=1,
    data=c.Data(name='text', path=str(corpus)),
    tokens=c.Tokens(vocab_size=120),
    pretrain=c.Pretrain(
      objective=objective, mask=mask, length=32, held_out=0.1, samples=2
    ),
    train=c.Train(
      lr=2e-3, batch=16, epochs=8, evals=0.5, warmup=0.1, patience=0
    ),
    measures=c.Measures(resamples=200),
  )
  for name, value in changes.items():
    part, field = name.split('__')
    setattr(getattr(made, part), field, value)
  c.validate(made)
  return made


CLASSES = {
  'mlm': ('BertForMaskedLM',),
  'electra': ('ElectraForPreTraining', 'ElectraForMaskedLM'),
  'bart': ('BartForConditionalGeneration',),
  'causal': ('GPT2LMHeadModel',),
}


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_the_loss_falls_and_transformers_reads_what_is_written(
  objective, corpus, tmp_path, smaller, alone
):
  import transformers

  results = pretrain.run(config(corpus, objective), tmp_path)
  lines = (tmp_path / 'metrics.jsonl').read_text().splitlines()
  history = [json.loads(line) for line in lines]
  assert history[-1]['loss'] < history[0]['loss']
  assert history[-1]['perplexity'] < history[0]['perplexity'] < 130
  found = results['sets']['held_out']['quality']['perplexity']
  assert found['low'] < found['value'] < found['high']
  assert len(results['samples']) == 2
  page = (tmp_path / 'report.html').read_text()
  assert 'Held-out text' in page and '<script' not in page
  folder = tmp_path / 'export' / 'seed_0'
  places = (folder, folder / 'generator')
  for name, place in zip(CLASSES[objective], places):
    assert (place / 'model.safetensors').stat().st_size
    if importlib.util.find_spec('torch'):  # its models need it
      _, about = getattr(transformers, name).from_pretrained(
        place, output_loading_info=True
      )
      assert not about['missing_keys'] and not about['unexpected_keys']
  read = transformers.AutoTokenizer.from_pretrained(folder)
  assert len(read) == results['text']['tokenizer']
  if objective != 'electra':
    return
  # And training goes on from it, generator and all, where it stopped.
  on = config(corpus, objective, train__epochs=0.25)
  on.model = str(folder)
  again = pretrain.run(on, tmp_path / 'on')
  assert again['parameters'] == results['parameters']
  further = again['sets']['held_out']['quality']['loss']['value']
  assert further < history[0]['loss']


def test_a_resumed_run_is_the_uninterrupted_one(
  corpus, tmp_path, monkeypatch, smaller
):
  asked = config(
    corpus, 'mlm', train__epochs=1.5, train__save_every=3, train__evals=1
  )
  asked.seeds = 2
  pretrain.run(asked, tmp_path / 'whole')
  real = loop.snapshot

  def stop_here(job, done, params):
    if done == 4:
      signal.raise_signal(signal.SIGTERM)
    return real(job, done, params)

  with monkeypatch.context() as patch:
    patch.setattr(loop, 'snapshot', stop_here)
    with pytest.raises(Interrupted):
      pretrain.run(asked, tmp_path / 'cut')
  pretrain.run(asked, tmp_path / 'cut')
  names = ['metrics.jsonl', 'results.json']
  (weights,) = (tmp_path / 'whole' / 'training').glob('*/weights.safetensors')
  names.append(str(weights.relative_to(tmp_path / 'whole')))
  for name in names:
    a, b = ((tmp_path / run / name).read_bytes() for run in ('whole', 'cut'))
    assert a == b, name


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_a_size_is_as_wide_and_deep_for_every_objective(read, objective):
  counts = []
  for size in encoder.SIZES:
    asked = config('text', objective)
    asked.model = size
    model = OBJECTIVES[objective].model(asked, read[1])
    of = encoder.SHAPES[size]
    assert (model.shape.depth, model.shape.width) == (of.depth, of.width)
    counts.append(pretrain.parameters(model))
  assert counts == sorted(counts)
  assert (of.depth >= 6, of.width) == (True, 512)


# Bad input.


def refusal(asked, folder):
  with pytest.raises(UserError) as caught:
    pretrain.run(asked, folder)
  return str(caught.value)


def test_mistakes_are_one_sentence(corpus, tmp_path):
  (tmp_path / 'empty').mkdir()
  cases = [
    ({'data__path': ''}, 'data.path is empty'),
    ({'data__path': str(tmp_path / 'empty')}, 'holds no shard'),
    ({'data__path': str(tmp_path / 'none.txt')}, 'does not exist'),
    ({'data__path': __file__}, 'must end in .txt'),
    ({'pretrain__length': 1024}, 'has positions for 512'),
    ({'pretrain__held_out': 1e-6}, '0 are held out'),
    ({'train__track': True}, 'train.track'),
  ]
  for changes, sentence in cases:
    said = refusal(config(corpus, 'mlm', **changes), tmp_path / 'run')
    assert sentence in said and '\n' not in said
  for objective, sentence in (('bart', 'gpt2'), ('causal', 'gpt2')):
    asked = config(corpus, objective)
    asked.model = 'bert-base-uncased'
    asked.net.init = 'random'
    assert sentence in refusal(asked, tmp_path / 'run') or objective == 'bart'


def test_only_white_space_is_no_text(tmp_path):
  (tmp_path / 'a.txt').write_text(' \n\n\t\n')
  said = refusal(config(tmp_path, 'mlm'), tmp_path / 'run')
  assert 'there is no text in' in said and 'a.txt' in said


def test_tokenizers_that_do_not_fit(corpus, read, tmp_path):
  bare = Tokenizer(
    models.WordPiece({'a': 0, '<|endoftext|>': 1}, unk_token='a')
  )
  bare.save(str(tmp_path / 'bare.json'))
  asked = config(corpus, 'mlm', tokens__tokenizer=str(tmp_path / 'bare.json'))
  assert 'no mask token' in refusal(asked, tmp_path / 'run')
  # A folder whose weights know fewer tokens than the tokenizer.
  small = MaskedLM(dataclasses.replace(SMALL, vocab=60))
  tokens.save_tokenizer(read[0], tmp_path / 'files')
  hf.save(
    tmp_path / 'model',
    small,
    hf.complete(small, {}, jax.random.key(0)),
    sorted((tmp_path / 'files').iterdir()),
  )
  asked = config(corpus, 'mlm')
  asked.model = str(tmp_path / 'model')
  said = refusal(asked, tmp_path / 'run')
  assert 'vectors for 60' in said and '\n' not in said


def test_lines_rows_and_what_is_skipped(tmp_path):
  (tmp_path / 'a.txt').write_text('one\ntwo\n\n  \nthree\n')
  (tmp_path / 'b.jsonl').write_text('{"text": "four"}\n{"text": " "}\n')
  import pandas as pd

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


def test_a_long_document_goes_on_in_the_next_row(read):
  _, words, store, _ = read
  made = rows.rows(
    store._replace(offsets=np.array([0, len(store.flat)])),
    np.array([0]),
    32,
    words.first,
    words.last,
  )
  batch = whole(made)
  inside = batch['tokens'][(batch['owner'] > 0)]
  inside = inside[~np.isin(inside, [*words.first, *words.last])]
  np.testing.assert_array_equal(
    inside, store.flat[~np.isin(store.flat, [*words.first, *words.last])]
  )
  assert made.count > 20


def test_a_dry_run_counts_what_a_step_costs(corpus, tmp_path, smaller, alone):
  asked = config(corpus, 'mlm', pretrain__dry_run=True, train__accumulate=4)
  asked.net.dropout = asked.net.attention_dropout = 0.0
  assert 'pretrain.steps is 0' in refusal(asked, tmp_path / 'none')
  asked.pretrain.steps = 1000
  found = pretrain.run(asked, tmp_path)['size']
  d, depth, h, v, t, b = 64, 1, 128, 120, 32, 16
  layers = depth * (4 * d * d + 2 * d * h + 9 * d + h)
  count = v * d + 512 * d + 2 * d + 2 * d + layers + d * d + 3 * d + v
  assert found['parameters'] == count
  # Products, forward and twice as many backward; the head reads a few places.
  asked_places = corruption.most(t, 0.15)
  body = 2 * b * t * depth * (4 * d * d + 2 * d * h + 2 * t * d)
  head = 2 * b * asked_places * (d * d + d * v)
  assert 1 < found['TFLOPs of a step'] * 1e12 / (3 * (body + head)) < 1.25
  assert found['tokens of a step'] == b * t
  (days,) = (v for k, v in found.items() if k.startswith('days'))
  seconds = found['TFLOPs of a step'] / (275 * 0.4)
  assert days == pytest.approx(1000 * seconds / 86400)
  assert (tmp_path / 'rehearsal' / 'export').is_dir()
