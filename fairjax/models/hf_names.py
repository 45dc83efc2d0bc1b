"""How our parameters and Hugging Face's tensors correspond: one table.

`names` is the only place that knows it; a new family adds its rows here.
"""

from typing import NamedTuple

import flax.linen as nn

from fairjax.models import bart, gpt2
from fairjax.models.bart import Bart
from fairjax.models.encoder import Encoder, Shape
from fairjax.models.gpt2 import GPT2
from fairjax.models.heads import Classifier, Discriminator, MaskedLM


class Row(NamedTuple):
  """One of our parameters and the tensors it is made of."""

  ours: str  # path, as 'encoder/layer_0/up/kernel'
  theirs: tuple[str, ...]  # names; several are joined along our last axis
  transposed: bool  # torch keeps kernels as [out, in]


def _dense(ours: str, *theirs: str) -> list[Row]:
  return [
    Row(f'{ours}/kernel', tuple(f'{t}.weight' for t in theirs), True),
    Row(f'{ours}/bias', tuple(f'{t}.bias' for t in theirs), False),
  ]


def _norm(ours: str, theirs: str) -> list[Row]:
  return [
    Row(f'{ours}/scale', (f'{theirs}.weight',), False),
    Row(f'{ours}/bias', (f'{theirs}.bias',), False),
  ]


def _embed(ours: str, theirs: str) -> Row:
  return Row(f'{ours}/embedding', (f'{theirs}.weight',), False)


def _encoder(shape: Shape) -> list[Row]:
  base = f'{shape.family}.'
  rows = [
    _embed('encoder/word', base + 'embeddings.word_embeddings'),
    _embed('encoder/position', base + 'embeddings.position_embeddings'),
    _embed('encoder/type', base + 'embeddings.token_type_embeddings'),
    *_norm('encoder/norm', base + 'embeddings.LayerNorm'),
  ]
  if shape.embedding != shape.width:
    rows += _dense('encoder/project', base + 'embeddings_project')
  for i in range(shape.depth):
    ours, theirs = f'encoder/layer_{i}', f'{base}encoder.layer.{i}'
    self = f'{theirs}.attention.self'
    rows += _dense(f'{ours}/query', f'{self}.query')
    rows += _dense(f'{ours}/key_value', f'{self}.key', f'{self}.value')
    rows += _dense(f'{ours}/attention_out', f'{theirs}.attention.output.dense')
    rows += _norm(
      f'{ours}/attention_norm', f'{theirs}.attention.output.LayerNorm'
    )
    rows += _dense(f'{ours}/up', f'{theirs}.intermediate.dense')
    rows += _dense(f'{ours}/down', f'{theirs}.output.dense')
    rows += _norm(f'{ours}/norm', f'{theirs}.output.LayerNorm')
  return rows


def _classifier(shape: Shape) -> list[Row]:
  if shape.family == 'bert':
    return [
      *_dense('dense', 'bert.pooler.dense'),
      *_dense('classifier', 'classifier'),
    ]
  return [
    *_dense('dense', 'classifier.dense'),
    *_dense('classifier', 'classifier.out_proj'),
  ]


def _masked_lm(shape: Shape) -> list[Row]:
  dense, norm, decoder, bias = {
    'bert': (
      'cls.predictions.transform.dense',
      'cls.predictions.transform.LayerNorm',
      'cls.predictions.decoder',
      'cls.predictions.bias',
    ),
    'roberta': (
      'lm_head.dense',
      'lm_head.layer_norm',
      'lm_head.decoder',
      'lm_head.bias',
    ),
    'electra': (
      'generator_predictions.dense',
      'generator_predictions.LayerNorm',
      'generator_lm_head',
      'generator_lm_head.bias',
    ),
  }[shape.family]
  rows = [*_dense('dense', dense), *_norm('norm', norm)]
  if shape.tied:
    return [*rows, Row('bias', (bias,), False)]
  return [*rows, *_dense('decoder', decoder)]


def _discriminator(shape: Shape) -> list[Row]:
  return [
    *_dense('dense', 'discriminator_predictions.dense'),
    *_dense('score', 'discriminator_predictions.dense_prediction'),
  ]


