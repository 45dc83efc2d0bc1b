"""Hugging Face folders in and out, by the tables of models/families.

A folder holds config.json, weights (model.safetensors, pytorch_model.bin or
flax_model.msgpack) and tokenizer files; a GGUF file holds all of these in one
(folders/gguf.py). Whatever is wrong with one of them is one sentence that names
the file.
"""

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import numpy as np
from flax import traverse_util

from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.gguf import is_gguf
from fairjax.data.word_tables import table_rows
from fairjax.models import families
from fairjax.models.folders import gguf, of_runs, weight_files
from fairjax.models.folders.weight_files import Weights, read_json
from fairjax.models.layers import layer_params
from fairjax.models.layers.places import blank_batch

_NAMES = table_rows(__file__, 'tensor_names.csv')
# Tensors that copy others or hold no parameter: left aside in silence.
ASIDE = tuple(name for kind, name, _ in _NAMES if kind == 'aside')
# What heads begin with, ours and others of transformers.
HEADS = tuple(name for kind, name, _ in _NAMES if kind == 'head')
LATER = re.compile(r'layer_[1-9]\d*')
COUNTED = ('classifier/', 'score/')  # ours, heads with an output a class


def config_path(folder: str | os.PathLike) -> pathlib.Path:
  """The file that says what a model is."""
  folder = of_runs.one_model(pathlib.Path(folder))
  return folder if is_gguf(folder) else folder / 'config.json'


def read_config(folder: str | os.PathLike) -> dict[str, Any]:
  if is_gguf(folder):
    return gguf.config(folder)
  path = config_path(folder)
  if not path.is_file():
    raise UserError(f'{folder} has no config.json; give a model folder')
  return read_json(path)


def read_shape(folder: str | os.PathLike) -> Any:
  """The shape of a folder's model."""
  return families.shape_from_hf(read_config(folder), config_path(folder))


def read_labels(
  config: Mapping[str, Any], where: str | os.PathLike = 'config.json'
) -> tuple[str, ...]:
  """The names of a classifier's classes, in their order; () where unsaid."""
  labels = config.get('id2label')
  if labels is None:
    count = config.get('num_labels')
    if count is None:
      return ()
    if type(count) is not int or not 1 <= count <= 2**16:
      raise UserError(
        f'{where} has num_labels {count!r}; it must be a whole number from 1'
      )
    return default_labels(count)
  order = (
    [str(i) for i in range(len(labels))] if isinstance(labels, dict) else []
  )
  fits = order and set(labels) == set(order) and len(labels) <= 2**16
  if not fits or not all(isinstance(name, str) for name in labels.values()):
    raise UserError(
      f'{where} has an id2label that does not name the classes 0, 1, 2 and so '
      'on; write it as {"0": "a name", "1": "another"}'
    )
  return tuple(labels[i] for i in order)


def default_labels(classes: int) -> tuple[str, ...]:
  return tuple(f'LABEL_{i}' for i in range(classes))


def _modern(weights: Weights, module: nn.Module) -> Weights:
  """Old names renamed; the body's tensors with their prefix, as the table."""
  prefix = families.records(module)[0].prefix
  bare = families.is_bare(module)
  rows = families.tensors(module)
  # Of a table with the prefix: the names that a bare model has without it.
  short = {n.removeprefix(prefix): n for row in rows for n in row.theirs}
  modern = {}
  for name, value in weights.items():
    name = re.sub(r'\.gamma$', '.weight', re.sub(r'\.beta$', '.bias', name))
    if bare:
      name = name.removeprefix(prefix)
    elif name in short and short[name] not in weights:
      name = short[name]
    modern[name] = value
  return modern


class Loaded(NamedTuple):
  params: dict  # nested, numpy float32; without the parameters of `fresh`
  fresh: tuple[str, ...]  # paths that the folder does not hold


