"""What word-level models share: everything but the core of the network.

The models of the weighting paper read words, not pieces: URLs go, letters are
lower-cased, whatever is neither letter nor digit separates, the most frequent
words have a vector, all others share one. Vectors come from a GloVe text file
of the user's (a word and its numbers a line), or are learned.
"""

import collections
import dataclasses
import math
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.models.layers import probed
from fairjax.models.layers.dropout import dropout as hashed_dropout
from fairjax.models.layers.dropout import identities
from fairjax.models.layers.places import head_rows

STREAM = 41  # of this file's random numbers
RANGE = 0.05  # of the random vectors: uniform in (-RANGE, RANGE)
WIDTH = 100  # of vectors that no file gives
PAD, UNKNOWN = '[PAD]', '[UNK]'
SIDE = 'left'  # where a text is padded and cut, as in the paper's code
WORDS_OF_LETTERS = normalizers.Sequence(
  [
    normalizers.Replace(Regex(r'https?://\S+|www\.\S+'), ' '),
    normalizers.Lowercase(),
    normalizers.Replace(Regex(r'[^\p{L}\p{M}\p{N}]+'), ' '),
  ]
)


# Vocabulary


def train_words(texts: Sequence[str], size: int) -> Tokenizer:
  """The `size` most frequent words, padding and unknown among them."""
  if size < 3:
    raise UserError(
      f'tokens.vocab_size is {size}; padding, unknown words and at least one '
      'known one need 3'
    )
  tokenizer = Tokenizer(models.WordLevel({}, unk_token=UNKNOWN))
  tokenizer.normalizer = WORDS_OF_LETTERS
  tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
  counts: collections.Counter[str] = collections.Counter()
  for text in texts:
    counts.update(tokenizer.normalizer.normalize_str(text).split())
  # Ties go by the alphabet: equal texts give equal ids.
  ranked = sorted(counts, key=lambda word: (-counts[word], word))
  vocabulary = [PAD, UNKNOWN, *ranked[: size - 2]]
  ids = {word: i for i, word in enumerate(vocabulary)}
  tokenizer.model = models.WordLevel(ids, unk_token=UNKNOWN)
  return tokenizer


def vocabulary(tokenizer: Tokenizer) -> list[str]:
  """The tokens in the order of their ids."""
  ids = tokenizer.get_vocab()
  return sorted(ids, key=ids.__getitem__)


# Vectors


@dataclasses.dataclass(frozen=True, eq=False)
class EmbeddingTable:
  """A table of word vectors; compared by identity, for a module to hold."""

  values: Float[np.ndarray, 'v d']


def read_glove(
  path: str | os.PathLike, words: Sequence[str]
) -> tuple[dict[str, np.ndarray], int]:
  """The vectors of those `words` that the file has, and their width.

  Every line is checked, but only the wanted ones are turned into numbers. A
  word may hold spaces (GloVe 840B has some); a word2vec header is skipped.
  """
  paths.refuse_pipe(path)
  path = pathlib.Path(path).expanduser()
  words_by_bytes = {word.encode(): word for word in words}
  result: dict[str, np.ndarray] = {}
  width = 0
  try:
    with path.open('rb') as lines:
      for number, line in enumerate(lines, 1):
        line = line.rstrip(b'\r\n ')
        spaces = line.count(b' ')
        if number == 1 and spaces == 1:
          continue  # the counts of a word2vec file
        width = width or spaces
        word = line[: line.find(b' ')]
        if spaces != width or not width:
          word = _spaced(path, number, line, width)
        if word in words_by_bytes and words_by_bytes[word] not in result:
          result[words_by_bytes[word]] = _numbers(path, number, line, width)
  except OSError as error:
    raise UserError(
      f'cannot read the word vectors of {path}: '
      f'{error.strerror or error}; name a GloVe text file with '
      '--config.net.glove'
    ) from error
  if not width:
    raise UserError(
      f'{path} holds no word vectors; a GloVe file has one a line'
    )
  return result, width


def _spaced(path, number: int, line: bytes, width: int) -> bytes:
  """The word of a line with more fields, if it is one that has spaces."""
  fields = line.split(b' ')
  if len(fields) > width + 1 and not _is_number(fields[-width - 1]):
    return b' '.join(fields[:-width])
  raise UserError(
    f'line {number} of {path} has {len(fields) - 1} numbers where the first '
    f'has {width}; the file is damaged or cut off, so get it again'
  )


def _is_number(field: bytes) -> bool:
  try:
    float(field)
  except ValueError:
    return False
  return True


def _numbers(path, number: int, line: bytes, width: int) -> np.ndarray:
  try:
    values = np.array(line.split(b' ')[-width:], np.float32)
    if np.isfinite(values).all():
      return values
  except ValueError:
    pass
  raise UserError(
    f'line {number} of {path} holds something that is no number in the vector '
    f'of {line.split(b" ")[0].decode(errors="replace")!r}; get the file again'
  )


class VectorEdit(NamedTuple):
  """A change of a file's vectors before they are used."""

  needs: tuple[str, ...]  # words whose vectors it looks at
  change: Callable  # change(words, vectors [n, d]) -> vectors


