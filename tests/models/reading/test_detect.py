"""A detector's logits against transformers, and warm starts from a BERT."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import needs_torch, params_of, shape_of

from fairjax.data.batching.tokens import Ragged
from fairjax.models import families, warm_start
from fairjax.models.families import bart
from fairjax.models.folders import hf
from fairjax.models.reading import detect

SHAPE = shape_of('bert', 50, 40, depth=2)
TEXTS = Ragged(
  np.int32([2, 7, 9, 3, 2, 11, 3, 2, 8, 12, 30, 41, 22, 3]),
  np.int64([0, 4, 7, 14]),
)


def folder_of(family, can, path):
  shape = dataclasses.replace(SHAPE, family=family)
  module = families.module(shape, can)
  params = params_of(module, 1)
  # Far from their start, so that no bias is 0 and no scale 1.
  rng = np.random.default_rng(0)
  params = jax.tree.map(
    lambda a: a + np.float32(rng.normal(0, 0.1, a.shape)), params
  )
  hf.save(path, module, params)
  return module, params


@needs_torch
@pytest.mark.parametrize('can', ['detect', 'mask'])
def test_logits_are_those_of_transformers(can, tmp_path):
  import torch
  import transformers

  family = {'detect': 'electra', 'mask': 'bert'}[can]
  module, params = folder_of(family, can, tmp_path / 'model')
  ours = detect.logits(module, params, TEXTS, can=can)
  name = {'detect': 'ElectraForPreTraining', 'mask': 'BertForMaskedLM'}[can]
  theirs = getattr(transformers, name).from_pretrained(tmp_path / 'model')
  expected = []
  for text in np.split(TEXTS.flat, TEXTS.offsets[1:-1]):
    ids = torch.tensor(text[None].astype(np.int64))
    with torch.no_grad():
      logits = theirs.eval()(ids).logits[0]
    if can == 'mask':
      p = torch.softmax(logits, -1)[torch.arange(len(text)), ids[0]]
      logits = torch.log((1 - p) / p)
    expected.append(logits.numpy())
  np.testing.assert_allclose(ours, np.concatenate(expected), atol=2e-5)


def states(module, params, body='encoder'):
  """The encoder's output of the last text."""
  tokens = TEXTS.flat[None, 7:]
  one = np.ones_like(tokens)
  batch = {
    'tokens': tokens,
    'segment_ids': one,
    'positions': np.arange(7, dtype=np.int32)[None],
    'example': np.zeros(1, np.int32),
  }
  inner = families.body_of(module)
  return np.asarray(inner.apply({'params': params[body]}, batch))


def test_a_discriminator_starts_from_a_body(tmp_path):
  bert, params = folder_of('bert', 'mask', tmp_path / 'bert')
  shape = warm_start.shape(bert.shape, 'detect', 'it')
  module = families.module(shape, 'detect')
  known = warm_start.params(tmp_path / 'bert', module)
  assert shape.family == 'electra' and set(known) == {'encoder'}
  new = hf.complete(module, known, jax.random.key(0))
  np.testing.assert_allclose(
    states(module, new), states(bert, params), atol=1e-6
  )


def test_a_bart_s_encoder_starts_as_the_body(tmp_path):
  bert, params = folder_of('bert', 'mask', tmp_path / 'bert')
  shape = warm_start.shape(bert.shape, 'infill', 'it')
  module = families.module(shape, 'infill')
  assert isinstance(module, bart.Bart)
  known = warm_start.params(tmp_path / 'bert', module)
  new = hf.complete(module, known, jax.random.key(0))
  assert jax.tree.structure(new) == jax.tree.structure(params_of(module))
  np.testing.assert_array_equal(new['bias'][0], params['bias'])
  # Through the whole encoder: what its last layer gives the decoder to see.
  source = module.apply(
    {'params': new},
    jnp.asarray(TEXTS.flat[None, 7:]),
    jnp.ones((1, 7), jnp.int32),
    method='remember',
  )
  across = new['decoder']['layer_1']['key_value']
  seen = states(bert, params) @ across['kernel'] + across['bias']
  keys, values = np.split(seen, 2, -1)
  for ours, theirs in zip(
    (source.seen[1].keys, source.seen[1].values), (keys, values)
  ):
    np.testing.assert_allclose(
      np.asarray(ours).swapaxes(1, 2).reshape(theirs.shape), theirs, atol=1e-4
    )


def test_a_body_without_a_head_gets_the_identity(tmp_path):
  folder_of('bert', 'embed', tmp_path / 'body')
  module = families.module(SHAPE, 'mask')
  known = warm_start.params(tmp_path / 'body', module)
  np.testing.assert_array_equal(known['dense']['kernel'], np.eye(16))
  new = hf.complete(module, known, jax.random.key(0))
  assert set(new) == {'encoder', 'dense', 'norm', 'bias'}
