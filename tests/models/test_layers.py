"""Exact per-example gradient norms against one gradient per example."""

import dataclasses
import functools
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from fairjax import backend
from fairjax.errors import UserError
from fairjax.models import (
  attention,
  dropout,
  exact_norms,
  families,
  fused_attention,
  layer_params,
  layers,
  products,
  row_kernels,
)

from .batches import examples, pack, pad

SHAPE = dataclasses.replace(
  families.named('tiny'),
  vocab=30,
  width=16,
  embedding=16,
  depth=2,
  heads=2,
  hidden=24,
  positions=20,
  position_offset=0,
  deviation=0.25,
)
TEXTS = examples([3, 9, 4, 12, 6], SHAPE.vocab)
PACKED = pack(TEXTS, 3, 16, 3, extra=2, junk=1)


CPU = pathlib.Path('/proc/cpuinfo')
AVX512_BF16 = CPU.exists() and 'avx512_bf16' in CPU.read_text()


def losses(module, variables, batch):
  logits = module.apply(variables, batch)
  picked = jnp.arange(logits.shape[0]), jnp.asarray(batch['label'])
  return -jax.nn.log_softmax(logits)[picked]


def norms(module, params, batch):
  """Σ over layers of the probes' cotangents."""
  real = jnp.asarray(batch['example']) >= 0

  def loss(probes):
    each = losses(module, {'params': params, 'probes': probes}, batch)
    return jnp.sum(jnp.where(real, each, 0))

  squares = jax.grad(loss)(layers.zero_probes(module, params, batch))
  return sum(
    leaf.reshape(-1, len(real)).sum(0) for leaf in jax.tree.leaves(squares)
  )


def one_by_one(module, params, batch):
  """The slow twin: the whole gradient of each example's own loss."""

  def gradient(i):
    return jax.grad(lambda p: losses(module, {'params': p}, batch)[i])(params)

  total = lambda tree: sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))
  return jax.vmap(lambda i: total(gradient(i)))(jnp.arange(len(TEXTS)))


@pytest.mark.parametrize(  # tests/scores/test_grand.py has many more
  'family, options, batch',
  [
    ('bert', {}, pad(TEXTS, 13, extra=1)),
    ('roberta', {'scan': True, 'remat': True}, PACKED),
  ],
)
def test_norms_are_exact(family, options, batch):
  depth = 3 if 'scan' in options else 2
  shape = dataclasses.replace(SHAPE, family=family, depth=depth)
  if family == 'electra':
    shape = dataclasses.replace(shape, embedding=8)
  module = families.module(shape, 'classify', classes=2, **options)
  params = jax.jit(module.init)(jax.random.key(0), batch)['params']
  probes = layers.zero_probes(module, params, batch)
  assert layers.uncovered(params, probes) == []
  fast = jax.jit(lambda p: norms(module, p, batch))(params)
  slow = jax.jit(lambda p: one_by_one(module, p, batch))(params)
  # Norms to 1e-5 is squares to 2e-5.
  np.testing.assert_allclose(fast[: len(TEXTS)], slow, rtol=2e-5)
  np.testing.assert_array_equal(fast[len(TEXTS) :], 0)


@pytest.mark.parametrize('stacked', [jax.vmap, None])
def test_norms_of_stacked_seeds(stacked):
  module = families.module(SHAPE, 'classify', classes=2)
  keys = jax.random.split(jax.random.key(1), 2)
  init = lambda k: module.init(k, PACKED)['params']
  params = jax.jit(jax.vmap(init))(keys)
  each = lambda p: norms(module, p, PACKED)
  run = stacked(each) if stacked else lambda p: jax.lax.map(each, p)
  both = jax.jit(run)(params)
  for seed in range(2):
    single = jax.jit(each)(jax.tree.map(lambda a: a[seed], params))
    np.testing.assert_allclose(both[seed], single, rtol=1e-5)


