"""First names and their counterparts: a bijection between men's and women's.

Men's and women's names are matched one to one so that how frequent a name is
and how specific it is of a gender change least (Hall Maudslay et al. 2019,
arXiv 1909.00871):

  minimise  sum_i (log10 c_i - log10 c_p(i))^2 + w^2 (s_i - s_p(i))^2
                  + v^2 |u_i - u_p(i)|^2 + o^2 [o_i != o_p(i)]

over permutations p, with the count c of a name in its own gender and its
specificity s = c / (count in both): an ambiguous name meets an ambiguous one.
Ours is u, which says whether a name is a place (Virginia) or a word (Will)
too: such a name meets its like, or a swapped text could not be read back. And
o says where a name is chiefly given: Arjun meets Meera, since a partner of
another origin would be one more cue beside gender. names.csv is ours: rough US
counts of the last century, and origins, from general knowledge.
"""

import functools
import os
import pathlib
import re
import types
from collections.abc import Collection, Mapping

import numpy as np

from fairjax.core import artefacts, paths
from fairjax.core.errors import UserError, need, shown
from fairjax.pairs.swapping import persons, word_lists
from fairjax.pairs.word_sets import SETS

NAME = object()  # the entry of a first name in a scan

_LIMIT = 2500  # pairs, as in the paper
SPECIFIC = 4.0  # w: a quarter in specificity weighs as tenfold frequency
_KIND = 2.0  # v
_ORIGIN = 3.0  # o: another origin weighs as a thousandfold frequency


class Names(dict):
  """lower-case name -> its counterpart.

  `male` holds the men's names, `small` those that are no other word.
  """

  def __init__(self, pairs: Collection[tuple[str, str]] = ()):
    super().__init__()
    self.male = frozenset(male.lower() for male, _ in pairs)
    for male, female in pairs:
      self[male.lower()] = female[:1].upper() + female[1:]
      self[female.lower()] = male[:1].upper() + male[1:]
    self.small = self.keys() - SETS.small - persons.SPECIAL

  def has(self, word: str) -> bool:
    """Whether a word is written like a name, Title or CAPITALS, and is one."""
    if not word[0].isupper() or word.lower() not in self:
      return False
    return word[1:].islower() or (len(word) > 2 and word.isupper())

  def swap(
    self, text: str, found: list[tuple], direction: str, others: bool = False
  ) -> list[tuple[int, int, str, str]]:
    """Spans of those of `found` that are first names of persons in `text`.

    `others` says that the text has more words of gender.
    """
    if direction == 'neutral':
      return []
    spans = []
    for start, end, word, _ in persons.choose(text, found, self, others):
      low = word.lower()
      if direction == 'opposite' or (low in self.male) == (
        direction == 'female'
      ):
        new = self[low]
        if word == low:
          new = new.lower()
        elif word.isupper():
          new = new.upper()
        spans.append((start, end, word, new))
    return spans


def load(names: bool | str | os.PathLike | dict[str, str] | None) -> Names:
  """None or False: no names; True: our own; a path; or a man -> woman map."""
  if isinstance(names, Names):
    return names
  if isinstance(names, dict):
    return Names(_checked(list(names.items())))
  if isinstance(names, (str, os.PathLike)) and names:
    path = os.path.expanduser(names)
    known = os.path.exists(path) and artefacts.content(path)
    return _from_file(path, known or '')
  need(
    names is None or isinstance(names, bool | np.bool_ | str),
    *('names', names, 'True, a file of counts or {man: woman} is needed'),
  )
  return _from_file() if names else Names()


