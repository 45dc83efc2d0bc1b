"""A model folder's weights as numpy: safetensors, torch's .bin, Flax's msgpack.

Whole or in shards; a folder that holds two formats must hold the same numbers
twice. Whatever is wrong with a file is one sentence that names it.
"""

import os
import pathlib
from typing import Any

import numpy as np

from fairjax.core import artefacts, paths
from fairjax.core.errors import UserError, brief
from fairjax.data.gguf import is_gguf
from fairjax.models.folders import gguf, torch_bin

Weights = dict[str, np.ndarray]


def read_json(path: pathlib.Path) -> dict[str, Any]:
  """The object that a JSON file holds, or one sentence."""
  value = artefacts.read_json(path)
  if not isinstance(value, dict):
    raise UserError(
      f'{path} holds a {type(value).__name__}, not an object of keys; fetch it '
      'again'
    )
  return value


def _read_safetensors(path: pathlib.Path) -> Weights:
  import safetensors

  with paths.reading(path):  # which the library says is not there
    path.open('rb').close()
  try:
    with safetensors.safe_open(path, framework='np') as file:
      return {name: file.get_tensor(name) for name in file.keys()}
  except Exception as error:  # of Rust, and of types that numpy does not know
    raise UserError(
      f'{path} is broken or no safetensors file ({brief(error)}); fetch it '
      'again'
    ) from error


def _read_flax(path: pathlib.Path) -> Weights:
  """The old Flax format, renamed and turned as torch has it."""
  from flax import serialization, traverse_util  # and jax: a second

  try:
    tree = serialization.msgpack_restore(path.read_bytes())
    flat = traverse_util.flatten_dict(tree)
  except Exception as error:  # msgpack has many kinds for one fact
    raise UserError(
      f'{path} is broken or no Flax checkpoint ({brief(error)}); fetch it again'
    ) from error
  weights = {}
  for path_, value in flat.items():
    *parents, leaf = (str(part) for part in path_)
    value = np.asarray(value)
    value = value.T if leaf == 'kernel' and value.ndim == 2 else value
    leaf = 'weight' if leaf in ('kernel', 'embedding', 'scale') else leaf
    weights['.'.join([*parents, leaf])] = value
  return weights


FORMATS = {
  'model.safetensors': _read_safetensors,
  'pytorch_model.bin': torch_bin.read,
  'flax_model.msgpack': _read_flax,
}


def _read_format(folder: pathlib.Path, name: str) -> Weights | None:
  """The tensors of one format, whole or in shards; None where it is absent."""
  reader, whole = FORMATS[name], folder / name
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
  weight_map = read_json(index).get('weight_map')
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
      or len(shard.encode(errors='replace')) > 255
    ):
      raise UserError(
        f'{index} names the file {shard!r:.80}; a part of the weights must be '
        'a file in the same folder, so fetch the model again'
      )
  return sorted(set(weight_map.values()))


def read(folder: str | os.PathLike) -> Weights:
  """All tensors of a model folder by their names in torch."""
  folder = pathlib.Path(folder)
  if is_gguf(folder):
    return gguf.weights(folder)
  found = {n: w for n in FORMATS if (w := _read_format(folder, n)) is not None}
  if not found:
    raise UserError(
      f'{folder} has no weights ({", ".join(FORMATS)}); give another folder, '
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
