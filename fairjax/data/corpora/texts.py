"""Plain text as documents, and documents as a token store on disk.

A corpus is a file or a folder of .txt, .jsonl and .parquet. It is read once:
its tokens, without special ones, lie in one flat file that is mapped into
memory, so a corpus may be larger than the memory. The store is kept under a
hash of the files' contents and the tokenizer, and made again only when one of
them changes.
"""

import functools
import hashlib
import os
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from fairjax.core import artefacts, cache
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.corpora import shards
from fairjax.data.corpora.shard_map import find_shards
from fairjax.data.tables import readers

ROOM = 'pretrain'  # of the cache
STREAM = 13  # of this file's random numbers
SAMPLE = 20 << 20  # bytes of text that a tokenizer is learned from
LEAST = 2  # held-out documents that an interval needs


class TextFiles(NamedTuple):
  """Where the text is, and what counts as a document."""

  files: tuple[pathlib.Path, ...]
  column: str  # of jsonl and parquet
  blank: bool  # a .txt's documents end at a blank line, else at each line
  content: str  # hash of all of it


class Store(NamedTuple):
  """The tokens of n documents, end to end, without special tokens."""

  flat: np.ndarray  # uint16 or int32, mapped from disk
  offsets: np.ndarray  # int64 [n + 1]
  empty: int  # lines and rows without a text, skipped


def find(path: str, column: str, blank: bool) -> TextFiles:
  """The corpus at `path`."""
  root = pathlib.Path(path)
  if os.path.isdir(root):
    names = [root / name for name in find_shards(root)]
  else:
    names = [root]
  files = tuple(map(readers.place, names))  # none is a pipe, waited for
  if names == [root] and root.suffix not in shards.KINDS:
    raise UserError(
      f'{path} is no text; a file must end in {", ".join(shards.KINDS)}'
    )
  digest = hashlib.sha256(f'{column}|{blank}'.encode())
  for file in files:
    digest.update(f'|{file.suffix}|'.encode())
    with open(file, 'rb') as data:
      digest.update(hashlib.file_digest(data, 'sha256').digest())
  return TextFiles(files, column, blank, digest.hexdigest()[:24])


def documents(source: TextFiles, counts: dict[str, int]) -> Iterator[list[str]]:
  """The documents in order, some at a time; `counts` gains 'empty'."""
  counts.setdefault('empty', 0)
  for file in source.files:
    multiline = source.blank and file.suffix == '.txt'
    rest: list[str] = []  # lines of a document that goes on
    for texts in shards.read(file, source.column):
      result: list[str] = []
      for text in texts:
        if text.strip():
          (rest if multiline else result).append(text)
          continue
        counts['empty'] += 1
        if rest:
          result.append('\n'.join(rest))
          rest = []
      yield result
    if rest:
      yield ['\n'.join(rest)]


def learn_tokenizer(
  source: TextFiles, vocab_size: int, held_out: float, seed: int
) -> Tokenizer:
  """A WordPiece from documents spread evenly over the corpus, none held out."""
  size = sum(file.stat().st_size for file in source.files)
  made_from = artefacts.fingerprint(
    [source.content, vocab_size, held_out, seed, SAMPLE]
  )

  def make(path: pathlib.Path) -> None:
    share = min(1.0, SAMPLE / max(size, 1))
    draw = np.random.default_rng([seed, STREAM])  # those of `split`
    sample, characters = [], 0
    for some in documents(source, {}):
      before = np.floor((characters + np.arange(len(some) + 1)) * share)
      keep = (np.diff(before) > 0) & (draw.random(len(some)) >= held_out)
      sample += [some[i] for i in np.flatnonzero(keep)]
      characters += len(some)
    if not sample:
      raise _nothing(source)
    tokenizer = tokens.train_tokenizer(sample, vocab_size)
    artefacts.write_text(path, tokenizer.to_str())

  name = f'tokenizer-{made_from}.json'
  return cache.stage(ROOM, name, made_from, make, tokens.load_tokenizer)


def store(source: TextFiles, tokenizer: Tokenizer) -> Store:
  """The corpus in tokens, read from the cache or made there."""
  made_from = artefacts.fingerprint([source.content, tokenizer.to_str()])
  known = tokenizer.get_vocab_size()
  kind = np.uint16 if known <= 1 << 16 else np.int32  # half the disk

  def make(folder: pathlib.Path) -> None:
    with artefacts.atomic(folder) as part:
      part.mkdir()
      counts: dict[str, int] = {}
      lengths = []
      with open(part / 'tokens.bin', 'wb') as file:
        for some in documents(source, counts):
          ragged = tokens.encode(tokenizer, some, None, special=False)
          file.write(ragged.flat.astype(kind).tobytes())
          lengths.append(ragged.lengths)
      offsets = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64)
      np.save(part / 'offsets.npy', offsets)
      artefacts.write_json(part / 'counts.json', counts)

  def read(folder: pathlib.Path) -> Store:
    offsets = artefacts.read_arrays(folder / 'offsets.npy')
    if not offsets[-1]:
      raise _nothing(source)
    return Store(
      np.memmap(folder / 'tokens.bin', kind, 'r'),
      offsets,
      artefacts.read_json(folder / 'counts.json')['empty'],
    )

  return cache.stage(ROOM, f'store-{made_from}', made_from, make, read)


def split(
  store: Store, held_out: float, seed: int, limit: int = 0
) -> tuple[np.ndarray, np.ndarray]:
  """The documents to train on and those held out, as sorted numbers.

  `limit` keeps so many of each, drawn by seed.
  """
  lengths = np.diff(store.offsets)
  draws = np.random.default_rng([seed, STREAM]).random(len(lengths))
  parts = []
  for mine in (draws >= held_out, draws < held_out):
    rows = np.flatnonzero(mine & (lengths > 0))
    if limit and len(rows) > limit:
      order = np.random.default_rng([seed, STREAM, 1]).permutation(len(rows))
      rows = np.sort(rows[order[:limit]])
    parts.append(rows)
  if len(parts[0]) < 1 or len(parts[1]) < LEAST:
    raise UserError(
      f'of {len(lengths)} documents {len(parts[1])} are held out and '
      f'{len(parts[0])} left to train on; give more text, a larger '
      '--config.pretrain.held_out, or --config.pretrain.document=line'
    )
  return parts[0], parts[1]


def copies(store: Store, train: np.ndarray, held_out: np.ndarray) -> int:
  """How many held-out documents stand word for word among the trained ones."""
  of = functools.partial(_words, store)
  known = set(map(of, held_out))
  known &= set(map(of, train))
  return sum(of(k) in known for k in held_out)


def alike(store: Store, documents: np.ndarray) -> np.ndarray:
  """A code of each document; those of the same words share one."""
  codes: dict[bytes, int] = {}
  return np.array([codes.setdefault(_words(store, k), k) for k in documents])


def _words(store: Store, document: int) -> bytes:
  begin, end = store.offsets[document : document + 2]
  return store.flat[begin:end].tobytes()


def _nothing(source: TextFiles) -> UserError:
  names = ', '.join(str(file) for file in source.files[:3])
  return UserError(f'there is no text in {names}; name files that hold some')
