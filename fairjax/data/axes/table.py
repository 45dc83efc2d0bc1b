"""The table of an axis: its values, and their words, row by row.

    form,christian,muslim,jewish
    adjective,Christian,Muslim|Islamic,Jewish
    noun,Christian,Muslim,Jew

The first line names the values. In each other line stand the words of one form
that are exchanged for each other: `adjective`, `noun` (one person), `nouns`
(several), `group` (behind "the": the poor), `name` (Judaism). A cell holds the
word that is written and, behind bars, others that are read. Marks say when a
word is meant: `black*` of people alone, `Asian^` not of things, `lesbian/f` is
written of no man, `nonbinary/n` of neither man nor woman, `straight/p` of
people alone, `teenage/a` only before the one it describes; `cisgender/c`, what
most are, is written in contrast alone, beside a word of its value that turns
too, and `able-bodied/s` of several and for no other value, unless somebody asks
for that value by its name. The words of `stays` are a value's own (places,
books, days): a sentence that names one keeps the value's other words too;
beside those of `avoid` the value is not written, nor beside those of `unasked`
where nobody asks for it. Phrases of `not` are no words of the axis. A row
`together` has `value` in its cells where a value's words in a sentence turn as
one or stay, `all` where those of all values do.
"""

import functools
import os
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

from fairjax.config.axes import AXES
from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.core.paths import shown

FORMS = ('adjective', 'noun', 'nouns', 'group', 'name')
LEFT = ('stays', 'avoid', 'unasked', 'not', 'together')
TOGETHER = ('', 'value', 'all')
MARKS = ('*', '^', '/f', '/n', '/a', '/p', '/c', '/s')


class Word(NamedTuple):
  """One word of a cell."""

  text: str  # as it is written
  people: bool = False  # read only where people are meant
  no_thing: bool = False  # not read before a word for a thing
  only: str = ''  # where it is written: '', or the letter of its mark


class Row(NamedTuple):
  form: str
  cells: tuple[tuple[Word, ...], ...]  # of each value; () where it has no word


class Axis(NamedTuple):
  name: str
  values: tuple[str, ...]
  rows: tuple[Row, ...]
  stays: tuple[frozenset[str], ...]  # of each value
  avoid: tuple[frozenset[str], ...]
  unasked: tuple[frozenset[str], ...]
  no: frozenset[str]  # phrases that are no words of the axis
  together: str  # which words of a sentence turn as one: of TOGETHER

  def words(self) -> Iterator[tuple[str, int, Word, Row]]:
    """(in small letters, its value, the word, its row)."""
    for row in self.rows:
      for value, cell in enumerate(row.cells):
        for word in cell:
          if word.text:
            yield word.text.lower(), value, word, row


def load(axis: str | os.PathLike) -> Axis:
  """One of ours by its name, else a user's file."""
  if axis in AXES:
    return _shipped(str(axis))
  if not os.path.isfile(os.path.expanduser(axis)):
    raise UserError(
      f'there is no axis {shown(axis)!r}; name one of {", ".join(AXES)}, '
      'or a file of an axis of your own'
    )
  return read(pathlib.Path(axis).expanduser())


@functools.cache
def _shipped(name: str) -> Axis:
  return read(pathlib.Path(__file__).with_name(f'{name}.csv'))


def read(path: pathlib.Path) -> Axis:
  """The axis of a file; one sentence for the first line that is wrong."""
  lines = [
    (number, [cell.strip() for cell in line])
    for number, line in enumerate(paths.csv_lines(path, 'axis'), 1)
    if any(cell.strip() for cell in line) and not line[0].startswith('#')
  ]
  values = tuple(cell.lower() for cell in lines[0][1][1:]) if lines else ()
  if not lines or lines[0][1][0].lower() != 'form' or len(values) < 2:
    raise UserError(
      f"{path} is no axis: its first line must be 'form' and the names of two "
      "or more values, as 'form,christian,muslim'"
    )
  if not all(values) or len(set(values)) < len(values):
    raise UserError(
      f'{path} has values {", ".join(map(repr, values))} in its first line; '
      'give each a name of its own'
    )
  rows: list[Row] = []
  left = {form: [set[str]() for _ in values] for form in LEFT}
  for number, line in lines[1:]:
    where, form = f'{path}, line {number}', line[0].lower()
    if form not in FORMS + LEFT:
      raise UserError(
        f'{where} begins with {line[0]!r}; a form is needed: '
        f'{", ".join(FORMS + LEFT)}'
      )
    if len(line) != len(values) + 1:
      raise UserError(
        f'{where} has {len(line) - 1} cells where the first line names '
        f'{len(values)} values'
      )
    cells = [
      [word.strip() for word in cell.split('|')] if cell else []
      for cell in line[1:]
    ]
    if form in LEFT:
      for own, cell in zip(left[form], cells):
        own.update(word.lower() for word in cell if word)
    else:
      rows.append(Row(form, tuple(tuple(map(_word, c)) for c in cells)))
      if sum(any(w.text for w in cell) for cell in rows[-1].cells) < 2:
        raise UserError(
          f'{where} has a word of one value alone; name what it is exchanged '
          'for'
        )
  stays, avoid, unasked = (tuple(map(frozenset, left[x])) for x in LEFT[:3])
  axis = Axis(
    *(pathlib.Path(path).stem, values, tuple(rows), stays, avoid, unasked),
    frozenset().union(*left['not']),
    _together(left['together'], path),
  )
  _check(axis, path)
  return axis


def _together(cells: list[set[str]], path: pathlib.Path) -> str:
  marks = set().union(*cells) or {''}
  if len(marks) > 1 or not marks <= set(TOGETHER):
    raise UserError(
      f'{path} has {", ".join(map(repr, sorted(marks)))} in its row together; '
      "write 'value' or 'all' in every cell"
    )
  return marks.pop()


def _word(text: str) -> Word:
  marks = dict.fromkeys(MARKS, False)
  while mark := next((m for m in MARKS if text.endswith(m)), ''):
    text, marks[mark] = text.removesuffix(mark), True
  only = next((m[1] for m in MARKS[2:] if marks[m]), '')
  return Word(text.strip(), marks['*'], marks['^'], only)


def _check(axis: Axis, path) -> None:
  """A word that two values share could not be told apart."""
  if not axis.rows:
    raise UserError(f'{path} has no words; give a form and its words a line')
  seen: dict[str, int] = {}
  for word, value, _, _ in axis.words():
    if seen.setdefault(word, value) != value:
      raise UserError(
        f'{path} has {word!r} of {axis.values[seen[word]]} and of '
        f'{axis.values[value]}; a word can be of one value only'
      )
