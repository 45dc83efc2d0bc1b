"""Terms in texts: which, how often, and how long the texts are.

A term is one word or several in a row, in any case; whatever is no letter,
digit or underscore separates words. `african american` is also `african` and
`american`. A term with a sign that stands for a letter (`a$$`, `f***`) is
looked for as it is written: its letters alone are other words. Counting is
columnar (Arrow splits and looks up all words of a block at once); a Python loop
runs over texts for terms with such signs alone.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairjax.core.errors import UserError
from fairjax.data.tables import readers

if TYPE_CHECKING:
  from scipy import sparse

BLOCK = 1 << 16  # texts split at once
# A sign for a letter: a$$, $hit, b@d, sh!t, f**k, f***. One star at the end of
# a word is none (bitch*).
SIGN = re.compile(
  r'[$€£¥@](?=\w)|(?<=\w)[$€£¥@]|(?<=\w)(?:[!*]+(?=\w)|\*\*)|(?<!\w)\*+(?=\w)'
)


def read_terms(path: str, field: str = 'method.terms') -> list[str]:
  """The terms of a file, one a line, lower-cased; empty lines are skipped."""
  if not path:
    raise UserError(f'{field} is empty; name a file with one term a line')
  try:
    lines = readers.lines(path)
  except UserError as error:
    raise UserError(f'cannot read the terms of {field}: {error}') from error
  first_line: dict[tuple, int] = {}
  terms = []
  for number, line in enumerate(lines, 1):
    if not line.strip():
      continue
    term = tuple(_words([line])[0].as_py())
    if has_sign(line):
      term = (' '.join(line.lower().split()),)
    if not any(term):
      raise UserError(f'line {number} of {path} holds no word: {line!r}')
    if term in first_line:
      raise UserError(
        f'line {number} of {path} repeats line {first_line[term]}: '
        f'{line.strip()!r}; remove one'
      )
    first_line[term] = number
    terms.append(' '.join(line.lower().split()))
  if not terms:
    raise UserError(f'{path} holds no terms; write one a line')
  return terms


def has_sign(term: str) -> bool:
  """Whether a term has a sign for a letter."""
  return SIGN.search(term) is not None


def written(term: str) -> re.Pattern:
  """A term with a sign for a letter, as it stands in a text."""
  words = r'\s+'.join(map(re.escape, term.split()))
  return re.compile(rf'(?<![\w$@*]){words}(?![\w$@*])', re.IGNORECASE)


def count_terms(
  texts: Sequence[str], terms: Sequence[str]
) -> tuple['sparse.csr_array', np.ndarray]:
  """How often each term occurs in each text [n, t], and words a text [n].

  Whole words: "Gay, gay!" holds 'gay' twice. Every occurrence counts, also
  inside a longer term.
  """
  from scipy import sparse

  signs = [k for k, term in enumerate(terms) if has_sign(term)]
  split = _words(terms).to_pylist()
  for k in signs:
    split[k] = []
  blocks, lengths = [], []
  for start in range(0, len(texts), BLOCK):
    block, length = _count_block(texts[start : start + BLOCK], split)
    blocks.append(block)
    lengths.append(length)
  if not blocks:
    return sparse.csr_array((0, len(terms))), np.zeros(0, np.int64)
  counts = sparse.vstack(blocks, format='csr')
  if signs:
    counts += _count_written(texts, terms, signs)
  return counts, np.concatenate(lengths)


def _words(texts: Sequence[str]) -> pa.Array:
  """A list of lower-cased words for each text; of an empty text, ['']."""
  lower = pc.utf8_lower(pa.array(list(texts), pa.large_string()))
  spaced = pc.replace_substring_regex(lower, r'[^\pL\pM\pN_]+', ' ')
  return pc.split_pattern(pc.utf8_trim(spaced, ' '), ' ')


def _count_block(texts, split: list[list[str]]):
  words = _words(texts)
  flat = words.flatten()
  offset = words.offsets.to_numpy() - words.offsets[0].as_py()
  filled = np.asarray(pc.not_equal(flat, ''))  # an empty text is one ''
  row = np.repeat(np.arange(len(texts)), np.diff(offset))
  vocabulary = sorted({word for term in split for word in term})
  index = pc.index_in(flat, value_set=pa.array(vocabulary, flat.type))
  word = index.fill_null(-1).to_numpy(zero_copy_only=False)
  known = np.flatnonzero(word >= 0)  # few: all that follows is short
  single = np.full(len(vocabulary), -1)
  rows, columns = [], []
  for column, term in enumerate(split):
    ids = [vocabulary.index(w) for w in term]
    if not ids:
      continue
    if len(ids) == 1:
      single[ids[0]] = column
      continue
    place = known[word[known] == ids[0]]
    place = place[place + len(ids) <= len(word)]
    for step, other in enumerate(ids[1:], 1):
      next_to = (word[place + step] == other) & (
        row[place + step] == row[place]
      )
      place = place[next_to]
    rows.append(row[place])
    columns.append(np.full(len(place), column))
  column = single[word[known]]
  rows.append(row[known][column >= 0])
  columns.append(column[column >= 0])
  i, j = np.concatenate(rows), np.concatenate(columns)
  from scipy import sparse

  counts = sparse.coo_array(
    (np.ones(len(i)), (i, j)), shape=(len(texts), len(split))
  )
  return counts.tocsr(), np.bincount(row[filled], minlength=len(texts))


def _count_written(texts, terms, columns: Sequence[int]):
  from scipy import sparse

  counts = sparse.lil_array((len(texts), len(terms)))
  for k in columns:
    find = written(terms[k]).findall
    for row, text in enumerate(texts):
      if count := len(find(text)):
        counts[row, k] = count
  return counts.tocsr()


def term_members(texts: Sequence[str], terms: Sequence[str]) -> np.ndarray:
  """bool [g, n]: whether text n has term g; overlapping groups."""
  counts, _ = count_terms(texts, terms)
  return np.ascontiguousarray((counts > 0).toarray().T)


def exclusive(texts: Sequence[str], terms: Sequence[str]) -> np.ndarray:
  """The one term of each text: the first in the list, longer terms first."""
  order = sorted(terms, key=lambda term: -len(term.split()))
  members = term_members(texts, order)
  names = np.array([*order, ''], object)
  return names[np.where(members.any(0), members.argmax(0), len(order))]
