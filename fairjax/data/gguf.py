"""GGUF files (llama.cpp): metadata, tensors as float32, and the tokenizer.

A header of typed fields, then tensors in blocks of 32 values; nothing in it is
code. Every count and offset is checked against the bytes that are there before
anything is read or allocated by it. Layout: ggml's docs/gguf.md, version 3
(and 2, which differs in nothing that is read here).
"""

import math
import os
import pathlib
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, UInt8
from tokenizers import (
  AddedToken,
  Tokenizer,
  decoders,
  models,
  pre_tokenizers,
  processors,
)

from fairjax.core.errors import UserError, said

MAGIC = b'GGUF'
BLOCK = 32  # values that share a scale
SCALARS = {  # by the number of a field's type
  **{0: 'B', 1: 'b', 2: 'H', 3: 'h', 4: 'I', 5: 'i'},
  **{6: 'f', 7: '?', 10: 'Q', 11: 'q', 12: 'd'},
}
STRING, ARRAY = 8, 9
CONTROL, USER = 3, 4  # kinds of tokens


def _scales(blocks: UInt8[np.ndarray, 'n bytes'], at: int):
  return blocks[:, at : at + 2].copy().view('<f2').astype(np.float32)


def _nibbles(blocks: UInt8[np.ndarray, 'n 16']):
  """The low halves of 16 bytes, then the high ones."""
  return np.concatenate([blocks & 15, blocks >> 4], axis=1).astype(np.float32)


def _q4_0(blocks):
  return _scales(blocks, 0) * (_nibbles(blocks[:, 2:]) - 8)


def _q4_1(blocks):
  return _scales(blocks, 0) * _nibbles(blocks[:, 4:]) + _scales(blocks, 2)


def _q8_0(blocks):
  return _scales(blocks, 0) * blocks[:, 2:].view(np.int8).astype(np.float32)


def _bf16(blocks):
  return (blocks.copy().view('<u2').astype(np.uint32) << 16).view(np.float32)


class TensorType(NamedTuple):
  """How a tensor's values are stored."""

  name: str
  values: int  # of a block
  size: int  # bytes of a block
  read: Any  # uint8 [n, size] -> float32 [n, values]


KINDS = {
  0: TensorType('F32', 1, 4, lambda b: b.copy().view('<f4').astype(np.float32)),
  1: TensorType('F16', 1, 2, lambda b: b.copy().view('<f2').astype(np.float32)),
  2: TensorType('Q4_0', BLOCK, 18, _q4_0),
  3: TensorType('Q4_1', BLOCK, 20, _q4_1),
  8: TensorType('Q8_0', BLOCK, 34, _q8_0),
  30: TensorType('BF16', 1, 2, _bf16),
}


class Tensor(NamedTuple):
  """Where a tensor lies in the file."""

  kind: TensorType
  shape: tuple[int, ...]  # rows first, as numpy and torch have it
  start: int
  size: int


class File(NamedTuple):
  """What a file's header says."""

  path: pathlib.Path
  metadata: Mapping[str, Any]
  tensors: Mapping[str, Tensor]


def is_gguf(path: str | os.PathLike) -> bool:
  path = pathlib.Path(path).expanduser()
  return path.suffix.lower() == '.gguf' and path.is_file()


class _Broken(Exception):
  """What is wrong with a file, in words."""


class _Cursor:
  """Reads on through bytes, and never beyond them."""

  def __init__(self, data: np.ndarray):
    self.data, self.at = data, 0

  def take(self, size: int) -> bytes:
    if size > len(self.data) - self.at:
      raise _Broken('it ends in the middle of its header')
    self.at += size
    return self.data[self.at - size : self.at].tobytes()

  def number(self, form: str):
    (value,) = struct.unpack(f'<{form}', self.take(struct.calcsize(form)))
    return value

  def count(self, least: int) -> int:
    """A number of things of at least so many bytes each."""
    value = self.number('Q')
    if value > (len(self.data) - self.at) // least:
      raise _Broken(f'it announces {value} entries, more than it has bytes for')
    return value

  def string(self) -> str:
    try:
      return self.take(self.count(1)).decode('utf-8')
    except UnicodeDecodeError as error:
      raise _Broken('a name in its header is no UTF-8') from error

  def value(self, kind: int):
    if kind in SCALARS:
      return self.number(SCALARS[kind])
    if kind == STRING:
      return self.string()
    if kind != ARRAY:
      raise _Broken(f'it has a field of the unknown type {kind}')
    inner = self.number('I')
    if inner == STRING:
      return [self.string() for _ in range(self.count(8))]
    if inner not in SCALARS:
      raise _Broken(f'it has a list of the unknown type {inner}')
    form = SCALARS[inner]
    n = self.count(struct.calcsize(form))
    raw = self.take(n * struct.calcsize(form))
    return list(struct.unpack(f'<{n}{form}', raw))


def read(path: str | os.PathLike) -> File:
  """The header of a file; its tensors are read by `tensor`."""
  path = pathlib.Path(path).expanduser()
  try:
    if path.stat().st_size < 24:
      raise _Broken('it is too short')
    return _read(path, np.memmap(path, np.uint8, 'r'))
  except OSError as error:
    raise UserError(f'cannot read {path}: {error.strerror}') from error
  except _Broken as error:
    raise UserError(
      f'{path} is broken or no GGUF file: {error}; fetch it again'
    ) from error


