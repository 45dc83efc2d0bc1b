"""Layers: attention, dropout, parameters as products read them, losses."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import params_of

from fairjax.core.errors import UserError
from fairjax.models import families
from fairjax.models.layers import (
  attention,
  dropout,
  layer_params,
  linear_loss,
  probed,
)

from ..small_encoder import PACKED, SHAPE, losses, norms


def test_padding_never_reaches_a_parameter():
  """A loss may do what it likes with padding examples and places."""
  for module in (
    families.module(SHAPE, 'classify', classes=2),
    families.module(dataclasses.replace(SHAPE, family='electra'), 'detect'),
  ):
    params = params_of(module)

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
  params = params_of(module)
  with pytest.raises(UserError, match='encoder/word is used 2 times'):
    probed.zero_probes(module, params, PACKED)


def test_uncovered_parameters_are_named():
  params = {'a': {'kernel': 1}, 'b': {'kernel': 1, 'bias': 2}, 'loose': 3}
  assert probed.uncovered(params, {'b': {'sq': 0}}) == ['a/kernel', 'loose']


def test_probes_add_nothing_to_a_plain_step():
  module = families.module(SHAPE, 'classify', classes=2)
  params = params_of(module)
  step = jax.grad(lambda p: losses(module, {'params': p}, PACKED).sum())
  text = str(jax.make_jaxpr(step)(params))
  assert 'segment_sum' not in text
  assert ',3,16,16]' not in text  # no Gram matrix of rows (heads apart)


def test_dropout_share_scale_and_independence():
  ones = jnp.ones((40, 50, 64))
  example = jnp.arange(40, dtype=jnp.int32)
  segment_ids = jnp.broadcast_to(jnp.arange(1, 41)[:, None], (40, 50))
  positions = jnp.broadcast_to(jnp.arange(50), (40, 50))
  identity = dropout.identities(example, segment_ids, positions)
  one = dropout.dropout(ones, 0.1, jnp.uint32(1), identity)
  two = dropout.dropout(ones, 0.1, jnp.uint32(2), identity)
  zero, other = one == 0, two == 0
  # 128,000 draws: five deviations are 0.0042.
  assert abs(float(zero.mean()) - 0.1) < 0.0042
  assert abs(float((zero & other).mean()) - 0.01) < 0.002
  np.testing.assert_allclose(one[~zero], 1 / 0.9, rtol=1e-6)
  for axis in range(3):  # neighbours along each axis are independent
    near = jnp.moveaxis(zero, axis, 0)
    both = (near[1:] & near[:-1]).mean()
    assert abs(float(both) - 0.01) < 0.002, axis
  np.testing.assert_array_equal(dropout.dropout(ones, 0.1, None, identity), 1)


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