def load(
  folder: str | os.PathLike, module: nn.Module, weights: Weights | None = None
) -> Loaded:
  """The folder's weights as parameters of `module`.

  A head that the folder lacks, or has for another number of classes (COUNTED),
  is left out and named in `fresh`; `complete` initialises it. Whatever else is
  missing or unknown is an error. `weights` are the folder's, where they were
  read before.
  """
  shape, bare = module.shape, families.is_bare(module)
  weights = _modern(
    weight_files.read(folder) if weights is None else weights, module
  )
  rows = families.tensors(module)
  missing = {row.ours: _missing(row, weights) for row in rows}
  for ours, name in missing.items():
    if name and (bare or _needed(module, ours)):
      raise UserError(
        f'{folder} lacks the tensor {name}, which a {shape.family} of '
        f'{shape.depth} layers has; its weights and config.json differ'
      )
  expected = _wanted(module)
  flat, fresh = {}, []
  for ours, theirs, transposed in rows:
    if missing[ours]:
      fresh.append(ours)
      continue
    # The layer that tells of all: the first, else the second.
    needed = expected[LATER.sub('layer_1', ours)].shape
    value = _assembled([weights[name] for name in theirs], transposed, needed)
    if value is None:
      if ours.startswith(COUNTED):
        fresh.append(ours)
        continue
      shapes = ' and '.join(str(weights[name].shape) for name in theirs)
      raise UserError(
        f'{folder}: tensor {theirs[0]} gives {shapes} where config.json asks '
        f'for {needed}; its weights and config.json differ'
      )
    if not np.isfinite(value).all():
      raise UserError(
        f'{folder}: tensor {theirs[0]} holds values that are no numbers; fetch '
        'the weights again'
      )
    flat[ours] = value
  used = {n for row in rows if not missing[row.ours] for n in row.theirs}
  matter = (n for n in weights if not n.endswith(ASIDE))
  unused = sorted(n for n in matter if n not in used)
  unknown = [n for n in unused if not n.startswith(HEADS) and 'pooler' not in n]
  if unknown:
    raise UserError(
      f'{folder} has {len(unknown)} unknown tensors, first {unknown[0]}; '
      f'this is not a plain {shape.family} of {shape.depth} layers'
    )
  params = traverse_util.unflatten_dict(flat, sep='/')
  return Loaded(params, tuple(fresh))


def _missing(row, weights: Mapping[str, Any]) -> str:
  return next((name for name in row.theirs if name not in weights), '')


def _assembled(
  parts: list[np.ndarray], transposed: bool, needed: tuple[int, ...]
) -> np.ndarray | None:
  """One parameter of its tensors; None where they do not give its shape."""
  if any(
    part.dtype.kind not in 'fiub' and part.dtype.name != 'bfloat16'
    for part in parts
  ):
    return None
  parts = [part.T if transposed else part for part in parts]
  if any(p.ndim != len(needed) or p.shape[:-1] != needed[:-1] for p in parts):
    return None
  value = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
  if value.shape != needed:
    return None
  return np.asarray(value, np.float32, order='C')


def _needed(module: nn.Module, ours: str) -> bool:
  """Whether a parameter is of the body; a head may be missing."""
  if families.body_of(module) is module:
    return ours != 'bias'
  return ours.startswith('encoder/')


def lacks(module: nn.Module, weights: Weights) -> str:
  """The first tensor of the module that the folder lacks."""
  weights = _modern(weights, module)
  missing = (_missing(row, weights) for row in families.tensors(module))
  return next(filter(None, missing), '')


@functools.lru_cache(maxsize=8)
def _wanted(module: nn.Module) -> dict[str, jax.ShapeDtypeStruct]:
  """The parameters of a model of two layers, which tell of all layers."""
  shape = dataclasses.replace(module.shape, depth=min(module.shape.depth, 2))
  module = families.reshaped(module, shape)
  variables = jax.eval_shape(module.init, jax.random.key(0), blank_batch())
  return traverse_util.flatten_dict(variables['params'], sep='/')


