"""GGUF files (llama.cpp): metadata, tensors as float32, and the tokenizer.

The layout and the stored types are those of ggml's own package, `gguf`; nothing
in a file is code.
"""

import functools
import os
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from tokenizers import (
  AddedToken,
  Tokenizer,
  decoders,
  models,
  pre_tokenizers,
  processors,
)

from fairjax.core.errors import UserError, brief

CONTROL, USER = 3, 4  # kinds of tokens


class File(NamedTuple):
  """What a file's header says."""

  path: pathlib.Path
  metadata: Mapping[str, Any]
  tensors: Mapping[str, Any]  # gguf's ReaderTensor


def is_gguf(path: str | os.PathLike) -> bool:
  path = pathlib.Path(path).expanduser()
  return path.suffix.lower() == '.gguf' and path.is_file()


@functools.cache
def _reader():
  """The package's reader, which is to end where the file does.

  By itself it takes what is there and goes on counting: a file of 60 bytes
  that announces 2**60 values kept it busy without end.
  """
  from gguf import GGUFReader

  class Reader(GGUFReader):
    def _get(self, offset, dtype, count=1, override_order=None):
      if offset + np.dtype(dtype).itemsize * int(count) > len(self.data):
        raise ValueError('it ends before what it announces')
      return super()._get(offset, dtype, count, override_order)

  return Reader


def read(path: str | os.PathLike) -> File:
  """The header of a file; its tensors are read by `tensor`."""
  path = pathlib.Path(path).expanduser()
  try:
    state = path.stat()
    return _read(path, state.st_size, state.st_mtime_ns)
  except OSError as error:
    raise UserError(f'cannot read {path}: {error.strerror}') from error
  except Exception as error:  # of whatever kind its parser met
    raise UserError(
      f'{path} is broken or no GGUF file: {brief(error)}; fetch it again'
    ) from error


@functools.lru_cache(2)  # config, tokenizer and weights each ask
def _read(path: pathlib.Path, size: int, changed: int) -> File:
  if size < 24:
    raise ValueError('it is too short')
  reader = _reader()(path)
  if reader.byte_order == 'S':
    raise ValueError('its numbers have the other byte order')
  metadata = {
    name: one.contents()
    for name, one in reader.fields.items()
    if not name.startswith('GGUF.')
  }
  if bare := [t.name for t in reader.tensors if 0 in (*t.shape, len(t.shape))]:
    raise ValueError(f'tensor {bare[0][:80]!r} has no dimension, or one of 0')
  return File(path, metadata, {one.name: one for one in reader.tensors})


def tensor(file: File, name: str) -> Float[np.ndarray, '...']:
  """The values of a tensor, whatever type they are stored in."""
  from gguf import quants

  one = file.tensors[name]
  try:
    values = quants.dequantize(one.data, one.tensor_type)
  except NotImplementedError as error:
    raise UserError(
      f'{file.path}: tensor {name[:80]!r} is stored as {one.tensor_type.name}, '
      'which cannot be read; name a file of another type, such as Q8_0'
    ) from error
  # The one that varies fastest is first in the file, and last in numpy.
  return values.astype(np.float32, copy=False).reshape(one.shape[::-1])


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
_PRE = {'gpt-2': (), 'smollm': (pre_tokenizers.Digits(individual_digits=True),)}


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
    raise UserError(
      f'{file.path} is not a tokenizer: {brief(error)}'
    ) from error
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
    # By a name of ours: a word with ':' or a blank is no part of a template.
    begin = {'id': 'bos', 'ids': [bos], 'tokens': [words[bos]]}
    out.post_processor = processors.TemplateProcessing(
      single='bos $A', special_tokens=[begin]
    )
  else:
    out.post_processor = processors.ByteLevel(trim_offsets=False)
  return out
