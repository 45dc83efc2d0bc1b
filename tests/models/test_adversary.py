"""MBCDA's loss: a generator and a discriminator, each on its own gradient."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from fairjax.core.errors import UserError
from fairjax.models import adversary, families, of_module
from fairjax.models.families import bart, causal
from fairjax.models.folders import hf

from . import batches, seq2seq

SHAPE = dataclasses.replace(
  bart.sized(1, 64, 32), vocab=60, hidden=32, decoder_hidden=32
)


def both():
  generator = families.module(SHAPE, 'write')
  init = lambda seed: hf.complete(generator, {}, jax.random.key(seed))
  model = adversary.model(of_module(generator, init))
  return model, model.init(0)


def batch_of(packed=True):
  texts = batches.examples([5, 9, 3, 7], 60)
  batch = seq2seq.batch_of(texts, texts, packed, extra=1)
  real = (batch['target_segment_ids'] > 0).sum()
  return batch | {
    'label': np.array([0, 1, 1, 0, 0], np.int32),
    'share': np.float32(1 / real),
    'pair_share': np.float32(1 / 4),
    'push': np.float32(0.7),
  }


def plain(model, params, batch):
  """The same loss with all logits made."""
  two = model.module
  logits = two.generator.apply({'params': params['generator']}, batch)
  losses = causal.token_losses(logits, jnp.asarray(batch['target']))
  tokens = jnp.average(losses, weights=batch['target_segment_ids'] > 0)
  eye = jnp.eye(SHAPE.vocab)
  read = adversary.Output(logits, eye, jnp.zeros(SHAPE.vocab))
  scores = two.discriminator.apply(
    {'params': params['discriminator']}, read, batch
  )
  doubt = optax.softmax_cross_entropy_with_integer_labels(
    scores[:4], jnp.asarray(batch['label'][:4])
  ).mean()
  return tokens + 0.7 * doubt, (tokens, doubt)


def test_loss_and_gradients_are_those_of_the_logits():
  model, params = both()
  batch = batch_of()
  ours = jax.jit(
    jax.value_and_grad(
      lambda p: adversary.generator_loss(model, p, batch, None), has_aux=True
    )
  )(params)
  theirs = jax.jit(
    jax.value_and_grad(lambda p: plain(model, p, batch), has_aux=True)
  )(params)
  np.testing.assert_allclose(ours[0][0], theirs[0][0], atol=1e-5)
  for name, value in zip(('token_loss', 'adversary_loss'), theirs[0][1]):
    np.testing.assert_allclose(ours[0][1][name], value, atol=1e-5)
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), ours[1], theirs[1]
  )


def test_losses_add_as_published():
  """1.2 and 0.7 are 1.9 at w = 1; a source of group 1 wants group 0."""
  model, params = both()
  batch = batch_of() | {'push': np.float32(1)}
  loss = jax.jit(lambda p: adversary.generator_loss(model, p, batch, None))
  total, terms = loss(params)
  np.testing.assert_allclose(total, sum(terms.values()), rtol=1e-6)
  scores = jax.jit(adversary.judging(model).apply)(params, batch)
  wrong = {**batch, 'label': 1 - batch['label']}
  turned = adversary.doubts(scores, wrong)
  assert float(turned) != pytest.approx(float(terms['adversary_loss']))


def test_the_discriminator_reads_no_dropout_of_the_generator():
  model, params = both()
  batch, key = batch_of(), jnp.uint32(3)
  still = model.module.discriminator.clone(rate=0.0)
  calm = model.replace(module=model.module._replace(discriminator=still))
  loss = lambda one, k: jax.jit(
    lambda p: adversary.discriminator_loss(one, p, batch, k)[0]
  )
  losses = [
    float(loss(one, k)(params))
    for one, k in ((calm, None), (calm, key), (model, key))
  ]
  assert losses[0] == losses[1] != losses[2]


def test_only_a_bart_is_read():
  shape = families.replaced(families.find('gpt2').sized(1, 64), vocab=60)
  module = families.module(shape, 'write')
  with pytest.raises(UserError, match='reads the logits of a BART'):
    adversary.model(of_module(module, lambda seed: {}))
