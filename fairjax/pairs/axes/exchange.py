"""The words of an axis, as the swapper of pairs/swapping reads them."""

import os
from collections.abc import Callable

from fairjax.core.errors import UserError
from fairjax.pairs.axes import ages, rules, table
from fairjax.pairs.axes.table import Axis


def turns(
  axis: str | os.PathLike, direction: str = 'opposite', step: int = 0
) -> list[dict[str, object]]:
  """word -> rule, for each exchange of an axis of v values.

  'opposite' are v - 1 exchanges, of which a text draws one: value k becomes
  value k + s, so that different people stay different. A value's name turns
  all others to it.
  """
  known = table.load(axis)
  size = len(known.values)
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


def _entries(
  axis: Axis, to: Callable[[int], int], figures: bool, strict: bool = False
) -> dict[str, object]:
  out = rules.entries(axis, to, strict)
  if figures:
    out |= ages.entries(to)
    for child, older in ages.AGED:
      for word in (child, older):
        out[word] = ages.aged(word, to, out.get(word))
  return out


def values(axis: str | os.PathLike) -> tuple[str, ...]:
  return table.load(axis).values


def words(axis: str | os.PathLike) -> frozenset[str]:
  """Every word of an axis, in small letters."""
  return frozenset(word for word, *_ in table.load(axis).words())


def value_of(axis: str | os.PathLike, word: str) -> str:
  """The value that a word of the axis names; '' where none."""
  known = table.load(axis)
  low = word.lower()
  for one, value, _, _ in known.words():
    if one == low:
      return known.values[value]
  age = ages.numbers().get(low) if axis == 'age' else None
  return '' if age is None else known.values[ages.value_of(age)]
