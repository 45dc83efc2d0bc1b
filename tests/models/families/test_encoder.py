"""Identities of the encoder: packed = padded, …"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import params_of

from fairjax.models import families
from fairjax.models.folders import hf

from ..batches import pack
from ..small_encoder import SHAPE, TEXTS

PACKED = pack(TEXTS, 3, 16, 3, extra=2)
B = len(TEXTS)


@pytest.fixture(scope='module')
def model():
  module = families.module(SHAPE, 'classify', classes=2)
  return module, params_of(module)


def logits(module, params, batch, key=None):
  run = jax.jit(lambda p, b: module.apply({'params': p}, b, key))
  return run(params, batch)[:B]


def test_dropout_differs_by_key_and_example(model):
  one, two = (logits(*model, PACKED, jnp.uint32(k)) for k in (1, 2))
  assert np.abs(one - two).min() > 1e-4
  renamed = PACKED | {'example': PACKED['example'] + 1}
  again = logits(*model, renamed, jnp.uint32(1))
  assert np.abs(one - again).min() > 1e-4


@pytest.mark.parametrize('key', [None, jnp.uint32(7)])
def test_heads_only_equals_full(model, key):
  module, params = model
  full = logits(module.clone(heads_only=False), params, PACKED, key)
  np.testing.assert_allclose(
    logits(module, params, PACKED, key), full, atol=1e-5
  )


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
