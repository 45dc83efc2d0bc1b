"""Products as each platform makes them, against plain ones."""

import functools
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from fairjax.core import backend
from fairjax.models.layers import attention, exact_norms, products

CPU = pathlib.Path('/proc/cpuinfo')
AVX512_BF16 = CPU.exists() and 'avx512_bf16' in CPU.read_text()


SIGNS = np.cos(np.arange(8 * 24 * 64)).reshape(8, 24, 64)


def backward(x, kernel, bias):
  """Gradients of a Dense with a bias and of attention over its result."""

  def loss(x, kernel, bias):
    y = exact_norms.dense(x, kernel, bias, None, None)
    memory = attention.split_key_value(jnp.concatenate([y, y], -1), 4)
    visible = jnp.ones((x.shape[0], x.shape[1], x.shape[1]), bool)
    z = attention.attention(y, memory, visible, None)
    return jnp.sum(SIGNS * z.astype(jnp.float32))

  return jax.grad(loss, (0, 1, 2))(x, kernel, bias)


def drawn(dtype):
  rng = np.random.default_rng(7)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims) / 4, jnp.float32)
  return draw(8, 24, 48).astype(dtype), draw(48, 64), draw(64)


def test_products_of_float32_are_float32_on_accelerators(monkeypatch):
  """Unnamed, a TPU would take bfloat16 and a GPU TF32."""
  wide, narrow = jnp.ones((2, 3)), jnp.ones((2, 3), jnp.bfloat16)
  text = lambda x: str(jax.make_jaxpr(lambda x: products.gram(x[None]))(x))
  assert 'HIGHEST' not in text(wide)
  for platform in ('tpu', 'gpu'):
    monkeypatch.setattr(backend, 'platform', lambda name=platform: name)
    assert 'HIGHEST' in text(wide) and 'HIGHEST' not in text(narrow)


@pytest.mark.parametrize('over', [(1, 0), (1, 1), (0, 0)])
def test_products_of_bfloat16_are_summed_in_float32(over):
  """Exact products of the rounded numbers, rounded once at the end.

  On a CPU that is also where the instructions for bfloat16 are.
  """
  draw = np.random.default_rng(0)
  shapes = [(48, 300) if axis else (300, 48) for axis in over]
  a, b = (jnp.asarray(draw.normal(size=s), jnp.bfloat16) for s in shapes)
  wide = [np.asarray(x, np.float64) for x in (a, b)]
  exact = np.tensordot(*wide, axes=over)
  y = products.product(a, b, *over)
  assert y.dtype == jnp.bfloat16
  atol = 1e-5 * np.abs(exact).max()  # of sums in float32
  np.testing.assert_allclose(np.asarray(y, float), exact, 2**-8, atol)
  one = jax.make_jaxpr(lambda a, b: products.product(a, b, *over))(a, b)
  assert 'preferred_element_type=float32' in str(one)


@pytest.mark.skipif(not AVX512_BF16, reason='a CPU without AVX512_BF16')
@pytest.mark.parametrize('seeds', [0, 2])
def test_products_of_bfloat16_stay_bfloat16_on_a_cpu(seeds):
  """XLA turns operands into float32 where its library would not take them."""
  given, run = drawn(jnp.bfloat16), backward
  if seeds:
    given = [jnp.stack([a] * seeds) for a in given]
    run = jax.vmap(backward)
  text = jax.jit(run).lower(*given).compile().as_text()
  types = dict(re.findall(r'%([\w.-]+) = (\w+)\[', text))
  pairs = re.findall(r' dot\((?:\S+ )?%([\w.-]+), (?:\S+ )?%([\w.-]+)\)', text)
  # Three of the layer, and of attention five: what it gives is not asked for.
  assert [[types[a], types[b]] for a, b in pairs] == [['bf16', 'bf16']] * 8


@pytest.mark.parametrize('dtype, far', [('float32', 1e-5), ('bfloat16', 0.03)])
def test_products_of_a_cpu_are_those_of_plain_einsums(dtype, far):
  """Forward and backward, from the same rounded numbers."""
  x, kernel, bias = drawn(dtype)
  ours = backward(x, kernel, bias)

  def loss(x, kernel, bias):
    y = jnp.einsum('rtd,df->rtf', x, kernel) + bias
    split = y.reshape(8, 24, 4, 16)
    scores = jnp.einsum('rqhe,rkhe->rhqk', split, split) / 4
    weights = jax.nn.softmax(scores, axis=-1)
    z = jnp.einsum('rhqk,rkhe->rqhe', weights, split)
    return jnp.sum(SIGNS * z.reshape(8, 24, 64))

  wide = x.astype(jnp.float32), kernel, bias
  for one, exact in zip(ours, jax.grad(loss, (0, 1, 2))(*wide)):
    apart = np.abs(np.float32(one) - exact).max() / np.abs(exact).max()
    assert apart < far


@pytest.mark.skipif(jax.device_count() < 4, reason='fewer than four devices')
def test_products_of_several_cpus_gather_nothing():
  """As a layout that is named would."""
  mesh = jax.make_mesh((4,), ('data',), axis_types=(AxisType.Auto,))
  x, kernel, bias = drawn(jnp.bfloat16)
  alone = backward(x, kernel, bias)
  x = jax.device_put(x, NamedSharding(mesh, P('data')))
  kernel, bias = jax.device_put((kernel, bias), NamedSharding(mesh, P()))
  program = jax.jit(backward).lower(x, kernel, bias).compile()
  assert 'all-gather' not in program.as_text()
  for one, other in zip(program(x, kernel, bias), alone):
    np.testing.assert_allclose(
      np.float32(one), np.float32(other), atol=2e-2 * np.abs(other).max()
    )


def test_a_layer_has_derivatives_of_its_gradients():
  """Of stacked arrays, too; influence needs them."""
  x, kernel, _ = drawn('float32')
  turned = jnp.cos(jnp.arange(48.0 * 64)).reshape(48, 64)
  dense = lambda x, k: exact_norms.dense(x, k, None, None, None)
  plain = lambda x, k: jnp.einsum('rtd,df->rtf', x, k)

  def second(layer, x):
    slope = jax.grad(lambda k: jnp.sum(jnp.sin(layer(x, k))))
    return jax.grad(lambda k: jnp.sum(slope(k) * turned))(kernel)

  stacked = jnp.stack([x, 2 * x])
  ours, theirs = (
    jax.vmap(functools.partial(second, layer))(stacked)
    for layer in (dense, plain)
  )
  far = 1e-4 * np.abs(theirs).max()
  np.testing.assert_allclose(ours, theirs, atol=far)


def test_products_of_a_tpu_keep_their_axes():
  """The same numbers, with nothing flattened."""
  rng = np.random.default_rng(5)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  x, kernel, bias = draw(3, 5, 8), draw(8, 6), draw(6)
  loss = lambda *p: jnp.sum(jnp.sin(exact_norms.dense(*p, None, None)))
  run = lambda: jax.jit(jax.value_and_grad(loss, (0, 1, 2)))(x, kernel, bias)
  here = run()
  with backend.made_for('tpu'):
    text = str(jax.make_jaxpr(jax.grad(loss, (0, 1)))(x, kernel, bias))
    assert 'reshape' not in text
    there = run()
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), here, there
  )
