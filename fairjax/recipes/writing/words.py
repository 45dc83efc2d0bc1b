"""Words of groups, to mask and to count, and targets that may co-occur."""

import functools
import re
from collections.abc import Callable, Sequence

from fairjax.config.axes import AXES
from fairjax.data import word_tables
from fairjax.data.axes import table
from fairjax.pairs.swapping import word_lists

MASK = 'MASK'
PRONOUNS = dict(zip(('male', 'female'), word_lists.ENGLISH))


def targets() -> list[str]:
  """Our list of occupations and traits."""
  rows = word_tables.table_rows(__file__, 'targets.csv')
  return [word for _, words in rows for word in words.split()]


def of_groups(
  attribute: str, groups: Sequence[str]
) -> dict[str, frozenset[str]]:
  """Single words of each group; {} of an attribute whose words nobody knows."""
  known = _known(attribute)
  return {g: known[g] for g in groups if known.get(g)}


@functools.cache
def _known(attribute: str) -> dict[str, frozenset[str]]:
  if attribute == 'gender':
    rows = word_lists.gender().rows
    sides = {'male': 0, 'female': 1}
    return {
      group: frozenset(row[k] for row in rows) | {*PRONOUNS[group].split()}
      for group, k in sides.items()
    }
  if attribute not in AXES:
    return {}
  axis = table.load(attribute)
  out: dict[str, set[str]] = {value: set() for value in axis.values}
  for word, value, _, _ in axis.words():
    if re.fullmatch(r'[\w-]+', word):
      out[axis.values[value]].add(word)
  return {value: frozenset(own) for value, own in out.items()}


def masker(attribute: str) -> Callable[[str], str]:
  """A text with the words of the attribute's groups masked, as langfair has
  texts before it compares their words."""
  known = _known(attribute)
  every = frozenset().union(*known.values()) if known else frozenset()

  def mask(text: str) -> str:
    return re.sub(
      r'[\w-]+',
      lambda match: MASK if match[0].lower() in every else match[0],
      text,
    )

  return mask
