"""A GGUF file as a model folder: its config.json, and tensors by torch's names.

llama.cpp keeps the rows of a head's query and key in pairs that are rotated
together, (0, d/2), (1, d/2 + 1), …; they are put back as torch has them.
"""

import os
from typing import Any

import numpy as np
from jaxtyping import Float

from fairjax.core.errors import UserError
from fairjax.data import gguf
from fairjax.data.word_tables import table_rows

_NAMES = {'token_embd': 'model.embed_tokens', 'output_norm': 'model.norm'}
_NAMES |= {'output': 'lm_head'}
_LAYER = dict(table_rows(__file__, 'gguf_layer.csv'))


def config(path: str | os.PathLike) -> dict[str, Any]:
  """What a config.json would say."""
  file = gguf.read(path)
  kind = gguf.field(file, 'general.architecture', str)
  if kind != 'llama':
    raise UserError(
      f'{file.path} holds a model of the architecture {kind[:60]}, and llama '
      'is known here; name another file, or the folder of the model in torch'
    )
  ask = lambda name, kind, *default: gguf.field(
    file, f'llama.{name}', kind, *default
  )
  heads, width = ask('attention.head_count', int), ask('embedding_length', int)
  own = ask('attention.key_length', int, width // max(heads, 1))
  rotated = ask('rope.dimension_count', int, own)
  if rotated != own or ask('attention.value_length', int, own) != own:
    raise UserError(
      f'{file.path} rotates {rotated} of the {own} features of a head, or has '
      'values of another width; that is not known here, so name another model'
    )
  fields = {
    'model_type': 'llama',
    'vocab_size': len(gguf.field(file, 'tokenizer.ggml.tokens', list)),
    'hidden_size': width,
    'num_hidden_layers': ask('block_count', int),
    'num_attention_heads': heads,
    'num_key_value_heads': ask('attention.head_count_kv', int, heads),
    'head_dim': own,
    'intermediate_size': ask('feed_forward_length', int),
    'max_position_embeddings': ask('context_length', int),
    'rope_theta': ask('rope.freq_base', float, 10_000.0),
    'rms_norm_eps': ask('attention.layer_norm_rms_epsilon', float),
    'tie_word_embeddings': 'output.weight' not in file.tensors,
  }
  scaling = ask('rope.scaling.type', str, 'none')
  if scaling != 'none':
    fields['rope_scaling'] = {'rope_type': scaling}
  for ours, theirs in (('bos', 'bos'), ('eos', 'eos'), ('pad', 'padding')):
    token = file.metadata.get(f'tokenizer.ggml.{theirs}_token_id')
    if token is not None:
      fields[f'{ours}_token_id'] = token
  return fields


def weights(path: str | os.PathLike) -> dict[str, np.ndarray]:
  """All tensors as float32 by their names in torch."""
  file, fields = gguf.read(path), config(path)
  heads = {
    'attn_q': fields['num_attention_heads'],
    'attn_k': fields['num_key_value_heads'],
  }
  out = {}
  for name in file.tensors:
    value = gguf.tensor(file, name)
    stem, _, kind = name.rpartition('.')
    block, _, part = stem.removeprefix('blk.').partition('.')
    if stem.startswith('blk.') and part in _LAYER:
      if part in heads:
        value = _halves(value, heads[part], file, name)
      stem = f'model.layers.{block}.{_LAYER[part]}'
    out[f'{_NAMES.get(stem, stem)}.{kind}'] = value
  return out


def _halves(
  value: Float[np.ndarray, 'rows ...'], heads: int, file: gguf.File, name: str
) -> Float[np.ndarray, 'rows ...']:
  """Rows 0, d/2, 1, d/2 + 1, … of each head as 0, 1, …, d − 1."""
  rows = value.shape[0]
  if heads < 1 or rows % (2 * heads):
    raise UserError(
      f'{file.path}: the {rows} rows of tensor {name} are not those of {heads} '
      'heads; fetch it again'
    )
  paired = value.reshape(heads, rows // heads // 2, 2, *value.shape[1:])
  return np.ascontiguousarray(paired.swapaxes(1, 2)).reshape(value.shape)
