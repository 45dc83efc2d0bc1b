"""GraNd against one gradient per example, made alone in a padded row."""

import dataclasses
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import SMALL, bundle_of, place, shape_of

from fairjax.core.errors import UserError
from fairjax.data.batching import batches as packing
from fairjax.data.batching.batches import Pool
from fairjax.data.batching.tokens import Ragged, take
from fairjax.models import Bundle, families
from fairjax.models.layers import exact_norms, layer_params, probed
from fairjax.models.words import lstm, text_cnn, word_level
from fairjax.scores.grand import grand, squares
from fairjax.train import loop, step

SHAPE = shape_of('bert', 50, deviation=0.25)
# By what a config.json of another family says.
SAID = SMALL | {'vocab_size': 50, 'position_buckets': 6}
SAID |= {'max_position_embeddings': 32, 'global_attn_every_n_layers': 2}


@functools.cache  # so that tests share what they compile
def classifier(family='bert', pooling='cls', depth=1, **options) -> Bundle:
  if family in ('modernbert', 'deberta-v2'):
    shape = families.shape_from_hf({'model_type': family} | SAID)
    more = {'pooling': pooling} if family == 'modernbert' else {}
    shape = dataclasses.replace(shape, depth=depth, **more)
  else:
    shape = families.replaced(SHAPE, family=family, depth=depth)
  return bundle_of(families.module(shape, 'classify', classes=2, **options))


WORDS = word_level.WordShape(50, 8, 2, length=20, rate=0.5)


def pool_of(lengths, seed=0) -> Pool:
  rng = np.random.default_rng(seed)
  lengths = np.asarray(lengths)
  flat = rng.integers(5, 50, lengths.sum()).astype(np.int32)
  offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
  label = rng.integers(0, 2, len(lengths)).astype(np.int32)
  weight = rng.uniform(0.5, 1.5, len(lengths)).astype(np.float32)
  return Pool(Ragged(flat, offsets), label, weight)


POOL = pool_of([3, 19, 4, 12, 6, 9, 15, 2, 7, 7, 11])
UNPACKED = pool_of([16] * 5, seed=1)


def slow(model: Bundle, params, pool: Pool) -> np.ndarray:
  """The definition: vmap(grad) over examples, without any probe."""
  lengths, longest = pool.tokens.lengths, pool.tokens.lengths.max()
  n = len(lengths)
  real = np.arange(longest) < lengths[:, None]
  tokens = np.zeros((n, longest), np.int32)
  tokens[real] = pool.tokens.flat
  rows = {
    'tokens': tokens[:, None],
    'segment_ids': real.astype(np.int32)[:, None],
    'positions': np.broadcast_to(
      np.arange(longest, dtype=np.int32), (n, 1, longest)
    ),
    'head_columns': np.zeros((n, 1, 1), np.int32),
    'head_index': np.zeros((n, 1), np.int32),
    'example': np.arange(n, dtype=np.int32)[:, None],
    'label': pool.label[:, None],
  }

  return np.asarray(each_norm(model)(params, rows))


@functools.cache
def each_norm(model: Bundle):
  def loss(params, row):
    return step.cross_entropy(model.apply(params, row), row['label'])[0]

  def norm(params, row):
    grads = jax.grad(loss)(params, row)
    return jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))

  return jax.jit(jax.vmap(jax.vmap(norm, (None, 0)), (0, None)))


def agree(model: Bundle, pool: Pool) -> None:
  params = loop.initial(model, [0, 1])
  found = grand(model, params, pool, place(), batch=4)
  assert found.dtype == np.float32
  np.testing.assert_allclose(found, slow(model, params, pool), rtol=1e-5)


LAYOUTS = {  # pool, layout, share of the places that hold a token
  'plain': (UNPACKED, packing.Layout(16, 1, (4,), 4), 1.0),
  'padded': (POOL, packing.Layout(24, 1, (4,), 4), 38 / 96),
  'packed': (POOL, packing.Layout(24, 4, (2,), 4), 38 / 48),
}


@pytest.mark.parametrize('name', LAYOUTS)
@pytest.mark.parametrize('family', ['bert', 'deberta-v2'])
def test_however_a_batch_is_laid_out(name, family):
  pool, layout, share = LAYOUTS[name]
  batch = packing.sweep(pool, np.array([1, 2, 3, 0], np.int32), layout)[0]
  batch = jax.tree.map(np.asarray, batch)
  assert (batch['segment_ids'] > 0).mean() == pytest.approx(share)
  model = classifier(family)
  params = loop.initial(model, [0, 1])
  expect = slow(model, params, pool)
  norms = jax.jit(lambda params, batch: squares(model, params, batch) ** 0.5)
  for seed in range(2):
    one = jax.tree.map(lambda leaf, seed=seed: leaf[seed], params)
    found = norms(one, batch)
    np.testing.assert_allclose(found, expect[seed, batch['example']], rtol=1e-5)


