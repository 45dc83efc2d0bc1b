"""GPT-2 and Llama: parity with transformers, packing, cached steps, probes."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from golden import make_seq2seq
from small import needs_torch

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import ragged
from fairjax.models import families
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.families import causal
from fairjax.models.folders import folder, hf, weight_files
from fairjax.models.layers import probed

from .. import frozen_cases, seq2seq


@pytest.fixture(scope='module', params=['gpt2', 'llama'])
def case(request):
  return seq2seq.frozen(request.param)


@pytest.fixture(scope='module')
def model(case, tmp_path_factory):
  return seq2seq.load(case, tmp_path_factory.mktemp('causal'))


def test_frozen_parity(case, model):
  module, params = model
  texts = seq2seq.cut(case['tokens'], case['mask'])
  batch = seq2seq.batch_of(texts, packed=True, extra=1)

  @jax.jit
  @jax.value_and_grad
  def loss(params):
    logits = module.apply({'params': params}, batch)
    labels, segment_ids = causal.following(batch)
    losses = causal.token_losses(logits, labels)
    return jnp.average(losses, weights=segment_ids > 0)

  found, gradients = loss(params)
  np.testing.assert_allclose(found, case['loss'], atol=1e-5)
  logits = seq2seq.runner(module, params)('__call__', batch)
  rows, columns = np.nonzero(batch['segment_ids'])
  theirs = case['logits'][
    batch['segment_ids'][rows, columns] - 1, batch['positions'][rows, columns]
  ]
  np.testing.assert_allclose(logits[rows, columns], theirs, atol=1e-5)
  names = hf.to_hf(module, gradients)
  assert frozen_cases.part(case, 'gradient:').keys() == names.keys()
  frozen_cases.compare_gradients(names, case)


def test_cached_steps_equal_full_forward(case, model):
  """Few places against a cache, and many."""
  module, params = model
  texts = seq2seq.cut(case['tokens'], case['mask'])
  batch = seq2seq.batch_of(texts)
  run = seq2seq.runner(module, params)
  full = run('__call__', batch)
  rows, width = batch['tokens'].shape
  cache, logits, at = module.blank_cache(rows, 7), [], 0
  for count in [4, 1, 1, 1, width - 7]:
    if at == 7:
      room = (0, 0), (0, 0), (0, width - 7), (0, 0)
      cache = jax.tree.map(lambda a, room=room: jnp.pad(a, room), cache)
    tokens = batch['tokens'][:, at : at + count]
    result, cache = run('step', tokens, np.full(rows, at), cache)
    logits.append(result)
    at += count
  real = batch['segment_ids'] > 0
  np.testing.assert_allclose(
    jnp.concatenate(logits, axis=1)[real], full[real], atol=1e-5
  )


def test_probes_refuse_a_tied_head(case, model):
  batch = seq2seq.batch_of(seq2seq.cut(case['tokens'], case['mask']))
  with pytest.raises(UserError, match='layer word is used 2 times'):
    probed.zero_probes(*model, batch)


@needs_torch
def test_what_is_saved_transformers_loads(case, model, tmp_path):
  import torch
  import transformers

  module, params = model
  hf.save(tmp_path / 'out', module, params)
  auto = transformers.AutoModelForCausalLM
  net = auto.from_pretrained(tmp_path / 'out').eval()
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
    re.sub(r'weight:(transformer|model)\.', 'weight:', name): value
    for name, value in case.items()
  }
  if model[0].shape.family == 'gpt2':
    old['weight:h.0.attn.bias'] = np.ones((1, 1, 32, 32), np.float32)
  else:
    old['weight:layers.0.self_attn.rotary_emb.inv_freq'] = np.ones(2, 'f4')
  _, params = seq2seq.load(old, tmp_path)
  assert jax.tree.all(jax.tree.map(np.array_equal, params, model[1]))


def test_sizes_by_their_other_names_are_those_of_transformers():
  """768 features in 12 heads, where 16 are said, were another model."""
  transformers = pytest.importorskip('transformers')
  said = {'hidden_size': 768, 'num_hidden_layers': 2}
  said['num_attention_heads'] = 16
  theirs = transformers.GPT2Config.from_dict(said)
  ours = families.shape_from_hf({'model_type': 'gpt2', **said})
  assert (ours.width, ours.depth, ours.heads) == (768, 2, 16)
  assert (theirs.n_embd, theirs.n_layer, theirs.n_head) == (768, 2, 16)
  said['num_attention_heads'] = 8
  theirs = transformers.BartConfig.from_dict(said)
  ours = families.shape_from_hf({'model_type': 'bart', **said})
  assert (ours.width, ours.depth) == (theirs.d_model, theirs.encoder_layers)
  assert (ours.heads, ours.decoder_heads) == (8, 16)
  assert theirs.encoder_attention_heads == 8
  assert theirs.decoder_attention_heads == 16


@needs_torch
@pytest.mark.parametrize('tied', [True, False])
def test_llama_writes_what_transformers_writes(tied, tmp_path):
  """Greedy, from a prompt, with the static cache; heads share their keys."""
  import torch

  net = make_seq2seq.model('llama', 3, tie_word_embeddings=tied)
  module, params = seq2seq.from_torch(net, tmp_path)
  rng = np.random.default_rng(0)
  texts = [rng.integers(4, 41, n).astype(np.int32) for n in (3, 7, 5)]
  sources = ragged(texts)
  options = Options(max_new_tokens=9)
  ready = decode_texts.ready(module, params)
  made = decode_texts.generate(module, ready, sources, options, 2).tokens
  for text, row in zip(texts, made.split()):
    with torch.no_grad():
      theirs = net.generate(
        torch.tensor(text[None]).long(),
        max_new_tokens=9,
        do_sample=False,
        pad_token_id=2,
      )[0].numpy()
    np.testing.assert_array_equal(row, theirs)


@needs_torch
def test_a_tagger_scores_places_as_transformers_does(case, tmp_path):
  import torch
  import transformers

  frozen_cases.folder_of(case, tmp_path / 'lm')
  made = transformers.AutoConfig.from_pretrained(tmp_path / 'lm', num_labels=1)
  torch.manual_seed(0)
  net = transformers.AutoModelForTokenClassification.from_config(made).eval()
  net.save_pretrained(tmp_path / 'in')
  module = families.module(hf.read_shape(tmp_path / 'in'), 'tag')
  loaded = hf.load(tmp_path / 'in', module)
  assert not loaded.fresh
  params = jax.tree.map(jnp.asarray, loaded.params)
  texts = seq2seq.cut(case['tokens'], case['mask'])
  batch = seq2seq.batch_of(texts, packed=True, extra=1)
  ours = seq2seq.runner(module, params)('__call__', batch)
  hf.save(tmp_path / 'out', module, params)
  # It is one that tags, also where its word vectors could be an output layer.
  weights = weight_files.read(tmp_path / 'out')
  assert not hf.lacks(module, weights)
  for path in ('in', 'out'):
    known = transformers.AutoModelForTokenClassification.from_pretrained(
      tmp_path / path
    ).eval()
    for k, text in enumerate(texts):
      with torch.no_grad():
        theirs = known(torch.tensor(text)[None].long()).logits[0, :, 0].numpy()
      own = batch['segment_ids'] == k + 1
      np.testing.assert_allclose(ours[own], theirs, atol=1e-5)


@needs_torch
def test_a_head_of_nine_labels_is_left_out(case, tmp_path):
  """Of names of entities: the body begins a tagger, the head is its own."""
  import transformers

  frozen_cases.folder_of(case, tmp_path / 'lm')
  made = transformers.AutoConfig.from_pretrained(tmp_path / 'lm', num_labels=9)
  net = transformers.AutoModelForTokenClassification.from_config(made)
  net.save_pretrained(tmp_path / 'in')
  module = families.module(hf.read_shape(tmp_path / 'in'), 'tag')
  assert set(hf.load(tmp_path / 'in', module).fresh) == {
    'score/kernel',
    'score/bias',
  }
  with pytest.raises(UserError, match='a head of 9 classes'):
    folder.load(tmp_path / 'in', can='tag')
