"""Adversaries, discriminators and gathers."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from fairjax import config
from fairjax.bench.compiles import programs
from fairjax.core import backend
from fairjax.core.errors import UserError
from fairjax.models import adversary, families, of_module
from fairjax.models.families import bart, causal
from fairjax.models.folders import hf
from fairjax.models.layers import gathers
from fairjax.train import mesh

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


def test_columns_and_rows_and_their_cotangents():
  rng = np.random.default_rng(0)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  x, columns, g = draw(3, 7, 4), jnp.asarray([[1, 1, 6]] * 3), draw(3, 3, 4)
  y, back = jax.vjp(lambda x: gathers.columns_of(x, columns), x)
  np.testing.assert_array_equal(y, x[:, [1, 1, 6]])
  expected = np.zeros((3, 7, 4), np.float32)
  expected[:, 1], expected[:, 6] = g[:, 0] + g[:, 1], g[:, 2]
  np.testing.assert_allclose(back(g)[0], expected, rtol=1e-6)
  rows = gathers.rows_of(x[0], jnp.asarray([5, 0]))
  np.testing.assert_array_equal(rows, x[0, [5, 0]])
  many = jax.vmap(gathers.columns_of)(x[None], columns[None])[0]  # over seeds
  np.testing.assert_array_equal(many, y)


def test_an_own_score_is_that_of_the_label():
  scores = jnp.asarray([[1.0, np.inf, 3.0], [-np.inf, 5.0, 6.0]])
  labels = jnp.asarray([2, 1])
  np.testing.assert_array_equal(gathers.own_score(scores, labels), [3.0, 5.0])


@pytest.mark.parametrize('count', [1, 6, 40])
def test_sums_by_id(count):
  """Ids that are no row of the table are in no sum."""
  rng = np.random.default_rng(count)
  ids = rng.integers(0, count + 3, 100)
  values = rng.normal(size=(100, 5)).astype(np.float32)
  expected = np.zeros((count, 5))
  np.add.at(expected, ids[ids < count], values[ids < count])
  run = jax.jit(gathers.summed_by_id, static_argnums=2)
  found = run(jnp.asarray(ids), jnp.asarray(values), count)
  np.testing.assert_allclose(found, expected, atol=1e-5)


def scatters(text: str) -> list[tuple[bool, str]]:
  """(whether it may add twice at one place, what) of a program as lowered."""
  found = []
  lines = text.splitlines()
  for i, line in enumerate(lines):
    if '"stablehlo.scatter"' in line:
      body = '\n'.join(lines[i : i + 6])
      adds = 'stablehlo.add' in body
      ordered = re.search('(unique_indices|are_sorted) = true', line)
      found.append((adds and not ordered, body))
  return found


def test_nothing_adds_in_no_order_in_a_deterministic_step():
  """Of a GPU's step, as it is given to the compiler."""
  size = programs.Size(model='tiny', layers=1, rows=8, length=32, seeds=2)
  place = mesh.make(config.Mesh(), size.seeds, jax.devices()[:1])

  def text() -> str:
    with backend.made_for('gpu'):
      traced = programs.PROGRAMS['train'](place, size)
      return traced.lower(lowering_platforms=('cpu',)).as_text()

  with backend.repeatable(True):
    found = scatters(text())
  assert found  # tables are written by unique rows
  assert not [body for adds, body in found if adds]
  free = [body for adds, body in scatters(text()) if adds]
  assert len(free) == 2  # words and positions, where nothing was asked


def test_the_compiler_is_told_of_it():
  assert backend.compiler_options() == {}
  with backend.repeatable(True):
    assert backend.compiler_options() == {}  # a CPU always repeats
    with backend.made_for('gpu'):
      told = backend.compiler_options()
      assert told == {'xla_gpu_deterministic_ops': True}
  assert not backend.repeats()