KINDS = {  # family of encoder, and options of the classifier
  'BERT': ('bert', {}),
  'RoBERTa': ('roberta', {}),
  'every place of the last layer': ('bert', {'heads_only': False}),
  'ELECTRA': ('electra', {}),
  'DistilBERT': ('distilbert', {}),
  'MPNet, a table of distances': ('mpnet', {}),
  'ModernBERT, first place': ('modernbert', {}),
  'DeBERTa, projections of content and distance': ('deberta-v2', {}),
  'ModernBERT, mean': ('modernbert', {'pooling': 'mean'}),
}


@pytest.mark.parametrize('kind', KINDS)
def test_it_is_the_norm_of_each_examples_own_gradient(kind):
  """Of two stacked seeds."""
  family, options = KINDS[kind]
  agree(classifier(family, depth=2, **options), POOL)


@pytest.mark.parametrize(
  'module',
  [text_cnn.TextCNN(WORDS, filters=8), lstm.LSTM(WORDS, hidden=8)],
  ids=['CNN', 'LSTM'],
)
def test_word_level_models(module):
  agree(bundle_of(module), POOL)


@pytest.mark.parametrize('devices', [(1, 4), (2, 2)])
def test_devices_change_nothing(devices):
  model = classifier('bert')
  params = loop.initial(model, [0, 1])
  one = slow(model, params, POOL)
  spread = grand(model, params, POOL, place(*devices), batch=8)
  np.testing.assert_allclose(spread, one, rtol=1e-5)


def test_an_example_does_not_know_its_batch():
  model = classifier('bert')
  params = loop.initial(model, [0, 1])
  every = slow(model, params, POOL)
  some = np.array([9, 1, 4])
  few = POOL._replace(
    tokens=take(POOL.tokens, some),
    label=POOL.label[some],
    weight=POOL.weight[some] * 9,  # nor its weight
  )
  found = grand(model, params, few, place(), batch=2)
  np.testing.assert_allclose(found, every[:, some], rtol=1e-5)


class Linear(nn.Module):
  """Softmax regression with zero weights on the features (3, 4)."""

  @nn.compact
  def __call__(self, batch, dropout_key=None):
    rows = probed.Segments(batch['segment_ids'], batch['head_index'].shape[0])
    x = jnp.where(
      (batch['segment_ids'] > 0)[..., None], jnp.array([3.0, 4.0]), 0.0
    )
    y = probed.Dense(2, deviation=0.0)(x, rows)
    return y.reshape(-1, 2)[: rows.count] if y.shape[1] == 1 else y[:, 0]


def test_golden_linear_softmax():
  """‖p - y‖ √(‖x‖² + 1) = √½ √26 = √13."""
  model = bundle_of(Linear())
  params = loop.initial(model, [0])
  found = grand(model, params, pool_of([1]), place(), batch=1)
  np.testing.assert_allclose(found, [[3.6055513]], rtol=1e-7)


class Bare(nn.Module):
  """A classifier with a parameter that lives in no layer of the house."""

  @nn.compact
  def __call__(self, batch, dropout_key=None):
    shift = self.param('shift', nn.initializers.zeros, (2,))
    return families.module(SHAPE, 'classify', classes=2)(batch) + shift


def test_a_parameter_without_a_probe_is_named():
  model = bundle_of(Bare())
  with pytest.raises(UserError, match=r'parameter shift .* no probe'):
    grand(model, loop.initial(model, [0]), POOL, place(), batch=4)


class Twice(nn.Module):
  """A classifier whose layer is called twice."""

  @nn.compact
  def __call__(self, batch, dropout_key=None):
    inner = families.module(SHAPE, 'classify', classes=2)
    return inner(batch) + inner(batch)


def test_a_layer_used_twice_is_refused():
  model = bundle_of(Twice())
  with pytest.raises(UserError, match='is used 2 times'):
    grand(model, loop.initial(model, [0]), POOL, place(), batch=4)


def test_a_broken_probe_is_caught(monkeypatch):
  """The comparison above fails if a probe is wrong by a thousandth."""
  right = exact_norms.gram
  monkeypatch.setattr(exact_norms, 'gram', lambda x: right(x) * 1.001)
  model = classifier('bert')
  params = loop.initial(model, [0, 1])
  exact = slow(model, params, UNPACKED)
  anew = classifier.__wrapped__()  # to be traced: a model is its functions
  found = grand(anew, params, UNPACKED, place(), batch=4)
  error = np.abs(found / exact - 1)
  assert error.min() > 1e-5


@pytest.mark.parametrize(
  'family', ['bert', 'electra', 'roberta', 'modernbert', 'deberta-v2']
)
def test_a_sweep_converts_weights_once(family):
  """To the types that the products of each family read, and to no other."""
  model = classifier(family, dtype=jnp.bfloat16)
  pool = pool_of([3, 5])
  params = jax.tree.map(lambda a: a[None], model.init(0))
  one = loop.smallest(pool)
  read = layer_params.as_read(model.module, params, one)
  narrow = [a.dtype == jnp.bfloat16 for a in jax.tree.leaves(read)]
  assert any(narrow) and not all(narrow)
  logits = jax.jit(jax.vmap(lambda p: model.apply(p, one)))
  np.testing.assert_array_equal(logits(read), logits(params))
