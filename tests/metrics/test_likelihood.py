"""Likelihoods: one text and one mask at a time in torch, and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from golden import make_encoders, make_seq2seq
from small import needs_torch

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import text_likelihood
from fairjax.models import families, special
from fairjax.models.families import gpt2
from fairjax.models.folders import hf
from fairjax.models.layers import places
from fairjax.models.reading import masked, token_scores

MASK, BOS = 4, 2
LENGTHS = (7, 2, 9, 5, 10, 3, 1)


def texts(vocab, lengths=LENGTHS, seed=0):
  rng = np.random.default_rng(seed)
  flat = rng.integers(5, vocab, sum(lengths)).astype(np.int32)
  return Ragged(flat, np.cumsum([0, *lengths]).astype(np.int64))


def ours(net, folder, make):
  net.save_pretrained(folder)
  config = hf.read_config(folder)
  module = make(config)
  params = hf.load(folder, module).params
  return module, jax.tree.map(jnp.asarray, params)


@pytest.fixture(scope='module')
def nets(tmp_path_factory):
  pytest.importorskip('torch')
  found = {}
  for family in ('bert', 'roberta'):
    net = make_encoders.model(family, 'MaskedLM')
    make = lambda config: families.module(
      families.shape_from_hf(config), 'mask'
    )
    folder = tmp_path_factory.mktemp(family)
    found[family] = (net, *ours(net, folder, make))
  net = make_seq2seq.model('gpt2')
  make = lambda config: gpt2.GPT2(families.shape_from_hf(config))
  found['gpt2'] = (net, *ours(net, tmp_path_factory.mktemp('gpt2'), make))
  return found


def slow_masked(net, text, place):
  import torch

  masked_text = text.copy()
  masked_text[place] = MASK
  with torch.no_grad():
    logits = net(input_ids=torch.tensor(masked_text[None].astype(int))).logits
  return logits[0, place].log_softmax(-1)[text[place]].item()


@needs_torch
@pytest.mark.parametrize('family', ['bert', 'roberta'])
@pytest.mark.parametrize('batch', [3, 64])
def test_masked_logs_are_those_of_one_mask_at_a_time(nets, family, batch):
  net, module, params = nets[family]
  given = texts(make_encoders.VOCAB)
  chosen = token_scores.inner(given)
  chosen[[1, 8, 17]] = False  # CrowS-Pairs asks for some tokens only
  logs = token_scores.masked_logs(module, params, given, MASK, chosen, batch)
  slow = [
    slow_masked(net, text, place) if chosen[given.offsets[i] + place] else None
    for i, text in enumerate(given.split())
    for place in range(len(text))
  ]
  assert [np.isnan(a) for a in logs] == [b is None for b in slow]
  wanted = np.array([b for b in slow if b is not None])
  np.testing.assert_allclose(logs[chosen], wanted, atol=1e-5)
  assert wanted.std() > 0.3
  total, count = text_likelihood.totals(logs, given)
  assert count[1] == 0 and count.sum() == chosen.sum() == len(wanted)
  np.testing.assert_allclose(total.sum(), wanted.sum(), atol=1e-4)


@needs_torch
def test_every_place_even_the_first(nets):
  net, module, params = nets['bert']
  given = texts(make_encoders.VOCAB, (4, 1, 3))
  everything = np.ones(8, bool)
  logs = token_scores.masked_logs(module, params, given, MASK, everything)
  slow = [slow_masked(net, t, p) for t in given.split() for p in range(len(t))]
  np.testing.assert_allclose(logs, slow, atol=1e-5)


@needs_torch
@pytest.mark.parametrize('bos', [None, BOS])
def test_causal_logs_are_those_of_one_text_at_a_time(nets, bos):
  import torch

  net, module, params = nets['gpt2']
  given = texts(make_seq2seq.VOCAB, seed=3)
  logs = given.split(token_scores.causal_logs(module, params, given, bos))
  for text, found in zip(given.split(), logs):
    ids = text if bos is None else np.insert(text, 0, bos)
    ids = torch.tensor(ids[None].astype(int))
    with torch.no_grad():
      out = net(input_ids=ids, labels=ids)
    slow = out.logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
    if bos is None:
      assert np.isnan(found[0])
      found = found[1:]
    np.testing.assert_allclose(found, slow.numpy(), atol=1e-5)
    if len(found):
      np.testing.assert_allclose(-found.mean(), out.loss.item(), atol=1e-5)


def test_few_places_have_logits(monkeypatch):
  """The head sees a place a copy, the last layer little more."""
  shape = families.named('tiny', 40)
  module = families.module(shape, 'mask')
  given = texts(40, (12,) * 30)
  copies = masked.every_place(given, token_scores.inner(given))
  module = module.clone(heads_only=True)
  params = jax.eval_shape(module.init, jax.random.key(0), places.blank_batch())
  whole = 0
  for host, which in masked.sweep(given, copies, MASK, 64, 1):
    out = jax.eval_shape(module.apply, params, host)
    assert out.shape == (64, 1, 40)
    assert (host['tokens'] == MASK).sum() == (which >= 0).sum()
    assert host['head_columns'].size <= 2 * 64
    whole += (host['segment_ids'] > 0).mean() > 0.9
  assert whole >= 4


def test_two_perplexities_by_name():
  """Fact of the reference: means 2 and 4 give exp(3), whatever the lengths."""
  log, count = -np.array([2.0 * 10, 4.0 * 2, 0.0]), np.array([10, 2, 0])
  found = text_likelihood.perplexity(log, count, RowSample(0.95, 500, 0))
  np.testing.assert_allclose(found['per_text']['value'], 20.0855, atol=1e-4)
  np.testing.assert_allclose(
    found['token_weighted']['value'], 10.3123, atol=1e-4
  )
  for one in found.values():
    assert np.exp(2) * 0.999 <= one['low'] <= one['value'] <= one['high']
  bare = text_likelihood.perplexity(log, count, RowSample(0.95, 0, 0))
  assert bare['per_text']['low'] is None
  with pytest.raises(UserError, match='no text has a token'):
    text_likelihood.perplexity(log[2:], count[2:], RowSample(0.95, 10, 0))


def test_intervals_are_those_of_a_plain_bootstrap():
  rng = np.random.default_rng(1)
  count = rng.integers(5, 50, 300)
  loss = rng.normal(4.0, 0.5, 300) + 20 / count
  found = text_likelihood.perplexity(
    -loss * count, count, RowSample(0.9, 4000, 0)
  )
  draws = {'per_text': [], 'token_weighted': []}
  for _ in range(4000):
    rows = rng.integers(0, 300, 300)
    draws['per_text'].append(np.exp(loss[rows].mean()))
    draws['token_weighted'].append(
      np.exp((loss * count)[rows].sum() / count[rows].sum())
    )
  for name, one in found.items():
    low, high = np.quantile(draws[name], [0.05, 0.95])
    np.testing.assert_allclose(
      [one['low'], one['high']], [low, high], rtol=6e-3
    )


@pytest.mark.parametrize('copies', [1, 4])
def test_intervals_of_few_texts_and_of_copies_hold_the_truth(copies):
  """Of 8 texts, and of 30 texts four times each; rows held it in .87, .66."""
  rng, hits, n = np.random.default_rng(2), 0, {1: 8, 4: 30}[copies]
  cluster = np.repeat(np.arange(n), copies) if copies > 1 else None
  for _ in range(200):
    count = np.repeat(rng.integers(5, 40, n), copies)
    loss = np.repeat(rng.normal(4.0, 0.6, n), copies)
    how = RowSample(0.95, 300, 0, cluster)
    found = text_likelihood.perplexity(-loss * count, count, how)
    one = found['per_text']
    hits += one['low'] <= np.exp(4) <= one['high']
  assert 181 <= hits <= 199


def test_bad_input_is_told_in_one_sentence():
  shape = families.named('tiny', 40)
  module = families.module(shape, 'mask')
  params = jax.tree.map(
    lambda a: np.zeros(a.shape, a.dtype),
    jax.eval_shape(module.init, jax.random.key(0), places.blank_batch()),
  )['params']
  run = lambda module, given: token_scores.masked_logs(
    module, params, given, MASK, np.ones(len(given.flat), bool)
  )
  with pytest.raises(UserError, match='text 2 has the token 40, but the model'):
    run(module, Ragged(np.array([5, 5, 40], np.int32), np.arange(4)))
  with pytest.raises(UserError, match=r'text 1 has more tokens than .* \(512'):
    run(module, texts(40, (3, 513)))
  with pytest.raises(UserError, match='text 0 has no token'):
    run(module, texts(40, (0, 3)))
  with pytest.raises(UserError, match=r'weights have 40 tokens and .* 41'):
    run(special.resized(module, 41), texts(40))
