"""Config fields: valid values, and the stages that they change.

    lr: float = knob(1e-6, above(0))

A rule is a function of the value: '' where it holds, else the remedy. The
config's validation and the identity of stages (identity.py) are generated
from these fields.
"""

import dataclasses
import difflib
import importlib
import math
import os
import pathlib
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fairjax.core import paths, registry
from fairjax.core.errors import UserError

Rule = Callable[[Any], str]

# What a field may change directly. What a stage reads of earlier ones is known
# by content, so a field that changes 'data' need not be among the others.
STAGES = (
  'data',  # the tables, before and after a method
  'training',  # any fit
  'pretraining',  # the fits of recipe pretrain alone
  'rewriting',  # the fits of models that rewrite
  'scores',
  'weights',
  'measures',
  'texts',  # what a swap or a model writes
  'attributes',  # of fairflow: instances of words, and the attribute head
  'flow',  # its fit
  'words',  # and its votes and dictionary
  'repair',  # of swapped texts
  'rewriters',  # contenders' texts, and what is said of them
  'adversary',  # a discriminator, and generators trained against it
)


def rule(
  holds: Callable[[Any], bool], wanted: str, remedy: str = '{} is needed'
) -> Rule:
  """The rule of a test; `wanted` says in words which values pass it.

  Knobs, results.json and the files of benchmarks are checked by such rules.
  """
  return _worded(
    lambda value: '' if holds(value) else remedy.format(wanted), wanted
  )


def _worded(rule: Any, wanted: Any, read: Any = None) -> Rule:
  rule.wanted, rule.read = wanted, read  # by `wanted`; what is given as a key
  return rule


def wanted(rule: Rule) -> str:
  """The values that a rule allows, in words; '' where it allows all."""
  words = getattr(rule, 'wanted', '')
  return words() if callable(words) else words


def at_least(low: float) -> Rule:
  return rule(lambda v: low <= v < math.inf, f'at least {low:g}')


def above(low: float, high: float = math.inf) -> Rule:
  upper = '' if high == math.inf else f' and at most {high:g}'
  return rule(
    lambda v: low < v <= high and v < math.inf, f'a number above {low:g}{upper}'
  )


def between(low: float, high: float) -> Rule:
  return rule(lambda v: low <= v <= high, f'a number from {low:g} to {high:g}')


def below(low: float, high: float) -> Rule:
  """low ≤ v < high."""
  return rule(
    lambda v: low <= v < high, f'a number from {low:g} to below {high:,}'
  )


def within(low: float, high: float) -> Rule:
  """low < v < high."""
  return rule(
    lambda v: low < v < high, f'a number between {low:g} and {high:g}'
  )


SEED = below(0, 2**31)


def or_else(default: Any, rule: Rule) -> Rule:
  """The rule, or the value that leaves the choice to a default."""
  return _worded(
    lambda v: '' if v == default else rule(v),
    lambda: f'{default}, or {wanted(rule)}',
  )


def one_of(*words: str) -> Rule:
  names = ', '.join(map(repr, words))
  return rule(lambda v: v in words, f'one of {names}', 'it must be {}')


def form(pattern: str, wanted: str) -> Rule:
  return rule(lambda v: re.fullmatch(pattern, v) is not None, wanted)


def number(low: float = -math.inf, high: float = math.inf) -> Rule:
  """A finite number written as text, low ≤ v ≤ high."""

  def holds(value: str) -> bool:
    try:
      return low <= float(value) <= high and math.isfinite(float(value))
    except ValueError:
      return False

  limits = '' if high == math.inf else f' from {low:g} to {high:g}'
  return rule(holds, f'a number{limits}')


def each(rule: Rule, least: int = 0) -> Rule:
  """The rule for every item, of which there are `least`, none twice."""

  def remedy(values) -> str:
    if len(values) < least:
      return 'at least one is needed'
    for one in values:
      if broken := rule(one):
        return f'of {repr(one)[:80]}: {broken}'
    twice = [one for i, one in enumerate(values) if one in values[:i]]
    return f'{twice[0]!r} is there twice' if twice else ''

  one = getattr(rule, 'read', None)
  read = one and (lambda values: type(values)(map(one, values)))
  return _worded(
    remedy, lambda: f'a list with commas; each {wanted(rule)}', read
  )


