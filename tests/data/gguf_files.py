"""Writes small GGUF files, field by field as ggml's docs/gguf.md has it."""

import json
import struct

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

CODES = {'F32': 0, 'F16': 1, 'Q4_0': 2, 'Q4_1': 3, 'Q8_0': 8, 'BF16': 30}
CONTROL = '<|endoftext|>'


def string(text):
  data = text if isinstance(text, bytes) else text.encode()
  return struct.pack('<Q', len(data)) + data


def value(item):
  if isinstance(item, bool):
    return struct.pack('<I?', 7, item)
  if isinstance(item, int):
    return struct.pack('<II', 4, item)
  if isinstance(item, float):
    return struct.pack('<If', 6, item)
  if isinstance(item, str):
    return struct.pack('<I', 8) + string(item)
  inner = [value(each) for each in item] or [struct.pack('<I', 4)]
  head = struct.pack('<I', 9) + inner[0][:4] + struct.pack('<Q', len(item))
  return head + b''.join(each[4:] for each in inner) * bool(item)


def gguf(metadata, tensors, align=32):
  """The bytes of a file; tensors are {name: (kind, array or (shape, bytes))}"""
  out = b'GGUF' + struct.pack('<IQQ', 3, len(tensors), len(metadata))
  for name, item in metadata.items():
    out += string(name) + value(item)
  data = b''
  for name, (kind, array) in tensors.items():
    shape, raw = array if kind not in ('F32', 'F16') else (None, None)
    if raw is None:
      array = array.astype('<f4' if kind == 'F32' else '<f2')
      shape, raw = array.shape, array.tobytes()
    out += string(name) + struct.pack('<I', len(shape))
    out += struct.pack(f'<{len(shape)}Q', *shape[::-1])
    out += struct.pack('<IQ', CODES[kind], len(data))
    data += raw + bytes(-len(raw) % align)
  return out + bytes(-len(out) % align) + data


def tokenizer(texts, vocab=280):
  """A byte-level BPE, and its fields."""
  bpe = Tokenizer(models.BPE())
  bpe.pre_tokenizer = pre_tokenizers.Sequence(
    [
      pre_tokenizers.Digits(individual_digits=True),
      pre_tokenizers.ByteLevel(add_prefix_space=False),
    ]
  )
  alphabet = pre_tokenizers.ByteLevel.alphabet()
  trainer = trainers.BpeTrainer(
    vocab_size=vocab,
    special_tokens=[CONTROL],
    show_progress=False,
    initial_alphabet=alphabet,
  )
  bpe.train_from_iterator(texts, trainer)
  model = json.loads(bpe.to_str())['model']
  words = sorted(model['vocab'], key=model['vocab'].get)
  return bpe, {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'smollm',
    'tokenizer.ggml.tokens': words,
    'tokenizer.ggml.token_type': [3 if w == CONTROL else 1 for w in words],
    'tokenizer.ggml.merges': [' '.join(m) for m in model['merges']],
    'tokenizer.ggml.bos_token_id': 0,
    'tokenizer.ggml.eos_token_id': 0,
  }


def paired(weight, heads):
  """Rows of query and key as llama.cpp's converter puts them."""
  return (
    weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
    .swapaxes(1, 2)
    .reshape(weight.shape)
  )


def llama(net, fields, kind=None):
  """The bytes of a transformers Llama; `kind(array)` gives (kind, data)."""
  shape, tensors = net.config, {}
  names = {
    'model.embed_tokens': 'token_embd',
    'model.norm': 'output_norm',
    'lm_head': 'output',
    'input_layernorm': 'attn_norm',
    'self_attn.q_proj': 'attn_q',
    'self_attn.k_proj': 'attn_k',
    'self_attn.v_proj': 'attn_v',
    'self_attn.o_proj': 'attn_output',
    'post_attention_layernorm': 'ffn_norm',
    'mlp.gate_proj': 'ffn_gate',
    'mlp.up_proj': 'ffn_up',
    'mlp.down_proj': 'ffn_down',
  }
  heads = {'attn_q': shape.num_attention_heads}
  heads['attn_k'] = shape.num_key_value_heads
  for name, weight in net.state_dict().items():
    if name == 'lm_head.weight' and shape.tie_word_embeddings:
      continue
    stem = name.removesuffix('.weight')
    if stem.startswith('model.layers.'):
      _, _, i, rest = stem.split('.', 3)
      stem, before = rest, f'blk.{i}.'
    else:
      before = ''
    array = weight.numpy()
    if names[stem] in heads:
      array = paired(array, heads[names[stem]])
    plain = kind is None or array.ndim == 1
    tensors[f'{before}{names[stem]}.weight'] = (
      ('F32', array) if plain else kind(array)
    )
  fields = {
    'general.architecture': 'llama',
    'llama.block_count': shape.num_hidden_layers,
    'llama.context_length': shape.max_position_embeddings,
    'llama.embedding_length': shape.hidden_size,
    'llama.feed_forward_length': shape.intermediate_size,
    'llama.attention.head_count': shape.num_attention_heads,
    'llama.attention.head_count_kv': shape.num_key_value_heads,
    'llama.rope.freq_base': 100_000.0,
    'llama.rope.dimension_count': shape.head_dim,
    'llama.attention.layer_norm_rms_epsilon': 1e-5,
    'llama.vocab_size': shape.vocab_size,
    **fields,
  }
  return gguf(fields, tensors)
