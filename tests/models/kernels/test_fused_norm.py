"""LayerNorm's backward kernel, in the interpreter, against `jax.vjp`."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.core import backend
from fairjax.models.kernels import fused_norm
from fairjax.models.layers import exact_norms

from .. import interpreter


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
  yield from interpreter.interpreted(monkeypatch, fused_norm)


def textbook(x, scale, bias, centre):
  mean = x.mean(-1, keepdims=True) if centre else 0.0
  variance = ((x - mean) ** 2).mean(-1, keepdims=True)
  return (x - mean) / jnp.sqrt(variance + 1e-6) * scale + bias


@pytest.mark.parametrize('slots, centre', [(1, True), (3, True), (3, False)])
def test_it_is_the_gradient_of_each_slot(slots, centre):
  """19 places are no multiple of the kernel's 16, nor 24 features of 2ⁿ."""
  seeds, r, t, d = 2, 2, 19, 24
  rng = np.random.default_rng(0)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  x, g, scale = draw(seeds, r, t, d) + 1, draw(seeds, r, t, d), draw(seeds, d)
  slot = jnp.asarray(np.sort(rng.integers(0, slots + 1, (r, t)), axis=1))

  def ours(x, g, scale):
    return fused_norm.backward(x, g, scale, slot, slots, 1e-6, centre)

  def expected(x, g, scale):
    bias = jnp.zeros(d)
    _, pull = jax.vjp(lambda x: textbook(x, scale, bias, centre), x)

    def own(row, number):  # one example's gradients of scale and bias
      f = lambda *p: textbook(x[row], *p, centre)
      mine = (slot[row] == number)[:, None]
      return jax.vjp(f, scale, bias)[1](jnp.where(mine, g[row], 0.0))

    every = jax.vmap(jax.vmap(own, (None, 0)), (0, None))
    return *pull(g), *every(jnp.arange(r), jnp.arange(slots))

  for a, b in zip(
    *(jax.jit(jax.vmap(f))(x, g, scale) for f in (ours, expected))
  ):
    np.testing.assert_allclose(a, b, atol=2e-5)


@pytest.mark.parametrize('slots', [0, 2])
def test_a_layer_takes_it_on_a_gpu(slots):
  """With and without probes: the cotangents of the plain layer."""
  rng = np.random.default_rng(1)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  x, turned = draw(3, 16, 8).astype(jnp.bfloat16), draw(3, 16, 8)
  scale, bias = draw(2, 8)
  probe = None, None
  if slots:
    first = jnp.arange(3)[:, None] * 2 + 1
    probe = jnp.zeros(6), first + (jnp.arange(16) > 6)

  def loss(x, scale, bias, sq):
    y = exact_norms.norm(x, scale, bias, sq, probe[1], 1e-6, True, slots)
    return jnp.sum(y.astype(jnp.float32) * turned)

  run = lambda: jax.grad(loss, (0, 1, 2, 3) if slots else (0, 1, 2))(
    x, scale, bias, probe[0]
  )
  here = run()
  with backend.made_for('gpu'):
    there = run()
  for a, b in zip(there, here):
    a, b = np.float32(a), np.float32(b)
    np.testing.assert_allclose(a, b, atol=0.02 * np.abs(b).max())


def test_one_that_this_gpu_gets_wrong_is_not_used(interpreted, monkeypatch):
  monkeypatch.setattr(jax, 'default_backend', lambda: 'gpu')
  x = jnp.zeros((2, 17, 8), jnp.bfloat16)
  one = functools.partial(exact_norms.norm_in_one_kernel, x, None, 0, True)
  with backend.made_for('gpu'):
    assert one()
    real = fused_norm.slot_sums
    for broken in (lambda *a: real(*a) * 1.2, lambda *a: 1 / 0):
      interpreted()
      monkeypatch.setattr(fused_norm, 'slot_sums', broken)
      with pytest.warns(
        UserWarning, match='of the norms of layers is not used'
      ):
        assert not one()


def test_rows_that_are_too_short_or_wide_are_left_to_xla():
  fits = functools.partial(fused_norm.fits, centre=True)
  assert fits(16, 1024, jnp.bfloat16, 16)
  for t, width, slots in ((15, 8, 1), (16, 1025, 1), (16, 8, 17)):
    assert not fits(t, width, jnp.bfloat16, slots)
  assert not fits(16, 8, jnp.float32, 1)
