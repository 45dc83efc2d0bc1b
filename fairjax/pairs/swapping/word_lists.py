"""Word lists for swaps: our own gender list, and lists of a user's.

A list is rows of parallel words; column j of every row is the same side. Our
own list (words.csv, compiled by us) has the columns male, female, neutral; an
empty neutral cell means that no single word does. A user's file has one group
a line, words apart by commas, with `#` for comments; a first line that reads
`male,female` or `male,female,neutral` makes it a gender list, to which the
rules for pronouns apply as well, and those for the titles that it holds, if it
is of English. After a first line `male,female,from` or `first,second,from`
pairs may be one-way: where `from` names a column, that column's word becomes
the other, which becomes something else or stays.
"""

import functools
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fairjax.core import paths
from fairjax.core.errors import UserError, is_listed, need, shown

SIDES = ('male', 'female', 'neutral')
DIRECTED = (
  *((*SIDES[:2], 'from'), (*SIDES, 'from')),
  ('first', 'second', 'from'),
)

_HERE = pathlib.Path(__file__).parent
# Of every language; only the first, English, has rules of its own.
PRONOUNS = paths.csv_lines(_HERE / 'pronouns.csv', 'pronouns')[1:]
ENGLISH = PRONOUNS[0]


class WordLists(NamedTuple):
  """Parallel words; `sides` names the columns of a gender list.

  One-way words are of pairs: of a list that is not of gender `to_male` has
  those that become a word of the first column.
  """

  rows: tuple[tuple[str, ...], ...]
  sides: tuple[str, ...]  # () for a user's groups
  to_male: dict[str, str]
  to_female: dict[str, str]


@functools.cache
def gender() -> WordLists:
  """Our own gender list."""
  return read(_HERE / 'words.csv')


@functools.cache
def addresses() -> WordLists:
  """Titles before offices, of our own list alone: Mr. Speaker."""
  return read(_HERE / 'addresses.csv')


def genders(known: WordLists) -> dict[str, int]:
  """word -> 0 of a word for men, 1 of one for women."""
  out = {word: k for row in known.rows for k, word in enumerate(row[:2])}
  return (
    out | dict.fromkeys(known.to_male, 1) | dict.fromkeys(known.to_female, 0)
  )


