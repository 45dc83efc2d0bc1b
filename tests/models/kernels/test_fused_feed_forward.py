"""The feed-forward kernel, in the interpreter, against one gradient a place."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models.kernels import fused_feed_forward
from fairjax.models.layers import exact_norms

from .. import interpreter

R, T, D, F = 2, 19, 12, 72  # 19 places become 32, 72 features 128


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
  yield from interpreter.interpreted(monkeypatch, fused_feed_forward)


def block(x, up, down):
  z = jax.nn.gelu(x @ up[0] + up[1], approximate=False)
  return z @ down[0] + down[1]


def test_its_norms_are_those_of_each_examples_own_gradient():
  """Over seeds; places of no example (0) are in no norm."""
  rng = np.random.default_rng(0)
  draw = lambda *dims: jnp.asarray(rng.normal(size=(2, *dims)), jnp.float32)
  x, turned = draw(R, T, D), draw(R, T, D)
  up, down = (draw(D, F) / 3, draw(F)), (draw(F, D) / 3, draw(D))
  ids = jnp.asarray([[1] * 7 + [2] * 9 + [0] * 3, [3] * 19])

  def ours(x, up, down, turned):
    def loss(x, probes):
      arrays = [(*w, p, ids) for w, p in zip((up, down), probes)]
      return jnp.sum(turned * exact_norms.feed_forward('gelu', x, *arrays))

    return jax.grad(loss, (0, 1))(x, (jnp.zeros(3),) * 2)

  def expected(x, up, down, turned):
    def own(number):  # the gradient of one example's loss
      loss = lambda up, down: jnp.sum(
        jnp.where(ids == number, (block(x, up, down) * turned).sum(-1), 0.0)
      )
      square = lambda tree: sum(jnp.sum(a * a) for a in tree)
      return [square(tree) for tree in jax.grad(loss, (0, 1))(up, down)]

    whole = jax.grad(lambda x: jnp.sum(block(x, up, down) * turned))(x)
    return whole, tuple(jnp.stack(one) for one in zip(*map(own, (1, 2, 3))))

  # Padding's cotangents are zero wherever it is used.
  turned = turned * (ids > 0)[:, :, None]
  a, b = (jax.jit(jax.vmap(f))(x, up, down, turned) for f in (ours, expected))
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-4), a, b
  )


def test_gelu_and_its_slope():
  u = jnp.linspace(-9, 9, 2001)
  z, slope = fused_feed_forward.gelu_and_slope(u)
  plain = functools.partial(jax.nn.gelu, approximate=False)
  np.testing.assert_allclose(z, plain(u), atol=1e-6)
  np.testing.assert_allclose(slope, jax.vmap(jax.grad(plain))(u), atol=1e-6)


def test_one_that_this_gpu_gets_wrong_is_not_used(interpreted, monkeypatch):
  monkeypatch.setattr(jax, 'default_backend', lambda: 'gpu')
  assert fused_feed_forward.agrees(20, 24, 40, jnp.bfloat16, 'gelu')
  real = fused_feed_forward._dot
  for broken in (lambda a: real(a) * 1.2, lambda a: 1 / 0):
    interpreted()
    monkeypatch.setattr(fused_feed_forward, '_dot', broken)
    with pytest.warns(UserWarning, match='feed-forward norms is not used'):
      assert not fused_feed_forward.agrees(20, 24, 40, jnp.bfloat16, 'gelu')


def test_what_it_takes():
  def fits(t, kind='gelu', dtype=jnp.bfloat16):
    return fused_feed_forward.fits(t, 8, 32, dtype, kind)

  assert fits(16) and not fits(129) and not fits(15)
  assert not fits(16, 'relu') and not fits(16, dtype=jnp.float32)
