"""Embeddings of words and heads of embeddings, against the plain model."""

import jax
import numpy as np
import pytest
from corpus import SMALL
from small import params_of

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import families, of_module
from fairjax.models.layers.places import blank_batch
from fairjax.models.reading import contextual
from fairjax.recipes.fairflow import attribute_words


@pytest.fixture(scope='module')
def model():
  module = families.module(SMALL, 'mask')
  params = params_of(module)
  # Larger weights: with those of a start all words are much alike.
  return module, jax.tree.map(lambda a: 5 * a, params)


def ragged(draw, n=12):
  lengths = draw.integers(3, 20, n)
  flat = draw.integers(5, 120, lengths.sum()).astype(np.int32)
  return tokens.Ragged(flat, np.r_[0, np.cumsum(lengths)].astype(np.int64))


def alone(texts, i, width=20):
  """One text as a batch of its own, in a row of one width for all."""
  ids = texts.flat[texts.offsets[i] : texts.offsets[i + 1]]
  row = lambda values: np.pad(np.int32(values), (0, width - len(ids)))[None]
  return blank_batch() | {
    'tokens': row(ids),
    'segment_ids': row(np.ones(len(ids))),
    'positions': row(np.arange(len(ids))),
  }


@pytest.mark.parametrize('layer, layers', [(1, 1), (-1, 1), (-1, 2)])
def test_vectors_are_means_of_the_states_of_unpacked_texts(
  model, layer, layers
):
  module, params = model
  draw = np.random.default_rng(0)
  texts = ragged(draw)
  text = draw.integers(0, 12, 30)
  size = draw.integers(1, 4, 30)
  start = np.array([draw.integers(0, texts.lengths[t] - 2) for t in text])
  size = np.minimum(size, texts.lengths[text] - start)
  got = contextual.word_vectors(
    module, params, texts, text, start, size, layer, layers, batch=4
  )
  every = jax.jit(
    lambda batch: module.apply(
      {'params': params},
      batch,
      capture_intermediates=True,
      mutable=['intermediates'],
    )[1]
  )
  for i in range(12):
    passed = every(alone(texts, i))
    last = layer if layer > 0 else SMALL.depth
    states = np.mean(
      [
        passed['intermediates']['encoder'][f'layer_{k}']['__call__'][0][0]
        for k in range(last - layers, last)
      ],
      0,
    )
    for w in np.flatnonzero(text == i):
      mean = np.mean(states[start[w] : start[w] + size[w]], 0)
      np.testing.assert_allclose(got[w], mean, atol=2e-5)


def test_the_head_of_the_last_state_is_the_model(model):
  module, params = model
  texts = ragged(np.random.default_rng(1), 3)
  n = int(texts.lengths[1])
  every = np.arange(n)
  x = contextual.word_vectors(
    module, params, texts, np.ones(n, int), every, np.ones(n, int), -1
  )
  logits = jax.jit(module.apply)({'params': params}, alone(texts, 1, n))
  expected = np.asarray(logits)[0]
  got = contextual.head_logits(module, params, x)
  np.testing.assert_allclose(got, expected, atol=2e-4)
  allowed = np.arange(120) % 2 == 0
  own = expected.argmax(1)
  token, chance = contextual.decode(module, params, x, allowed, own, top=2)
  p = np.exp(expected - np.log(np.exp(expected).sum(1, keepdims=True)))
  p[:, ~allowed] = 0
  p[every, own] = 0
  np.testing.assert_array_equal(token, np.argsort(-p, 1)[:, :2])
  np.testing.assert_allclose(chance, -np.sort(-p, 1)[:, :2], rtol=1e-3)
  free, _ = contextual.decode(
    module, params, x, np.ones(120, bool), np.full(n, -1)
  )
  np.testing.assert_array_equal(free[:, 0], own)


def test_embeddings_in_bfloat16_are_as_near_as_is_said(model, monkeypatch):
  able = lambda asked: 'bfloat16' if asked == 'auto' else asked
  monkeypatch.setattr(attribute_words.backend, 'inference', able)
  bundle = of_module(model[0], None, params=model[1])
  texts, config = ragged(np.random.default_rng(2), 600), Config()
  words = np.stack([np.arange(600), np.full(600, 1), np.full(600, 2)], 1)
  near, bound = attribute_words.read(config, bundle, texts, words)
  config.net.precision = 'float32'
  exact, nothing = attribute_words.read(config, bundle, texts, words)
  apart = np.linalg.norm(near - exact, axis=1) / np.linalg.norm(exact, axis=1)
  assert nothing == 0 and 0 < apart.max() <= bound < 0.1


def test_a_layer_that_is_not_there_is_one_sentence():
  assert contextual.layer_number(-1, 6) == 6
  assert contextual.layer_number(2, 6) == 2
  with pytest.raises(UserError, match='layers 1 to 6'):
    contextual.layer_number(7, 6)
