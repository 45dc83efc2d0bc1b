"""BART: parity with transformers + torch, packing, cached steps, probes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import needs_torch

from fairjax.core import backend
from fairjax.core.errors import UserError
from fairjax.models import families, special
from fairjax.models.families import bart, causal
from fairjax.models.folders import hf
from fairjax.models.layers import probed

from .. import frozen_cases, seq2seq


def texts_of(case):
  return (
    seq2seq.cut(case['tokens'], case['mask']),
    seq2seq.cut(case['target'], case['target_mask']),
  )


def both_of(module, batch):
  """Loss, logits and gradients of the teacher-forced mean."""

  def loss(params):
    logits = module.apply({'params': params}, batch)
    each = causal.token_losses(logits, jnp.asarray(batch['target']))
    segment_ids = jnp.asarray(batch['target_segment_ids'])
    return jnp.average(each, weights=segment_ids > 0), logits

  return jax.jit(jax.value_and_grad(loss, has_aux=True))


def check(case, tmp_path, packed):
  module, params = seq2seq.load(case, tmp_path)
  batch = seq2seq.batch_of(*texts_of(case), packed=packed, extra=1)
  (loss, logits), gradients = both_of(module, batch)(params)
  rows, columns = np.nonzero(batch['target_segment_ids'])
  theirs = case['logits'][
    batch['target_segment_ids'][rows, columns] - 1,
    batch['target_positions'][rows, columns],
  ]
  np.testing.assert_allclose(logits[rows, columns], theirs, atol=1e-5)
  np.testing.assert_allclose(loss, case['loss'], atol=1e-5)
  names = hf.to_hf(module, gradients)
  compared = frozen_cases.compare_gradients(names, case)
  assert compared == len(frozen_cases.part(case, 'gradient:')) > 30
  assert not np.any(names['final_logits_bias'])


@pytest.mark.parametrize(
  'name, packed', [('bart', True), ('bart_scaled', False)]
)
def test_frozen_parity(name, packed, tmp_path):
  check(seq2seq.frozen(name), tmp_path, packed)


@pytest.mark.parametrize('platform', ['cpu', 'tpu'])
def test_rows_step_at_their_own_lengths(tmp_path, platform):
  module, params = seq2seq.load(seq2seq.frozen('bart'), tmp_path)
  run = seq2seq.runner(module, params)
  rng = np.random.default_rng(5)
  tokens = rng.integers(4, 41, (3, 6)).astype(np.int32)
  with backend.made_for(platform):
    source = run('remember', tokens, np.ones_like(tokens))
    inputs = jnp.asarray(rng.integers(4, 41, (3, 5)).astype(np.int32))
    even = jnp.zeros(3, jnp.int32)
    whole, _ = run('step', inputs, even, module.blank_cache(3, 8), source)
    # Junk lies in the cache beyond each row's own count.
    _, cache = run(
      'step', inputs[:, ::-1], even, module.blank_cache(3, 8), source
    )
    _, cache = run('step', inputs[:, :1], even, cache, source)
    at = jnp.array([1, 0, 1])
    take = lambda n: jnp.stack([inputs[i, a : a + n] for i, a in enumerate(at)])
    found, _ = run('step', take(3), at, cache, source)
    for i, a in enumerate([1, 0, 1]):
      np.testing.assert_allclose(found[i], whole[i, a : a + 3], atol=1e-5)


def test_probes_refuse_a_tied_head(tmp_path):
  case = seq2seq.frozen('bart')
  module, params = seq2seq.load(case, tmp_path)
  with pytest.raises(UserError, match='layer word is used 3 times'):
    probed.zero_probes(module, params, seq2seq.batch_of(*texts_of(case)))


@needs_torch
def test_what_is_saved_transformers_loads(tmp_path):
  import torch
  import transformers

  case = seq2seq.frozen('bart_scaled')
  module, params = seq2seq.load(case, tmp_path)
  hf.save(tmp_path / 'out', module, params)
  net = transformers.BartForConditionalGeneration.from_pretrained(
    tmp_path / 'out'
  ).eval()
  tokens, mask, target = (
    torch.tensor(case[name].astype(np.int64))
    for name in ('tokens', 'mask', 'target')
  )
  with torch.no_grad():
    logits = net(input_ids=tokens, attention_mask=mask, labels=target).logits
  real = case['target_mask']
  np.testing.assert_allclose(
    logits.numpy()[real], case['logits'][real], atol=1e-5
  )
  again = module.shape
  assert families.shape_from_hf(hf.read_config(tmp_path / 'out')) == again


def test_weights_that_do_not_fit(tmp_path):
  case = seq2seq.frozen('bart')
  lacking = dict(case)
  del lacking['weight:model.decoder.layers.1.encoder_attn.k_proj.weight']
  with pytest.raises(UserError, match=r'lacks .*encoder_attn\.k_proj'):
    seq2seq.load(lacking, tmp_path)
  wide = case | {'weight:model.shared.weight': np.zeros((44, 16), np.float32)}
  with pytest.raises(UserError, match='asks for'):
    seq2seq.load(wide, tmp_path)


def test_lengths_are_checked():
  shape = bart.BartShape(longest=8)
  special.check_lengths(np.array([8, 1]), shape)
  with pytest.raises(UserError, match=r'text 1 has more tokens .*8'):
    special.check_lengths(np.array([8, 9]), shape)
  with pytest.raises(UserError, match='text 0 has no token'):
    special.check_lengths(np.array([0, 9]), shape)
