"""The loss of a tied output layer in chunks: value, gradients, memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models.layers import linear_loss

PLACES, WIDTH, VOCABULARY = 13, 6, 40


def arguments():
  rng = np.random.default_rng(0)
  draw = lambda *shape: jnp.asarray(rng.normal(size=shape), jnp.float32)
  labels = jnp.asarray(rng.integers(0, VOCABULARY, PLACES))
  weights = jnp.asarray(rng.random(PLACES), jnp.float32).at[3].set(0)
  return (
    draw(PLACES, WIDTH),
    draw(VOCABULARY, WIDTH),
    draw(VOCABULARY),
    labels,
    weights,
  )


def plain(x, table, bias, labels, weights):
  """By log softmax of the whole array."""
  logp = jax.nn.log_softmax(x @ table.T + bias)
  return -jnp.sum(weights * logp[jnp.arange(len(labels)), labels])


@pytest.mark.parametrize('size', [1, 4, 13, 64])
def test_value_and_gradients_equal_those_of_the_whole_array(size):
  args, by = arguments(), (0, 1, 2, 4)
  chunked = lambda *a: 3 * linear_loss.weighted_loss(*a, size)
  ours = jax.jit(jax.value_and_grad(chunked, by))(*args)
  whole = jax.jit(jax.value_and_grad(lambda *a: 3 * plain(*a), by))
  theirs = whole(*args)
  np.testing.assert_allclose(chunked(*args), theirs[0], rtol=1e-6)
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5, rtol=1e-5),
    ours,
    theirs,
  )


def sizes(jaxpr):
  """The number of elements of every array that a program makes."""
  for equation in jaxpr.eqns:
    yield from (v.aval.size for v in equation.outvars)
    for value in equation.params.values():
      inner = getattr(value, 'jaxpr', value)
      if hasattr(inner, 'eqns'):
        yield from sizes(inner)


def test_no_array_of_all_logits_is_made():
  whole = PLACES * VOCABULARY
  grad = lambda f: jax.make_jaxpr(jax.grad(f, (0, 1)))(*arguments()).jaxpr
  assert max(sizes(grad(plain))) >= whole
  chunked = lambda *a: linear_loss.weighted_loss(*a, 4)
  assert max(sizes(grad(chunked))) < whole