def _read(path: pathlib.Path, data: np.ndarray) -> File:
  cursor = _Cursor(data)
  if cursor.take(4) != MAGIC:
    raise _Broken('it does not begin with GGUF')
  version = cursor.number('I')
  if version not in (2, 3):
    raise _Broken(f'it has version {version}, and 2 and 3 are known')
  tensors, fields = cursor.count(24), cursor.count(13)
  metadata = {}
  for _ in range(fields):
    name = cursor.string()
    if name in metadata:
      raise _Broken(f'it has the field {name[:80]!r} twice')
    metadata[name] = cursor.value(cursor.number('I'))
  listed = [_tensor(cursor) for _ in range(tensors)]
  align = metadata.get('general.alignment', 32)
  if type(align) is not int or not 8 <= align <= 2**16 or align % 8:
    raise _Broken(f'its alignment is {align!r}')
  start = -(-cursor.at // align) * align
  return File(path, metadata, _placed(listed, start, align, len(data)))


def _tensor(cursor: _Cursor) -> tuple[str, Tensor]:
  """A tensor's entry, its start counted from the first one."""
  name, dims = cursor.string(), cursor.number('I')
  if not 1 <= dims <= 4:
    raise _Broken(f'tensor {name[:80]!r} has {dims} dimensions')
  # The one that varies fastest is first in the file, and last in numpy.
  shape = tuple(cursor.number('Q') for _ in range(dims))[::-1]
  code, start = cursor.number('I'), cursor.number('Q')
  if code not in KINDS:
    known = ', '.join(kind.name for kind in KINDS.values())
    raise _Broken(
      f'tensor {name[:80]!r} is stored as type {code}, and known are {known}'
    )
  kind, values = KINDS[code], math.prod(shape)
  if not values or shape[-1] % kind.values:
    raise _Broken(
      f'tensor {name[:80]!r} of shape {shape} cannot be {kind.name}'
    )
  return name, Tensor(kind, shape, start, values // kind.values * kind.size)


def _placed(listed, start: int, align: int, end: int) -> dict[str, Tensor]:
  """Tensors by name, each within the file and none in another."""
  before, out = start, {}
  for name, tensor in sorted(listed, key=lambda each: each[1].start):
    if name in out:
      raise _Broken(f'it has the tensor {name[:80]!r} twice')
    low = start + tensor.start
    if tensor.start % align or low < before or low + tensor.size > end:
      raise _Broken(
        f'tensor {name[:80]!r} does not lie in its place in the file'
      )
    before = low + tensor.size
    out[name] = tensor._replace(start=low)
  return out


def tensor(file: File, name: str) -> Float[np.ndarray, '...']:
  """The values of a tensor."""
  kind, shape, start, size = file.tensors[name]
  data = np.memmap(file.path, np.uint8, 'r', start, (size,))
  blocks = np.asarray(data).reshape(-1, kind.size)
  return kind.read(blocks).reshape(shape)


def field(file: File, name: str, kind: type, default: Any = None) -> Any:
  """A field of the metadata, of the type that it must have."""
  value = file.metadata.get(name, default)
  if value is None:
    raise UserError(f'{file.path} has no field {name}; fetch it again')
  if kind is float and type(value) is int:
    value = float(value)
  if type(value) is not kind:
    raise UserError(
      f'{file.path} has {name} {str(value)[:60]!r}, which is no '
      f'{kind.__name__}; fetch it again'
    )
  return value


# Text before it is cut into pieces, by the name that llama.cpp gives it.
_PRE = {
  'gpt-2': (),
  'smollm': (pre_tokenizers.Digits(individual_digits=True),),
}


def tokenizer(path: str | os.PathLike) -> Tokenizer:
  """The byte-level BPE of a file."""
  file = read(path)
  elsewhere = 'name a folder that has one with --config.tokens.tokenizer'
  kind = field(file, 'tokenizer.ggml.model', str)
  before = field(file, 'tokenizer.ggml.pre', str, 'gpt-2')
  if kind != 'gpt2' or before not in _PRE:
    raise UserError(
      f'{file.path} has a tokenizer of kind {kind[:60]}/{before[:60]}, and '
      f'known here are gpt2/{" and gpt2/".join(_PRE)}; {elsewhere}'
    )
  words = field(file, 'tokenizer.ggml.tokens', list)
  merges = field(file, 'tokenizer.ggml.merges', list)
  kinds = field(file, 'tokenizer.ggml.token_type', list, [1] * len(words))
  vocabulary = {word: i for i, word in enumerate(words)}
  if len(vocabulary) != len(words) or len(kinds) != len(words):
    raise UserError(
      f'{file.path} lists {len(words)} tokens, {len(vocabulary)} of them '
      f'different, and {len(kinds)} kinds of tokens; fetch it again'
    )
  try:
    pairs = [tuple(merge.split(' ')) for merge in merges]
    out = Tokenizer(models.BPE(vocabulary, pairs))
  except Exception as error:  # tokenizers raises bare Exception
    raise UserError(f'{file.path} is not a tokenizer: {said(error)}') from error
  pieces = pre_tokenizers.ByteLevel(add_prefix_space=False)
  out.pre_tokenizer = pre_tokenizers.Sequence([*_PRE[before], pieces])
  out.decoder = decoders.ByteLevel()
  added = {
    word: AddedToken(word, special=kind == CONTROL, normalized=False)
    for word, kind in zip(words, kinds)
    if kind in (CONTROL, USER)
  }
  out.add_special_tokens([token for token in added.values() if token.special])
  out.add_tokens([token for token in added.values() if not token.special])
  if field(file, 'tokenizer.ggml.add_bos_token', bool, False):
    bos = field(file, 'tokenizer.ggml.bos_token_id', int)
    if not 0 <= bos < len(words):
      raise UserError(f'{file.path} begins texts with {bos}, which is no token')
    out.post_processor = processors.TemplateProcessing(
      single=f'{words[bos]} $A', special_tokens=[(words[bos], bos)]
    )
  else:
    out.post_processor = processors.ByteLevel(trim_offsets=False)
  return out
