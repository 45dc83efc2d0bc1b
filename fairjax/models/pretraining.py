"""The models that pretraining starts from: a shape or a folder for each kind.

A size ('tiny' to 'medium') means the same widths and depths for every
objective; a published name gives that shape with random weights; a folder is
trained on. Vocabulary and special tokens are the tokenizer's.
"""

import dataclasses
import functools
import pathlib
from typing import Any

from fairjax.config import Config
from fairjax.data.corruption import Vocabulary
from fairjax.errors import UserError
from fairjax.models import Model, bart, build, encoder, gpt2, hf, objectives
from fairjax.models.heads import Discriminator, MaskedLM
from fairjax.train import keys

PLACES = 512  # positions of a size


def masked_lm(config: Config, words: Vocabulary) -> Model:
  """BERT or RoBERTa (or ELECTRA's generator) with its masked-LM head."""
  folder = build.model_folder(config)
  if folder:
    shape = encoder.shape_from_hf(hf.read_config(folder))
  else:
    shape = _encoder_shape(config, words)
  shape = _checked(config, shape, words)
  module = MaskedLM(
    shape, build.precision(config), config.net.scan, config.net.remat
  )
  return build.encoder_model(module, folder)


def denoiser(config: Config, words: Vocabulary) -> Model:
  """BART."""
  folder = build.model_folder(config)
  if folder:
    shape = bart.shape_from_hf(hf.read_config(folder))
  else:
    of = encoder.SHAPES[config.model] if config.model in encoder.SIZES else None
    sized = of and bart.Shape(
      width=of.width,
      depth=of.depth,
      decoder_depth=of.depth,
      heads=of.heads,
      decoder_heads=of.heads,
      hidden=of.hidden,
      decoder_hidden=of.hidden,
      positions=PLACES + 2,
    )
    shape = dataclasses.replace(
      sized or _named(config.model, bart.SHAPES),
      vocab=words.size,
      pad=words.pad,
      bos=words.first[0] if words.first else words.last[0],
      eos=words.last[0],
      start=words.last[0],
    )
  shape = _checked(config, shape, words)
  return build.encoder_model(bart.Bart(shape, build.precision(config)), folder)


def next_token(config: Config, words: Vocabulary) -> Model:
  """GPT-2."""
  folder = build.model_folder(config)
  if folder:
    shape = gpt2.shape_from_hf(hf.read_config(folder))
  else:
    of = encoder.SHAPES[config.model] if config.model in encoder.SIZES else None
    sized = of and gpt2.Shape(
      width=of.width,
      depth=of.depth,
      heads=of.heads,
      hidden=of.hidden,
      positions=PLACES,
    )
    shape = dataclasses.replace(
      sized or _named(config.model, gpt2.SHAPES),
      vocab=words.size,
      pad=words.pad,
      bos=words.first[0] if words.first else words.last[0],
      eos=words.last[0],
    )
  shape = _checked(config, shape, words)
  return build.encoder_model(gpt2.GPT2(shape, build.precision(config)), folder)


def detector(config: Config, words: Vocabulary) -> Model:
  """ELECTRA: the discriminator of a folder, its generator in `generator`/.

  A folder without a generator gets a new one.
  """
  folder = build.model_folder(config)
  beside = folder / 'generator' if folder else None
  if folder:
    shape = encoder.shape_from_hf(hf.read_config(folder))
  else:
    shape = _encoder_shape(config, words)
    if shape.family != 'electra':
      shape = dataclasses.replace(
        shape,
        family='electra',
        embedding=shape.width // 2,
        position_offset=0,
        types=2,
      )
  if shape.family != 'electra':
    raise UserError(
      f'config.json has model_type {shape.family!r}; objective electra goes '
      'on from an electra'
    )
  shape = _checked(config, shape, words)
  if beside and beside.is_dir():
    small = encoder.shape_from_hf(hf.read_config(beside))
  else:
    beside, width = None, config.pretrain.generator * shape.width
    width = max(64, round(width / 64) * 64)
    small = dataclasses.replace(
      shape, width=width, heads=width // 64, hidden=4 * width, tied=True
    )
  rest = (build.precision(config), config.net.scan, config.net.remat)
  pair = objectives.Pair(MaskedLM(small, *rest), Discriminator(shape, *rest))
  return _pair_model(pair, beside, folder)


def _pair_model(
  pair: objectives.Pair,
  beside: pathlib.Path | None,
  folder: pathlib.Path | None,
) -> Model:
  """Generator and discriminator with one table of embeddings."""

  @functools.cache
  def known() -> tuple[dict, dict]:
    each = zip((beside, folder), pair)
    return tuple(hf.load(f, m).params if f else {} for f, m in each)

  def init(seed: int) -> dict:
    each = [
      hf.complete(module, params, keys.key(seed, keys.INIT, k))
      for k, (module, params) in enumerate(zip(pair, known()))
    ]
    return {
      'generator': objectives.separated(each[0]),
      'discriminator': each[1],
    }

  def apply(params, batch, dropout=None):
    params = {'params': params['discriminator']}
    return pair.discriminator.apply(params, batch, dropout)

  return Model(init, apply, pair, pair.discriminator.shape)


def _encoder_shape(config: Config, words: Vocabulary) -> encoder.Shape:
  shape = encoder.named_shape(config.model, words.size)
  offset = words.pad + 1 if shape.family == 'roberta' else 0
  return dataclasses.replace(shape, pad=words.pad, position_offset=offset)


def _named(name: str, shapes: dict[str, Any]) -> Any:
  if name not in shapes:
    known = ', '.join([*encoder.SIZES, *shapes])
    raise UserError(
      f'no shape for this objective is named {name!r}; give a model folder '
      f'with --config.model=FOLDER or one of {known}'
    )
  return shapes[name]


_RATES = ('dropout', 'head_dropout', 'embedding_dropout', 'activation_dropout')


def _checked(config: Config, shape: Any, words: Vocabulary) -> Any:
  """The shape with the config's dropout, if tokens and rows fit it."""
  if words.size > shape.vocab:
    raise UserError(
      f'the tokenizer has {words.size} tokens, but {config.model} has vectors '
      f'for {shape.vocab}; give the tokenizer that belongs to the model with '
      '--config.tokens.tokenizer'
    )
  if config.pretrain.length > shape.longest:
    raise UserError(
      f'pretrain.length is {config.pretrain.length}, but {config.model} has '
      f'positions for {shape.longest}; choose at most that'
    )
  changed = {}
  if config.net.dropout >= 0:
    changed = {n: config.net.dropout for n in _RATES if hasattr(shape, n)}
  if config.net.attention_dropout >= 0:
    changed['attention_dropout'] = config.net.attention_dropout
  return dataclasses.replace(shape, **changed)
