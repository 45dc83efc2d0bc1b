"""Hugging Face folders in and out, by the tables of models/families.

A folder holds config.json, weights (model.safetensors, pytorch_model.bin or
flax_model.msgpack) and tokenizer files; a GGUF file holds all of these in one
(models/gguf.py). Whatever is wrong with one of them is one sentence that names
the file.
"""

import dataclasses
import difflib
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
import jax.numpy as jnp
import numpy as np
from flax import serialization, traverse_util

from fairjax import artefacts
from fairjax.data.gguf import is_gguf
from fairjax.errors import UserError
from fairjax.models import families, gguf, torch_bin
from fairjax.models.places import blank_batch

Weights = dict[str, np.ndarray]

# Tensors that copy others or hold no parameter: left aside in silence.
ASIDE = (
  'position_ids',
  'token_type_ids',
  'embed_tokens.weight',  # BART: the shared embeddings again
  '.attn.bias',  # GPT-2: masks
  '.attn.masked_bias',
  'rotary_emb.inv_freq',
)
# What heads begin with, ours and others of transformers.
HEADS = (
  'classifier.',
  'pre_classifier.',
  'score.',
  'cls.',
  'lm_head.',
  'head.dense.',
  'head.norm.',
  'decoder.weight',
  'decoder.bias',
  'vocab_',
  'generator_',
  'discriminator_predictions.',
  'qa_outputs.',
  'classification_head.',
  'final_logits_bias',
)


def _json(path: pathlib.Path) -> dict[str, Any]:
  """The object that a JSON file holds, or one sentence."""
  try:
    value = artefacts.read_json(path)
  except (ValueError, RecursionError, OSError) as error:
    raise UserError(
      f'{path} cannot be read as JSON ({type(error).__name__}); fetch it again'
    ) from error
  if not isinstance(value, dict):
    raise UserError(
      f'{path} holds a {type(value).__name__}, not an object of keys; fetch it '
      'again'
    )
  return value


def config_path(folder: str | os.PathLike) -> pathlib.Path:
  """The file that says what a model is."""
  folder = pathlib.Path(folder)
  return folder if is_gguf(folder) else folder / 'config.json'


def read_config(folder: str | os.PathLike) -> dict[str, Any]:
  if is_gguf(folder):
    return gguf.config(folder)
  path = config_path(folder)
  if not path.is_file():
    raise UserError(f'{folder} has no config.json; give a model folder')
  return _json(path)


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


def _read_safetensors(path: pathlib.Path) -> Weights:
  import safetensors

  try:
    with safetensors.safe_open(path, framework='np') as file:
      return {name: file.get_tensor(name) for name in file.keys()}
  except Exception as error:  # of Rust, and of types that numpy does not know
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
  reader, whole = _FORMATS[name], folder / name
  index = folder / f'{name}.index.json'
  if whole.is_file():
    return reader(whole)
  if not index.is_file():
    return None
  weights: Weights = {}
  for shard in _shards(index):
    if not (folder / shard).is_file():
      raise UserError(f'{index} names {shard}, which is not there; fetch it')
    weights |= reader(folder / shard)
  return weights


def _shards(index: pathlib.Path) -> list[str]:
  """The files that an index names, all of them beside it."""
  weight_map = _json(index).get('weight_map')
  if not isinstance(weight_map, dict) or not weight_map:
    raise UserError(
      f'{index} has no weight_map that says which file holds which tensor; '
      'fetch it again'
    )
  for shard in weight_map.values():
    if (
      not isinstance(shard, str)
      or shard in ('', '.', '..')
      or any(mark in shard for mark in '/\\\0')
    ):
      raise UserError(
        f'{index} names the file {shard!r}; a part of the weights must be a '
        'file in the same folder, so fetch the model again'
      )
  return sorted(set(weight_map.values()))


def read_weights(folder: str | os.PathLike) -> Weights:
  """All tensors of a model folder by their names in torch."""
  folder = pathlib.Path(folder)
  if is_gguf(folder):
    return gguf.weights(folder)
  result = {name: _read_format(folder, name) for name in _FORMATS}
  result = {name: w for name, w in result.items() if w is not None}
  if not result:
    raise UserError(
      f'{folder} has no weights ({", ".join(_FORMATS)}); give another folder, '
      'or train from scratch with --config.net.init=random'
    )
  (first, weights), *others = result.items()
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


def _modern(weights: Weights, module: nn.Module) -> Weights:
  """Old names renamed; the body's tensors with their prefix, as the table."""
  prefix = families.of(module)[0].prefix
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
  unused: tuple[str, ...]  # tensors of other heads, left aside


