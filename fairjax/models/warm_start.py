"""Warm starts: weights from a folder of another head or family.

A body without a masked-LM head gets a fresh one, tied, whose dense layer
starts at the identity, so that places near a word's embedding read as that
word. A BERT-shaped body becomes the discriminator of an ELECTRA (fresh head)
or both sides of a BART (Rothe et al. 2020, arXiv:1907.12461): self-attention,
feed-forward and norms of each layer are the body's on either side. Attention
to the source starts as a copy of the layer's self-attention, whose heads look
at near places already: on 41 steps of 512 tokens with 15 % masked, .29 of the
tokens are right. A masked LM has nearly one state for [CLS], [SEP] and position
0 (massive activations: Sun et al. 2024, arXiv:2402.17762), so such a decoder
confuses its first two places for long: still after 1,200 steps, not after 3,000
(.992 of the tokens of unmasked texts right). Starting from the mask instead
keeps them apart and was no better after 80 steps.
"""

import functools
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from fairjax.core import keys
from fairjax.models import families
from fairjax.models.families import bart, config_keys
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.folders import hf

OFFSET = 2  # rows of BART's position tables before position 0


def shape(source: Any, can: str, where: str) -> Any:
  """The folder's shape, or that of what its body becomes to be able to."""
  family = families.find(source.family)
  if can in family.heads or family.body is not Encoder:
    families.require(family, can, where)
    return source
  if can == 'detect':
    return families.replaced(source, family='electra')
  if can == 'infill' and source.embedding == source.width:
    return _bart_shape(source)
  families.require(family, can, where)
  return source


def _bart_shape(source: EncoderShape) -> bart.BartShape:
  both = ('depth', 'heads', 'hidden')
  own = {f'decoder_{name}': getattr(source, name) for name in both}
  own |= {'family': 'bart', 'longest': source.longest}
  own |= {'position_offset': OFFSET, 'activation_dropout': 0.0}
  return config_keys.shape_of(bart.BartShape, vars(source) | own)


def init(folder: pathlib.Path | None, module: Any) -> Callable[[int], dict]:
  """init(seed): what the folder gives, the rest drawn from the seed."""

  @functools.cache
  def known() -> dict:
    return params(folder, module) if folder else {}

  return lambda seed: hf.complete(module, known(), keys.key(seed, keys.INIT))


def params(folder: pathlib.Path, module: Any) -> dict:
  """The parameters of `module` that the folder gives; the rest is fresh."""
  source = hf.read_shape(folder)
  if source.family == module.shape.family:
    return _with_dense(module, hf.load(folder, module).params)
  body = hf.load(folder, families.module(source, 'mask')).params
  if isinstance(module, bart.Bart):
    return bart_params(source, body)
  return {'encoder': body['encoder']}


def _with_dense(module: Any, known: dict) -> dict:
  """A masked-LM head that the folder lacks starts at the identity."""
  family, head = families.records(module)
  s = module.shape
  if head is not family.heads.get('mask') or {'dense', 'head'} & known.keys():
    return known
  if s.embedding != s.width:
    return known
  dense = {
    'kernel': np.eye(s.width, dtype=np.float32),
    'bias': np.zeros(s.width, np.float32),
  }
  return known | {'dense': dense}


def bart_params(source: EncoderShape, body: dict) -> dict:
  """Both sides of a BART from a masked LM."""
  encoder = body['encoder']
  table = encoder['position']['embedding'][source.position_offset :]
  if source.types:
    table = table + encoder['type']['embedding'][0]  # BART has no types
  side = {
    'position': {'embedding': np.pad(table, ((OFFSET, 0), (0, 0)))},
    'norm': encoder['norm'],
  }
  layers = {
    f'layer_{i}': _bart_layer(encoder[f'layer_{i}'])
    for i in range(source.depth)
  }
  across = {}
  for name, layer in layers.items():
    own = {key: encoder[name][key] for key in ('query', 'key_value')}
    own['cross_mix'] = layer['attention_out']
    across[name] = {**layer, **own, 'cross_norm': layer['attention_norm']}
  result = {
    'word': encoder['word'],
    'encoder': {**side, **layers},
    'decoder': {**side, **across},
  }
  # BART never trains this bias: what the masked LM knows of frequencies.
  return result | ({'bias': body['bias'][None]} if 'bias' in body else {})


def _bart_layer(layer: dict) -> dict:
  query, others = layer['query'], layer['key_value']
  qkv = {
    name: np.concatenate([query[name], others[name]], axis=-1) for name in query
  }
  same = ('attention_out', 'attention_norm', 'up', 'down', 'norm')
  return {'attend': qkv, **{name: layer[name] for name in same}}
