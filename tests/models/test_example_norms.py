"""Norms of any linen model, against a gradient for each example."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from fairjax.models.example_norms import gradient_norms


class Reader(nn.Module):
  """Embeddings, attention, a norm without bias, and a classifier."""

  twice: bool = False
  own: bool = False

  @nn.compact
  def __call__(self, ids, mask):
    x = nn.Embed(11, 8)(ids)
    x = x + nn.MultiHeadDotProductAttention(2)(x, mask=mask[:, None, None])
    x = nn.LayerNorm(use_bias=False)(x)
    dense = nn.Dense(8, name='inner')
    x = dense(nn.gelu(dense(x)) if self.twice else x)
    if self.own:
      x = x * self.param('gain', nn.initializers.ones, (8,))
    x = nn.LayerNorm()(x.mean(1))
    return nn.Dense(3, use_bias=False)(x)


def loss(logits, label):
  return -jnp.take_along_axis(
    jax.nn.log_softmax(logits), label[:, None], axis=1
  )[:, 0]


def world(module):
  rng = np.random.default_rng(0)
  ids = jnp.asarray(rng.integers(0, 11, (10, 6)))
  mask = jnp.asarray(rng.random((10, 6)) < 0.8).at[:, 0].set(True)
  label = jnp.asarray(rng.integers(0, 3, 10))
  params = jax.jit(module.init)(jax.random.key(1), ids, mask)['params']
  params = jax.tree.map(lambda a: a + rng.normal(0, 0.1, a.shape), params)
  return params, (ids, mask), label


@pytest.mark.parametrize('more', [{}, {'own': True}, {'twice': True}])
def test_norms_are_those_of_each_examples_own_gradient(more):
  module = Reader(**more)
  params, inputs, label = world(module)

  def slow(ids, mask, y):
    grads = jax.grad(
      lambda p: loss(
        module.apply({'params': p}, ids[None], mask[None]), y[None]
      )[0]
    )(params)
    return jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))

  expected = jax.jit(jax.vmap(slow))(*inputs, label)
  norms = jax.jit(lambda p: gradient_norms(module, p, inputs, label, loss))(
    params
  )
  np.testing.assert_allclose(norms, expected, rtol=2e-5)
  assert np.ptp(expected) > 0.1


def test_a_function_of_an_nnx_model_will_do():
  """Of y = Wx + b and (y - t)²: 2|y - t| √(‖x‖² + 1)."""
  graph, params = nnx.split(nnx.Linear(2, 1, rngs=nnx.Rngs(0)))
  x, t = jnp.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]]), jnp.ones((3, 1))
  run = lambda p, x: nnx.merge(graph, p)(x)
  norms = gradient_norms(run, params, x, t, lambda y, t: ((y - t) ** 2)[:, 0])
  away = jnp.abs(run(params, x) - t)[:, 0] * jnp.sqrt((x**2).sum(1) + 1)
  np.testing.assert_allclose(norms, 2 * away, rtol=1e-5)
