"""Registries (RECIPES, METHODS, …): tables of a name, an address, a line."""

import functools
import importlib
import importlib.metadata
import pathlib
import re
import typing
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairjax.core import announce, paths
from fairjax.core.errors import UserError, nearest, shown


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
  """What is registered under a name."""
  module, function = entries[named(name, entries, kind)].target.split(':')
  return getattr(importlib.import_module(module), function)


def named(name: str, entries: Mapping[str, Any], kind: str) -> str:
  """The key that a name means, said where it is another one; or a sentence."""
  if sentence := refusal(name, entries, kind):
    raise UserError(sentence)
  (key,) = meant(name, entries)
  if key != name:
    announce.note(f'{name} is the {kind} {_told(key, entries)}')
  return key


def refusal(name: Any, entries: Mapping[str, Any], kind: str) -> str:
  """A sentence where a name means no row, or several; else ''."""
  if len(found := meant(name, entries)) == 1:
    return ''
  # A plain word of a line may stand there by chance: it is not taken.
  said = meant(name, entries, 1) if len(str(name)) > 3 else []
  if found := found or (said if len(said) < 4 else []):
    hint = f'did you mean {" or ".join(_told(key, entries) for key in found)}?'
  else:
    hint = nearest(str(name), entries, f'there are {", ".join(entries)}')
  return f'there is no {kind} {shown(name)}; {hint}'


def meant(name: Any, entries: Mapping[str, Any], least: int = 2) -> list[str]:
  """The keys that a name may mean: itself, else those that have it best.

  4, without case, - _ and blanks: a key, or its end behind /; 3: a label or
  other name (`also`); 2: a name in a line or origin, no plain word; 1: words.
  """
  plain = lambda text: re.sub(r'[-_\s]+', '', text).lower()
  asked = plain(name) if isinstance(name, str) else ''
  if not asked or name in entries:
    return [name] if asked else []
  letters = r'[-_\s]*'.join(map(re.escape, asked))
  words = re.compile(rf'(?<![\w-]){letters}(?![\w-])', re.I)

  def has(key: str, row: Any) -> int:
    text = lambda field: getattr(row, field, '')
    keys, own = (key, key.rpartition('/')[2]), (text('label'), *text('also'))
    said = ' '.join(words.findall(f'{text("about")} {text("origin")}'))
    spelled = re.search('[A-Z0-9_.-]', said)
    found = said, spelled, asked in map(plain, own), asked in map(plain, keys)
    return max(k for k, one in enumerate((True, *found)) if one)

  how = {key: has(key, row) for key, row in entries.items()}
  return [key for key in how if how[key] == max(how.values()) >= least]


def _told(key: str, entries: Mapping[str, Any]) -> str:
  line = getattr(entries[key], 'about', '')
  return f'{key} ({line})' if line else key
