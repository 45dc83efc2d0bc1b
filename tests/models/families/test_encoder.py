"""Identities of the encoder: packed = padded, scan = unrolled, …"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import traverse_util

from fairjax.core.errors import UserError
from fairjax.models import families
from fairjax.models.folders import hf

from ..batches import pack, pad
from ..small_encoder import SHAPE, TEXTS

PACKED = pack(TEXTS, 3, 16, 3, extra=2)
PADDED = pad(TEXTS, 13, extra=1)
B = len(TEXTS)


@pytest.fixture(scope='module')
def model():
  module = families.module(SHAPE, 'classify', classes=2)
  return module, jax.jit(module.init)(jax.random.key(0), PACKED)['params']


def logits(module, params, batch, key=None):
  run = jax.jit(lambda p, b: module.apply({'params': p}, b, key))
  return run(params, batch)[:B]


@pytest.mark.parametrize('key', [None, jnp.uint32(7)])
def test_packed_equals_padded(model, key):
  packed, padded = (logits(*model, b, key) for b in (PACKED, PADDED))
  np.testing.assert_allclose(packed, padded, atol=1e-5)
  # Order and company do not matter either.
  order = [3, 0, 4, 1, 2]
  other = pack([TEXTS[i] for i in order], 4, 14, 2)
  other['example'] = PACKED['example'][order]
  np.testing.assert_allclose(
    logits(*model, other, key)[:B], packed[jnp.array(order)], atol=1e-5
  )


def test_dropout_differs_by_key_and_example(model):
  one, two = (logits(*model, PACKED, jnp.uint32(k)) for k in (1, 2))
  assert np.abs(one - two).min() > 1e-4
  renamed = PACKED | {'example': PACKED['example'] + 1}
  again = logits(*model, renamed, jnp.uint32(1))
  assert np.abs(one - again).min() > 1e-4


def test_padding_content_is_irrelevant(model):
  junk = pack(TEXTS, 3, 16, 3, extra=2, junk=1)
  assert not np.array_equal(junk['tokens'], PACKED['tokens'])
  np.testing.assert_array_equal(logits(*model, junk), logits(*model, PACKED))


@pytest.mark.parametrize('key', [None, jnp.uint32(7)])
def test_heads_only_equals_full(model, key):
  module, params = model
  full = logits(module.clone(heads_only=False), params, PACKED, key)
  np.testing.assert_allclose(
    logits(module, params, PACKED, key), full, atol=1e-5
  )


@pytest.mark.parametrize('remat', [False, True])
@pytest.mark.parametrize('key', [None, jnp.uint32(7)])
def test_scan_equals_unrolled(model, remat, key):
  module, params = model
  flat = traverse_util.flatten_dict(params, sep='/')
  stacked = hf.stack(flat, SHAPE.depth)
  stacked = traverse_util.unflatten_dict(stacked, sep='/')
  scanned = families.reshaped(module, SHAPE, scan=True, remat=remat)
  made = jax.eval_shape(scanned.init, jax.random.key(0), PACKED)['params']
  assert jax.tree.structure(made) == jax.tree.structure(stacked)
  np.testing.assert_allclose(
    logits(scanned, stacked, PACKED, key),
    logits(module, params, PACKED, key),
    atol=1e-5,
  )


def test_bfloat16_is_close(model):
  module, params = model
  rough = logits(module.clone(dtype=jnp.bfloat16), params, PACKED)
  assert rough.dtype == jnp.float32
  np.testing.assert_allclose(rough, logits(module, params, PACKED), atol=0.1)


def test_named_shapes_are_those_of_their_configs():
  transformers = pytest.importorskip('transformers')
  bert = transformers.BertConfig().to_dict()
  assert families.shape_from_hf(bert) == families.named('bert-base-uncased')
  assert families.named('mini', vocab=99).vocab == 99
  assert families.named('google-bert/bert-base-cased').vocab == 28996
  roberta = families.named('roberta-base')
  assert roberta.longest == 512
  shapes = {
    name: shape
    for each in map(families.find, families.FAMILIES)
    for name, shape in each.shapes.items()
  }
  for name, shape in shapes.items():
    can = next(iter(families.find(shape.family).heads))
    options = {'classes': 2} if can == 'classify' else {}
    module = families.module(shape, can, **options)
    again = families.shape_from_hf(hf.hf_config(module))
    assert again == shape, name


@pytest.mark.parametrize(
  'change, sentence',
  [
    ({'model_type': 't5'}, "has model_type 't5'; known families are bert"),
    ({'hidden_act': 'swish2'}, 'hidden_act'),
    ({'hidden_size': 10, 'num_attention_heads': 4}, 'do not divide'),
    (
      {'position_embedding_type': 'relative_key'},
      "it must be 'absolute', all that is known here",
    ),
    ({'is_decoder': True}, 'is_decoder true; it must be false'),
  ],
)
def test_wrong_configs_are_one_sentence(change, sentence):
  with pytest.raises(UserError, match=sentence):
    families.shape_from_hf({'model_type': 'bert'} | change)


def test_families_differ_in_what_they_should():
  """RoBERTa ignores types; ELECTRA may embed narrower."""
  types = [np.arange(len(t)) % 2 for t in TEXTS]
  typed = pack(TEXTS, 3, 16, 3, extra=2, types=types)
  for family, rows, same in (('bert', 2, False), ('roberta', 1, True)):
    shape = dataclasses.replace(SHAPE, family=family, types=rows)
    module = families.module(shape, 'classify', classes=2)
    params = jax.jit(module.init)(jax.random.key(0), typed)['params']
    plain, other = (logits(module, params, b) for b in (PACKED, typed))
    assert np.array_equal(plain, other) == same