def _checked(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
  first_row: set[str] = set()
  for name in (name for pair in pairs for name in pair):
    need(
      isinstance(name, str),
      *('a name of the map', name, 'write {man: woman}, each a text'),
    )
    name = name.lower()
    if name in first_row:
      raise UserError(
        f'the name map has {name!r} twice; each name needs one counterpart'
      )
    first_row.add(name)
  return pairs


@functools.lru_cache(8)
def _from_file(path: str = '', content: str = '') -> Names:
  """Matched once for each `content`: a file may change while we run."""
  if not path:
    return Names(own_pairs())
  return Names(match(read(path), origins=origins(own_folder(), path)))


def own_folder() -> pathlib.Path:
  return pathlib.Path(__file__).with_name('names.csv')


def own_pairs() -> list[tuple[str, str]]:
  """`match` of names.csv, as it is kept: it takes most of a short audit."""
  path = own_folder().with_name('name_pairs.csv')
  return [(man, woman) for man, woman in paths.csv_lines(path, 'names file')]


def read(path: str | os.PathLike) -> dict[str, tuple[float, float]]:
  """name -> (count of men, count of women), from SSA files.

  `path` is a file of lines name,sex,count (yobYYYY.txt, no header), a csv with
  a header that names these columns (and maybe `origin`), or a
  folder of yob*.txt files.
  """
  path = pathlib.Path(path)
  files = sorted(path.glob('yob*.txt')) if os.path.isdir(path) else [path]
  if not files:
    raise UserError(f'the names folder {path} has no yobYYYY.txt file')
  counts: dict[str, list[float]] = {}
  for file in files:
    for where, name, sex, count, _ in _lines(file):
      if sex not in ('M', 'F'):
        raise UserError(f'{file}, {where} has sex {sex!r}; it must be M or F')
      if not re.fullmatch(r'\d{1,15}(\.\d*)?', count):
        raise UserError(
          f'{file}, {where} has count {shown(count)}; a number from 0 is needed'
        )
      counts.setdefault(name.title(), [0.0, 0.0])[sex == 'F'] += float(count)
  return {name: (both[0], both[1]) for name, both in counts.items()}


def origins(*files: str | os.PathLike) -> dict[str, str]:
  """lower-case name -> where it is chiefly given, from columns `origin`."""
  return {
    name.lower(): origin
    for file in map(pathlib.Path, files)
    if os.path.isfile(file)
    for _, name, _, _, origin in _lines(file)
    if origin
  }


def _lines(path: pathlib.Path):
  """Yields (where, name, sex, count, origin or '') of one file."""
  rows = [row for row in paths.csv_lines(path, 'names file') if row]
  if not rows:
    raise UserError(f'the names file {path} is empty')
  columns = [cell.strip().lower() for cell in rows[0]]
  first = 1
  if len(columns) == 3 and re.fullmatch(r'\d+', columns[2]):
    columns, first = ['name', 'sex', 'count'], 0
  missing = [c for c in ('name', 'sex', 'count') if c not in columns]
  if missing:
    raise UserError(
      f'the names file {path} has no column {missing[0]!r} (it has '
      f'{", ".join(columns)}); name its columns name, sex and count'
    )
  at = [columns.index(c) for c in ('name', 'sex', 'count')]
  known = 'origin' in columns
  for number, row in enumerate(rows[first:], first + 1):
    if len(row) != len(columns):
      raise UserError(
        f'{path}, line {number} has {len(row)} cells where the first line has '
        f'{len(columns)}'
      )
    name, sex, count = (row[i].strip() for i in at)
    origin = row[columns.index('origin')].strip() if known else ''
    yield f'line {number}', name, sex.upper()[:1], count, origin


def match(
  counts: dict[str, tuple[float, float]],
  limit: int = _LIMIT,
  origins: Mapping[str, str] = types.MappingProxyType({}),
) -> list[tuple[str, str]]:
  """(man's name, woman's name) pairs by linear assignment, frequent first.

  `origins` says where a (lower-case) name is chiefly given; '' for all others.
  """
  from scipy.optimize import linear_sum_assignment

  men, women = _by_sex(counts, limit)
  rows, columns = linear_sum_assignment(distances(counts, men, women, origins))
  return [(men[i], women[j]) for i, j in zip(rows, columns)]


def _by_sex(
  counts: dict[str, tuple[float, float]], limit: int
) -> list[list[str]]:
  """Men's and women's names, as many of each, the frequent first."""
  words = {
    word for row in word_lists.gender().rows for word in row
  }  # Guy, Earl
  sides = []
  for sex in (0, 1):
    own = [
      (-both[sex], name)
      for name, both in counts.items()
      if name.lower() not in words
      and (both[sex], not sex) > (both[1 - sex], sex)
    ]
    sides.append([name for _, name in sorted(own)[:limit]])
  size = min(map(len, sides))
  if not size:
    raise UserError('the names file holds names of one sex only')
  return [side[:size] for side in sides]


def distances(
  counts: dict[str, tuple[float, float]],
  men: list[str],
  women: list[str],
  origins: Mapping[str, str],
) -> np.ndarray:
  """How unlike each man's name is to each woman's, as [men, women].

  Many assignments are equally good. Which is taken depends on the last bit, and
  a logarithm's differs between processors: so it is rounded.
  """
  places = []
  for sex, side in enumerate((men, women)):
    both = np.array([counts[name] for name in side])
    kinds = [
      [name.lower() in SETS.places, name.lower() in SETS.name_words]
      for name in side
    ]
    places.append(
      np.column_stack(
        [
          np.log10(both[:, sex]).round(6),
          SPECIFIC * both[:, sex] / both.sum(1),
          _KIND * np.array(kinds, float),
        ]
      )
    )
  cost = sum((m[:, None] - w) ** 2 for m, w in zip(*(p.T for p in places)))
  from_where = [[origins.get(n.lower(), '') for n in s] for s in (men, women)]
  ours, theirs = map(np.array, from_where)
  return cost + _ORIGIN**2 * (ours[:, None] != theirs)
