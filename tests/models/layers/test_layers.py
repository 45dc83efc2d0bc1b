"""Layers: what their probes cover, and what padding may not reach."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.models import families
from fairjax.models.layers import probed

from ..small_encoder import PACKED, SHAPE, losses


def test_padding_never_reaches_a_parameter():
  """A loss may do what it likes with padding examples and places."""
  for module in (
    families.module(SHAPE, 'classify', classes=2),
    families.module(dataclasses.replace(SHAPE, family='electra'), 'detect'),
  ):
    params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']

    def gradient(garbage, module=module, params=params):
      def loss(p):
        out = module.apply({'params': p}, PACKED)
        segment_ids = jnp.asarray(PACKED['segment_ids'])
        if out.ndim == 2 and out.shape == segment_ids.shape:
          real = segment_ids > 0
        else:
          real = (jnp.asarray(PACKED['example']) >= 0)[:, None]
        return jnp.sum(jnp.where(real, out**2, garbage * out))

      return jax.grad(loss)(params)

    gradient = jax.jit(gradient)
    jax.tree.map(np.testing.assert_array_equal, gradient(0.0), gradient(1e3))


def test_tied_layers_are_refused_by_name():
  module = families.module(SHAPE, 'mask')
  params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']
  with pytest.raises(UserError, match='encoder/word is used 2 times'):
    probed.zero_probes(module, params, PACKED)


def test_uncovered_parameters_are_named():
  params = {'a': {'kernel': 1}, 'b': {'kernel': 1, 'bias': 2}, 'loose': 3}
  assert probed.uncovered(params, {'b': {'sq': 0}}) == ['a/kernel', 'loose']


def test_probes_add_nothing_to_a_plain_step():
  module = families.module(SHAPE, 'classify', classes=2)
  params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']
  step = jax.grad(lambda p: losses(module, {'params': p}, PACKED).sum())
  text = str(jax.make_jaxpr(step)(params))
  assert 'segment_sum' not in text
  assert ',3,16,16]' not in text  # no Gram matrix of rows (heads apart)
