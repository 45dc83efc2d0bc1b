"""Losses of pretraining, against transformers and torch."""

import dataclasses
import math

import jax
import numpy as np
import pytest
from corpus import SMALL, WIDE, pieces_of, whole
from small import bundle_of, shape_of

from fairjax import config as c
from fairjax.data.batching import corruption, rows
from fairjax.metrics.inference import intervals, ratios, resampling
from fairjax.models import Bundle, families, objectives
from fairjax.models.families import bart, gpt2
from fairjax.models.folders import hf
from fairjax.recipes.language import pretrain
from fairjax.recipes.language.pretrain import OBJECTIVES
from fairjax.train import mesh


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
  run = jax.jit(lambda p, b: objectives.loss(one.terms)[0](model, p, b, None))
  return float(run(params, batch)[0])


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


def test_masked_loss_is_that_of_transformers(read, tmp_path, torch):
  plain, made = some_rows(read)
  batch = corruption.masked(plain, np.random.default_rng(0), read[1], 0.3)
  model = bundle_of(families.module(SMALL, 'mask'))
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
  pair = objectives.Pair(
    families.module(small, 'mask'), families.module(shape, 'detect')
  )
  each = [hf.complete(m, {}, jax.random.key(k)) for k, m in enumerate(pair)]
  params = {
    'generator': objectives.separated(each[0]),
    'discriminator': each[1],
  }
  return Bundle(len, len, pair), spoken(params)


def test_detection_losses_are_those_of_transformers(read, tmp_path, torch):
  plain, made = some_rows(read)
  batch = corruption.hidden(plain, np.random.default_rng(0), read[1], 0.3)
  model, params = electra_pair()
  sent = rows.finish(batch, made.pieces)
  ours = total(model, params, 'electra', sent)
  judged = jax.jit(
    lambda p, b: objectives.generate_and_detect(model, p, b, None)
  )
  judged = jax.tree.map(np.asarray, judged(params, sent))
  _, original, read_tokens, _ = judged
  np.testing.assert_array_equal(original, plain['tokens'])
  real = batch['asked'] > 0
  at = np.zeros(plain['tokens'].shape, bool)
  row = np.broadcast_to(np.arange(len(real))[:, None], real.shape)
  at[row[real], batch['places'][real]] = True
  changed = read_tokens != plain['tokens']
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
    'read': read_tokens,
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


def test_denoising_loss_is_that_of_transformers(read, tmp_path, torch):
  plain, made = some_rows(read)
  words = read[1]
  batch = corruption.denoised(plain, np.random.default_rng(0), words)
  more = {'decoder_heads': 4, 'decoder_hidden': 48, 'pad': words.pad}
  model = bundle_of(bart.Bart(shape_of('bart', 120, 42, **WIDE, **more)))
  params = spoken(model.init(0))
  params['bias'] = np.zeros_like(params['bias'])
  ours = total(model, params, 'bart', rows.finish(batch, made.pieces))
  twin = torch_twin(
    tmp_path / 'm', model.module, params, 'BartForConditionalGeneration'
  )
  ids, mask = unpacked(batch, ('tokens', 0))
  targets = [i for _, _, i in pieces_of(batch, 'target', 'target_segment_ids')]
  with torch.no_grad():
    theirs = twin(
      *map(torch.tensor, (ids, mask)),
      labels=torch.tensor(padded(targets, -100)),
    ).loss.item()
  assert abs(ours - theirs) < 1e-5 * max(1, theirs)


def test_perplexity_is_that_of_a_loop_over_documents(read, tmp_path, torch):
  """GPT-2: each document's pieces one by one, and the whole bootstrap."""
  _, words, store, _ = read
  every = np.arange(len(store.offsets) - 1)
  held = rows.HeldOut(
    rows.rows(store, every[::2], 32, words.first, words.last, False),
    corruption.continued,
    jax.device_count(),
  )
  held.size = 5
  model = bundle_of(
    gpt2.GPT2(
      gpt2.GPT2Shape(
        vocab=120, width=32, depth=1, heads=4, hidden=48, positions=40
      )
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
  found = pretrain.overall(('loss',), sums.sum(1))
  expected = math.exp(slow[:, 0].sum() / slow[:, 1].sum())
  np.testing.assert_allclose(found['perplexity'], expected, rtol=1e-5)

  how = intervals.RowSample(0.95, 50, 3)
  fast, _ = ratios.resampled(sums, how, halves=True)
  items = resampling.blocks(len(slow), how)
  drawn = resampling.draw(items, 50, 3)[:, : len(slow)]
  np.testing.assert_allclose(fast[:, 0], drawn @ slow, rtol=1e-5)
