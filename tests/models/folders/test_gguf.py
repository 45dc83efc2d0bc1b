"""A GGUF file as a model folder: parity with transformers' own reader."""

import pathlib
import sys

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.models.folders import folder, hub
from fairjax.models.reading import judge

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'data'))
from gguf_files import gguf, llama, tokenizer

TEXTS = ['She paid 1234 dollars.', "He didn't; they did. Yes!"]
pytest.importorskip('torch')


def tiny(tied=True, **changes):
  import torch
  import transformers

  torch.manual_seed(0)
  shape = transformers.LlamaConfig(
    vocab_size=280,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=96,
    max_position_embeddings=64,
    rope_parameters={'rope_type': 'default', 'rope_theta': 1e5},
    rms_norm_eps=1e-5,
    tie_word_embeddings=tied,
    initializer_range=0.2,
    **changes,
  )
  return transformers.LlamaForCausalLM(shape).eval()


def slow(net, ids):
  import torch

  with torch.no_grad():
    logs = net(input_ids=torch.tensor([[0, *ids]])).logits[0].log_softmax(-1)
  return [float(logs[i, token]) for i, token in enumerate(ids)]


@pytest.mark.parametrize('tied', [True, False])
def test_a_file_says_what_its_model_says(tmp_path, tied):
  net, (bpe, fields) = tiny(tied), tokenizer(TEXTS)
  path = tmp_path / 'model.gguf'
  path.write_bytes(llama(net, fields))
  ours = judge.from_bundle(folder.load(path), str(path))
  assert ours.kind == 'write' and ours.bos == 0
  texts = ours.encode(TEXTS)
  logs = texts.split(ours.log_p(texts))
  for text, values in zip(TEXTS, logs):
    np.testing.assert_allclose(
      values, slow(net, bpe.encode(text).ids), atol=1e-4
    )


@pytest.mark.parametrize('kind', ['Q4_1', 'Q8_0'])
def test_a_quantised_file_against_an_independent_reader(tmp_path, kind):
  package = pytest.importorskip('gguf')  # llama.cpp's own
  import torch

  code = package.GGMLQuantizationType[kind]
  raw = lambda array: package.quants.quantize(array.astype(np.float32), code)
  net, (bpe, fields) = tiny(), tokenizer(TEXTS)
  path = tmp_path / 'model.gguf'
  path.write_bytes(
    llama(net, fields, lambda a: (kind, (a.shape, raw(a).tobytes())))
  )
  ids, values = bpe.encode(TEXTS[1]).ids, None
  before = slow(net, ids)
  for weight in net.parameters():
    if weight.ndim > 1:
      value = package.quants.dequantize(raw(weight.detach().numpy()), code)
      weight.data = torch.tensor(value)
  ours = judge.from_bundle(folder.load(path), str(path))
  values = ours.log_p(ours.encode(TEXTS[1:]))
  np.testing.assert_allclose(values, slow(net, ids), atol=1e-4)
  assert np.abs(values - before).max() > 1e-3  # it was quantised


def test_what_a_file_lacks_or_has_too_much(tmp_path):
  net, (_, fields) = tiny(), tokenizer(TEXTS)
  path = tmp_path / 'model.gguf'
  scaled = {'llama.rope.scaling.type': 'linear'}
  for more, words in (
    ({'general.architecture': 'qwen2'}, 'architecture qwen2'),
    ({'llama.embedding_length': 'wide'}, 'no int'),
    ({'llama.rope.dimension_count': 8}, 'rotates 8 of the 16'),
    ({'llama.attention.head_count_kv': 3}, 'divide'),
    ({'llama.block_count': 3}, 'lacks the tensor'),
    ({'llama.block_count': 1}, 'unknown tensors'),
    (scaled, 'rope_scaling'),
  ):
    path.write_bytes(llama(net, fields | more))
    with pytest.raises(UserError, match=words) as error:
      folder.load(path)
    assert 'model.gguf' in str(error.value)
  path.write_bytes(gguf({'general.architecture': 'llama'}, {}))
  with pytest.raises(UserError, match='no field'):
    folder.load(path)
  (tmp_path / 'model.bin').write_bytes(b'')
  with pytest.raises(UserError, match='is a file; name'):
    hub.find(str(tmp_path / 'model.bin'))