def load(
  folder: str | os.PathLike, module: nn.Module, weights: Weights | None = None
) -> Loaded:
  """The folder's weights as parameters of `module`.

  A head that the folder lacks, or has for another number of classes, is left
  out and named in `fresh`; `complete` initialises it. Whatever else is
  missing or unknown is an error. `weights` are the folder's, where they were
  read before.
  """
  shape, bare = module.shape, families.is_bare(module)
  weights = _modern(
    read_weights(folder) if weights is None else weights, module
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
  flat, fresh, used = {}, [], set()
  for ours, theirs, transposed in rows:
    if missing[ours]:
      fresh.append(ours)
      continue
    used.update(theirs)
    needed = expected[_like(ours)].shape
    value = _joined([weights[name] for name in theirs], transposed, needed)
    if value is None:
      if ours.startswith('classifier/'):
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
  unused = sorted(n for n in weights if n not in used and _matters(n))
  unknown = [n for n in unused if not n.startswith(HEADS) and 'pooler' not in n]
  if unknown:
    raise UserError(
      f'{folder} has {len(unknown)} unknown tensors, first {unknown[0]}; '
      f'this is not a plain {shape.family} of {shape.depth} layers'
    )
  if is_scanned(module):
    flat = stack(flat, shape.depth)
  params = traverse_util.unflatten_dict(flat, sep='/')
  return Loaded(params, tuple(fresh), tuple(unused))


def is_scanned(module: nn.Module) -> bool:
  return getattr(families.body_of(module), 'scan', False)


def _missing(row, weights: Mapping[str, Any]) -> str:
  return next((name for name in row.theirs if name not in weights), '')


def _joined(
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


def _matters(name: str) -> bool:
  return not name.endswith(ASIDE)


def _like(ours: str) -> str:
  """The path of the layer that tells of all: the first, else the second."""
  return re.sub(r'layer_[1-9]\d*', 'layer_1', ours)


def lacks(
  folder: str | os.PathLike, module: nn.Module, weights: Weights
) -> str:
  """The first tensor of the module that the folder lacks."""
  weights = _modern(weights, module)
  return next(
    filter(None, (_missing(row, weights) for row in families.tensors(module))),
    '',
  )


@functools.lru_cache(maxsize=8)
def _wanted(module: nn.Module) -> dict[str, jax.ShapeDtypeStruct]:
  """The parameters of a model of two layers, which tell of all layers."""
  shape = dataclasses.replace(module.shape, depth=min(module.shape.depth, 2))
  rest = {'scan': False} if is_scanned(module) else {}
  module = families.reshaped(module, shape, **rest)
  variables = jax.eval_shape(module.init, jax.random.key(0), blank_batch())
  return traverse_util.flatten_dict(variables['params'], sep='/')


def complete(module: nn.Module, params: dict, key: jax.Array) -> dict:
  """`params` with what it lacks initialised from `key`, and only that."""
  flat = traverse_util.flatten_dict(params, sep='/')
  fresh = _fresh(module, frozenset(flat))(key)
  flat = {path: jnp.asarray(value) for path, value in flat.items()}
  return traverse_util.unflatten_dict(flat | fresh, sep='/')


@functools.lru_cache(maxsize=8)
def _fresh(
  module: nn.Module, known: frozenset
) -> Callable[[jax.Array], dict[str, jax.Array]]:
  """The parameters of a key by path, but for those at `known` paths."""

  @jax.jit  # so that what is not returned is not computed
  def fresh(key):
    params = module.init(key, blank_batch())['params']
    params = traverse_util.flatten_dict(params, sep='/')
    return {path: params[path] for path in params.keys() - known}

  return fresh


def _layer(path: str) -> tuple[str, int, str] | None:
  """'encoder/layer_3/up/kernel' as ('encoder/', 3, 'up/kernel')."""
  before, result, after = path.partition('layer_')
  if not result:
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
    before, result, rest = path.partition('layers/')
    if not result:
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
  'torch_dtype',
  'num_labels',
  '_name_or_path',
  'transformers_version',
)


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
  if 'write' not in families.of(module)[0].heads:
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

  `model` is a folder, a GGUF file, a name on the Hugging Face hub, or one of
  our own sizes (`families.SIZES`), which have no pretrained weights.
  """
  if model in families.SIZES:
    return None
  if problem := _no_name(model):
    raise UserError(problem)
  folder = pathlib.Path(model).expanduser()
  if folder.is_dir() or is_gguf(folder):
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
    if place.is_dir() or is_gguf(place):
      return ''
    if place.exists():
      return (
        f'model {model} is a file; name the folder of a model, or a .gguf file'
      )
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


_SIZES = (*families.SIZES, 'cnn', 'lstm')
_NAMED = f'{", ".join(_SIZES)}, a folder, or a name on the hub'


def _no_weights(model: str, error: Exception | None) -> str:
  """Near names, and whether the hub knows of none or could not be asked."""
  near = difflib.get_close_matches(model, _SIZES, n=1)
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
