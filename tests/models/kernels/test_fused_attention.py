"""A GPU's attention in one kernel, in the kernels' interpreter."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import params_of

from fairjax.core import backend
from fairjax.models import families
from fairjax.models.kernels import fused_attention, kernel_table, row_kernels
from fairjax.models.layers import attention

from ..small_encoder import PACKED, SHAPE, norms


@pytest.mark.parametrize('t, rate', [(16, 0.3), (11, 0.0), (11, 0.3)])
def test_a_gpus_attention_in_one_kernel_is_the_same(t, rate, monkeypatch):
  """In the kernels' interpreter, with its gradients, over seeds too.

  11 places are padded to 16 in the kernel; a row's own padding attends to
  itself, as without the kernel.
  """
  monkeypatch.setattr(row_kernels, 'INTERPRET', True)
  fused_attention.forward_call.cache_clear()
  fused_attention.backward_call.cache_clear()
  rng = np.random.default_rng(6)
  seeds, r, heads, width = 2, 3, 2, 16
  d = heads * width
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  qkv, bias = draw(seeds, r, t, 3 * d), draw(seeds, 3 * d)
  turned = draw(r, t, d)
  segment_ids = np.sort(rng.integers(0, 3, (r, t)), axis=1)
  visible = jnp.asarray(segment_ids[:, :, None] == segment_ids[:, None, :])
  identity = jnp.asarray(rng.integers(0, 2**32, (r, t)), jnp.uint32)
  positions = jnp.asarray(rng.integers(0, t, (r, t)), jnp.int32)
  drop = attention.dropping(rate, jnp.uint32(7), identity, positions)

  def plain(qkv, bias):
    query, key_value = jnp.split(qkv + bias, [d], axis=-1)
    memory = attention.split_key_value(key_value, heads)
    y = attention.attention(query, memory, visible, drop)
    return jnp.sum(turned * y), y

  def fused(qkv, bias):
    y = attention.self_attention(qkv, bias, heads, visible, drop)
    return jnp.sum(turned * y), y

  run = lambda f: jax.jit(jax.vmap(jax.grad(f, (0, 1), has_aux=True)))(
    qkv, bias
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5),
    run(fused),
    run(plain),
  )


def test_an_encoder_on_a_gpu_takes_that_kernel(monkeypatch):
  """And gives what it gives here, to the rounding of bfloat16."""
  monkeypatch.setattr(row_kernels, 'INTERPRET', True)
  fused_attention.forward_call.cache_clear()
  fused_attention.backward_call.cache_clear()
  shape = dataclasses.replace(SHAPE, heads=1)
  module = families.module(shape, 'classify', jnp.bfloat16, classes=2)
  params = params_of(module)

  def norms_at(platform):
    with backend.made_for(platform), kernel_table.chosen('on'):
      program = jax.jit(lambda p: norms(module, p, PACKED))
      text = program.lower(params).as_text()
      return np.asarray(program(params)), text.count('while')

  (here, _), (there, loops) = norms_at('cpu'), norms_at('gpu')
  assert loops  # the interpreter's
  np.testing.assert_allclose(there, here, rtol=0.05)


def test_a_kernel_that_this_gpu_gets_wrong_is_not_used(monkeypatch):
  """The example's gradients are held to those of plain attention."""
  monkeypatch.setattr(row_kernels, 'INTERPRET', True)
  monkeypatch.setattr(jax, 'default_backend', lambda: 'gpu')
  caches = (
    fused_attention.forward_call,
    fused_attention.backward_call,
    fused_attention.agrees,
  )
  clear = lambda: [one.cache_clear() for one in caches]
  clear()
  with kernel_table.chosen('on'):
    one = lambda: kernel_table.takes('attention', 24, 16, jnp.bfloat16)
    assert jax.jit(lambda x: x if one() else -x)(1) == 1  # asked while tracing
    real = fused_attention.product
    wrong = lambda a, b: real(a, b) * 1.2
    for broken in (wrong, lambda a, b: 1 / 0):
      clear()
      monkeypatch.setattr(fused_attention, 'product', broken)
      with pytest.warns(UserWarning, match='not used on this GPU'):
        assert not one()
  clear()
