"""Hugging Face folders in and out, by one table of names (hf_names.py).

A folder holds config.json, weights (model.safetensors, pytorch_model.bin or
flax_model.msgpack) and tokenizer files.
"""

import dataclasses
import difflib
import functools
import json
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization, traverse_util

from fairjax import artefacts
from fairjax.errors import UserError
from fairjax.models import bart, gpt2, torch_bin
from fairjax.models.bart import blank_batch
from fairjax.models.encoder import SIZES, Encoder
from fairjax.models.heads import Classifier
from fairjax.models.hf_names import ASIDE, HEADS, KINDS, PREFIX, WHOLE, names

Weights = dict[str, np.ndarray]


def read_config(folder: str | os.PathLike) -> dict[str, Any]:
  path = pathlib.Path(folder) / 'config.json'
  if not path.is_file():
    raise UserError(f'{folder} has no config.json; give a model folder')
  return artefacts.read_json(path)


def _read_safetensors(path: pathlib.Path) -> Weights:
  import safetensors

  try:
    with safetensors.safe_open(path, framework='np') as file:
      return {name: file.get_tensor(name) for name in file.keys()}
  except (safetensors.SafetensorError, OSError) as error:
    raise UserError(
      f'{path} is broken or no safetensors file ({error}); fetch it again'
    ) from error


def _read_flax(path: pathlib.Path) -> Weights:
  """The old Flax format, renamed and turned as torch has it."""
  try:
    tree = serialization.msgpack_restore(path.read_bytes())
    flat = traverse_util.flatten_dict(tree)
  except Exception as error:  # msgpack has many kinds for one fact
    raise UserError(
      f'{path} is broken or no Flax checkpoint ({error}); fetch it again'
    ) from error
  weights = {}
  for path_, value in flat.items():
    *parents, leaf = (str(part) for part in path_)
    value = np.asarray(value)
    value = value.T if leaf == 'kernel' and value.ndim == 2 else value
    leaf = 'weight' if leaf in ('kernel', 'embedding', 'scale') else leaf
    weights['.'.join([*parents, leaf])] = value
  return weights


_FORMATS = {
  'model.safetensors': _read_safetensors,
  'pytorch_model.bin': torch_bin.read,
  'flax_model.msgpack': _read_flax,
}


def _read_format(folder: pathlib.Path, name: str) -> Weights | None:
  """The tensors of one format, whole or in shards; None where it is absent."""
  read, whole = _FORMATS[name], folder / name
  index = folder / f'{name}.index.json'
  if whole.is_file():
    return read(whole)
  if not index.is_file():
    return None
  weights: Weights = {}
  for shard in sorted(set(artefacts.read_json(index)['weight_map'].values())):
    if not (folder / shard).is_file():
      raise UserError(f'{index} names {shard}, which is not there; fetch it')
    weights |= read(folder / shard)
  return weights


def read_weights(folder: str | os.PathLike) -> Weights:
  """All tensors of a model folder by their names in torch."""
  folder = pathlib.Path(folder)
  found = {name: _read_format(folder, name) for name in _FORMATS}
  found = {name: w for name, w in found.items() if w is not None}
  if not found:
    raise UserError(
      f'{folder} has no weights ({", ".join(_FORMATS)}); give another folder, '
      'or train from scratch with --config.net.init=random'
    )
  (first, weights), *others = found.items()
  for other, copy in others:
    both = weights.keys() & copy.keys()
    differ = [n for n in both if not np.array_equal(weights[n], copy[n])]
    if differ or not both:
      where = f'in {min(differ)}' if differ else 'in all names'
      raise UserError(
        f'{folder} holds {first} and {other}, which disagree {where}; delete '
        'the one that you do not mean'
      )
  return weights


def _modern(weights: Weights, family: str, bare: bool) -> Weights:
  """Old names renamed; with the base model's prefix, or without if `bare`."""
  prefix = PREFIX.get(family, f'{family}.')
  wrapped = any(name.startswith(prefix) for name in weights)
  modern = {}
  for name, value in weights.items():
    name = name.replace('.gamma', '.weight').replace('.beta', '.bias')
    if bare:
      name = name.removeprefix(prefix)
    elif not wrapped and not name.startswith(HEADS):
      name = prefix + name
    modern[name] = value
  return modern


