"""Products of 8-bit integers, and what writes and predicts by them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.config import Config, Net, validate
from fairjax.core import backend
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.layers import int8, probed
from fairjax.models.layers.argmax import FEW, argmax
from fairjax.models.layers.places import blank_batch
from fairjax.stages.identity import identity

from ..seq2seq import frozen, load


def slow_product(x, kernel):
  """Plain numpy: each side rounded to 127 steps, and whole numbers summed."""

  def whole(a):
    steps = np.maximum(np.abs(a).max(1, keepdims=True), 1e-30) / 127
    clear = np.abs(np.abs(a / steps) % 1 - 0.5) > 1e-4  # whatever the rounding
    return np.rint(a / steps).astype(np.int64), steps, clear.all(1)

  (q, steps, features), (places, own, rows) = map(whole, (kernel.T, x))
  result = (places @ q.T) * own * steps[:, 0]
  return result, rows[:, None] & features


# One place has no kernel in XLA; at MANY the sides change.
@pytest.mark.parametrize('places', (1, 2, 5, int8.MANY - 1, int8.MANY))
def test_products_are_those_of_whole_numbers(places):
  rng = np.random.default_rng(places)
  x = rng.normal(size=(places, 24)).astype(np.float32)
  kernel = rng.normal(size=(24, 40)).astype(np.float32) * rng.random(40)
  kernel = kernel.astype(np.float32)
  x[1:2], kernel[:, 3] = 0, 0  # a blank place and a blank feature
  exact, clear = slow_product(x.astype(float), kernel.astype(float))
  assert clear.mean() > 0.9
  own = int8.quantised({'kernel': jnp.asarray(kernel)})
  assert own['uint8'].dtype == jnp.uint8
  result = jax.jit(int8.product)(x, own['uint8'], own['uint8_scale'])
  np.testing.assert_allclose(result[clear], exact[clear], rtol=1e-5, atol=1e-6)
  far = np.abs(result - x @ kernel).max() / np.abs(x @ kernel).max()
  assert far < 0.03
  both = jax.jit(jax.vmap(int8.product))(
    np.stack([x, 2 * x]), *(np.stack([w, w]) for w in own.values())
  )
  np.testing.assert_array_equal(both, np.stack([result, 2 * result]))


def test_layers_read_integers():
  rows = probed.Segments(jnp.ones((1, 3), jnp.int32), 1)
  x = jax.random.normal(jax.random.key(0), (1, 3, 8))
  dense, table = probed.Dense(7), probed.Embed(int8.LARGE, 8)
  params = dense.init(jax.random.key(1), x, rows)['params']
  params['bias'] = jnp.arange(7.0)
  own = int8.quantised(params)
  assert set(own) == {'uint8', 'uint8_scale', 'bias'}
  run = jax.jit(lambda p: dense.apply({'params': p}, x, rows))
  np.testing.assert_allclose(run(own), run(params), atol=2e-3)
  ids = jnp.array([[0, 5, int8.LARGE - 1]])
  params = table.init(jax.random.key(2), ids, rows)['params']
  own = int8.quantised(params)
  assert set(own) == {'uint8', 'uint8_scale'}
  look = jax.jit(lambda p: table.apply({'params': p}, ids, rows))
  attend = jax.jit(lambda p: table.apply({'params': p}, x, method='attend'))
  np.testing.assert_allclose(look(own), look(params), atol=5e-4)
  np.testing.assert_allclose(attend(own), attend(params), atol=5e-3)
  few = {'embedding': jnp.ones((int8.LARGE - 1, 2))}  # of positions
  assert int8.quantised(few) is not few and set(int8.quantised(few)) == set(few)


def test_the_first_of_the_largest_scores():
  scores = np.random.default_rng(0).integers(0, 9, (6, FEW + 7)).astype('f')
  scores[0], scores[1], scores[2, -1] = -np.inf, np.inf, 99
  for width in (FEW - 1, FEW + 7):
    result = jax.jit(argmax)(scores[:, -width:])
    assert result.dtype == jnp.int32
    np.testing.assert_array_equal(result, scores[:, -width:].argmax(1))


@pytest.mark.parametrize('products', ('int8', 'bfloat16'))
def test_a_text_is_the_same_beside_others(products, tmp_path):
  """Places are rounded alone; sums of integers are exact too."""
  module, params = load(frozen('bart'), tmp_path)
  own = decode_texts.ready(module, params, products)
  kinds = {str(leaf.dtype) for leaf in jax.tree.leaves(own)}
  assert kinds == {'float32', products.replace('int', 'uint')}
  rng = np.random.default_rng(0)
  lengths = np.array([5, 9, 3, 9, 7])
  offsets = np.concatenate([[0], np.cumsum(lengths)])
  flat = rng.integers(3, module.shape.vocab, offsets[-1]).astype(np.int32)
  options = Options(max_new_tokens=8, min_new_tokens=8)
  write = lambda p, slots: (
    decode_texts.generate(
      module, p, Ragged(flat, offsets), options, slots
    ).tokens.flat
  )
  together = write(own, 8)
  same = write(own, 1) == together
  assert same.all() if products == 'int8' else same.mean() > 0.8
  plain = write(decode_texts.ready(module, params), 8)
  assert len(plain) == len(together) and (plain == together).mean() > 0.8


def test_scores_of_a_frozen_model_are_near(tmp_path):
  module, params = load(frozen('gpt2'), tmp_path)
  rng = np.random.default_rng(0)
  batch = dict(blank_batch())
  batch['tokens'] = rng.integers(3, 40, batch['tokens'].shape)
  run = jax.jit(lambda p: module.apply({'params': p}, batch))
  exact, near = map(np.asarray, (run(params), run(int8.quantised(params))))
  assert 0 < np.abs(exact - near).max() < 0.1 * exact.std()


def test_writing_alone_takes_integers(tmp_path):
  config = Config(recipe='train', net=Net(precision='int8'))
  with pytest.raises(UserError, match="'int8', which recipe 'train'"):
    validate(config)
  config.recipe = 'generate'
  plain = Config(recipe='generate')
  assert identity(config, 'texts') != identity(plain, 'texts')
  means = {'texts': backend.inference, 'training': backend.resolved}
  for kind, here in means.items():
    plain.net.precision = here('auto')
    assert identity(plain, kind) == identity(Config(), kind)
