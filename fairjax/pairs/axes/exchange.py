"""The exchange of an axis: its values, and its words as the swapper reads them.

Gender is an axis of two values whose words are swapping/words.csv; its texts,
and those of every other axis, are asked in swapping/axis_values.py.
"""

import os
import pathlib
from collections.abc import Callable, Sequence

from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.data.axes.table import Axis
from fairjax.pairs.axes import age_plausibility, ages, rules
from fairjax.pairs.swapping import word_lists

GENDER = ('male', 'female')
# Whose values stand in an order: a neighbour alone keeps a sentence's sense, as
# who is rich owns, pays and gives there, and a poor person does not.
ORDERED = ('class',)
# What an axis is called in a sentence.
CALLED = {
  'gender_identity': 'gender identity',
  'orientation': 'sexual orientation',
  'class': 'social class',
}


def called(axis: str | os.PathLike) -> str:
  """'sexual orientation'; a user's axis by the name of its file."""
  name = pathlib.Path(axis).stem.replace('_', ' ')
  return CALLED.get(os.fspath(axis), name)


def turns(
  axis: str | os.PathLike, direction: str = 'opposite', step: int = 0
) -> list[dict[str, rules.Rule]]:
  """word -> rule, for each exchange of an axis of v values.

  'opposite' are v - 1 exchanges, of which a text draws one: value k becomes
  value k + s, so that different people stay different; of an axis in order the
  two of neighbours (0 and 1, 2 and 3; 1 and 2), where no `step` is asked for. A
  value's name turns all others to it.
  """
  known = table.load(axis)
  size = len(known.values)
  if direction == 'opposite' and axis in ORDERED and not step:
    beside = [_neighbours(size, first) for first in (0, 1)]
    return [rules.entries(known, to, strict=True, apart=True) for to in beside]
  if direction == 'opposite':
    steps = [step] if step else range(1, size)
    to = lambda s: lambda k: (k + s) % size
    return [_entries(known, to(s), axis == 'age') for s in steps]
  if direction not in known.values:
    raise UserError(
      f"direction is {direction!r}; of the axis {known.name} it is 'opposite' "
      f'or one of {", ".join(known.values)}'
    )
  target = known.values.index(direction)
  return [_entries(known, lambda k: target, axis == 'age', strict=True)]


def _neighbours(size: int, first: int) -> Callable[[int], int]:
  """Pairs of neighbours from a first value on; who has none stays."""
  there = list(range(size))
  for k in range(first, size - 1, 2):
    there[k : k + 2] = k + 1, k
  return there.__getitem__


def _entries(
  axis: Axis, to: Callable[[int], int], figures: bool, strict: bool = False
) -> dict[str, rules.Rule]:
  out = rules.entries(axis, to, strict)
  if figures:
    value = {word: value for word, value, *_ in axis.words()}
    for word in value.keys() & out.keys() - axis.no:
      k = value[word]
      out[word] = age_plausibility.placed(word, k, to(k), out[word])
    out |= ages.entries(to, axis.stays)
    for child, older in ages.AGED:
      for word in (child, older):
        out[word] = ages.aged(word, to, out.get(word), axis.stays)
    out = ages.in_order(axis, out)
  return out


def by_word(axis: str | os.PathLike) -> list[dict[str, str]]:
  """word -> word, whatever its sense, for each exchange of an axis.

  Single words alone; one of several rows goes by the first of them.
  """
  if axis == 'gender':
    turn = {}
    for male, female, _ in word_lists.gender().rows:
      turn[male], turn[female] = female, male
    return [turn | {'him': 'her', 'his': 'her', 'her': 'his', 'hers': 'his'}]
  known = table.load(axis)
  size = len(known.values)
  out = []
  for step in range(1, size):
    turn = {}
    for word, value, _, row in known.words():
      cell = row.cells[(value + step) % size]
      if ' ' not in word and cell and cell[0].text:
        turn.setdefault(word, cell[0].text)
    out.append(turn)
  return out


def values(axis: str | os.PathLike) -> tuple[str, ...]:
  """What people may be on an axis, in the order of its columns."""
  return GENDER if axis == 'gender' else table.load(axis).values


def words(axis: str | os.PathLike) -> frozenset[str]:
  """Every word of an axis, in small letters."""
  return frozenset(word for word, *_ in table.load(axis).words())


def places(axis: str | os.PathLike, texts: Sequence[str]) -> list[list[set]]:
  """Where words of each value begin, in whatever sense: a list a value."""
  return [
    [{one.start() for one in pattern.finditer(text)} for text in texts]
    for pattern in rules.of_values(table.load(axis))
  ]


def reader(axis: str | os.PathLike) -> Callable[[str], str]:
  """word -> the value that it names; '' where none."""
  known = table.load(axis)
  of = {word: known.values[value] for word, value, _, _ in known.words()}
  if axis == 'age':
    for word, age in ages.numbers().items():
      of.setdefault(word, known.values[ages.value_of(age)])
  return lambda word: of.get(word.lower(), '')


def parallel(axis: str, one: str, other: str) -> list[tuple[str, str]]:
  """Single words of two values that stand for each other, in small letters."""
  known = table.load(axis)
  for value in (one, other):
    if value not in known.values:
      raise UserError(
        f'the axis {known.name} has no value {value!r}; it has '
        f'{", ".join(known.values)}'
      )
  a, b = known.values.index(one), known.values.index(other)
  rows = [
    (row.cells[a][0].text.lower(), row.cells[b][0].text.lower())
    for row in known.rows
    if row.cells[a] and row.cells[b]
  ]
  return list(dict.fromkeys(r for r in rows if not any(' ' in w for w in r)))
