"""Data-side methods by name; adding one is one file and one row of a table."""

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

from fairjax.config import Method
from fairjax.core.errors import UserError
from fairjax.core.registry import installed, listed, named, table


class DataMethod(NamedTuple):
  """A function method(tables: Tables, config: Config) -> Tables."""

  target: str
  about: str
  # The knobs `method.X` that it reads (of blind no direction: all go).
  reads: tuple[str, ...] = ()
  ways: tuple[str, ...] = ()  # what `method.how` may be; '' is the first
  limits: str = ''  # why it may not help
  also: tuple[str, ...] = ()  # what papers call it


METHODS: dict[str, Any] = table(__file__, 'methods', DataMethod)
READS = {name: one.reads for name, one in METHODS.items()}
WAYS = {name: one.ways for name, one in METHODS.items() if one.ways}
installed('methods', METHODS, listed)

_ALL = " ('' is training rows only, 'all' validation rows too)"

MEANT = {'cds': 'substitute, of ratio 0.5'}

# Methods that change what a model reads, so test sets must change with it.
ON_TEST_SETS = ('blind',)


def chain(name: str) -> list[str]:
  """The methods of 'augment+reweight', each applied to what the last made."""
  names = [part.strip() for part in name.split('+')]
  if names == ['none']:
    return []
  for one in names:
    if one in MEANT:
      raise UserError(f'there is no method {one!r}; write {MEANT[one]}')
  return [named(one, METHODS, 'method') for one in names]


def way(name: str, how: str) -> str:
  """The variant of a method; `how` is refused where it has none of the name."""
  ways = WAYS[name]
  if how and how not in ways:
    known = ' and '.join(map(repr, ways)) + (_ALL if '' in ways else '')
    raise UserError(f'method.how is {how!r}; {name} knows {known}')
  return how or ways[0]


def unread(method: Method) -> list[str]:
  """Knobs that were set, and that no method of `method.name` reads."""
  names = chain(method.name)
  if not READS.keys() >= {*names}:  # one that somebody added
    return []
  known = {'name', 'compare'}.union(*(READS[name] for name in names))
  return [
    field.name
    for field in dataclasses.fields(method)
    if field.name not in known and getattr(method, field.name) != field.default
  ]


def check(method: Method, changed: Iterable[str] = ()) -> None:
  """Raises UserError for what no method of `method.name` takes, or reads.

  `changed` are the knobs that were set for these methods alone.
  """
  names = chain(method.name)
  for name in names:
    if name in WAYS:
      way(name, method.how)
  known = dict.fromkeys(k for name in names for k in READS.get(name, changed))
  for knob in changed:
    if knob not in known:
      takes = f'it takes {", ".join(known)}' if known else 'it takes none'
      raise UserError(f'{knob} does nothing there; {takes}')