class Loaded(NamedTuple):
  params: dict  # nested, numpy float32; without the parameters of `fresh`
  fresh: tuple[str, ...]  # paths that the folder does not hold
  unused: tuple[str, ...]  # tensors of other heads, left aside


def load(folder: str | os.PathLike, module: nn.Module) -> Loaded:
  """The folder's weights as parameters of `module`.

  A head that the folder lacks, or has for another number of classes, is left
  out and named in `fresh`; `complete` initialises it. Whatever else is
  missing or unknown is an error.
  """
  shape, bare = module.shape, isinstance(module, Encoder)
  weights = _modern(read_weights(folder), shape.family, bare)
  wanted = _wanted(module)
  flat, fresh, used = {}, [], set()
  for ours, theirs, transposed in names(module):
    missing = [name for name in theirs if name not in weights]
    if missing:
      if bare or _needed(module, ours):
        raise UserError(
          f'{folder} lacks the tensor {missing[0]}, which a {shape.family} '
          f'of {shape.depth} layers has; its weights and config.json differ'
        )
      fresh.append(ours)
      continue
    used.update(theirs)
    parts = [
      weights[name].T if transposed else weights[name] for name in theirs
    ]
    value = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
    needed = wanted[re.sub(r'layer_\d+', 'layer_0', ours)].shape
    if value.shape != needed:
      if ours.startswith('classifier/'):
        fresh.append(ours)
        continue
      raise UserError(
        f'{folder}: tensor {theirs[0]} gives {value.shape} where config.json '
        f'asks for {needed}; its weights and config.json differ'
      )
    flat[ours] = np.asarray(value, np.float32, order='C')
  unused = sorted(n for n in weights if n not in used and _matters(n))
  unknown = [n for n in unused if not n.startswith(HEADS) and 'pooler' not in n]
  if unknown:
    raise UserError(
      f'{folder} has {len(unknown)} unknown tensors, first {unknown[0]}; '
      f'this is not a plain {shape.family} of {shape.depth} layers'
    )
  if getattr(module, 'scan', False):
    flat = stack(flat, shape.depth)
  params = traverse_util.unflatten_dict(flat, sep='/')
  return Loaded(params, tuple(fresh), tuple(unused))


def _needed(module: nn.Module, ours: str) -> bool:
  """Whether a parameter is of the body; a head may be missing."""
  if type(module) in WHOLE:
    return ours != 'bias'
  return ours.startswith('encoder/')


def _matters(name: str) -> bool:
  return not name.endswith(ASIDE)


@functools.lru_cache(maxsize=8)
def _wanted(module: nn.Module) -> dict[str, jax.ShapeDtypeStruct]:
  """The parameters of a model of one layer, which tells of all layers."""
  single = dataclasses.replace(module.shape, depth=1)
  rest = {'scan': False} if hasattr(module, 'scan') else {}
  module = module.clone(shape=single, **rest)
  made = jax.eval_shape(module.init, jax.random.key(0), blank_batch())
  return traverse_util.flatten_dict(made['params'], sep='/')


def complete(module: nn.Module, params: dict, key: jax.Array) -> dict:
  """`params` with what it lacks initialised from `key`, and only that."""
  flat = traverse_util.flatten_dict(params, sep='/')
  made = _fresh(module, frozenset(flat))(key)
  flat = {path: jnp.asarray(value) for path, value in flat.items()}
  return traverse_util.unflatten_dict(flat | made, sep='/')


@functools.lru_cache(maxsize=8)
def _fresh(
  module: nn.Module, known: frozenset
) -> Callable[[jax.Array], dict[str, jax.Array]]:
  """The parameters of a key by path, but for those at `known` paths."""

  @jax.jit  # so that what is not returned is not computed
  def fresh(key):
    made = module.init(key, blank_batch())['params']
    made = traverse_util.flatten_dict(made, sep='/')
    return {path: made[path] for path in made.keys() - known}

  return fresh


