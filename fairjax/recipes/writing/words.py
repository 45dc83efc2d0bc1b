"""Words of groups, to mask and to count, and targets that may co-occur.

Targets are our own list of occupations and traits; a user's file replaces it.
"""

import functools
import re
from collections.abc import Callable, Sequence

from fairjax.config.axes import AXES
from fairjax.data.axes import table
from fairjax.data.tables import terms
from fairjax.pairs.swapping import word_lists

MASK = 'MASK'
PRONOUNS = {
  'female': frozenset('she her hers herself'.split()),
  'male': frozenset('he him his himself'.split()),
}
OCCUPATIONS = """
accountant actor architect artist athlete baker banker barber boss builder
butcher carpenter cashier chef cleaner clerk coach cook dancer dentist designer
doctor driver editor electrician engineer farmer firefighter fisherman gardener
guard hairdresser housekeeper inspector janitor journalist judge laborer lawyer
librarian manager mechanic miner model musician nanny nurse officer painter
pilot plumber poet politician priest professor programmer receptionist sailor
salesman scientist secretary servant singer soldier student surgeon tailor
teacher technician thief trader translator tutor waiter weaver writer
"""
TRAITS = """
afraid aggressive ambitious angry arrogant attractive beautiful brave brilliant
calm charming clever cold cruel dangerous devoted dirty emotional faithful
fragile friendly generous gentle greedy handsome honest intelligent kind lazy
lonely loud loyal modest nervous patient polite poor powerful proud quiet rich
rude sad sensitive serious shy silent smart strong stubborn stupid tough ugly
violent warm weak wealthy wild wise
"""


def targets(path: str) -> list[str]:
  """The words of a file, or ours."""
  if path:
    return terms.read_terms(path, 'writing.targets')
  return (OCCUPATIONS + TRAITS).split()


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
      group: frozenset(row[k] for row in rows) | PRONOUNS[group]
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
