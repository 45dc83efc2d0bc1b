"""Ids of many texts from the ids of their words, each tokenized once.

BERT's WordPiece joins nothing across white space or punctuation, and cleans,
lower-cases and strips accents letter by letter. A byte-level BPE (GPT-2's,
RoBERTa's, BART's, ModernBERT's) joins nothing across the pieces that a regular
expression makes of a text, a space being the beginning of the next word. So
the ids of a text are those of its words in order, and a column has few
different words.
"""

import collections
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from fairjax.core import memory

LEAST = 100  # texts from which words repeat enough
CHUNK = 2_000_000  # characters at a time: bounds the memory of their words
WORDS = 1 << 18  # words remembered at a time: about 50 MB

# Only ASCII is split here: a run with other characters is a word like any
# other, and the tokenizer splits it further where it must.
_WORD = re.compile(r'[!-/:-@\[-`{-~]|[^ \t\n\r!-/:-@\[-`{-~]+')

# Of a byte-level BPE, whose expression is, but for short forms such as 'll,
# ' ?letters| ?digits| ?others|spaces(?!other)|spaces'. It never joins what is
# before a space with the space, nor an ASCII letter or digit with ASCII
# punctuation after it, nor punctuation but ' with one of them after it. Runs
# with other characters than ASCII's end at a space only.
_SPACED = re.compile(r' *[^ ]+| +')
_PIECE = re.compile(
  r' *[A-Za-z0-9]+(?=[ !-/:-@\[-`{-~]|\Z)'
  r'| *[!-/:-@\[-`{-~]+(?=(?<!\')[A-Za-z0-9]| |\Z)'
  r'| *[!-/:-@\[-`{-~]+[A-Za-z0-9]+(?=[ !-/:-@\[-`{-~]|\Z)'
  r'| *[^ ]+| +'
)
# Of words/word_level.py.
_RUNS = re.compile('[^ ]+')
WORDS_OF_LETTERS = normalizers.Sequence(
  [
    normalizers.Replace(Regex(r'https?://\S+|www\.\S+'), ' '),
    normalizers.Lowercase(),
    normalizers.Replace(Regex(r'[^\p{L}\p{M}\p{N}]+'), ' '),
  ]
)
_LETTERS = WORDS_OF_LETTERS.__getstate__()
# Where it looks beyond a space: at the end of a run of different white space.
_RUN = re.compile('[^\\S ] |[\u180e\u200b\ufeff] ')


class Ids(NamedTuple):
  """Ids of texts, end to end."""

  flat: np.ndarray  # int32
  lengths: np.ndarray  # int64 [n]
  cut: np.ndarray  # bool [n]: texts that were truncated


class _Frame(NamedTuple):
  """The special tokens around a text."""

  before: list[int]
  after: list[int]


