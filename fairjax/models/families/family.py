"""A family of models as one record: shape, config keys, tensors, capabilities.

Each file of models/families holds one; the table there finds it by the
model_type of a config.json.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from fairjax.models.families.config_keys import Key

# What a family may be able to do, as a sentence says it.
CAPABILITIES = {
  'classify': 'classify texts',
  'mask': 'fill masks',
  'detect': 'detect replaced tokens',
  'write': 'write texts',
  'infill': 'fill masks by rewriting a text',
  'judge': 'score texts from left to right',
  'tag': 'tag words from left to right',
  'embed': 'embed tokens',
}


class ParamRow(NamedTuple):
  """One of our parameters and the tensors it is made of."""

  ours: str  # path, as 'encoder/layer_0/up/kernel'
  theirs: tuple[str, ...]  # names; several are joined along our last axis
  transposed: bool = False  # torch keeps kernels as [out, in]


def dense(ours: str, *theirs: str, bias: bool = True) -> tuple[ParamRow, ...]:
  kernel = ParamRow(
    f'{ours}/kernel', tuple(f'{t}.weight' for t in theirs), True
  )
  if not bias:
    return (kernel,)
  return kernel, ParamRow(f'{ours}/bias', tuple(f'{t}.bias' for t in theirs))


def norm(ours: str, theirs: str, bias: bool = True) -> tuple[ParamRow, ...]:
  scale = ParamRow(f'{ours}/scale', (f'{theirs}.weight',))
  return (scale, ParamRow(f'{ours}/bias', (f'{theirs}.bias',)))[: 1 + bias]


def embed(ours: str, theirs: str) -> tuple[ParamRow, ...]:
  return (ParamRow(f'{ours}/embedding', (f'{theirs}.weight',)),)


def below(
  ours: str, theirs: str, rows: Iterable[ParamRow]
) -> tuple[ParamRow, ...]:
  """The rows with their paths and names below others."""
  return tuple(
    ParamRow(
      ours + row.ours, tuple(theirs + name for name in row.theirs), row[2]
    )
    for row in rows
  )


def layers(
  depth: int, theirs: str, rows: Iterable[ParamRow], ours: str = ''
) -> tuple[ParamRow, ...]:
  """The rows of `depth` like layers; `theirs` ends before the number."""
  rows = tuple(rows)
  return tuple(
    row
    for i in range(depth)
    for row in below(f'{ours}layer_{i}/', f'{theirs}{i}.', rows)
  )


class Head(NamedTuple):
  """What stands on a family's body for one capability."""

  architecture: str  # the class of transformers
  tensors: Callable[[Any], Iterable[ParamRow]] = lambda shape: ()
  module: Callable | None = None  # module(body, **options); None: the body
  options: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True, eq=False)
class Family:
  """All that is known of a family."""

  name: str  # model_type of its config.json
  shape: type  # everything about a model that its parameters do not say
  keys: tuple[Key, ...]  # of config.json, in the order they are read
  body: Callable  # body(shape, dtype=…), with scan and remat where it has them
  tensors: Callable[[Any], Iterable[ParamRow]]  # of the body, below `prefix`
  prefix: str
  heads: Mapping[str, Head]  # by capability; the first that fits is loaded
  shapes: Mapping[str, Any]  # published ones by name
  sized: Callable | None = None  # sized(depth, width) -> shape
  # Fields that follow from others; a sentence for values that do not fit.
  derive: Callable[[Mapping], Mapping] = lambda values: {}
  wrong: Callable[[Mapping], str] = lambda values: ''
  extra: Callable[[Any], Mapping] = lambda shape: {}  # only written

  @property
  def abilities(self) -> str:
    """'classify texts, fill masks and embed tokens'."""
    return listed(CAPABILITIES[name] for name in self.heads)


def listed(items: Iterable[str]) -> str:
  *most, last = items
  return f'{", ".join(most)} and {last}' if most else last
