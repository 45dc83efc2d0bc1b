"""The discriminator on logits: a torch twin, folding, chunks, packing."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models import discriminator
from fairjax.models.discriminator import LogitDiscriminator, Output

from . import batches, seq2seq

VOCABULARY, WIDTH = 300, 16


def batch_of(packed):
  texts = batches.examples([5, 9, 3, 7], VOCABULARY)
  return seq2seq.batch_of(texts, texts, packed=packed, extra=1)


def output_of(batch, seed=0):
  """States that belong to an example's place, wherever it lies."""
  rng = np.random.default_rng(seed)
  table = rng.normal(size=(VOCABULARY, WIDTH)).astype(np.float32)
  each = rng.normal(size=(6, 12, WIDTH)).astype(np.float32)
  states = each[batch['target_segment_ids'], batch['target_positions'] % 12]
  bias = rng.normal(size=VOCABULARY).astype(np.float32)
  return Output(*map(jnp.asarray, (states, table, bias)))


def model_of(batch, **options):
  model = LogitDiscriminator(VOCABULARY, WIDTH, **options)
  params = jax.jit(model.init)(jax.random.key(0), output_of(batch), batch)
  return model, params


def scores(model, params, batch, key=None):
  return jax.jit(model.apply)(params, output_of(batch), batch, key)


@pytest.mark.parametrize('folded', [True, False])
@pytest.mark.parametrize('centred', [True, False])
def test_scores_equal_a_network_written_in_torch(folded, centred):
  if importlib.util.find_spec('torch') is None:
    pytest.skip('torch is not here')
  import torch

  batch = batch_of(False)
  model, params = model_of(batch, folded=folded, centred=centred, chunk=7)
  # Fresh biases are zero and would hide themselves.
  rng = np.random.default_rng(1)
  p = jax.tree.map(
    lambda a: a + rng.normal(size=a.shape).astype(np.float32) / 9, params
  )
  ours = scores(model, p, batch)
  p = p['params']
  given = lambda a: torch.tensor(np.asarray(a))
  linear = lambda x, d: x @ given(d['kernel']) + given(d['bias'])
  states, table, bias = map(given, output_of(batch))
  for k in range(4):
    own = given(batch['target_segment_ids']) == k + 1
    z = states[own] @ table.T + bias
    z = z - z.mean(1, keepdim=True) if centred else z
    x = linear(torch.relu(linear(z, p)), p['middle'])
    x = linear(torch.relu(x), p['place'])
    x = torch.nn.functional.normalize(x.sum(0), dim=0)
    x = linear(torch.tanh(linear(x, p['dense'])), p['score'])
    np.testing.assert_allclose(ours[k], x, atol=1e-5)


def test_folded_and_chunked_agree_in_scores_and_gradients():
  batch = batch_of(True)
  results = []
  for options in ({'folded': True}, {'folded': False, 'chunk': 5}):
    model, params = model_of(batch, **options)

    def loss(params, output):
      logits = model.apply(params, output, batch, None)
      return jnp.sum(jax.nn.log_softmax(logits)[:4, 1])

    both = jax.jit(jax.value_and_grad(loss, (0, 1)))
    results.append(both(params, output_of(batch)))
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), *results
  )


def test_chunks_do_not_change_the_gradient_under_dropout():
  batch, key = batch_of(True), jnp.uint32(7)
  results = []
  for chunk in (5, 1000):
    model, params = model_of(batch, folded=False, chunk=chunk)
    loss = lambda p: scores(model, p, batch, key)[:4, 0].sum()
    results.append(jax.jit(jax.value_and_grad(loss))(params))
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), *results
  )
  without = scores(model, params, batch)[:4, 0].sum()
  assert abs(float(without - results[0][0])) > 1e-3  # dropout did something


@pytest.mark.parametrize('key', [None, 3])
def test_packing_and_padding_change_nothing(key):
  key = None if key is None else jnp.uint32(key)
  results = []
  for packed in (False, True):
    batch = batch_of(packed)
    model, params = model_of(batch)
    results.append(np.asarray(scores(model, params, batch, key)))
  np.testing.assert_allclose(*(r[:4] for r in results), atol=1e-5)
  assert np.isfinite(results[0]).all()


def test_widths_are_the_published_ones_at_the_published_vocabulary():
  assert discriminator.widths(50265) == (3265, 1265)