def test_norms_in_bfloat16_are_float32():
  module = families.module(SHAPE, 'classify', classes=2, dtype=jnp.bfloat16)
  params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']
  rough = jax.jit(lambda p: norms(module, p, PACKED))(params)
  plain = families.module(SHAPE, 'classify', classes=2)
  exact = jax.jit(lambda p: norms(plain, p, PACKED))
  assert rough.dtype == jnp.float32
  np.testing.assert_allclose(rough[:5], exact(params)[:5], rtol=0.1)


@pytest.mark.parametrize('scan', [False, True])
def test_weights_as_products_read_them_give_the_same(scan):
  """Bit for bit: a sweep converts once what each batch would convert."""
  module = families.module(
    SHAPE, 'classify', classes=2, dtype=jnp.bfloat16, scan=scan
  )
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
  wide = families.module(SHAPE, 'classify', classes=2, scan=scan)
  assert layer_params.as_read(wide, params, PACKED) is params


@pytest.mark.parametrize('dtype', ['float32', 'bfloat16'])
@pytest.mark.parametrize('bias', [True, False])
@pytest.mark.parametrize(
  'd, f, direct', [(3, 4, True), (3, 40, True), (40, 60, False)]
)
def test_norms_of_products_and_of_grams_are_the_same(d, f, direct, bias, dtype):
  """Against each example's own gradient, with several examples a row."""
  segment_ids = np.zeros((3, 24), np.int32)  # the last row: padding only
  for row, start, stop, owner in [(0, 0, 9, 2), (0, 9, 20, 1), (1, 0, 24, 4)]:
    segment_ids[row, start:stop] = owner
  rng = np.random.default_rng(1)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), dtype)
  x, g, kernel = draw(3, 24, d), draw(3, 24, f), draw(d, f).astype(jnp.float32)
  assert exact_norms.is_direct(24, d, f, 2, x.dtype) == direct
  assert not exact_norms.is_direct(
    24, d, f, 0, x.dtype
  )  # nobody knows how many
  with backend.made_for('gpu'):
    assert not exact_norms.is_direct(24, d, f, 2, x.dtype)
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
    y, back = jax.vjp(ours, *inputs)
    z, plain_back = jax.vjp(plain, *inputs)
    np.testing.assert_allclose(y, z, atol=1e-5)
    g = draw(*y.shape)
    for a, b in zip(back(g), plain_back(g)):
      np.testing.assert_allclose(a, b, atol=1e-5)


def test_tied_layers_are_refused_by_name():
  module = families.module(SHAPE, 'mask')
  params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']
  with pytest.raises(UserError, match='encoder/word is used 2 times'):
    layers.zero_probes(module, params, PACKED)


def test_uncovered_parameters_are_named():
  params = {'a': {'kernel': 1}, 'b': {'kernel': 1, 'bias': 2}, 'loose': 3}
  assert layers.uncovered(params, {'b': {'sq': 0}}) == ['a/kernel', 'loose']


def test_products_of_float32_are_float32_on_accelerators(monkeypatch):
  """Unnamed, a TPU would take bfloat16 and a GPU TF32."""
  wide, narrow = jnp.ones((2, 3)), jnp.ones((2, 3), jnp.bfloat16)
  text = lambda x: str(jax.make_jaxpr(lambda x: products.gram(x[None]))(x))
  assert 'HIGHEST' not in text(wide)
  for platform in ('tpu', 'gpu'):
    monkeypatch.setattr(layers.backend, 'platform', lambda name=platform: name)
    assert 'HIGHEST' in text(wide) and 'HIGHEST' not in text(narrow)


def test_probes_add_nothing_to_a_plain_step():
  module = families.module(SHAPE, 'classify', classes=2)
  params = jax.jit(module.init)(jax.random.key(0), PACKED)['params']
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


@pytest.mark.parametrize('places', (1, 5, 128, 129))
def test_turned_kernels_give_the_same(places):
  module = layers.Dense(7)
  x = jax.random.normal(jax.random.key(0), (1, places, 3))
  rows = layers.Segments(jnp.ones((1, places), jnp.int32), 1)
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
  table = layers.Embed(11, 3)
  params = table.init(jax.random.key(2), jnp.zeros((1, 1), int), rows)
  found = table.apply(params, x, method='attend')
  slow = x @ params['params']['embedding'].T
  np.testing.assert_allclose(found, slow, atol=1e-6)


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


