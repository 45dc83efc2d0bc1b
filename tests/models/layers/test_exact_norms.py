"""Exact per-example gradient norms against one gradient per example."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import params_of

from fairjax.core import backend
from fairjax.models import families
from fairjax.models.layers import attention, exact_norms

from ..small_encoder import PACKED, SHAPE, norms


def test_norms_in_bfloat16_are_float32():
  module = families.module(SHAPE, 'classify', classes=2, dtype=jnp.bfloat16)
  params = params_of(module)
  rough = jax.jit(lambda p: norms(module, p, PACKED))(params)
  plain = families.module(SHAPE, 'classify', classes=2)
  exact = jax.jit(lambda p: norms(plain, p, PACKED))
  assert rough.dtype == jnp.float32
  np.testing.assert_allclose(rough[:5], exact(params)[:5], rtol=0.1)


@pytest.mark.parametrize('dtype', ['float32', 'bfloat16'])
@pytest.mark.parametrize('bias', [True, False])
@pytest.mark.parametrize(
  'd, f, direct', [(3, 4, True), (3, 40, True), (40, 3, True), (40, 60, False)]
)
def test_norms_of_products_and_of_grams_are_the_same(d, f, direct, bias, dtype):
  """Against each example's own gradient, with several examples a row."""
  segment_ids = np.zeros((3, 24), np.int32)  # the last row: padding only
  for row, start, stop, owner in [(0, 0, 9, 2), (0, 9, 20, 1), (1, 0, 24, 4)]:
    segment_ids[row, start:stop] = owner
  rng = np.random.default_rng(1)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), dtype)
  x, g, kernel = draw(3, 24, d), draw(3, 24, f), draw(d, f).astype(jnp.float32)
  assert exact_norms.is_direct(24, d, f, 2) == direct
  assert not exact_norms.is_direct(24, d, f, 0)  # nobody knows how many
  with backend.made_for('gpu'):
    assert not exact_norms.is_direct(24, d, f, 2)
  shift = jnp.zeros(f) if bias else None
  ids = jnp.asarray(segment_ids)

  def loss(sq):
    y = exact_norms.dense(x, kernel, shift, sq, ids, 2)
    return jnp.sum((y * g).astype(jnp.float32))

  squares = jax.jit(jax.grad(loss))(jnp.zeros(4))
  wide = [np.asarray(a, np.float64) for a in (x, g)]
  for owner in range(1, 5):
    a, b = (w[segment_ids == owner] for w in wide)
    expected = np.sum((a.T @ b) ** 2) + bias * np.sum(b.sum(0) ** 2)
    np.testing.assert_allclose(squares[owner - 1], expected, rtol=1e-5)


def test_layer_gradients_match_plain_ones():
  """Each custom backward pass against JAX's own derivative."""
  rng = np.random.default_rng(0)
  draw = lambda *s: jnp.asarray(rng.standard_normal(s), jnp.float32)
  x, ids = draw(2, 5, 6), jnp.asarray(rng.integers(0, 40, (2, 5)))
  kernel, bias, scale, table = draw(6, 4), draw(4), draw(6), draw(40, 6)

  def norm(x, scale, shift):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-6) * scale + shift

  pairs = [
    (
      lambda x, k, b: exact_norms.dense(x, k, b, None, None),
      lambda x, k, b: x @ k + b,
      (x, kernel, bias),
    ),
    (
      lambda x, k: exact_norms.dense(x, k, None, None, None),
      lambda x, k: x @ k,
      (x, kernel),
    ),
    (
      lambda x, s, b: exact_norms.norm(x, s, b, None, None, 1e-6, True),
      norm,
      (x, scale, draw(6)),
    ),
    (
      lambda x, s: exact_norms.norm(x, s, None, None, None, 1e-6, True),
      lambda x, s: norm(x, s, 0),
      (x, scale),
    ),
    (
      lambda x, s: exact_norms.norm(x, s, None, None, None, 1e-6, False),
      lambda x, s: x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * s,
      (x, scale),
    ),
    (
      lambda t: exact_norms.embed(t, ids, None, None),
      lambda t: t[ids],
      (table,),
    ),
    (
      lambda t: exact_norms.embed(t, ids % 3, None, None),
      lambda t: t[ids % 3],
      (table[:3],),
    ),
    (attention.gelu, lambda x: jax.nn.gelu(x, approximate=False), (x,)),
    (attention.softmax, jax.nn.softmax, (x,)),
  ]
  for ours, plain, inputs in pairs:
    g = draw(*jax.eval_shape(plain, *inputs).shape)

    def pulled(function, inputs=inputs, g=g):
      y, back = jax.vjp(function, *inputs)
      return y, *back(g)

    for a, b in zip(
      *(jax.jit(pulled, static_argnums=0)(f) for f in (ours, plain))
    ):
      np.testing.assert_allclose(a, b, atol=1e-5)


def test_norms_keep_their_statistics_on_a_gpu():
  """And nothing else differs."""
  rng = np.random.default_rng(4)
  x = jnp.asarray(rng.normal(size=(2, 5, 8)), jnp.float32)
  scale, bias = jnp.asarray(rng.normal(size=(2, 8)), jnp.float32)

  def loss(x, scale, bias):
    y = exact_norms.norm(x, scale, bias, None, None, 1e-12, True)
    return jnp.sum(jnp.sin(y))

  run = lambda: jax.jit(jax.vmap(jax.grad(loss, (0, 1, 2)), (0, None, None)))(
    x, scale, bias
  )
  here = run()
  with backend.made_for('gpu'):
    there = run()
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), here, there
  )
