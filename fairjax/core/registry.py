"""Registries (RECIPES, METHODS, …): tables of a name, an address, a line."""

import functools
import importlib
import importlib.metadata
import pathlib
import typing
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairjax.core import paths
from fairjax.core.errors import UserError, nearest


class Entry(NamedTuple):
  """A function by its address, loaded only when it is asked for."""

  target: str  # 'package.module:function'
  about: str  # one line, shown by `python -m fairjax.main --list`


def table(module: str, name: str, row: Any = Entry) -> dict[str, Any]:
  """{name: `row`} of the csv file of that name beside a module.

  Cells are as the row's field is: words apart by blanks (of a mapping KEY or
  KEY=VALUE), yes or no; an empty or missing one is the field's default.
  """
  path = pathlib.Path(module).with_name(f'{name}.csv')
  (_, *fields), *lines = paths.csv_lines(path, f'table of {name}')
  kinds = typing.get_type_hints(row)
  out = {}
  for key, *cells in lines:
    cells += [''] * (len(fields) - len(cells))
    given = dict(zip(fields, cells, strict=True))
    own = {f for f in given if given[f] or f not in row._field_defaults}
    out[key] = row(**{f: _read(kinds[f], given[f]) for f in own})
  return out


def _read(kind: Any, cell: str) -> Any:
  kind = typing.get_origin(kind) or kind
  if kind is tuple:
    return tuple('' if word == "''" else word for word in cell.split())
  if kind is Mapping:
    parts = (word.partition('=') for word in cell.split())
    return {key: value for key, _, value in parts}
  if kind is bool:
    return cell == 'yes'
  if kind in (str, int):
    return kind(cell)
  return float(cell) if cell else None


@functools.cache
def entry_points() -> Any:
  """Those of every package that is installed; a scan of some milliseconds."""
  return importlib.metadata.entry_points()


def installed(kind: str, entries: dict, made: Callable) -> dict:
  """The entries, and those that other packages have as `fairjax.KIND`.

  `made(point, its package's name)` makes an entry.
  """
  for point in entry_points().select(group='.'.join(('fairjax', kind))):
    package = point.dist.name if point.dist else 'another package'
    try:
      if point.name in entries:  # no package may change a command
        raise ValueError('the name is taken')
      entries[point.name] = made(point, package)
    except Exception as error:  # nor keep one from starting
      warnings.warn(
        f'{package} has an entry point {point.name} of fairjax {kind}, which '
        f'is left out: {error}',
        stacklevel=2,
      )
  return entries


def listed(point: importlib.metadata.EntryPoint, package: str) -> Entry:
  """The entry of a function that another package has."""
  return Entry(point.value, f'of the package {package}')


def find(entries: Mapping[str, Any], kind: str, name: str) -> Any:
  """What is registered under `name`, or a sentence with the nearest."""
  if name not in entries:
    hint = nearest(name, entries, 'fairjax --list shows all')
    raise UserError(f'there is no {kind} named {name!r}; {hint}')
  module, function = entries[name].target.split(':')
  return getattr(importlib.import_module(module), function)