def entry(table: str, *also: str, joined: str = '') -> Rule:
  """A name in a table 'module:TABLE'; `joined` stands between several."""
  module, _, attribute = table.partition(':')
  kind = attribute.removesuffix('S').replace('_', ' ').lower()
  parts = lambda v: [one.strip() for one in v.split(joined or '\0')]

  def rows() -> dict[str, Any]:
    own = getattr(importlib.import_module(module), attribute)
    return {**dict.fromkeys(also), **own}

  def remedy(value: str) -> str:
    each = (registry.refusal(one, rows(), kind) for one in parts(value))
    return next(filter(None, each), '')

  several = f', or several joined by {joined!r}' if joined else ''
  return _worded(
    remedy,
    lambda: f'one of {", ".join(rows())}{several}',
    lambda v: joined.join(registry.named(x, rows(), kind) for x in parts(v)),
  )


def filled(value: str) -> str:
  return '' if value.strip() else 'a name is needed'


def existing(value: str) -> str:
  """A file or folder that is there, or '' for none."""
  path = pathlib.Path(os.path.expanduser(value))  # which never raises
  if not value or os.path.exists(path):
    return ''
  if os.path.islink(path):
    return f'it is a link to {os.readlink(path)}, which does not exist'
  try:
    names = os.listdir(path.parent)
  except OSError:
    parent = repr(str(path.parent))[:120]
    return f'there is no such file, and no folder {parent}'
  near = difflib.get_close_matches(path.name, names, n=1)
  hint = f'; did you mean {str(path.parent / near[0])!r}?' if near else ''
  return f'there is no such file or folder{hint}'


def stages(names: str | tuple[str, ...]) -> tuple[str, ...]:
  """Names of STAGES as a tuple; a misspelt one would change nothing."""
  names = (names,) if isinstance(names, str) else tuple(names)
  unknown = [name for name in names if name not in STAGES]
  if unknown:
    raise KeyError(
      f'{unknown[0]!r} is no stage; those there are stand in knobs.STAGES'
    )
  return names


NAMED = rule(  # a value that `labels.choose_positive` makes a number
  lambda v: (
    v.strip() != '' if isinstance(v, str) else has_type(v, int) and v >= 0
  ),
  'the name of a label, or its number from 0',
)
_worded(filled, 'any name')
_worded(existing, "a file or folder that is there, or '' for none")


def knob(
  default: Any,
  rule: Rule = lambda value: '',
  *,
  changes: str | tuple[str, ...] | None = None,
  path: bool = False,
) -> Any:
  """A field: its default, its values, and what it changes.

  `changes` is by default that of the section, and () is nothing. Where a
  `path` names a file or folder, its content is part of the identity.
  """
  changes = None if changes is None else stages(changes)
  metadata = {'rule': rule, 'changes': changes, 'path': path}
  return dataclasses.field(default=default, metadata=metadata)


def section(kind: type, changes: str | tuple[str, ...] = ()) -> Any:
  """A field that is a dataclass of knobs."""
  return dataclasses.field(
    default_factory=kind, metadata={'changes': stages(changes)}
  )


def sections(kind: type) -> dict[str, Any]:
  """The dataclasses of knobs in a dataclass, by their fields."""
  fields = {field.name: field.type for field in dataclasses.fields(kind)}
  return {k: v for k, v in fields.items() if dataclasses.is_dataclass(v)}


class Leaf(NamedTuple):
  """One knob of the whole config."""

  name: str  # 'train.lr'
  type: Any
  default: Any
  rule: Rule
  changes: tuple[str, ...]
  path: bool


