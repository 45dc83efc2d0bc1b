"""Reads pytorch_model.bin into numpy: no torch, and no code is executed.

A torch checkpoint is a pickle, and a pickle is a program. Here it may name
only the few functions below; whatever else it names is refused before it can
be called. Both containers are read: the zip one (torch ≥ 1.6), and the older
sequence of pickles followed by the raw storages.
"""

import collections
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np

from fairjax.errors import UserError

_DTYPES = {
  'Double': np.float64,
  'Float': np.float32,
  'Half': np.float16,
  'BFloat16': ml_dtypes.bfloat16,
  'Long': np.int64,
  'Int': np.int32,
  'Short': np.int16,
  'Char': np.int8,
  'Byte': np.uint8,
  'Bool': np.bool_,
}
_MAGIC = 0x1950A86A20F9469CFC6C  # first pickle of the older container


class _Refused(pickle.UnpicklingError):
  """The file asks for something that a table of numbers does not need."""


class _Storage(NamedTuple):
  key: str
  dtype: np.dtype
  size: int


class _View(NamedTuple):
  """A tensor before its storage is read."""

  storage: _Storage
  offset: int
  shape: tuple[int, ...]
  strides: tuple[int, ...]

  def of(self, flat: np.ndarray) -> np.ndarray:
    numbers = (self.offset, *self.shape, *self.strides)
    if not all(isinstance(n, int) and n >= 0 for n in numbers):
      raise _Refused('a tensor has a negative offset, size or stride')
    if len(self.shape) != len(self.strides):
      raise _Refused('a tensor has sizes without strides')
    steps = zip(self.shape, self.strides)
    last = self.offset + sum((n - 1) * step for n, step in steps)
    if 0 not in self.shape and last >= flat.size:
      raise _Refused('a tensor is larger than its storage')
    strides = [step * flat.itemsize for step in self.strides]
    return np.lib.stride_tricks.as_strided(
      flat[self.offset :], self.shape, strides, writeable=False
    )


def _tensor(storage, offset, shape, strides, *_unused) -> _View:
  if not isinstance(storage, _Storage):
    raise _Refused('a tensor has no storage')
  return _View(storage, offset, tuple(shape), tuple(strides))


def _parameter(data, *_unused):
  return data


_ALLOWED: dict[tuple[str, str], Callable] = {
  ('collections', 'OrderedDict'): collections.OrderedDict,
  ('torch._utils', '_rebuild_tensor'): _tensor,
  ('torch._utils', '_rebuild_tensor_v2'): _tensor,
  ('torch._utils', '_rebuild_parameter'): _parameter,
  ('torch', 'Size'): tuple,
}


class _Unpickler(pickle.Unpickler):
  def find_class(self, module: str, name: str) -> Any:
    if (module, name) in _ALLOWED:
      return _ALLOWED[module, name]
    kind = name.removesuffix('Storage')
    if module == 'torch' and kind != name and kind in _DTYPES:
      return np.dtype(_DTYPES[kind])
    raise _Refused(f'it asks to run {module}.{name}')

  def persistent_load(self, pid: Any) -> _Storage:
    if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != 'storage':
      raise _Refused(f'it has an unknown reference {pid!r}')
    _, dtype, key, _, size = pid[:5]
    if len(pid) > 5 and pid[5] is not None:
      raise _Refused('it has storage views, which ended with torch 0.4')
    if not isinstance(dtype, np.dtype) or not isinstance(size, int):
      raise _Refused('it has a storage without a type or size')
    return _Storage(str(key), dtype, size)


def _fill(tree: Any, storages: Callable[[_Storage], np.ndarray]) -> Any:
  """The tree with each view replaced by its array."""
  if isinstance(tree, _View):
    return tree.of(storages(tree.storage))
  if isinstance(tree, dict):
    return {name: _fill(value, storages) for name, value in tree.items()}
  return tree


def _read_zip(file: BinaryIO) -> Any:
  with zipfile.ZipFile(file) as archive:
    names = archive.namelist()
    pickles = [name for name in names if name.endswith('/data.pkl')]
    if len(pickles) != 1:
      raise _Refused('it holds no single data.pkl')
    root = pickles[0].removesuffix('data.pkl')
    order = root + 'byteorder'
    if order in names and archive.read(order) != b'little':
      raise _Refused('its numbers are big-endian')
    arrays: dict[str, np.ndarray] = {}

    def storages(storage: _Storage) -> np.ndarray:
      if storage.key not in arrays:
        raw = archive.read(f'{root}data/{storage.key}')
        arrays[storage.key] = np.frombuffer(raw, storage.dtype)
      return arrays[storage.key]

    return _fill(_Unpickler(archive.open(pickles[0])).load(), storages)


def _read_sequence(file: BinaryIO) -> Any:
  load = lambda: _Unpickler(file).load()
  if load() != _MAGIC:
    raise _Refused('it does not begin as a PyTorch checkpoint does')
  load()  # the protocol's version
  load()  # sizes of C types on the machine that wrote it
  tree = load()
  kinds: dict[str, _Storage] = {}

  def note(part: Any) -> None:
    if isinstance(part, _View):
      kinds[part.storage.key] = part.storage
    elif isinstance(part, dict):
      for value in part.values():
        note(value)

  note(tree)
  arrays: dict[str, np.ndarray] = {}
  for key in load():
    if key not in kinds:
      raise _Refused(f'storage {key!r} belongs to no tensor')
    (size,) = struct.unpack('<q', file.read(8))
    if size != kinds[key].size:
      raise _Refused('a storage has another length than its tensors say')
    raw = file.read(size * kinds[key].dtype.itemsize)
    arrays[key] = np.frombuffer(raw, kinds[key].dtype)
  return _fill(tree, lambda storage: arrays[storage.key])


def read(path: str | os.PathLike) -> dict[str, np.ndarray]:
  """The tensors of a PyTorch state dict by name."""
  try:
    with open(path, 'rb') as file:
      zipped = zipfile.is_zipfile(file)
      file.seek(0)
      tree = _read_zip(file) if zipped else _read_sequence(file)
  except OSError as error:
    raise UserError(f'cannot read {path}: {error.strerror}') from error
  except _Refused as error:
    raise UserError(
      f'{path} is refused, nothing of it was run: {error}; convert it to '
      'model.safetensors where you trust it'
    ) from error
  except Exception as error:  # a broken pickle fails in every possible way
    raise UserError(
      f'{path} is broken or no PyTorch checkpoint ({error}); fetch it again'
    ) from error
  if not isinstance(tree, dict):
    raise UserError(f'{path} holds a {type(tree).__name__}, not named tensors')
  wrong = [n for n, v in tree.items() if not isinstance(v, np.ndarray)]
  if wrong:
    raise UserError(f'{path} holds no tensor under the name {wrong[0]!r}')
  return tree
