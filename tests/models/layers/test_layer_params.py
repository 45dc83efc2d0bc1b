"""Weights as products read them, converted or turned, give the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.models import families
from fairjax.models.layers import layer_params, probed

from ..small_encoder import PACKED, SHAPE, norms


def test_weights_as_products_read_them_give_the_same():
  """Bit for bit: a sweep converts once what each batch would convert."""
  module = families.module(SHAPE, 'classify', classes=2, dtype=jnp.bfloat16)
  init = lambda k: module.init(k, PACKED)['params']
  params = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(1), 2))
  read = layer_params.as_read(module, params, PACKED)
  assert read['classifier']['kernel'].dtype == jnp.float32  # few, and exact
  types = jax.tree_util.tree_map_with_path(
    lambda path, a: a.dtype == jnp.bfloat16 or not layer_params.decays(path),
    read,
  )
  types['classifier']['kernel'] = True
  assert all(jax.tree.leaves(types))
  each = lambda p: norms(module, p, PACKED)
  run = jax.jit(lambda p: jax.lax.map(each, p))
  np.testing.assert_array_equal(run(read), run(params))
  wide = families.module(SHAPE, 'classify', classes=2)
  assert layer_params.as_read(wide, params, PACKED) is params


@pytest.mark.parametrize('places', (1, 5, 128, 129))
def test_turned_kernels_give_the_same(places):
  module = probed.Dense(7)
  x = jax.random.normal(jax.random.key(0), (1, places, 3))
  rows = probed.Segments(jnp.ones((1, places), jnp.int32), 1)
  params = jax.jit(module.init)(jax.random.key(1), x, rows)['params']
  params['bias'] = jnp.arange(7.0)
  slow = x @ params['kernel'] + params['bias']
  transposed = layer_params.transposed(params)
  assert set(transposed) == {'transposed', 'bias'} and transposed[
    'transposed'
  ].shape == (7, 3)
  for p in (params, transposed):
    run = jax.jit(module.apply)
    np.testing.assert_allclose(run({'params': p}, x, rows), slow, atol=1e-6)
  table = probed.Embed(11, 3)
  params = table.init(jax.random.key(2), jnp.zeros((1, 1), int), rows)
  found = table.apply(params, x, method='attend')
  slow = x @ params['params']['embedding'].T
  np.testing.assert_allclose(found, slow, atol=1e-6)
