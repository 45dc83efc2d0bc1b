"""Attention against plain products, and as a GPU is given it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.core import backend
from fairjax.models.kernels import kernel_table, long_attention
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


def test_fused_attention_is_the_same(monkeypatch):
  """What a GPU's kernel is given, by the same function without that kernel."""
  monkeypatch.setattr(long_attention, 'FUSED', 'xla')
  rng = np.random.default_rng(3)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.bfloat16)
  query, key_value = draw(2, 256, 32), draw(2, 256, 64)
  segment_ids = np.repeat([[1, 2], [1, 0]], 128, axis=1)
  visible = jnp.asarray(segment_ids[:, :, None] == segment_ids[:, None, :])
  memory = attention.split_key_value(key_value, 4)
  plain = attention.attention(query, memory, visible, None)
  with backend.made_for('gpu'), kernel_table.chosen('on'):
    ours = attention.attention(query, memory, visible, None)
    kept = attention.attention(query, memory, visible, lambda w: w)
  for one in (kept, plain):
    assert np.any(np.float32(ours) != np.float32(one))  # another program
  wide = lambda a: a.astype(jnp.float32)
  exact = attention.split_key_value(wide(key_value), 4)
  expected = attention.attention(wide(query), exact, visible, None)
  bound = 2**-7 * np.abs(expected).max()  # of weights and sums in bfloat16
  for one in (ours, kept, plain):
    np.testing.assert_allclose(np.float32(one), expected, rtol=0, atol=bound)