def _layer(path: str) -> tuple[str, int, str] | None:
  """'encoder/layer_3/up/kernel' as ('encoder/', 3, 'up/kernel')."""
  before, found, after = path.partition('layer_')
  if not found:
    return None
  number, _, rest = after.partition('/')
  return before, int(number), rest


def stack(flat: Mapping[str, Any], depth: int) -> dict[str, Any]:
  """Paths as `scan` has them: the first depth - 1 layers as one."""
  stacked = {}
  for path, value in flat.items():
    at = _layer(path)
    if at is None or at[1] == depth - 1:
      stacked[path] = value
    elif at[1] == 0:
      before, _, rest = at
      all_ = [flat[f'{before}layer_{i}/{rest}'] for i in range(depth - 1)]
      stacked[f'{before}layers/{rest}'] = np.stack(all_)
  return stacked


def unstack(flat: Mapping[str, Any], depth: int) -> dict[str, Any]:
  """The inverse of `stack`."""
  single = {}
  for path, value in flat.items():
    before, found, rest = path.partition('layers/')
    if not found:
      single[path] = value
      continue
    for i in range(depth - 1):
      single[f'{before}layer_{i}/{rest}'] = value[i]
  return single


def to_hf(module: nn.Module, params: dict) -> Weights:
  """The tensors of `params` by their names in torch."""
  flat = traverse_util.flatten_dict(params, sep='/')
  flat = unstack(jax.tree.map(np.asarray, flat), module.shape.depth)
  weights = {}
  for ours, theirs, transposed in names(module):
    for name, part in zip(theirs, np.split(flat[ours], len(theirs), -1)):
      weights[name] = np.ascontiguousarray(part.T if transposed else part)
  return weights


def hf_config(module: nn.Module) -> dict[str, Any]:
  """The config.json of a module."""
  shape = module.shape
  if type(module) in WHOLE:
    return {'bart': bart, 'gpt2': gpt2}[shape.family].hf_config(shape)
  name = {'bert': 'Bert', 'roberta': 'Roberta', 'electra': 'Electra'}
  config = {
    'architectures': [name[shape.family] + KINDS[type(module)][1]],
    'model_type': shape.family,
    'vocab_size': shape.vocab,
    'hidden_size': shape.width,
    'num_hidden_layers': shape.depth,
    'num_attention_heads': shape.heads,
    'intermediate_size': shape.hidden,
    'max_position_embeddings': shape.positions,
    'type_vocab_size': shape.types,
    'layer_norm_eps': shape.eps,
    'hidden_act': shape.activation,
    'hidden_dropout_prob': shape.dropout,
    'attention_probs_dropout_prob': shape.attention_dropout,
    'classifier_dropout': shape.head_dropout,
    'initializer_range': shape.deviation,
    'pad_token_id': shape.pad,
    'tie_word_embeddings': shape.tied,
    'dtype': 'float32',
  }
  if shape.family == 'electra':
    config['embedding_size'] = shape.embedding
  if isinstance(module, Classifier):
    labels = [f'LABEL_{i}' for i in range(module.classes)]
    config['id2label'] = {str(i): label for i, label in enumerate(labels)}
    config['label2id'] = {label: i for i, label in enumerate(labels)}
  return config


# What transformers' generate must know of a model beside how it decodes.
_ENDS = (
  'bos_token_id',
  'eos_token_id',
  'pad_token_id',
  'decoder_start_token_id',
  'forced_eos_token_id',
)


def generation_config(module: nn.Module) -> dict[str, Any] | None:
  """The generation_config.json of a model that writes: its own tokens."""
  if type(module) not in WHOLE:
    return None
  said = hf_config(module)
  ends = {name: said[name] for name in _ENDS if said.get(name) is not None}
  return ends | {'max_length': module.shape.longest}


