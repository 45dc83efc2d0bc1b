"""Text to ids: fast tokenizers, ragged token stores, a cache by content.

Only the `tokenizers` package is used; ids equal those of transformers'
AutoTokenizer. What files hold one is in tokenizer_files.py; a GGUF file has its
own (data/gguf.py).
"""

import contextlib
import hashlib
import itertools
import os
import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tokenizers import (
  Regex,
  Tokenizer,
  models,
  normalizers,
  pre_tokenizers,
  trainers,
)

from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data import gguf
from fairjax.data.batching import tokenizer_files
from fairjax.data.batching.tokenizer_files import SPECIAL, bert

CHUNK = 20_000  # texts encoded at a time: bounds the memory of the encodings
ALPHABET = 1000  # characters that a trained tokenizer knows
LEFT, FAR = 'left', 2**30  # a side where texts are cut; a length none has
LONGEST = 100  # characters of a word that a WordPiece reads; else [UNK]


class Ragged(NamedTuple):
  """Token ids of n texts, end to end; text i starts at offsets[i]."""

  flat: np.ndarray  # int32 [sum of the lengths]
  offsets: np.ndarray  # int64 [n + 1]
  types: np.ndarray | None = None  # int8, beside flat; only for text pairs
  cut: np.ndarray | None = None  # bool [n]: texts that were truncated

  @property
  def lengths(self) -> np.ndarray:
    return np.diff(self.offsets)

  @property
  def owner(self) -> np.ndarray:
    """The text of each token."""
    return np.repeat(np.arange(len(self.lengths)), self.lengths)

  def split(self, values: np.ndarray | None = None) -> list[np.ndarray]:
    """Values beside `flat`, by default the ids, text by text."""
    values = self.flat if values is None else values
    return np.split(values, self.offsets[1:-1])

  @property
  def cut_lengths(self) -> int:
    """How many texts were truncated."""
    return 0 if self.cut is None else int(self.cut.sum())


def offsets_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
  """Where each of texts of these lengths starts, and the last one ends."""
  return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ragged(rows: Sequence[np.ndarray]) -> Ragged:
  """The ids of each text, end to end."""
  flat = np.concatenate([np.zeros(0, np.int32), *rows]).astype(np.int32)
  return Ragged(flat, offsets_of([len(row) for row in rows]))


def take(ragged: Ragged, rows: np.ndarray) -> Ragged:
  """The texts `rows`, in that order; a row may be named more than once."""
  rows = np.asarray(rows, np.int64)
  lengths = ragged.lengths[rows]
  offsets = offsets_of(lengths)
  shift = ragged.offsets[rows] - offsets[:-1]
  source = np.arange(offsets[-1]) + np.repeat(shift, lengths)
  return Ragged(
    ragged.flat[source],
    offsets,
    None if ragged.types is None else ragged.types[source],
    None if ragged.cut is None else ragged.cut[rows],
  )


def load_tokenizer(path: str | os.PathLike) -> Tokenizer:
  """The tokenizer of a model's folder, or of a bare vocabulary file.

  It pads and cuts nothing; of its own settings only the side is kept where
  transformers cuts (`truncation_side` of its config goes before its file).
  """
  path = pathlib.Path(path)
  if not path.exists():
    raise UserError(f'there is no tokenizer at {path}; name a folder or a file')
  if gguf.is_gguf(path):
    return gguf.tokenizer(path)
  folder = path if path.is_dir() else path.parent
  tokenizer = tokenizer_files.read(path, folder)
  known = tokenizer_files.settings(folder)
  side = known.get('truncation_side') or _side(tokenizer)
  tokenizer.enable_truncation(FAR, direction=LEFT if side == LEFT else 'right')
  truncate(tokenizer, None)
  return tokenizer


