"""Reads pytorch_model.bin into numpy: no torch, and no code is executed.

A torch checkpoint is a pickle, and a pickle is a program. Here it may name
only the few functions below; whatever else it names is refused before it can
be called. What it builds is bounded too: keys are texts or whole numbers (to
hash a tuple of tuples of one tuple takes time without end), and only a dict of
tensors is looked into. Both containers are read: the zip one (torch ≥ 1.6),
and the older sequence of pickles followed by the raw storages.
"""

import collections
import math
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np

from fairjax.core import paths
from fairjax.core.errors import UserError

_DTYPES = {
  **{'Double': np.float64, 'Float': np.float32, 'Half': np.float16},
  **{'BFloat16': ml_dtypes.bfloat16, 'Long': np.int64, 'Int': np.int32},
  **{'Short': np.int16, 'Char': np.int8, 'Byte': np.uint8, 'Bool': np.bool_},
}
_LONGEST = 2**26  # bytes of a pickle: names and shapes of a million tensors
_MAGIC = 0x1950A86A20F9469CFC6C  # first pickle of the older container


class _Refused(pickle.UnpicklingError):
  """The file asks for something that a table of numbers does not need."""


class Storage(NamedTuple):
  key: str
  dtype: np.dtype
  size: int


class _View(NamedTuple):
  """A tensor before its storage is read."""

  storage: Storage
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
    if math.prod(self.shape) > flat.size:  # by strides of 0: a bomb
      raise _Refused('a tensor repeats its storage')
    strides = [step * flat.itemsize for step in self.strides]
    return np.lib.stride_tricks.as_strided(
      flat[self.offset :], self.shape, strides, writeable=False
    )


def tensor_view(storage, offset, shape, strides, *_unused) -> _View:
  if not isinstance(storage, Storage):
    raise _Refused('a tensor has no storage')
  return _View(storage, offset, tuple(shape), tuple(strides))


def _ordered(items=()) -> collections.OrderedDict:
  """An OrderedDict; old pickles give its items at once."""
  if not isinstance(items, list | tuple) or not all(
    isinstance(one, list | tuple) and len(one) == 2 for one in items
  ):
    raise _Refused('an OrderedDict is not made of pairs')
  for key, _ in items:
    _check_key(key)
  return collections.OrderedDict(items)


def _check_key(key: Any) -> None:
  if not isinstance(key, str | int):
    raise _Refused(f'it has a {type(key).__name__} as a key')


_ALLOWED: dict[tuple[str, str], Callable] = {
  ('collections', 'OrderedDict'): _ordered,
  ('torch._utils', '_rebuild_tensor'): tensor_view,
  ('torch._utils', '_rebuild_tensor_v2'): tensor_view,
  ('torch._utils', '_rebuild_parameter'): lambda data, *_: data,
  ('torch', 'Size'): tuple,
}


def _keyed(code: int, keys: slice) -> Callable[[Any], None]:
  """Python's own instruction, after a look at its keys on the stack."""

  def run(machine: Any) -> None:
    for key in machine.stack[keys]:
      _check_key(key)
    pickle._Unpickler.dispatch[code](machine)

  return run


def _other(machine: Any) -> None:
  raise _Refused('it holds sets or buffers')


class _Unpickler(pickle._Unpickler):
  """Python's own, which lets each instruction be looked at."""

  dispatch = pickle._Unpickler.dispatch | {
    pickle.SETITEM[0]: _keyed(pickle.SETITEM[0], slice(-2, -1)),
    pickle.SETITEMS[0]: _keyed(pickle.SETITEMS[0], slice(None, None, 2)),
    pickle.DICT[0]: _keyed(pickle.DICT[0], slice(None, None, 2)),
    # The attributes of a state dict (`_metadata`) say nothing of numbers.
    pickle.BUILD[0]: lambda machine: machine.stack.pop(),
    pickle.EMPTY_SET[0]: _other,
    pickle.FROZENSET[0]: _other,
    pickle.BYTEARRAY8[0]: _other,  # fills what it declares with zeros
  }

  def find_class(self, module: str, name: str) -> Any:
    if (module, name) in _ALLOWED:
      return _ALLOWED[module, name]
    kind = name.removesuffix('Storage')
    if module == 'torch' and kind != name and kind in _DTYPES:
      return np.dtype(_DTYPES[kind])
    raise _Refused(f'it asks to run {module}.{name}')

  def persistent_load(self, pid: Any) -> Storage:
    if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != 'storage':
      raise _Refused('it has an unknown reference')
    _, dtype, key, _, size = pid[:5]
    if len(pid) > 5 and pid[5] is not None:
      raise _Refused('it has storage views, which ended with torch 0.4')
    if not isinstance(dtype, np.dtype) or not isinstance(size, int):
      raise _Refused('it has a storage without a type or size')
    _check_key(key)
    return Storage(str(key), dtype, size)


