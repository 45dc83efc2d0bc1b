"""Erasers in the head of a masked LM, and such a model as a folder.

An eraser (A, b) of a judge (judge.py) stands between its last layer and its
head, whose first layer can take it up.
"""

import dataclasses
import os
import pathlib
from typing import Any

import jax.numpy as jnp
import numpy as np

from fairjax.core.errors import UserError
from fairjax.models import families
from fairjax.models.folders import folder, hf


def export(judge: Any, source: str | os.PathLike, target: pathlib.Path) -> None:
  """A masked LM with its eraser as a Hugging Face folder."""
  if judge.kind != 'mask':
    raise UserError(
      f'{judge.name} has no layer that can take the eraser up; only a masked '
      'language model can be exported with one'
    )
  own = folder.found(os.fspath(source))
  patterns = (
    *('tokenizer*', 'vocab*', 'merges.txt', 'special_tokens_map.json'),
    *('added_tokens.json', '*.model'),  # of a sentencepiece
  )
  files = [path for name in patterns for path in sorted(own.glob(name))]
  hf.save(target, *module_and_params(judge), files, hf.read_config(own))


def module_and_params(judge: Any) -> tuple[Any, dict]:
  """A module and parameters whose masked-LM head reads x A + b instead of x."""
  if judge.eraser is None or judge.kind != 'mask':
    return judge.module, judge.params
  return folded(judge.module, judge.params, *judge.eraser)


def folded(
  module: Any, params: dict, matrix: np.ndarray, shift: np.ndarray
) -> tuple[Any, dict]:
  """(x A + b) W + c = x (A W) + (b W + c): the head's first layer has both."""
  head = params.get('head', params)
  kernel = jnp.asarray(head['dense']['kernel'])
  dense = {
    'kernel': jnp.asarray(matrix, kernel.dtype) @ kernel,
    'bias': jnp.asarray(shift, kernel.dtype) @ kernel
    + head['dense'].get('bias', 0.0),
  }
  if not getattr(module.shape, 'head_bias', True):  # a ModernBERT's has no c
    shape = dataclasses.replace(module.shape, head_bias=True)
    module = families.reshaped(module, shape)
  if 'head' in params:
    return module, params | {'head': head | {'dense': dense}}
  return module, params | {'dense': dense}
