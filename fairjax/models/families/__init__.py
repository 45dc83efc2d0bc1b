"""The families of models, and how a module is made of a family and a shape.

A new family is a file here and a row of families.csv.
"""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairjax.core import registry
from fairjax.core.errors import UserError
from fairjax.models.families import config_keys
from fairjax.models.families.family import (
  CAPABILITIES,
  Family,
  Head,
  ParamRow,
  param_rows,
)

# By the model_type of config.json.
FAMILIES = registry.table(__file__, 'families')

PLACES = 512  # positions of a size

# Shapes without pretrained weights (as Turc et al. 2019 name them, but nano).
SIZES = {
  'nano': (1, 128),
  'tiny': (2, 128),
  'mini': (4, 256),
  'small': (4, 512),
  'medium': (8, 512),
}


def find(name: Any, where: str = 'config.json') -> Family:
  """The record of a model_type."""
  if sentence := registry.refusal(name, FAMILIES, 'family'):
    raise UserError(f'model_type of {where}: {sentence}')
  return registry.find(FAMILIES, 'family', name)


def require(family: Family, can: str, where: str = '') -> Head:
  """The head for a capability, or what the family can do instead."""
  if can not in family.heads:
    able = ', '.join(n for n in FAMILIES if can in find(n).heads)
    raise UserError(
      f'{where or "the model"} is a {family.name}, which can '
      f'{family.abilities}, but not {CAPABILITIES[can]}; name a model of '
      f'another family ({able})'
    )
  return family.heads[can]


def shape_from_hf(
  config: Mapping[str, Any], where: str | os.PathLike = 'config.json'
) -> Any:
  """The shape that a Hugging Face config.json describes."""
  where = os.fspath(where)
  family = find(config.get('model_type'), where)
  if config.get('quantization_config'):
    raise UserError(
      f'{where} has quantization_config; its weights are not plain numbers, so '
      'name the folder of the model before it was quantized'
    )
  values = config_keys.read(family.keys, config, where)
  values |= family.derive(values)
  if sentence := family.wrong(values):
    raise UserError(f'{where} {sentence}')
  return config_keys.shape_of(family.shape, {'family': family.name} | values)


def hf_config(module: Any) -> dict[str, Any]:
  """The inverse of `shape_from_hf`, for this module's head."""
  family, head = records(module)
  return {
    'architectures': [head.architecture],
    'model_type': family.name,
    **config_keys.write(family.keys, module.shape),
    **family.extra(module.shape),
    'dtype': 'float32',
  }


def named(
  name: str, vocab: int = 0, family: str = 'bert', can: str = ''
) -> Any:
  """The shape called `name`: a published one, or a size of that family.

  With `can` only of families that have that capability.
  """
  if name in SIZES:
    shape = find(family).sized(*SIZES[name], PLACES)
  else:
    known = {
      full: shape
      for each in map(find, FAMILIES)
      if not can or can in each.heads
      for full, shape in each.shapes.items()
    }
    end = name if name in known else name.split('/')[-1]
    shape = known[registry.named(end, known, 'folder, size or model shape')]
  return replaced(shape, vocab=vocab) if vocab else shape


def replaced(shape: Any, **changes: Any) -> Any:
  """The shape with other values, and what follows from them."""
  shape = dataclasses.replace(shape, **changes)
  return dataclasses.replace(shape, **find(shape.family).derive(vars(shape)))


def module(
  shape: Any, can: str, dtype: Any = np.float32, **options: Any
) -> Any:
  """The module of a shape for a capability (`classes` for a classifier)."""
  family = find(shape.family)
  head = require(family, can)
  body = family.body(shape, dtype=dtype)
  if head.module is None:
    return body
  return head.module(body, dtype=dtype, **{**head.options, **options})


def records(module: Any) -> tuple[Family, Head]:
  """The record of a module's family, and of its head."""
  family, body = find(module.shape.family), body_of(module)
  kind = None if body is module else type(module)
  return family, next(h for h in family.heads.values() if h.module is kind)


def body_of(module: Any) -> Any:
  """A head's encoder; a model without a head is its own body."""
  fields = type(module).__dataclass_fields__
  return module.encoder if 'encoder' in fields else module


def is_bare(module: Any) -> bool:
  """Whether a module is a body whose models otherwise have heads."""
  family, head = records(module)
  return head is family.heads.get('embed')


def reshaped(module: Any, shape: Any) -> Any:
  """The module for another shape."""
  body = body_of(module)
  new = body.clone(shape=shape)
  return new if body is module else module.clone(encoder=new)


def tensors(module: Any) -> tuple[ParamRow, ...]:
  """The table: every parameter of `module` and its tensors."""
  (family, head), body = records(module), body_of(module)
  rows = tuple(param_rows(family.tensors, module.shape))
  if is_bare(module):
    return rows
  ours = '' if body is module else 'encoder/'
  return *(
    ParamRow(
      ours + row.ours,
      tuple(family.prefix + name for name in row.theirs),
      row.transposed,
    )
    for row in rows
  ), *param_rows(head.tensors, module.shape)
