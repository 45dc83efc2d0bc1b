"""The CNN against torch, and its gradient norms against one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models.words import text_cnn, word_level
from fairjax.models.words.text_cnn import TextCNN

from ..small_encoder import norms
from ..words.test_lstm import (
  FROZEN,
  PACKED,
  TABLE,
  VOCAB,
  WIDTH,
  check_norms,
  check_packing,
  with_params,
)


def made(vectors=None, length=13):
  shape = word_level.WordShape(VOCAB, WIDTH, 2, length, 0.3, vectors)
  return with_params(TextCNN(shape, filters=4))


@pytest.mark.parametrize('vectors', [None, FROZEN])
def test_norms_are_exact(vectors):
  check_norms(*made(vectors))


def test_packing_changes_nothing():
  check_packing(*made())


@pytest.mark.parametrize('length', [13, 250, 35])
def test_the_model_is_torchs(length):
  torch = pytest.importorskip('torch')
  module, params = made(FROZEN, length)
  kernel = lambda name: np.asarray(params[name]['kernel'])
  bias = lambda name: torch.tensor(np.asarray(params[name]['bias']))
  ids, _ = word_level.unpack(PACKED, length)
  x = torch.tensor(TABLE)[torch.tensor(np.asarray(ids))].transpose(1, 2)
  for k, size in enumerate((5, 5, 40)):
    w = kernel(f'conv_{k}').reshape(5, x.shape[1], 4).transpose(2, 1, 0)
    x = torch.nn.functional.conv1d(
      x, torch.tensor(np.ascontiguousarray(w)), bias(f'conv_{k}'), padding=2
    )
    x = torch.relu(x)
    missing = -x.shape[2] % size  # Keras' 'same': the odd one at the end
    ends = (missing // 2, missing - missing // 2)
    x = torch.nn.functional.pad(x, ends, value=-np.inf)
    x = torch.nn.functional.max_pool1d(x, size)
  x = x.transpose(1, 2).flatten(1)
  x = torch.relu(x @ torch.tensor(kernel('dense')) + bias('dense'))
  expect = x @ torch.tensor(kernel('classifier')) + bias('classifier')
  got = jax.jit(module.apply)({'params': params}, PACKED)
  np.testing.assert_allclose(got, expect, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('vectors', [None, FROZEN])
@pytest.mark.parametrize('length', [58, 61])
def test_padding_that_is_left_out_changes_nothing(monkeypatch, vectors, length):
  module, params = made(vectors, length)
  assert text_cnn.spare(length, PACKED['tokens'].shape[1]) > 5

  def results():
    loss = lambda p: jnp.sum(module.apply({'params': p}, PACKED)[:, 0] ** 2)
    logits = module.apply({'params': params}, PACKED)
    return logits, jax.grad(loss)(params), norms(module, params, PACKED)

  short = jax.jit(results)()
  monkeypatch.setattr(text_cnn, 'spare', lambda *_: 0)
  for a, b in zip(
    jax.tree.leaves(short), jax.tree.leaves(jax.jit(lambda: results())())
  ):
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_dixons_lengths():
  x = jnp.zeros((1, 250, 3))
  for size, length in ((5, 50), (5, 10), (40, 1)):
    x = text_cnn.pool(text_cnn.neighbours(x, 5)[..., :3], size)
    assert x.shape == (1, length, 3)
