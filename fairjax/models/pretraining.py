"""Initial models of pretraining: from a shape or a folder, for each objective.

A size ('tiny' to 'medium') means the same widths and depths for every
objective; a published name gives that shape with random weights; a folder is
trained on. Vocabulary and special tokens are the tokenizer's.
"""

import dataclasses
import functools
import pathlib
from typing import Any

from fairjax.config import Config
from fairjax.core import keys
from fairjax.core.errors import UserError
from fairjax.data.batching.corruption import Vocabulary
from fairjax.models import (
  Bundle,
  build,
  families,
  objectives,
  of_module,
  warm_start,
)
from fairjax.models.folders import hf

GENERATOR = 0.25  # width of ELECTRA's generator, as a share

# What a size means for an objective: the capability trained, and its family.
_TRAINED = {
  **{'mask': 'bert', 'infill': 'bart', 'judge': 'gpt2', 'detect': 'electra'},
}


def start(can: str, config: Config, words: Vocabulary) -> Bundle:
  """The model of a folder or a shape that learns the capability `can`."""
  folder = build.model_folder(config)
  shape = _shape(can, config, words, folder)
  module = families.module(
    _checked(config, shape, words), can, build.precision(config)
  )

  init = warm_start.init(folder, module)
  source = hf.read_config(folder) if folder else {}
  same = source.get('model_type') == shape.family
  return of_module(module, init, can=can, config=source if same else {})


masked_lm, denoiser, next_token = (
  functools.partial(start, can) for can in ('mask', 'infill', 'judge')
)


def detector(config: Config, words: Vocabulary) -> Bundle:
  """ELECTRA: the discriminator of a folder, its generator in `generator`/.

  A folder without a generator gets a new one; a masked LM of another family
  is the generator itself, and its body the discriminator's.
  """
  folder = build.model_folder(config)
  beside = folder / 'generator' if folder else None
  if (
    folder and 'detect' not in families.find(hf.read_shape(folder).family).heads
  ):
    beside = folder
  shape = _checked(config, _shape('detect', config, words, folder), words)
  if beside and beside.is_dir():
    small = hf.read_shape(beside)
  else:
    beside, width = None, GENERATOR * shape.width
    width = max(64, round(width / 64) * 64)
    small = dataclasses.replace(
      shape, width=width, heads=width // 64, hidden=4 * width, tied=True
    )
  dtype = build.precision(config)
  pair = objectives.Pair(
    families.module(small, 'mask', dtype),
    families.module(shape, 'detect', dtype),
  )
  return _pair_model(pair, beside, folder)


def _shape(
  can: str, config: Config, words: Vocabulary, folder: pathlib.Path | None
) -> Any:
  """The folder's shape, or a named one with the tokenizer's vocabulary."""
  if folder:
    source = hf.read_shape(folder)
    shape = warm_start.shape(source, can, config.model)
    changed = shape.family != source.family
    return families.replaced(shape, **ends(shape, words)) if changed else shape
  shape = families.named(config.model, words.size, _TRAINED[can], can)
  return families.replaced(shape, **ends(shape, words))


def ends(shape: Any, words: Vocabulary) -> dict[str, int]:
  """A shape's fields that name special tokens, with the tokenizer's."""
  fields = {field.name for field in dataclasses.fields(shape)}
  result = {'pad': words.pad} if 'pad' in fields else {}
  if 'eos' in fields:
    result['bos'] = words.first[0] if words.first else words.last[0]
    result['eos'] = words.last[0]
    if shape.start is not None:
      result['start'] = words.last[0]
  return result


def _pair_model(
  pair: objectives.Pair,
  beside: pathlib.Path | None,
  folder: pathlib.Path | None,
) -> Bundle:
  """Generator and discriminator with one table of embeddings."""

  @functools.cache
  def known() -> tuple[dict, ...]:
    each = zip((beside, folder), pair)
    return tuple(warm_start.params(f, m) if f else {} for f, m in each)

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

  return Bundle(init, apply, pair, can='detect')


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
  return build.with_dropout(shape, config)