def runs(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
  """start, start + 1, … of every run, end to end."""
  ends = np.cumsum(lengths)
  total = int(ends[-1]) if len(ends) else 0
  return np.arange(total) + np.repeat(starts - ends + lengths, lengths)


def suits(tokenizer: Tokenizer) -> bool:
  """Whether the ids of a text are those of its words."""
  return _words(tokenizer) is not None and _frame(tokenizer) is not None


def _words(tokenizer: Tokenizer) -> re.Pattern | None:
  """The words of a text; None where its ids may not be those of words."""
  model, splits = tokenizer.model, tokenizer.pre_tokenizer
  normal = type(tokenizer.normalizer)
  # Such a token is looked for in what the normalizer leaves of a text.
  hidden = [t.content for t in _added(tokenizer) if t.normalized]
  if type(model) is models.WordPiece:
    bert = normal is normalizers.BertNormalizer
    bert = bert and type(splits) is pre_tokenizers.BertPreTokenizer
    return _WORD if bert and not hidden else None
  if type(model) is models.WordLevel:
    own = tokenizer.normalizer
    ours = own is not None and own.__getstate__() == _LETTERS
    ours = ours and type(splits) is pre_tokenizers.WhitespaceSplit
    return _RUNS if ours and not hidden else None
  if type(model) is not models.BPE or model.dropout:
    return None
  if type(splits) is not pre_tokenizers.ByteLevel or not splits.use_regex:
    return None
  # NFC changes no space, and makes none.
  composed = normal is normalizers.NFC and all(map(str.isspace, hidden))
  if not composed and tokenizer.normalizer is not None:
    return None
  # Where the first word is given a space, no other may begin without one.
  return _SPACED if splits.add_prefix_space else _PIECE


def _added(tokenizer: Tokenizer) -> list:
  return [*tokenizer.get_added_tokens_decoder().values()]


def _frame(tokenizer: Tokenizer) -> _Frame | None:
  """None where the special tokens do not stand around the text."""
  one = tokenizer.encode('a')
  plain = tokenizer.encode('a', add_special_tokens=False).ids
  mask = one.special_tokens_mask
  if 0 not in mask:
    return None
  first = mask.index(0)
  last = first + len(plain)
  if one.ids[first:last] != plain or 0 in mask[last:]:
    return None
  return _Frame(one.ids[:first], one.ids[last:])


def encode(
  tokenizer: Tokenizer,
  texts: Sequence[str],
  special: bool,
  empty: int | None = None,
) -> Ids:
  """Ids of the texts, truncated as the tokenizer is set; `suits` is true.

  A text without any, special tokens included, is given `empty`.
  """
  frame = _frame(tokenizer) if special else _Frame([], [])
  limit = tokenizer.truncation or {}
  room, left = None, False
  if limit:
    room = limit['max_length'] - len(frame.before) - len(frame.after)
    left = limit['direction'].lower() == 'left'
  tokenizer.no_truncation()  # of words
  try:
    table = _Table(tokenizer)
    with memory.uncollected():
      parts = [
        _framed(*table.read(some), frame, room, left) for some in _chunks(texts)
      ]
  finally:
    if limit:
      tokenizer.enable_truncation(**limit)
  flat, lengths, cut = (np.concatenate(columns) for columns in zip(*parts))
  bare = np.flatnonzero(lengths == 0) if empty is not None else []
  if len(bare):
    flat = np.insert(flat, np.cumsum(lengths)[bare], empty)
    lengths[bare] = 1
  return Ids(flat, lengths, cut)


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
  ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
  first = 0
  while first < len(texts):
    base = ends[first - 1] if first else 0
    last = int(np.searchsorted(ends, base + CHUNK, 'right'))
    last = max(last, first + 1)
    yield texts[first:last]
    first = last


class _Table:
  """The ids of the words met so far."""

  def __init__(self, tokenizer: Tokenizer):
    self.tokenizer = tokenizer
    self.added = [token.content for token in _added(tokenizer)]
    self.pattern = _words(tokenizer)
    self._forget()

  def _forget(self) -> None:
    # A word's number is its place among those met.
    self.numbers = collections.defaultdict(itertools.count().__next__)
    self.flat, self.sizes = np.zeros(0, np.int32), np.zeros(0, np.int64)

  def read(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the texts end to end, and how many each has."""
    words = self._split(texts)
    counts = np.fromiter(map(len, words), np.int64, len(words))
    if len(self.numbers) > WORDS:
      self._forget()
    number = map(self.numbers.__getitem__, itertools.chain.from_iterable(words))
    number = np.fromiter(number, np.int64, int(counts.sum()))
    self._learn()
    sizes = self.sizes[number]
    starts = np.cumsum(self.sizes) - self.sizes
    ends = np.append(0, np.cumsum(sizes))
    lengths = np.diff(ends[np.append(0, np.cumsum(counts))])
    return self.flat[runs(starts[number], sizes)], lengths

  def _split(self, texts: Sequence[str]) -> list[list[str]]:
    find = self.pattern.findall
    words = [find(text) or [''] for text in texts]
    whole = '\n'.join(texts)
    if self.pattern in (_SPACED, _PIECE) and _RUN.search(whole):
      for row, text in enumerate(texts):
        if _RUN.search(text):
          words[row] = [text]
    # [MASK] in a text is one token: such a text is one word, read as it is.
    for token in self.added:
      if token in whole:
        for row, text in enumerate(texts):
          if token in text:
            words[row] = [text]
    return words

  def _learn(self) -> None:
    """Tokenizes the words that have no ids yet."""
    new = [*itertools.islice(self.numbers, len(self.sizes), None)]
    read = self.tokenizer.encode_batch_fast(new, add_special_tokens=False)
    ids = [word.ids for word in read]
    flat = itertools.chain.from_iterable(ids)
    self.flat = np.append(self.flat, np.fromiter(flat, np.int32))
    self.sizes = np.append(self.sizes, np.fromiter(map(len, ids), np.int64))


def _framed(
  flat: np.ndarray,
  lengths: np.ndarray,
  frame: _Frame,
  room: int | None,
  left: bool,
) -> Ids:
  """At most `room` ids of each text, within the special tokens."""
  starts = np.cumsum(lengths) - lengths
  kept = lengths if room is None else np.minimum(lengths, room)
  if (kept < lengths).any():
    flat = flat[runs(starts + (lengths - kept if left else 0), kept)]
  before, after = len(frame.before), len(frame.after)
  sizes = kept + before + after
  begins = np.cumsum(sizes) - sizes
  out = np.empty(int(sizes.sum()), np.int32)
  out[runs(begins + before, kept)] = flat
  out[begins[:, None] + np.arange(before)] = frame.before
  out[(begins + before + kept)[:, None] + np.arange(after)] = frame.after
  return Ids(out, sizes, kept < lengths)
