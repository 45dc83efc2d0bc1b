"""A model folder as one bundle: a classifier, a language model, an encoder."""

import dataclasses
import functools
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from fairjax.config import Config
from fairjax.core import keys
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import Bundle, families, of_module, special
from fairjax.models.build import precision
from fairjax.models.families.family import CAPABILITIES, listed
from fairjax.models.folders import hf, hub, weight_files
from fairjax.models.folders import options as folder_options

LEAST, MOST = 3, 2**30  # tokens of a text that a folder may speak of
UNSAID = 2  # classes, as transformers has them where nothing is said
# What to do where a folder lacks the head that is asked for.
_REMEDIES = {
  'classify': 'train a classifier from it with --config.recipe=train',
  'mask': 'name the folder of a masked language model',
}


def load(
  folder: str | os.PathLike,
  can: str = '',
  dtype: Any = jnp.float32,
  tokenizer: str | os.PathLike = '',
) -> Bundle:
  """The model of a folder (or of a name on the hub) with its weights.

  `can` is what it is to do (families/family.py: CAPABILITIES); without it the
  first capability of its family whose weights the folder holds is taken: a
  fine-tuned classifier classifies, a language model fills or writes, a bare
  encoder embeds. A classifier reads as many tokens as it was trained with,
  where the folder says so.
  """
  name = os.fspath(folder)
  folder = found(name)
  config, where = hf.read_config(folder), hf.config_path(folder)
  shape = _shape(folder, config, where)
  family = families.find(shape.family)
  if can:
    families.require(family, can, name)
  labels = hf.read_labels(config, where)
  named = labels or hf.default_labels(UNSAID)
  weights = weight_files.read(folder)
  make = functools.partial(_module, shape, dtype=dtype, labels=labels)
  able = [each for each in family.heads if not hf.lacks(make(each), weights)]
  chosen = can or (able[0] if able else next(iter(family.heads)))
  if able:
    _require(chosen, able, name)
  module = make(chosen)
  loaded = hf.load(folder, module, weights)
  if [path for path in loaded.fresh if path.startswith('score/')]:
    raise UserError(
      f'{name} has a head of {len(labels)} classes, where a tagger has one '
      'score; --config.perturb.learner=tagger begins with it and makes its own'
    )
  if [path for path in loaded.fresh if path.startswith('classifier/')]:
    raise UserError(
      f'{folder} has a classifier for another number of classes than the '
      f'{len(labels)} that id2label of its config.json names; fix one of the '
      'two'
    )
  vocabulary = tokens.load_tokenizer(tokenizer or folder)
  special.check_vocabulary(vocabulary, shape.vocab, name)
  init = functools.partial(_init, module, loaded.params)
  longest = shape.longest
  if chosen == 'classify':
    longest = min(longest, _said_length(folder) or longest)
  speaks = chosen in ('write', 'infill', 'judge', 'mask')
  return of_module(
    module,
    init,
    params=init(0),
    tokenizer=vocabulary,
    longest=longest,
    labels=named if chosen == 'classify' else (),
    can=chosen,
    options=folder_options.folder_options(folder) if speaks else None,
    config=config,
  )


def _init(module: Any, params: dict, seed: int) -> dict:
  return hf.complete(module, params, keys.key(seed, keys.INIT))


def _shape(folder: pathlib.Path, config: dict, where: Any) -> Any:
  """The folder's shape; how texts begin and end is said beside its config."""
  shape = families.shape_from_hf(config, where)
  if not hasattr(shape, 'start'):
    return shape
  ends = folder_options.ends(folder, shape.vocab)
  if shape.start is None:  # a prompt stands in its place
    ends.pop('start', None)
  return dataclasses.replace(shape, **ends)


def _said_length(folder: pathlib.Path) -> int:
  """model_max_length of tokenizer_config.json; 0 where nothing is said.

  It is where transformers cuts a text. A folder without an opinion has no
  number, or one that no text has (1e30).
  """
  path = folder / 'tokenizer_config.json'
  known = weight_files.read_json(path) if path.is_file() else {}
  longest = known.get('model_max_length')
  if longest is None:
    return 0
  if type(longest) not in (int, float) or not longest >= LEAST:
    raise UserError(
      f'{path} has model_max_length {longest!r:.40}; it must be a whole number '
      f'from {LEAST}, so mend that line or take it out'
    )
  return int(min(longest, MOST))


def _require(can: str, able: Sequence[str], name: str) -> None:
  """One sentence where the folder has no weights for a capability."""
  if can not in able:
    remedy = _REMEDIES.get(can, 'name a folder that has one')
    raise UserError(
      f'{name} has no weights to {CAPABILITIES[can]}; it can '
      f'{listed(CAPABILITIES[each] for each in able)}, so {remedy}'
    )


def _module(shape: Any, can: str, dtype: Any, labels: tuple[str, ...]) -> Any:
  options = {'classes': len(labels) or UNSAID} if can == 'classify' else {}
  return families.module(shape, can, dtype, **options)


def language_model(config: Config) -> Bundle:
  """The model of the config's folder that writes, judges or fills texts."""
  family = _family(config.model)
  can = next((can for can in ('write', 'mask') if can in family.heads), 'mask')
  return load(config.model, can, precision(config), config.tokens.tokenizer)


def found(model: str) -> pathlib.Path:
  folder = hub.find(model)
  if folder is None:
    raise UserError(
      f'model {model!r} has no weights; name a model folder with '
      '--config.model=FOLDER'
    )
  return folder


def _family(model: str):
  folder = found(model)
  where = str(hf.config_path(folder))
  return families.find(hf.read_config(folder).get('model_type'), where)