def _views(tree: Any) -> dict[str, _View]:
  """The tensors by name, before any is read."""
  if not isinstance(tree, dict):
    raise _Refused(f'it holds a {type(tree).__name__}, not named tensors')
  for name, view in tree.items():
    if not isinstance(name, str) or not isinstance(view, _View):
      raise _Refused(f'it holds no tensor under the name {str(name)[:80]!r}')
  return tree


def _read_zip(file: BinaryIO) -> dict[str, np.ndarray]:
  """torch packs nothing, so that no entry is larger than the file itself."""
  length = file.seek(0, os.SEEK_END)
  with zipfile.ZipFile(file) as archive:
    entries = {entry.filename: entry for entry in archive.infolist()}
    packed = any(
      e.compress_type != zipfile.ZIP_STORED for e in entries.values()
    )
    if packed or sum(e.file_size for e in entries.values()) > length:
      raise _Refused('its entries are packed or larger than the file')
    pickles = [name for name in entries if name.endswith('/data.pkl')]
    if len(pickles) != 1:
      raise _Refused('it holds no single data.pkl')
    if entries[pickles[0]].file_size > _LONGEST:
      raise _Refused('its data.pkl is too large for names and shapes')
    root = pickles[0].removesuffix('data.pkl')
    order = root + 'byteorder'
    if order in entries and archive.read(order) != b'little':
      raise _Refused('its numbers are big-endian')
    arrays: dict[str, np.ndarray] = {}

    def storages(storage: Storage) -> np.ndarray:
      if storage.key not in arrays:
        raw = archive.read(f'{root}data/{storage.key}')
        arrays[storage.key] = np.frombuffer(raw, storage.dtype)
      return arrays[storage.key]

    with archive.open(pickles[0]) as program:
      views = _views(_Unpickler(program).load())
    return {n: view.of(storages(view.storage)) for n, view in views.items()}


def _read_sequence(file: BinaryIO) -> dict[str, np.ndarray]:
  load = lambda: _Unpickler(file).load()
  if load() != _MAGIC:
    raise _Refused('it does not begin as a PyTorch checkpoint does')
  load()  # the protocol's version
  load()  # sizes of C types on the machine that wrote it
  views = _views(load())
  kinds = {view.storage.key: view.storage for view in views.values()}
  arrays: dict[str, np.ndarray] = {}
  for key in load():
    if not isinstance(key, str) or key not in kinds:
      raise _Refused('it has a storage that belongs to no tensor')
    (size,) = struct.unpack('<q', file.read(8))
    if size != kinds[key].size:
      raise _Refused('a storage has another length than its tensors say')
    raw = file.read(size * kinds[key].dtype.itemsize)
    arrays[key] = np.frombuffer(raw, kinds[key].dtype)
  return {n: view.of(arrays[view.storage.key]) for n, view in views.items()}


def read(path: str | os.PathLike) -> dict[str, np.ndarray]:
  """The tensors of a PyTorch state dict by name."""
  try:
    with paths.reading(path), open(path, 'rb') as file:
      zipped = zipfile.is_zipfile(file)
      file.seek(0)
      return _read_zip(file) if zipped else _read_sequence(file)
  except _Refused as error:
    raise UserError(
      f'{path} is refused, nothing of it was run: {error}; convert it to '
      'model.safetensors where you trust it'
    ) from error
  except Exception as error:  # a broken pickle fails in every possible way
    raise UserError(
      f'{path} is broken or no PyTorch checkpoint ({str(error)[:200]}); fetch '
      'it again'
    ) from error
