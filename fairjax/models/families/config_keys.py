"""Maps between a family's shape and config.json, both ways, by one table.

A `Key` names a field of ours and one of theirs, what is taken where nothing
is said, and what the value may be. Reading, writing and every check of a value
are generated from the table, so a config.json that is wrong in any way is one
sentence that names the file and the key.
"""

import dataclasses
import functools
import operator
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairjax.core import paths, strict_json
from fairjax.core.errors import UserError
from fairjax.models.families import kinds
from fairjax.models.families.kinds import Allowed, only, shown

MISSING = object()


class Key(NamedTuple):
  """A field of ours and theirs; ours may be empty, theirs a path with dots."""

  ours: str
  theirs: str
  default: Any  # or a function of what was read before it
  kind: Allowed
  null: bool = False  # null means the default
  divides: str = ''  # the field of ours that it must divide
  below: str = ''  # the field of ours that it must be less than
  also: str = ''  # an older name of the same key
  written: bool = True


@functools.cache
def _rows() -> dict[str, tuple[Key, ...]]:
  """{family: its keys} of keys.csv: a default is JSON, or =FIELD of ours."""
  file = pathlib.Path(__file__).with_name('keys.csv')
  head, *lines = paths.csv_lines(file, 'table of keys')
  found: dict[str, tuple[Key, ...]] = {}
  for line in lines:
    cells = dict(zip(head, line, strict=True))
    name, default = cells.pop('family'), cells.pop('default')
    own = default.startswith('=')
    value = (operator.itemgetter if own else strict_json.parse)(default[own:])
    key = Key(
      default=value,
      kind=_kind(cells.pop('kind'), value),
      null=cells.pop('null') == 'yes',
      written=cells.pop('written') != 'no',
      **cells,
    )
    found[name] = (*found.get(name, ()), key)
  return found


def _kind(words: str, default: Any) -> Allowed:
  name, *rest = words.split()
  if name == 'whole':
    return kinds.whole(*map(int, rest))
  if name in ('one_of', 'list_of'):
    return getattr(kinds, name)(*rest)
  if name == 'activation':
    from fairjax.models.layers.attention import ACTIVATIONS  # with jax

    return kinds.one_of(*ACTIVATIONS)
  return only(default) if name == 'only' else kinds.NAMED[name]


def of_family(family: str, **defaults: Any) -> tuple[Key, ...]:
  """The keys of a family in keys.csv; some with other defaults."""
  return tuple(
    key._replace(default=defaults.get(key.ours, key.default))
    for key in _rows()[family]
  )


def shape_class(family: str) -> Callable[[type], type]:
  """A class as a frozen dataclass of a family's keys and of its own fields.

  What is read only to be checked (written: no) is no field. The class may
  give a key another default.
  """

  def made(kind: type) -> type:
    values: dict[str, Any] = {'family': family}
    for key in _rows()[family]:
      if key.ours and key.written:
        default = key.default
        default = default(values) if callable(default) else default
        values[key.ours] = vars(kind).get(key.ours, default)
    for name, value in values.items():
      setattr(kind, name, value)
    types = {name: type(value) for name, value in values.items()}
    kind.__annotations__ = types | kind.__annotations__
    return dataclasses.dataclass(frozen=True, kw_only=True)(kind)

  return made


def _look(config: Mapping[str, Any], path: str, where: str) -> Any:
  """The value at a path with dots; MISSING where a step is not there."""
  value: Any = config
  steps = path.split('.')
  for i, step in enumerate(steps):
    if i and value is None:
      return MISSING
    if not isinstance(value, Mapping):
      raise UserError(
        f'{where} has {".".join(steps[:i])} {shown(value)}; it must be an '
        'object'
      )
    if step not in value:
      return MISSING
    value = value[step]
  return value


def value_of(key: Key, config: Mapping[str, Any], values: dict, where: str):
  """The value of one key, checked."""
  name, value = key.theirs, _look(config, key.theirs, where)
  if value is MISSING and key.also:
    name, value = key.also, _look(config, key.also, where)
  if value is MISSING or (value is None and key.null):
    return key.default(values) if callable(key.default) else key.default
  if not key.kind.fits(value):
    raise UserError(
      f'{where} has {name} {shown(value)}; it must be {key.kind.about}'
    )
  if key.below and value >= values[key.below]:
    raise UserError(
      f'{where} has {name} {value}; it must be below {values[key.below]}, the '
      'number of tokens'
    )
  return key.kind.read(value)


def read(
  keys: tuple[Key, ...], config: Mapping[str, Any], where: str
) -> dict[str, Any]:
  """Our fields by name, out of a config.json."""
  values: dict[str, Any] = {}
  for key in keys:
    value = value_of(key, config, values, where)
    if key.ours:
      values[key.ours] = value
  names = {key.ours: key.theirs for key in keys}
  for key in keys:
    if key.divides and values[key.divides] % values[key.ours]:
      raise UserError(
        f'{where} has {names[key.divides]} {values[key.divides]}, which its '
        f'{values[key.ours]} {key.theirs} do not divide'
      )
  return values


def write(keys: tuple[Key, ...], shape: Any) -> dict[str, Any]:
  """The fields of a config.json, out of ours."""
  config: dict[str, Any] = {}
  for key in keys:
    if not key.written:
      continue
    *parents, last = key.theirs.split('.')
    at = config
    for step in parents:
      at = at.setdefault(step, {})
    value = getattr(shape, key.ours) if key.ours else key.default
    at[last] = list(value) if isinstance(value, tuple) else value
  return config


def shape_of(kind: type, values: dict[str, Any]) -> Any:
  """A shape of those of the values that it has a field for."""
  fields = {field.name for field in dataclasses.fields(kind)}
  return kind(**{name: v for name, v in values.items() if name in fields})