def sides_of(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
  """Which of SIDES each of two lists of seed words is; () if none tells.

  Seeds are of gender where they are pronouns, of English or another language,
  or a pair of our own list (woman, man).
  """
  rows = [*gender().rows, *PRONOUNS]
  known = [[cell.split() for cell in row[:2]] for row in rows]
  for sides in (SIDES[:2], SIDES[1::-1]):
    ours = (first, second) if sides == SIDES[:2] else (second, first)
    if any(
      not set(male).isdisjoint(ours[0]) and not set(female).isdisjoint(ours[1])
      for male, female in known
    ):
      return sides
  return ()


def is_english(rows: Sequence[Sequence[str]]) -> bool:
  """Whether rules for English pronouns and titles hold of a gender list.

  Not where it has the pronouns of another language (er, sie) and not ours.
  """
  sides = [set(side) for side in zip(*(row[:2] for row in rows))]
  has = lambda forms: all(
    not side.isdisjoint(words.split()) for side, words in zip(sides, forms)
  )
  return has(ENGLISH) or not any(map(has, PRONOUNS))


def load(
  words: str
  | os.PathLike
  | Sequence[Sequence[str]]
  | Mapping[str, str | Sequence[str]]
  | None,
) -> WordLists:
  """Our own list for None or '', else a user's file or groups, checked."""
  if words is None or (isinstance(words, str) and not words):
    return gender()
  if isinstance(words, (str, os.PathLike)):
    return read(words)
  need(
    is_listed(words),
    *('words', words),
    'a file of word groups, groups of words or {word: its partner} is needed',
  )
  rows = tuple(map(_group, _groups(words)))
  check([(f'group {i}', row) for i, row in enumerate(rows)], 'words')
  return WordLists(rows, (), {}, {})


def _groups(words: Mapping | Sequence) -> Sequence:
  """Groups as they are, or a mapping of words to partners as pairs."""
  if not isinstance(words, Mapping):
    return list(words)
  many = lambda to: to if isinstance(to, list | tuple) else [to]
  return [[word, *many(to)] for word, to in words.items()]


def _group(group: Sequence[str]) -> tuple[str, ...]:
  words = () if isinstance(group, str) else group
  if (
    not isinstance(words, Sequence)
    or not words
    or any(not isinstance(word, str) for word in words)
  ):
    raise UserError(
      f'words has {shown(group)}, which is no group of words; write '
      "[('cat', 'dog')] or {'cat': 'dog'}"
    )
  return tuple(word.strip().lower() for word in group)


def read(path: str | os.PathLike) -> WordLists:
  """A file of word groups, checked."""
  columns = [
    (f'line {i}', tuple(cell.strip().lower() for cell in line))
    for i, line in enumerate(paths.csv_lines(path, 'word list'), 1)
    if line and not line[0].lstrip().startswith('#')
  ]
  source = os.fspath(path)
  header: tuple[str, ...] = ()
  if columns and columns[0][1] in (SIDES[:2], SIDES, *DIRECTED):
    header = columns.pop(0)[1]
    for where, row in columns:
      if len(row) != len(header):
        raise UserError(
          f'{path}, {where} has {len(row)} words where the first line names '
          f'{len(header)} columns'
        )
  ways: tuple[dict[str, str], ...] = ({}, {})
  if header in DIRECTED:
    columns, ways = _one_way(columns, header, source)
  sides = tuple(name for name in header if name != 'from')
  check(columns, source, keep_empty=sides == SIDES)
  rows = tuple(dict.fromkeys(row for _, row in columns))
  return WordLists(rows, sides if sides[:1] == SIDES[:1] else (), *ways)


def _one_way(
  columns: Sequence[tuple[str, tuple[str, ...]]],
  header: tuple[str, ...],
  source: str,
) -> tuple[list, tuple[dict[str, str], ...]]:
  """The pairs of both ways, and {word: what it becomes} to either column."""
  both = [(where, row[:-1]) for where, row in columns if not row[-1]]
  used = {word for _, row in both for word in row[:2]}
  ways: tuple[dict[str, str], ...] = ({}, {})
  for where, row in columns:
    pair, side = row[:2], row[-1]
    if side and side not in header[:2]:
      raise UserError(
        f'{source}, {where} says from {side!r}; leave it empty, or write '
        f'{header[0]!r} or {header[1]!r}'
      )
    if not all(pair):
      raise UserError(f'{source}, {where} has an empty cell; name both words')
    if not side:
      continue
    here = header.index(side)
    word, partner = pair[here], pair[1 - here]
    if word in used:
      raise UserError(
        f'{source}, {where} says what {word!r} becomes, which another line '
        'says already; keep one of them'
      )
    used.add(word)
    ways[1 - here][word] = partner
  return both, ways


def check(
  columns: Sequence[tuple[str, tuple[str, ...]]],
  source: str,
  keep_empty: bool = False,
) -> None:
  """One sentence for the first group that cannot be swapped both ways."""
  if not columns:
    raise UserError(f'{source} has no word groups; give one group a line')
  first_use: dict[str, tuple[int, str, tuple[str, ...]]] = {}
  for where, row in columns:
    words = row[:2] if keep_empty else row
    if not any(words):
      raise UserError(
        f'{source}, {where} is an empty group; fill it or delete it'
      )
    if not all(words):
      raise UserError(
        f'{source}, {where} has an empty cell; name a partner for '
        f'{next(filter(None, words))!r}'
      )
    if len(words) < 2:
      raise UserError(
        f'{source}, {where} is a one-way pair: {words[0]!r} has no partner; '
        'add one after a comma'
      )
    for side, word in enumerate(words):
      if not (word[0].isalnum() or word[0] in "'’-"):  # 'em of learned lists
        raise UserError(
          f'{source}, {where} has {word!r}, which begins with a mark; a word '
          'is looked for where its first letter stands, so write it without'
        )
      before = first_use.get(word)
      if before is None or (before[2] == row and before[0] == side):
        first_use[word] = (side, where, row)
      elif before[0] != side:
        raise UserError(
          f'{source} has {word!r} on both sides ({before[1]} and {where}); '
          'a word can stand on one side only'
        )
      else:
        raise UserError(
          f'{source} has {word!r} in {before[1]} and in {where}: one of the '
          'two is a one-way pair, since a swap back can lead to one word only'
        )