def leaves(kind: Any, prefix: str = '', changes=()) -> Iterator[Leaf]:
  """Every knob of a dataclass and of its sections."""
  for field in dataclasses.fields(kind):
    if dataclasses.is_dataclass(field.type):
      inner = f'{prefix}{field.name}.'
      yield from leaves(field.type, inner, field.metadata['changes'])
      continue
    own = field.metadata['changes']
    own = changes if own is None else own
    yield Leaf(
      prefix + field.name,
      field.type,
      field.default,
      field.metadata['rule'],
      own,
      field.metadata['path'],
    )


def value(config: Any, name: str) -> Any:
  for part in name.split('.'):
    config = getattr(config, part)
  return config


def put(config: Any, name: str, new: Any) -> None:
  section, _, last = name.rpartition('.')
  setattr(value(config, section) if section else config, last, new)


_WANTED = {
  bool: 'True or False',
  int: 'a whole number',
  float: 'a number',
  str: 'text',
  object: 'a name or a whole number',
}


def need(config: Any, name: str, what: str) -> None:
  """Raises UserError where a leaf is empty, which has to name `what`."""
  if not value(config, name):
    raise UserError(f'{name} is empty; name {what} with --config.{name}')


def has_type(candidate: Any, kind: Any) -> bool:
  """Whether a value is of a leaf's type; a whole number is a float too."""
  if typing.get_origin(kind) is tuple:
    item = typing.get_args(kind)[0]
    return isinstance(candidate, tuple | list) and all(
      has_type(one, item) for one in candidate
    )
  if isinstance(kind, types.UnionType):
    return any(has_type(candidate, one) for one in typing.get_args(kind))
  if isinstance(candidate, bool):
    return kind is bool
  return isinstance(candidate, int | float if kind is float else kind)


def of_tree(kind: type, tree: Any, where: Any = 'config.json') -> Any:
  """The config that plain values hold, checked; fields that it has no more
  are left out."""

  def filled(kind: Any, values: Any, section: str):
    if not isinstance(values, dict):
      raise UserError(
        f'{where} has {values!r:.60} for {section or "a config"}, where '
        'fields are wanted; it is damaged, so train again'
      )
    fields = {}
    for field in dataclasses.fields(kind):
      if field.name in values:
        value = values[field.name]
        if dataclasses.is_dataclass(field.type):
          name = f'{section}.{field.name}'.lstrip('.')
          value = filled(field.type, value, name)
        fields[field.name] = tuple(value) if type(value) is list else value
    return kind(**fields)

  config = filled(kind, tree, '')
  try:
    check(config, kind)
  except UserError as error:
    raise UserError(f'{where} cannot be used: {error}') from error
  return config


def check(config: Any, kind: type) -> None:
  """Raises UserError for the first wrong field; names become those of rows."""
  for name, wanted in sections(kind).items():
    if not isinstance(inner := getattr(config, name), wanted):
      want = f'it must be a config.{wanted.__name__}'
      raise UserError(where=name, got=inner, expected=want)
  for leaf in leaves(kind):
    given, read = value(config, leaf.name), getattr(leaf.rule, 'read', None)
    expected = _wrong(leaf, given)
    if read and not expected and given != leaf.default:
      put(config, leaf.name, read(given))
      expected = _wrong(leaf, value(config, leaf.name))
    if expected:
      raise UserError(where=leaf.name, got=given, expected=expected)


def _wrong(leaf: Leaf, result: Any) -> str:
  """What is expected of a leaf instead; '' where its value is right."""
  if not has_type(result, leaf.type):
    return f'it must be {_WANTED.get(leaf.type, "a tuple such as (1, 2)")}'
  if isinstance(result, float) and not math.isfinite(result):
    return 'a finite number is needed'
  if isinstance(result, int) and abs(result) >= 2**63:  # int64 ends there
    return 'that is more than anything here can be'
  for one in result if isinstance(result, tuple) else (result,):
    if isinstance(one, str) and (len(one) > 4000 or paths.unwritable(one)):
      return 'that is no text that can be used'
    if leaf.path and isinstance(one, str):
      paths.refuse_pipe(one)
  # Defaults are right (a test checks them), and rules may load what they name.
  same = type(result) is type(leaf.default) and result == leaf.default
  return '' if same else leaf.rule(result)