def complete(module: nn.Module, params: dict, key: jax.Array) -> dict:
  """`params` with what it lacks initialised from `key`, and only that."""
  flat = traverse_util.flatten_dict(params, sep='/')
  out = jax.device_put(flat, may_alias=False)
  named = {row.ours for row in families.tensors(module)}
  kinds = {LATER.sub('layer_1', path) for path in named}
  # Where all is known no init is traced: a third of a second.
  if not (named <= flat.keys() and _wanted(module).keys() <= kinds):
    out |= _fresh(module, frozenset(flat))(key)
  return traverse_util.unflatten_dict(out, sep='/')


@functools.lru_cache(maxsize=8)
def _fresh(
  module: nn.Module, known: frozenset
) -> Callable[[jax.Array], dict[str, jax.Array]]:
  """The parameters of a key by path, but for those at `known` paths."""

  def fresh(key):
    params = module.init(key, blank_batch())['params']
    params = traverse_util.flatten_dict(params, sep='/')
    return {path: params[path] for path in params.keys() - known}

  return functools.partial(layer_params.drawn, fresh)


def to_hf(module: nn.Module, params: dict) -> Weights:
  """The tensors of `params` by their names in torch."""
  flat = traverse_util.flatten_dict(params, sep='/')
  flat = jax.tree.map(np.asarray, flat)
  weights = {}
  for ours, theirs, transposed in families.tensors(module):
    for name, part in zip(theirs, np.split(flat[ours], len(theirs), -1)):
      weights[name] = np.ascontiguousarray(part.T if transposed else part)
  return weights


def hf_config(
  module: nn.Module,
  labels: Sequence[str] = (),
  source: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
  """The config.json of a module.

  `labels` name a classifier's classes. Fields of `source`, the config.json of
  the folder that the weights came from, are kept where ours say nothing.
  """
  ours = families.hf_config(module)
  extra = {k: v for k, v in (source or {}).items() if k not in _REPLACED}
  classes = getattr(module, 'classes', 0)
  if classes:
    labels = tuple(labels) or default_labels(classes)
    if len(labels) != classes:
      raise UserError(
        f'{len(labels)} labels are given for {classes} classes; give one each'
      )
    ours['id2label'] = {str(i): label for i, label in enumerate(labels)}
    ours['label2id'] = {label: i for i, label in enumerate(labels)}
  return extra | ours


# Of another model's config.json: what ours says under other names.
_REPLACED = (
  *('torch_dtype', 'num_labels', '_name_or_path', 'transformers_version'),
)
# What transformers' generate must know of a model beside how it decodes.
_ENDS = (
  *('bos_token_id', 'eos_token_id', 'pad_token_id'),
  *('decoder_start_token_id', 'forced_eos_token_id'),
)


def generation_config(module: nn.Module) -> dict[str, Any] | None:
  """The generation_config.json of a model that writes: its own tokens."""
  if 'write' not in families.records(module)[0].heads:
    return None
  settings = hf_config(module)
  ends = {
    name: settings[name] for name in _ENDS if settings.get(name) is not None
  }
  return ends | {'max_length': module.shape.longest}


def save(
  folder: str | os.PathLike,
  module: nn.Module,
  params: dict,
  tokenizer_files: Iterable[str | os.PathLike] = (),
  config: Mapping[str, Any] | None = None,
  labels: Sequence[str] = (),
) -> None:
  """A folder that transformers loads with equal logits.

  `config` is that of the folder the weights came from: its fields of other
  meaning (licence notes, token ids) are kept. So is a generation_config.json
  among `tokenizer_files`. `labels` are the names of a classifier's classes.
  """
  from safetensors.numpy import save_file

  settings = {
    'config.json': hf_config(module, labels, config),
    'generation_config.json': generation_config(module),
  }
  with artefacts.atomic(folder) as part:
    part.mkdir()
    for name, fields in settings.items():
      if fields is not None:
        text = json.dumps(fields, indent=2, sort_keys=True)
        (part / name).write_text(text + '\n', encoding='utf-8')
    weights = to_hf(module, params)
    # transformers refuses a file that does not say its format.
    save_file(weights, part / 'model.safetensors', metadata={'format': 'pt'})
    for file in tokenizer_files:
      shutil.copy(file, part / pathlib.Path(file).name)
