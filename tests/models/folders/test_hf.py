"""Parity with transformers + torch; folders in and out."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import serialization, traverse_util
from golden import make_encoders
from golden.make_encoders import TYPED
from safetensors.numpy import save_file
from small import needs_torch

from fairjax.core.errors import UserError
from fairjax.models import families
from fairjax.models.folders import hf, hub, weight_files

from .. import frozen_cases
from ..batches import pack, pad
from ..frozen_cases import folder_of

CASES = [(f, h) for f, all_ in make_encoders.CASES.items() for h in all_]
MODULES = {
  'SequenceClassification': lambda s, **k: families.module(
    s, 'classify', classes=3, **k
  ),
  'MaskedLM': lambda s, **k: families.module(s, 'mask', **k),
  'PreTraining': lambda s, **k: families.module(s, 'detect', **k),
}


def case_of(family, head):
  return frozen_cases.of('encoders.npz', f'{family}/{head}/')


def layouts(case):
  lengths = case['mask'].sum(1)
  texts = [t[:n] for t, n in zip(case['tokens'], lengths)]
  types = [t[:n] for t, n in zip(case['types'], lengths)]
  return texts, types


def loss_of(head, logits, batch, labels):
  """The mean that transformers takes, on either layout."""
  if head == 'SequenceClassification':
    b = len(labels)
    log_p = jax.nn.log_softmax(logits[:b])
    return -jnp.mean(log_p[jnp.arange(b), labels])
  segment_ids, positions = batch['segment_ids'], batch['positions']
  there = labels[segment_ids - 1, positions]
  if head == 'MaskedLM':
    real = (segment_ids > 0) & (there >= 0)
    picked = jnp.take_along_axis(
      jax.nn.log_softmax(logits), jnp.maximum(there, 0)[..., None], -1
    )
    return -jnp.sum(jnp.where(real, picked[..., 0], 0)) / jnp.sum(real)
  real = segment_ids > 0
  each = jnp.logaddexp(0, logits) - there * logits
  return jnp.sum(jnp.where(real, each, 0)) / jnp.sum(real)


def check(case, family, head, tmp_path, packed=True):
  folder = folder_of(case, tmp_path / 'model')
  shape = hf.read_shape(folder)
  assert shape.family == family
  module = MODULES[head](shape)
  loaded = hf.load(folder, module)
  assert not loaded.fresh
  texts, types = layouts(case)
  batch = (
    pack(texts, 2, 16, 3, extra=2, types=types)
    if packed
    else pad(texts, make_encoders.LONGEST, types=types)
  )
  params = jax.tree.map(jnp.asarray, loaded.params)

  @jax.jit
  def both(params):
    def loss(p):
      logits = module.apply({'params': p}, batch)
      return loss_of(head, logits, batch, case['labels']), logits

    return jax.value_and_grad(loss, has_aux=True)(params)

  (loss, logits), gradients = both(params)
  if head == 'SequenceClassification':
    ours, theirs = logits[: len(texts)], case['logits']
  else:
    rows, columns = np.nonzero(batch['segment_ids'])
    ours = logits[rows, columns]
    theirs = case['logits'][
      batch['segment_ids'][rows, columns] - 1, batch['positions'][rows, columns]
    ]
  np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=1e-5)
  np.testing.assert_allclose(loss, case['loss'], atol=1e-5)
  names = hf.to_hf(module, gradients)
  assert frozen_cases.compare_gradients(names, case) >= 8


@pytest.mark.parametrize('family, head', CASES)
def test_frozen_parity(family, head, tmp_path):
  case = case_of(family, head)
  check(case, family, head, tmp_path)


@pytest.mark.parametrize('family', make_encoders.CASES)
def test_frozen_parity_of_padded_batches(family, tmp_path):
  case = case_of(family, 'SequenceClassification')
  check(case, family, 'SequenceClassification', tmp_path, packed=False)


@needs_torch
def test_live_parity_of_an_untied_decoder(tmp_path):
  own = {'tie_word_embeddings': False, 'hidden_act': 'gelu_new'}
  case = make_encoders.answer('bert', 'MaskedLM', seed=6, **own)
  check(case, 'bert', 'MaskedLM', tmp_path)


@needs_torch
@pytest.mark.parametrize('family, head', CASES)
def test_saved_folder_loads_in_transformers(family, head, tmp_path):
  import torch
  import transformers

  case = make_encoders.answer(family, head, seed=2)
  source = folder_of(case, tmp_path / 'in')
  shape = hf.read_shape(source)
  module = MODULES[head](shape)
  params = hf.load(source, module).params
  (tmp_path / 'vocab.txt').write_text('[PAD]\n')
  out = tmp_path / 'out'
  hf.save(out, module, params, [tmp_path / 'vocab.txt'])
  hf.save(out, module, params, [tmp_path / 'vocab.txt'])  # again: replaced
  assert (out / 'vocab.txt').read_text() == '[PAD]\n'
  auto = getattr(transformers, f'AutoModelFor{head}')
  net, notes = auto.from_pretrained(out, output_loading_info=True)
  assert not notes['missing_keys'] and not notes['unexpected_keys'], notes
  types = torch.tensor(case['types']).long()
  with torch.no_grad():
    logits = net.eval()(
      input_ids=torch.tensor(case['tokens']).long(),
      attention_mask=torch.tensor(case['mask']).long(),
      **({'token_type_ids': types} if family in TYPED else {}),
    ).logits.numpy()
  # What stands on padding is nobody's.
  real = ... if head == 'SequenceClassification' else case['mask']
  np.testing.assert_allclose(
    logits[real], case['logits'][real], atol=1e-5, rtol=1e-5
  )
  assert hf.read_shape(out) == shape


def test_minilm_embeddings(minilm, torch):
  transformers = pytest.importorskip('transformers')
  shape = hf.read_shape(minilm)
  module = families.module(shape, 'embed')
  loaded = hf.load(minilm, module)
  assert not loaded.fresh
  rng = np.random.default_rng(0)
  texts = [rng.integers(1000, 20000, n).astype(np.int32) for n in (9, 4, 17)]
  batch = pack(texts, 2, 24, 2)
  x = jax.jit(module.apply)({'params': loaded.params}, batch)
  net = transformers.AutoModel.from_pretrained(minilm).eval()
  for k, text in enumerate(texts):
    mine = x[batch['segment_ids'] == k + 1].mean(0)
    with torch.no_grad():
      ids = torch.tensor(text[None]).long()
      theirs = net(input_ids=ids).last_hidden_state[0].mean(0).numpy()
    np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_other_formats_and_shards_equal(tmp_path):
  case = case_of('bert', 'SequenceClassification')
  weights = frozen_cases.part(case, 'weight:')
  reference = weight_files.read(folder_of(case, tmp_path / 'one'))
  shards = tmp_path / 'shards'
  shards.mkdir()
  names = sorted(weights)
  parts = {
    'model-1.safetensors': names[::2],
    'model-2.safetensors': names[1::2],
  }
  for file, part in parts.items():
    save_file({n: weights[n] for n in part}, shards / file)
  index = {n: file for file, part in parts.items() for n in part}
  index_file = shards / 'model.safetensors.index.json'
  index_file.write_text(json.dumps({'weight_map': index}))
  tree = {}
  for name, value in weights.items():
    *parents, leaf = name.split('.')
    if leaf == 'weight' and 'embeddings' in parents[-1]:
      leaf = 'embedding'
    elif leaf == 'weight' and 'LayerNorm' in parents:
      leaf = 'scale'
    elif leaf == 'weight':
      leaf, value = 'kernel', value.T.copy()
    tree[(*parents, leaf)] = value
  flax_folder = tmp_path / 'flax'
  flax_folder.mkdir()
  (flax_folder / 'flax_model.msgpack').write_bytes(
    serialization.msgpack_serialize(traverse_util.unflatten_dict(tree))
  )
  for folder in (shards, flax_folder):
    read = weight_files.read(folder)
    assert read.keys() == reference.keys()
    for name in read:
      np.testing.assert_array_equal(read[name], reference[name])
  # Equal copies in two formats are fine; different ones are named.
  (tmp_path / 'one' / 'flax_model.msgpack').write_bytes(
    (flax_folder / 'flax_model.msgpack').read_bytes()
  )
  weight_files.read(tmp_path / 'one')
  other = dict(weights)
  other['classifier.bias'] = weights['classifier.bias'] + 1
  save_file(other, tmp_path / 'one' / 'model.safetensors')
  with pytest.raises(UserError, match=r'disagree in classifier\.bias'):
    weight_files.read(tmp_path / 'one')


def test_old_names_and_bare_models(tmp_path, monkeypatch):
  case = case_of('bert', 'SequenceClassification')
  weights = frozen_cases.part(case, 'weight:')
  shape = families.shape_from_hf(json.loads(str(case['config'])))
  module = families.module(shape, 'classify', classes=3)
  reference = hf.load(folder_of(case, tmp_path / 'new'), module).params
  old = {}
  for name, value in weights.items():
    if 'LayerNorm' in name:
      name = name.replace('.weight', '.gamma').replace('.bias', '.beta')
    old[name.removeprefix('bert.')] = value
  old['embeddings.position_ids'] = np.arange(16)[None]
  save_file(old, tmp_path / 'new' / 'model.safetensors')
  loaded = hf.load(tmp_path / 'new', module)
  monkeypatch.setattr('flax.linen.Module.init', None)  # a whole one traces none
  whole = hf.complete(module, loaded.params, jax.random.key(0))
  for params in (loaded.params, whole):
    jax.tree.map(np.testing.assert_array_equal, params, reference)


def change(weights, name, value):
  changed = dict(weights)
  del changed[name]
  return changed | ({} if value is None else value)


@pytest.mark.parametrize(
  'name, value, sentence',
  [
    (
      'bert.encoder.layer.1.output.dense.bias',
      None,
      r'lacks the tensor bert\.encoder\.layer\.1\.output\.dense\.bias',
    ),
    (
      'bert.embeddings.word_embeddings.weight',
      {'bert.embeddings.word_embeddings.weight': np.ones((41, 16), 'f4')},
      r'gives \(41, 16\) where config\.json asks for \(40, 16\)',
    ),
    (
      'classifier.bias',
      {'bert.encoder.layer.2.output.dense.bias': np.ones(3, 'f4')},
      r'unknown tensors, first bert\.encoder\.layer\.2',
    ),
  ],
)
def test_wrong_tensors_are_named(name, value, sentence, tmp_path):
  case = case_of('bert', 'SequenceClassification')
  folder = folder_of(case, tmp_path / 'model')
  weights = change(frozen_cases.part(case, 'weight:'), name, value)
  save_file(weights, folder / 'model.safetensors')
  module = families.module(hf.read_shape(folder), 'classify', classes=3)
  with pytest.raises(UserError, match=sentence):
    hf.load(folder, module)


def test_head_of_other_classes_is_fresh(tmp_path):
  case = case_of('roberta', 'SequenceClassification')
  folder = folder_of(case, tmp_path / 'model')
  module = families.module(hf.read_shape(folder), 'classify', classes=5)
  loaded = hf.load(folder, module)
  assert set(loaded.fresh) == {'classifier/kernel', 'classifier/bias'}
  params = hf.complete(module, loaded.params, jax.random.key(0))
  assert params['classifier']['kernel'].shape == (16, 5)


@pytest.mark.parametrize(
  'make, sentence',
  [
    (lambda f: hf.read_config(f), 'has no config.json'),
    (lambda f: weight_files.read(f), 'has no weights'),
    (lambda f: hub.find(str(f / 'nowhere')), 'does not exist'),
    (lambda f: hub.find('nobody/such-model'), 'config.net.init=random'),
    (lambda f: families.named('mega'), 'no folder, size or model shape .mega'),
  ],
)
def test_one_sentence(make, sentence, tmp_path):
  with pytest.raises(UserError, match=sentence):
    make(tmp_path)


def test_broken_files_are_one_sentence(tmp_path):
  for name in weight_files.FORMATS:
    folder = tmp_path / name
    folder.mkdir()
    (folder / name).write_bytes(b'\x00\x01nothing of the kind')
    with pytest.raises(UserError, match=r'fetch it again|refused'):
      weight_files.read(folder)