def train_tokenizer(texts: Sequence[str], vocab_size: int) -> Tokenizer:
  """A lower-casing WordPiece learned from `texts`; equal texts, equal ids.

  The trainer of `tokenizers` numbers the letters inside words in the order of
  a hash table that differs from run to run, and breaks ties by those numbers.
  So every letter is given its number in advance.
  """
  normal = normalizers.BertNormalizer(lowercase=True)
  texts = [normal.normalize_str(text) for text in texts]
  counts: Counter[str] = Counter()
  for text in texts:
    counts.update(text)
  counts.pop(' ', None)
  ranked = sorted(counts, key=lambda c: (-counts[c], c))
  # A letter takes two ids: at the start of a word (x) and inside one (##x).
  room = min(ALPHABET, (vocab_size - len(SPECIAL)) // 2)
  if room < 1:
    raise UserError(
      f'tokens.vocab_size is {vocab_size}; a few hundred are needed at least'
    )
  letters = sorted(ranked[:room])
  rare = {ord(c): ' ' for c in ranked[room:]}
  trainer = trainers.WordPieceTrainer(
    vocab_size=vocab_size,
    special_tokens=SPECIAL + letters + [f'##{c}' for c in letters],
    show_progress=False,
  )
  learner = Tokenizer(models.WordPiece(unk_token='[UNK]'))
  learner.pre_tokenizer = pre_tokenizers.Sequence(
    [
      pre_tokenizers.BertPreTokenizer(),
      # To learn of a word takes the square of its characters.
      pre_tokenizers.Split(Regex(f'^.{{{LONGEST + 1},}}$'), 'removed'),
    ]
  )
  learner.train_from_iterator((t.translate(rare) for t in texts), trainer)
  return bert(learner.get_vocab(), lower=True)


def save_tokenizer(
  tokenizer: Tokenizer, folder: str | os.PathLike, longest: int = 0
) -> None:
  """Writes tokenizer.json and what transformers needs to read it as ours.

  `longest` are the tokens of a text that its model reads.
  """
  folder, side = pathlib.Path(folder), _side(tokenizer)
  tokenizer.no_padding()
  tokenizer.no_truncation()
  artefacts.write_text(folder / 'tokenizer.json', tokenizer.to_str(pretty=True))
  names = ('pad_token', 'unk_token', 'cls_token', 'sep_token', 'mask_token')
  known = {
    'bert': SPECIAL,
    'roberta': ['<pad>', '<unk>', '<s>', '</s>', '<mask>'],
  }
  special: dict = {'tokenizer_class': 'PreTrainedTokenizerFast'}
  if side == LEFT:
    special['truncation_side'] = side
    tokenizer.enable_truncation(FAR, direction=side)
  if longest:
    special['model_max_length'] = int(longest)
  for tokens in known.values():
    if all(tokenizer.token_to_id(token) is not None for token in tokens):
      special |= dict(zip(names, tokens))
  artefacts.write_json(folder / 'tokenizer_config.json', special)


def encode(
  tokenizer: Tokenizer,
  texts: Sequence[str],
  max_length: int | None,
  pairs: Sequence[str] | None = None,
  special: bool = True,
) -> Ragged:
  """Ids of each text (or pair), at most `max_length`, special tokens included.

  A longer text loses its end but keeps the closing special token (its start,
  if the tokenizer's own truncation is 'left'); of a pair the longer text is
  cut first. `max_length` is what the model has positions for, 2 less for
  RoBERTa and BART; None cuts nothing. Without `special` no special tokens are
  put in.
  """
  least = tokenizer.num_special_tokens_to_add(pairs is not None) + 1
  if max_length is not None and max_length < least:
    raise UserError(
      f'tokens.max_length is {max_length}; at least {least} are needed for the '
      'special tokens and one of the text'
    )
  texts = list(texts)
  inputs = texts if pairs is None else list(zip(texts, pairs, strict=True))
  truncate(tokenizer, max_length)
  # A GPT-2 turns an empty text into no ids at all; a model needs one.
  empty = [tokenizer.token_to_id('<|endoftext|>') or 0] if special else []
  flat, types, lengths, cut = [], [], [], []
  for start in range(0, len(inputs), CHUNK):
    try:
      encodings = tokenizer.encode_batch_fast(
        inputs[start : start + CHUNK], add_special_tokens=special
      )
    except (TypeError, UnicodeError) as error:
      raise _not_text(texts if pairs is None else [*texts, *pairs]) from error
    ids = [encoding.ids or empty for encoding in encodings]
    lengths += [len(i) for i in ids]
    flat.append(np.fromiter(itertools.chain.from_iterable(ids), np.int32))
    cut += [bool(encoding.overflowing) for encoding in encodings]
    if pairs is not None:
      type_ids = [encoding.type_ids or [0] for encoding in encodings]
      types.append(
        np.fromiter(itertools.chain.from_iterable(type_ids), np.int8)
      )
  return Ragged(
    np.concatenate([np.zeros(0, np.int32), *flat]),
    offsets_of(lengths),
    None if pairs is None else np.concatenate([np.zeros(0, np.int8), *types]),
    np.array(cut, bool),
  )


def truncate(tokenizer: Tokenizer, max_length: int | None) -> None:
  """No padding, and truncation on the side where the tokenizer has it."""
  side = _side(tokenizer)
  tokenizer.no_padding()
  if max_length is None and side != LEFT:
    tokenizer.no_truncation()
    return
  most = FAR if max_length is None else max_length
  tokenizer.enable_truncation(most, direction=side)


def _side(tokenizer: Tokenizer) -> str:
  """Where the tokenizer cuts a text that is too long."""
  return (tokenizer.truncation or {}).get('direction', 'right').lower()


def _not_text(texts: Sequence) -> Exception:
  """The sentence about the first entry that no tokenizer can read."""
  for text in texts:
    if not isinstance(text, str):
      return UserError(f'{text!r} is not a text; give the row one or drop it')
    if not text.isascii() and text != text.encode(errors='ignore').decode():
      return UserError(
        f'the text {text[:40]!r} holds half a character (a lone surrogate), '
        'which no tokenizer reads; fix or drop its row'
      )
  return UserError('the tokenizer refuses these texts; try another one')


def cached_encode(
  tokenizer: Tokenizer,
  texts: Sequence[str],
  max_length: int,
  pairs: Sequence[str] | None = None,
  *,
  cache: str | os.PathLike | None,
) -> Ragged:
  """`encode`, or what `cache` keeps of the same texts, tokenizer and length."""
  if cache is None:
    return encode(tokenizer, texts, max_length, pairs)
  truncate(tokenizer, max_length)
  digest = hashlib.sha256(f'{max_length}|{tokenizer.to_str()}'.encode())
  for column in (texts, pairs):
    digest.update(b'|none' if column is None else f'|{len(column)}'.encode())
    for text in column if column is not None else ():
      data = text.encode('utf-8', 'surrogatepass')
      digest.update(len(data).to_bytes(8, 'little') + data)  # ab, c ≠ a, bc
  file = pathlib.Path(cache) / f'tokens-{digest.hexdigest()[:24]}.npz'
  if file.is_file():
    with contextlib.suppress(UserError):  # a damaged cache is made anew
      kept = artefacts.read_arrays(file)
      return Ragged(*map(kept.get, ('flat', 'offsets', 'types', 'cut')))
  ragged = encode(tokenizer, texts, max_length, pairs)
  contents = {k: v for k, v in ragged._asdict().items() if v is not None}
  with contextlib.suppress(artefacts.CannotWrite):  # a full disk
    with artefacts.atomic(file) as part:
      np.savez(part, **contents)
  return ragged