def _bart(shape: bart.Shape) -> list[Row]:
  rows = [
    _embed('word', 'model.shared'),
    Row('bias', ('final_logits_bias',), False),
  ]
  depths = {'encoder': shape.depth, 'decoder': shape.decoder_depth}
  for side, depth in depths.items():
    rows.append(_embed(f'{side}/position', f'model.{side}.embed_positions'))
    rows += _norm(f'{side}/norm', f'model.{side}.layernorm_embedding')
    for i in range(depth):
      ours, theirs = f'{side}/layer_{i}', f'model.{side}.layers.{i}'
      parts = [f'{theirs}.self_attn.{x}_proj' for x in 'qkv']
      rows += _dense(f'{ours}/attend', *parts)
      rows += _dense(f'{ours}/attention_out', f'{theirs}.self_attn.out_proj')
      rows += _norm(f'{ours}/attention_norm', f'{theirs}.self_attn_layer_norm')
      rows += _dense(f'{ours}/up', f'{theirs}.fc1')
      rows += _dense(f'{ours}/down', f'{theirs}.fc2')
      rows += _norm(f'{ours}/norm', f'{theirs}.final_layer_norm')
      if side == 'decoder':
        cross = f'{theirs}.encoder_attn'
        rows += _dense(f'{ours}/query', f'{cross}.q_proj')
        rows += _dense(
          f'{ours}/key_value', f'{cross}.k_proj', f'{cross}.v_proj'
        )
        rows += _dense(f'{ours}/cross_mix', f'{cross}.out_proj')
        rows += _norm(f'{ours}/cross_norm', f'{cross}_layer_norm')
  return rows


def _gpt2(shape: gpt2.Shape) -> list[Row]:
  base = 'transformer.'
  rows = [
    _embed('word', base + 'wte'),
    _embed('position', base + 'wpe'),
    *_norm('norm', base + 'ln_f'),
  ]
  for i in range(shape.depth):
    ours, theirs = f'layer_{i}', f'{base}h.{i}'
    rows += _norm(f'{ours}/attend_norm', f'{theirs}.ln_1')
    rows += _dense(f'{ours}/attend', f'{theirs}.attn.c_attn')
    rows += _dense(f'{ours}/attention_out', f'{theirs}.attn.c_proj')
    rows += _norm(f'{ours}/up_norm', f'{theirs}.ln_2')
    rows += _dense(f'{ours}/up', f'{theirs}.mlp.c_fc')
    rows += _dense(f'{ours}/down', f'{theirs}.mlp.c_proj')
  # Its Conv1D keeps kernels as we do, [in, out].
  return [row._replace(transposed=False) for row in rows]


# Models that are more than an encoder with a head: all their rows.
WHOLE = {Bart: _bart, GPT2: _gpt2}

# Our model: the rows of its head, and the end of transformers' class name.
KINDS = {
  Encoder: (lambda shape: [], 'Model'),
  Classifier: (_classifier, 'ForSequenceClassification'),
  MaskedLM: (_masked_lm, 'ForMaskedLM'),
  Discriminator: (_discriminator, 'ForPreTraining'),
}

# Tensors that other heads have, or that copy others: left aside in silence.
ASIDE = (
  'position_ids',
  'token_type_ids',
  'embed_tokens.weight',  # BART: the shared embeddings again
  '.attn.bias',  # GPT-2: masks
  '.attn.masked_bias',
)
PREFIX = {'bart': 'model.', 'gpt2': 'transformer.'}
HEADS = (
  'classifier.',
  'cls.',
  'lm_head.',
  'generator_',
  'discriminator_predictions.',
  'qa_outputs.',
  'classification_head.',
  'final_logits_bias',
)


def names(module: nn.Module) -> list[Row]:
  """The table: every parameter of `module` (unscanned) and its tensors."""
  if type(module) in WHOLE:
    return WHOLE[type(module)](module.shape)
  rows = _encoder(module.shape) + KINDS[type(module)][0](module.shape)
  if isinstance(module, Encoder):
    bare = lambda name: name.removeprefix(f'{module.shape.family}.')
    return [
      Row(ours.removeprefix('encoder/'), tuple(map(bare, theirs)), transposed)
      for ours, theirs, transposed in rows
    ]
  return rows
