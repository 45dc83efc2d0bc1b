"""Attention against plain products, and as a GPU is given it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models.layers import attention


@pytest.mark.parametrize('dtype, far', [('float32', 1e-6), ('bfloat16', 0.01)])
def test_attentions_products_of_a_cpu_have_plain_gradients(dtype, far):
  """Against NumPy's in float64, summed in float32."""
  rng = np.random.default_rng(2)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), dtype)
  wide = lambda a: np.asarray(a, np.float64)
  for q, k, e in [(1, 1, 1), (1, 7, 4), (5, 9, 3), (16, 32, 8)]:
    a, b, weights = draw(2, 3, q, e), draw(2, 3, k, e), draw(2, 3, q, k)
    turned = lambda a: a.swapaxes(2, 3)
    y, back = jax.vjp(jax.jit(attention.by_rows), a, b)
    assert y.dtype == jnp.float32
    np.testing.assert_allclose(y, wide(a) @ turned(wide(b)), atol=1e-5)
    g = weights.astype(jnp.float32)
    plain = wide(g) @ wide(b), turned(wide(g)) @ wide(a)
    y, z = jax.vjp(jax.jit(attention.by_columns), weights, b)
    mixed = wide(weights) @ wide(b)
    sides = [wide(weights).swapaxes(2, 3) @ wide(a), wide(a) @ turned(wide(b))]
    found = [*back(g), y, *z(a)]
    for one, exact in zip(found, [*plain, mixed, *reversed(sides)]):
      assert one.dtype == a.dtype
      bound = far * np.abs(exact).max()
      np.testing.assert_allclose(wide(one), exact, rtol=far, atol=bound)