def save(
  folder: str | os.PathLike,
  module: nn.Module,
  params: dict,
  tokenizer_files: Iterable[str | os.PathLike] = (),
  config: Mapping[str, Any] | None = None,
) -> None:
  """A folder that transformers loads with equal logits.

  `config` is that of the folder the weights came from: its fields of other
  meaning (licence notes, token ids) are kept. So is a generation_config.json
  among `tokenizer_files`.
  """
  from safetensors.numpy import save_file

  said = {
    'config.json': {**(config or {}), **hf_config(module)},
    'generation_config.json': generation_config(module),
  }
  with artefacts.atomic(folder) as part:
    part.mkdir()
    for name, fields in said.items():
      if fields is not None:
        text = json.dumps(fields, indent=2, sort_keys=True)
        (part / name).write_text(text + '\n', encoding='utf-8')
    weights = to_hf(module, params)
    save_file(weights, part / 'model.safetensors', metadata={'format': 'pt'})
    for file in tokenizer_files:
      shutil.copy(file, part / pathlib.Path(file).name)


_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer*',
  'vocab*',
  'merges.txt',
  'special_tokens_map.json',
]


def find(model: str) -> pathlib.Path | None:
  """The folder of a model: local, cached or downloaded; None for a size.

  `model` is a folder, a name on the Hugging Face hub, or one of our own sizes
  (`encoder.SIZES`), which have no pretrained weights.
  """
  if model in SIZES:
    return None
  if problem := _no_name(model):
    raise UserError(problem)
  folder = pathlib.Path(model).expanduser()
  if folder.is_dir():
    return folder
  if model.startswith(('/', '.', '~')) or model.count('/') > 1:
    raise UserError(f'model folder {model} does not exist')
  from huggingface_hub import snapshot_download

  last: Exception | None = None
  for offline in (True, False):
    for weights in ('model.safetensors*', 'pytorch_model*.bin*'):
      try:
        path = snapshot_download(
          model, allow_patterns=[*_FILES, weights], local_files_only=offline
        )
      except Exception as error:  # the hub's client has dozens of kinds
        last = error
        break
      if any(pathlib.Path(path).glob(weights)):
        return pathlib.Path(path)
  raise UserError(_no_weights(model, last)) from last


def _no_name(model: str) -> str:
  """Why this can be no model, before anything is asked; '' if it can."""
  if not model.strip():
    return f'model is empty; name one with --config.model: {_NAMED}'
  if '\0' in model or len(model) > 4000:
    return (
      f'model is {model[:80]!r}, which is no name of a model; name {_NAMED}'
    )
  try:
    place = pathlib.Path(model).expanduser()
    if place.is_dir():
      return ''
    if place.exists():
      return f'model {model} is a file; name the folder of a model'
  except (OSError, RuntimeError):  # too long, or nobody's home
    place = None
  name = r'[\w.-]{1,96}(/[\w.-]{1,96})?'
  if place is None or (
    not model.startswith(('/', '.', '~'))
    and model.count('/') < 2
    and not re.fullmatch(name, model, re.ASCII)
  ):
    return (
      f'model is {model[:80]!r}, which is no name of a model; name {_NAMED}'
    )
  return ''


_NAMED = f'{", ".join(SIZES)}, cnn, lstm, a folder, or a name on the hub'


def _no_weights(model: str, error: Exception | None) -> str:
  """Near names, and whether the hub knows of none or could not be asked."""
  near = difflib.get_close_matches(model, [*SIZES, 'cnn', 'lstm'], n=1)
  hint = f'did you mean {near[0]!r}? Otherwise ' if near else ''
  unknown = ('RepositoryNotFoundError', 'GatedRepoError', 'HFValidationError')
  if error is None:
    where = 'on the hub, but without weights that can be read'
  elif type(error).__name__ in unknown:
    where = f'neither here nor on the hub ({type(error).__name__})'
  else:
    where = 'not here, and the hub cannot be reached (offline)'
  return (
    f'model {model!r} is {where}; {hint}give a folder with '
    '--config.model=FOLDER, or train from scratch with a size of ours or '
    '--config.net.init=random'
  )
