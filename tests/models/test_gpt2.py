"""GPT-2: parity with transformers + torch, packing, cached steps, probes."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.errors import UserError
from fairjax.models import causal, families, hf, layers

from . import seq2seq

needs_torch = pytest.mark.skipif(
  importlib.util.find_spec('torch') is None, reason='torch is not here'
)


@pytest.fixture(scope='module')
def case():
  return seq2seq.frozen('gpt2')


@pytest.fixture(scope='module')
def model(case, tmp_path_factory):
  return seq2seq.load(case, tmp_path_factory.mktemp('gpt2'))


def test_frozen_parity(case, model):
  module, params = model
  texts = seq2seq.cut(case['tokens'], case['mask'])
  batch = seq2seq.batch_of(texts, packed=True, extra=1)

  @jax.jit
  @jax.value_and_grad
  def loss(params):
    logits = module.apply({'params': params}, batch)
    labels, segment_ids = causal.following(batch)
    return causal.token_mean(causal.token_losses(logits, labels), segment_ids)

  found, gradients = loss(params)
  np.testing.assert_allclose(found, case['loss'], atol=1e-5)
  logits = seq2seq.runner(module, params)('__call__', batch)
  rows, columns = np.nonzero(batch['segment_ids'])
  theirs = case['logits'][
    batch['segment_ids'][rows, columns] - 1, batch['positions'][rows, columns]
  ]
  np.testing.assert_allclose(logits[rows, columns], theirs, atol=1e-5)
  names = hf.to_hf(module, gradients)
  asked = {n.removeprefix('gradient:') for n in case if 'gradient' in n}
  assert asked == set(names)
  for name in asked:
    np.testing.assert_allclose(
      names[name],
      case[f'gradient:{name}'],
      atol=1e-5,
      rtol=1e-4,
      err_msg=name,
    )


def test_cached_steps_equal_full_forward(case, model):
  module, params = model
  texts = seq2seq.cut(case['tokens'], case['mask'])
  batch = seq2seq.batch_of(texts)
  run = seq2seq.runner(module, params)
  full = run('__call__', batch)
  rows, width = batch['tokens'].shape
  cache, found, at = module.blank_cache(rows, width), [], 0
  for count in [4, 1, 1, 1, width - 7]:
    logits, cache = run(
      'step', batch['tokens'][:, at : at + count], np.full(rows, at), cache
    )
    found.append(logits)
    at += count
  real = batch['segment_ids'] > 0
  np.testing.assert_allclose(
    jnp.concatenate(found, axis=1)[real], full[real], atol=1e-5
  )


def test_bfloat16_is_within_its_rounding(case, model):
  module, params = model
  batch = seq2seq.batch_of(seq2seq.cut(case['tokens'], case['mask']))
  exact, rough = (
    seq2seq.runner(module.clone(dtype=dtype), params)('__call__', batch)
    for dtype in (jnp.float32, jnp.bfloat16)
  )
  gap = np.abs(exact - rough)[batch['segment_ids'] > 0]
  assert 0 < gap.max() < 16 * 2**-8 * np.abs(exact).max()


def test_probes_refuse_a_tied_head(case, model):
  batch = seq2seq.batch_of(seq2seq.cut(case['tokens'], case['mask']))
  with pytest.raises(UserError, match='layer word is used 2 times'):
    layers.zero_probes(*model, batch)


@needs_torch
def test_what_is_saved_transformers_loads(case, model, tmp_path):
  import torch
  import transformers

  module, params = model
  hf.save(tmp_path / 'out', module, params)
  net = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / 'out').eval()
  with torch.no_grad():
    logits = net(
      input_ids=torch.tensor(case['tokens'].astype(np.int64)),
      attention_mask=torch.tensor(case['mask'].astype(np.int64)),
    ).logits.numpy()
  np.testing.assert_allclose(
    logits[case['mask']], case['logits'][case['mask']], atol=1e-5
  )
  saved = hf.read_config(tmp_path / 'out')
  assert families.shape_from_hf(saved) == module.shape


def test_names_without_prefix_and_masks_of_old_files(case, model, tmp_path):
  """The hub's own gpt2 has bare names and keeps its masks as tensors."""
  old = {
    name.replace('weight:transformer.', 'weight:'): value
    for name, value in case.items()
  }
  old['weight:h.0.attn.bias'] = np.ones((1, 1, 32, 32), np.float32)
  _, params = seq2seq.load(old, tmp_path)
  assert jax.tree.all(jax.tree.map(np.array_equal, params, model[1]))


@pytest.mark.parametrize(
  'change, sentence',
  [
    ({'model_type': 'bart'}, "model_type 'bart'"),
    ({'scale_attn_by_inverse_layer_idx': True}, 'scale_attn_by_inverse'),
    ({'tie_word_embeddings': False}, 'tie_word_embeddings'),
    ({'activation_function': 'mish'}, "activation_function 'mish'"),
    ({'n_embd': 50}, 'n_embd 50'),
  ],
)
def test_configs_that_are_no_gpt2(change, sentence):
  with pytest.raises(UserError, match=sentence):
    families.shape_from_hf({'model_type': 'gpt2'} | change)
