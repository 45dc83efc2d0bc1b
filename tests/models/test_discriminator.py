"""The discriminator on logits: a torch twin, packing."""

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


def model_of(batch):
  model = LogitDiscriminator(VOCABULARY, WIDTH)
  params = jax.jit(model.init)(jax.random.key(0), output_of(batch), batch)
  return model, params


def scores(model, params, batch, key=None):
  return jax.jit(model.apply)(params, output_of(batch), batch, key)


def test_scores_equal_a_network_written_in_torch(torch):
  batch = batch_of(False)
  model, params = model_of(batch)
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
    z = z - z.mean(1, keepdim=True)
    x = linear(torch.relu(linear(z, p)), p['middle'])
    x = linear(torch.relu(x), p['place'])
    x = torch.nn.functional.normalize(x.sum(0), dim=0)
    x = linear(torch.tanh(linear(x, p['dense'])), p['score'])
    np.testing.assert_allclose(ours[k], x, atol=1e-5)


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
