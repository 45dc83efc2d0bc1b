"""A family of models as one record: shape, config keys, tensors, capabilities.

Each file of models/families holds one; the table there finds it by the
model_type of a config.json.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from fairjax.core import paths, strict_json
from fairjax.data.word_tables import table_rows
from fairjax.models.families.config_keys import Key

# What a family may be able to do, as a sentence says it.
CAPABILITIES = dict(table_rows(__file__, 'capabilities.csv'))


class ParamRow(NamedTuple):
  """One of our parameters and the tensors it is made of."""

  ours: str  # path, as 'encoder/layer_0/up/kernel'
  theirs: tuple[str, ...]  # names; several are joined along our last axis
  transposed: bool = False  # torch keeps kernels as [out, in]


# The parameters of each kind of tensors.csv: their last step, torch's, and
# whether torch keeps them transposed (GPT-2's Conv1D does not).
_KINDS = {
  'dense': (('/kernel', '.weight', True), ('/bias', '.bias', False)),
  'product': (('/kernel', '.weight', True),),
  'conv': (('/kernel', '.weight', False), ('/bias', '.bias', False)),
  'norm': (('/scale', '.weight', False), ('/bias', '.bias', False)),
  'scale': (('/scale', '.weight', False),),
  'embed': (('/embedding', '.weight', False),),
  'plain': (('', '', False),),
}


@functools.cache
def _table() -> list[dict[str, str]]:
  file = pathlib.Path(__file__).with_name('tensors.csv')
  head, *lines = paths.csv_lines(file, 'table of tensors')
  return [dict(zip(head, line, strict=True)) for line in lines]


def _holds(words: str, shape: Any) -> bool:
  """Whether a shape has all of these fields, and none of those after a !."""
  return all(
    bool(getattr(shape, word.lstrip('!'))) != word.startswith('!')
    for word in words.split()
  )


def param_rows(part: str, shape: Any) -> Iterable[ParamRow]:
  """A part of tensors.csv for this shape: '#' is the number of a layer."""
  for row in _table():
    if row['part'] != part or not _holds(row['when'], shape):
      continue
    *first, depth = row['layers'].split() or ['']
    count = getattr(shape, depth) if depth else 1
    for i in range(int(first[0]) if first else 0, count):
      ours, *theirs = (
        name.replace('#', str(i))
        for name in (row['ours'], *row['theirs'].split())
      )
      for own, end, transposed in _KINDS[row['kind']]:
        if own != '/bias' or _holds(row['bias'], shape):
          names = tuple(name + end for name in theirs)
          yield ParamRow(ours + own, names, transposed)


class Head(NamedTuple):
  """What stands on a family's body for one capability."""

  architecture: str  # the class of transformers
  tensors: str = ''  # its part of tensors.csv
  module: Callable | None = None  # module(body, **options); None: the body
  options: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True, eq=False)
class Family:
  """All that is known of a family."""

  name: str  # model_type of its config.json
  shape: type  # everything about a model that its parameters do not say
  keys: tuple[Key, ...]  # of config.json, in the order they are read
  body: Callable  # body(shape, dtype=…)
  tensors: str  # the body's part of tensors.csv, its names below `prefix`
  prefix: str
  heads: Mapping[str, Head]  # by capability; the first that fits is loaded
  sized: Callable  # sized(depth, width) -> shape
  # Fields that follow from others; a sentence for values that do not fit.
  derive: Callable[[Mapping], Mapping] = lambda values: {}
  wrong: Callable[[Mapping], str] = lambda values: ''
  extra: Callable[[Any], Mapping] = lambda shape: {}  # only written

  @functools.cached_property
  def shapes(self) -> dict[str, Any]:
    """The published ones by name, of shapes.csv."""
    file = pathlib.Path(__file__).with_name('shapes.csv')
    return {
      name: dataclasses.replace(
        self.sized(int(depth), int(width)), **strict_json.parse(more)
      )
      for family, name, depth, width, more in paths.csv_lines(file, 'shapes')
      if family == self.name
    }

  @property
  def abilities(self) -> str:
    """'classify texts, fill masks and embed tokens'."""
    return listed(CAPABILITIES[name] for name in self.heads)


def listed(items: Iterable[str]) -> str:
  *most, last = items
  return f'{", ".join(most)} and {last}' if most else last