def load_vectors(
  path: str | os.PathLike, words: Sequence[str], edit: VectorEdit | None = None
) -> EmbeddingTable:
  """One row a word; a word that the file lacks has a random row.

  `edit` is applied to the file's vectors first, as methods/project.py takes
  their gender direction out: the "+" rows of the weighting paper.
  """
  more = edit.needs if edit else ()
  result, width = read_glove(path, [*dict.fromkeys([*words, *more])])
  known = np.array([word in result for word in words])
  if not known.any():
    raise UserError(
      f'none of the {len(words)} words of the vocabulary is in {path}; the '
      'vectors need lower-case words of the language of the texts'
    )
  if edit:
    table = edit.change(list(result), np.stack([*result.values()]))
    result = dict(zip(result, table.astype(np.float32)))
  values = random_rows(len(words), width, 0)
  values[known] = np.stack([result[w] for w, k in zip(words, known) if k])
  return EmbeddingTable(values)


def random_rows(count: int, width: int, seed: int) -> np.ndarray:
  """Uniform in (-0.05, 0.05); row i does not depend on the number of rows."""
  rng = np.random.default_rng([seed, STREAM])
  rows = rng.uniform(-RANGE, RANGE, (count, width))
  return rows.astype(np.float32)


# The two ends of a network, to be called inside a module's compact method


@dataclasses.dataclass(frozen=True)
class WordShape:
  """What a word-level model reads, and into how many classes."""

  vocab: int
  width: int  # of a word's vector
  classes: int
  length: int  # words of a text that are read, its first or last
  rate: float  # of the dropout
  vectors: EmbeddingTable | None = None  # frozen; None learns them


def read(
  batch: Mapping[str, Any], shape: WordShape, dtype: Any, keep: int = 0
) -> tuple[Float[Array, 'b l d'], probed.Segments]:
  """The word vectors of each example, in a window of its own.

  `keep` leaves out padding beyond so many places. Frozen vectors are no
  parameters; learned ones are a layer called 'embed'.
  """
  ids, rows = unpack(batch, shape.length)
  if keep:
    ids = ids[:, -keep:]
    rows = dataclasses.replace(rows, segment_ids=rows.segment_ids[:, -keep:])
  if shape.vectors is not None:
    return jnp.asarray(shape.vectors.values).astype(dtype)[ids], rows
  layer = probed.Embed(shape.vocab, shape.width, dtype=dtype, name='embed')
  return layer(ids, rows), rows


def dropout(
  x: Float[Array, 'b 1 d'],
  batch: Mapping[str, Any],
  shape: WordShape,
  key: UInt32[Array, ''] | None,
) -> Float[Array, 'b 1 d']:
  """Dropout of what a text became."""
  segment_ids = head_rows(batch).segment_ids
  who = identities(
    jnp.asarray(batch['example']), segment_ids, jnp.zeros_like(segment_ids)
  )
  return hashed_dropout(x, shape.rate, key, who)


def scores(
  x: Float[Array, 'b 1 d'], batch: Mapping[str, Any], shape: WordShape
) -> Float[Array, 'b c']:
  """The last layer. Logits are few: float32 whatever the rest is."""
  one = head_rows(batch)
  x = glorot(shape.classes, x, jnp.float32, 'classifier')(x, one)
  return probed.mask_padding_gradient(x[:, 0], one.segment_ids[:, 0])


def glorot(features: int, x: Float[Array, '*s d'], dtype: Any, name: str):
  """A Dense whose initial kernel has the variance 2 / (inputs + outputs)."""
  deviation = math.sqrt(2 / (x.shape[-1] + features))
  return probed.Dense(features, dtype=dtype, deviation=deviation, name=name)


def unpack(
  batch: Mapping[str, Any], length: int
) -> tuple[Int[Array, 'b l'], probed.Segments]:
  """Ids of each example in a window of its own: [b, length], padded with 0.

  Texts are padded and cut at the beginning. The padding is part of what the
  model reads (nothing is masked, as in the paper's code), so it is owned by the
  example: its places count in gradient norms.
  """
  tokens, segment_ids, head_columns, head_index, example = (
    jnp.asarray(batch[name])
    for name in (
      *('tokens', 'segment_ids', 'head_columns', 'head_index', 'example'),
    )
  )
  b, width, slots = len(example), tokens.shape[1], head_columns.shape[1]
  start = head_index // slots * width + head_columns.ravel()[head_index]
  number = jnp.arange(1, b + 1)[:, None]
  column = jnp.arange(max(length, width))

  def look(places):
    inside = (places >= start[:, None]) & (places < tokens.size)
    at = jnp.where(inside, places, 0)
    mine = inside & (segment_ids.ravel()[at] == number)
    return jnp.where(mine, tokens.ravel()[at], 0), mine

  _, mine = look(start[:, None] + column)
  size = mine.sum(1)[:, None]
  ids, _ = look(start[:, None] + size - length + column[:length])
  real = jnp.where(example >= 0, number[:, 0], 0)
  return ids, probed.Segments(jnp.broadcast_to(real[:, None], (b, length)), b)
