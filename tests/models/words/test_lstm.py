"""The LSTM against torch, and its gradient norms against one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models.layers import probed
from fairjax.models.words import word_level
from fairjax.models.words.lstm import LSTM, Recurrent

from ..batches import examples, pack, pad
from ..small_encoder import losses, norms

VOCAB, WIDTH, LENGTH = 30, 6, 7
TEXTS = examples([3, 9, 4, 12, 6], VOCAB)
PACKED = pack(TEXTS, 3, 16, 3, extra=2, junk=1)
TABLE = word_level.random_rows(VOCAB, WIDTH, 0) * 20
FROZEN = word_level.EmbeddingTable(TABLE)


def made(vectors=None):
  shape = word_level.WordShape(VOCAB, WIDTH, 2, LENGTH, 0.5, vectors)
  return with_params(LSTM(shape, hidden=5))


def with_params(module):
  params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']
  rng = np.random.default_rng(1)
  noise = lambda leaf: leaf + rng.normal(0, 0.2, leaf.shape).astype('float32')
  return module, jax.tree.map(noise, params)


def slow_norms(module, params, batch):
  def gradient(i):
    return jax.grad(lambda p: losses(module, {'params': p}, batch)[i])(params)

  each = jax.jit(jax.vmap(gradient))(jnp.arange(len(TEXTS)))
  return sum(
    (leaf**2).reshape(len(TEXTS), -1).sum(1) for leaf in jax.tree.leaves(each)
  )


def check_norms(module, params):
  probes = probed.zero_probes(module, params, PACKED)
  assert probed.uncovered(params, probes) == []
  fast = jax.jit(lambda p: norms(module, p, PACKED))(params)
  np.testing.assert_allclose(
    fast[: len(TEXTS)], slow_norms(module, params, PACKED), rtol=1e-5
  )
  assert not fast[len(TEXTS) :].any()


@pytest.mark.parametrize('vectors', [None, FROZEN])
def test_norms_are_exact(vectors):
  check_norms(*made(vectors))


def check_packing(module, params):
  for dropout in (None, jnp.uint32(7)):
    run = jax.jit(lambda b: module.apply({'params': params}, b, dropout))
    np.testing.assert_allclose(
      run(PACKED)[: len(TEXTS)], run(pad(TEXTS, 12)), rtol=1e-5, atol=1e-6
    )


def test_packing_changes_nothing():
  check_packing(*made())


def test_neighbours_and_weights_change_nothing():
  """What batch statistics would break: an example alone is the same."""
  module, params = made()
  run = jax.jit(module.apply)
  both = run({'params': params}, pad(TEXTS, 12))
  alone = run({'params': params}, pad(TEXTS[1:2], 12))
  np.testing.assert_allclose(both[1:2], alone, rtol=1e-5, atol=1e-6)


def test_the_recurrence_is_torchs(torch):
  b, length, width, hidden = 4, 9, 3, 5
  rng = np.random.default_rng(0)
  draw = lambda *shape: rng.normal(0, 0.6, shape).astype(np.float32)
  x, inputs, kernel = (
    draw(b, length, width),
    draw(width, 4 * hidden),
    draw(hidden, 4 * hidden),
  )
  bias, target = draw(4 * hidden), draw(b, hidden)
  rows = probed.Segments(jnp.ones((b, length), jnp.int32), b)

  def ours(inputs, kernel, bias, x):
    last = Recurrent(hidden).apply(
      {'params': {'kernel': kernel}}, x @ inputs + bias, rows
    )
    return (last * target).sum(), last

  grads, last = jax.jit(jax.grad(ours, (0, 1, 2, 3), has_aux=True))(
    inputs, kernel, bias, x
  )
  peer = torch.nn.LSTM(width, hidden, batch_first=True)
  shift = np.zeros(4 * hidden, np.float32)
  shift[hidden : 2 * hidden] = 1  # the forget gate's bias that ours adds
  with torch.no_grad():
    peer.weight_ih_l0.copy_(torch.tensor(inputs.T))
    peer.weight_hh_l0.copy_(torch.tensor(kernel.T))
    peer.bias_ih_l0.copy_(torch.tensor(bias))
    peer.bias_hh_l0.copy_(torch.tensor(shift))
  theirs = torch.tensor(x, requires_grad=True)
  _, (state, _) = peer(theirs)
  (state[0] * torch.tensor(target)).sum().backward()
  np.testing.assert_allclose(last, state[0].detach(), rtol=1e-5, atol=1e-6)
  for mine, other in zip(
    grads,
    (
      peer.weight_ih_l0.grad.T,
      peer.weight_hh_l0.grad.T,
      peer.bias_ih_l0.grad,
      theirs.grad,
    ),
  ):
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def test_the_whole_model_is_torchs(torch):
  module, params = made(FROZEN)
  ids, _ = word_level.unpack(PACKED, LENGTH)
  of = lambda name: torch.tensor(np.asarray(params[name]['kernel']))
  bias = lambda name: torch.tensor(np.asarray(params[name]['bias']))
  x = torch.tensor(TABLE)[torch.tensor(np.asarray(ids))]
  h = c = torch.zeros(len(ids), 5)
  for t in range(LENGTH):  # the equations, a step at a time
    z = x[:, t] @ of('input') + bias('input') + h @ of('recurrent')
    i, f, g, o = z.chunk(4, 1)
    c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
  y = torch.relu(h @ of('dense') + bias('dense'))
  scale = torch.tensor(np.asarray(params['norm']['scale']))
  y = torch.nn.functional.layer_norm(y, (5,), scale, bias('norm'), 1e-3)
  expect = y @ of('classifier') + bias('classifier')
  got = jax.jit(module.apply)({'params': params}, PACKED)
  np.testing.assert_allclose(got, expect, rtol=1e-5, atol=1e-5)