def test_fused_attention_is_the_same(monkeypatch):
  """What a GPU's kernel is given, by the same function without that kernel."""
  monkeypatch.setattr(attention, 'FUSED', 'xla')
  rng = np.random.default_rng(3)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.bfloat16)
  query, key_value = draw(2, 256, 32), draw(2, 256, 64)
  segment_ids = np.repeat([[1, 2], [1, 0]], 128, axis=1)
  visible = jnp.asarray(segment_ids[:, :, None] == segment_ids[:, None, :])
  memory = attention.split_key_value(key_value, 4)
  plain = attention.attention(query, memory, visible, None)
  with backend.made_for('gpu'):
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


@pytest.mark.parametrize('t, rate', [(16, 0.3), (11, 0.0), (11, 0.3)])
def test_a_gpus_attention_in_one_kernel_is_the_same(t, rate, monkeypatch):
  """In the kernels' interpreter, with its gradients, over seeds too.

  11 places are padded to 16 in the kernel; a row's own padding attends to
  itself, as without the kernel.
  """
  monkeypatch.setattr(row_kernels, 'INTERPRET', True)
  fused_attention._forward_call.cache_clear()
  fused_attention._backward_call.cache_clear()
  rng = np.random.default_rng(6)
  seeds, r, heads, width = 2, 3, 2, 16
  d = heads * width
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  three, bias = draw(seeds, r, t, 3 * d), draw(seeds, 3 * d)
  turned = draw(r, t, d)
  segment_ids = np.sort(rng.integers(0, 3, (r, t)), axis=1)
  visible = jnp.asarray(segment_ids[:, :, None] == segment_ids[:, None, :])
  identity = jnp.asarray(rng.integers(0, 2**32, (r, t)), jnp.uint32)
  positions = jnp.asarray(rng.integers(0, t, (r, t)), jnp.int32)
  drop = attention.dropping(rate, jnp.uint32(7), identity, positions)

  def plain(three, bias):
    query, key_value = jnp.split(three + bias, [d], axis=-1)
    memory = attention.split_key_value(key_value, heads)
    y = attention.attention(query, memory, visible, drop)
    return jnp.sum(turned * y), y

  def fused(three, bias):
    y = attention.self_attention(three, bias, heads, visible, drop)
    return jnp.sum(turned * y), y

  run = lambda f: jax.jit(jax.vmap(jax.grad(f, (0, 1), has_aux=True)))(
    three, bias
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5),
    run(fused),
    run(plain),
  )


def test_an_encoder_on_a_gpu_takes_that_kernel(monkeypatch):
  """And gives what it gives here, to the rounding of bfloat16."""
  monkeypatch.setattr(row_kernels, 'INTERPRET', True)
  fused_attention._forward_call.cache_clear()
  fused_attention._backward_call.cache_clear()
  shape = dataclasses.replace(SHAPE, heads=1)
  module = families.module(shape, 'classify', jnp.bfloat16, classes=2)
  params = module.init(jax.random.key(0), PACKED)['params']

  def norms_at(platform):
    with backend.made_for(platform):
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
    fused_attention._forward_call,
    fused_attention._backward_call,
    fused_attention.agrees,
  )
  clear = lambda: [one.cache_clear() for one in caches]
  clear()
  one = lambda: attention.in_one_kernel(24, 16, jnp.bfloat16)
  assert jax.jit(lambda x: x if one() else -x)(1) == 1  # asked while tracing
  real = fused_attention._dot
  wrong = lambda a, b: real(a, b) * 1.2
  for broken in (wrong, lambda a, b: 1 / 0):
    clear()
    monkeypatch.setattr(fused_attention, '_dot', broken)
    with pytest.warns(UserWarning, match='not used on this GPU'):
      assert not one()
  clear()
