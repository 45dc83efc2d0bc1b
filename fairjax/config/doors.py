"""Functions of the library: options from the knobs, mistakes in arguments.

Inner code names leaves of the config, as the command has them. What leaves by
a function of the library (`fairjax.audit`, `fairjax.weights`, …) names what
its caller can write.
"""

import functools
import inspect
import numbers
import os
import pathlib
import re
import textwrap
import typing
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ParamSpec, TypedDict, TypeVar

from fairjax.config import HELP, Config
from fairjax.core import knobs, paths
from fairjax.core.errors import (
  Surface,
  UserError,
  in_config,
  is_listed,
  need,
  worded,
)
from fairjax.core.registry import named

# What an argument is, said once; FUNCTION.NAME where it is another there.
ARGUMENTS: dict[str, str] = dict(
  paths.csv_lines(
    pathlib.Path(__file__).with_name('arguments.csv'), 'arguments'
  )[1:]
)
P = ParamSpec('P')
T = TypeVar('T')

# Every knob by its whole name, as `configured` takes them.
LEAVES = {leaf.name: leaf for leaf in knobs.leaves(Config)}

# Leaves whose arguments have another name in every function that has these.
RENAMED = {
  'measures.resamples': 'n_resamples',
  'seed': 'random_state',
  'workdir': 'folder',
}


class CommonOptions(TypedDict, total=False):
  """What `audit` and `write` take both."""

  threshold: Annotated[float | str, 'measures.threshold']
  pos_label: Annotated[Any, 'measures.pos_label']
  n_resamples: Annotated[int, 'measures.resamples']
  confidence_level: Annotated[float, 'measures.confidence_level']
  random_state: Annotated[int, 'seed']
  fail_if: Annotated[str, 'audit.fail_if']
  fail_on: Annotated[str, 'audit.fail_on']
  batch_size: Annotated[int, 'audit.batch']


def options(kind: type, base: Config) -> dict[str, knobs.Leaf]:
  """{key: leaf} of a TypedDict whose hints name leaves, with base's values."""
  hints = typing.get_type_hints(kind, include_extras=True)
  named = {key: LEAVES[hint.__metadata__[0]] for key, hint in hints.items()}
  of = lambda leaf: leaf._replace(default=knobs.value(base, leaf.name))
  return {key: of(leaf) for key, leaf in named.items()}


def given(
  options: Mapping[str, object] | None, deprecated: Mapping[str, object]
) -> dict[str, Any]:
  """The options of a function, some of which may be keywords until 0.3."""
  more = {} if options is None else options
  need(isinstance(more, Mapping), 'options', more, '{name: value} is needed')
  if deprecated:
    entries = ', '.join(f'{name!r}: …' for name in deprecated)
    advice = 'options as keywords are deprecated, and go in fairjax 0.3; give '
    advice += f'options={{{entries}}}'
    warnings.warn(advice, FutureWarning, stacklevel=4)  # of the door's caller
  return {**more, **deprecated}


def configured(
  config: Config, known: Mapping[str, knobs.Leaf], given: Mapping[str, Any]
) -> Config:
  """The config with the values of options, checked."""
  for name, value in given.items():
    leaf = known[named(name, known, 'option')]
    knobs.put(config, leaf.name, _typed(value, leaf))
  knobs.check(config, Config)
  return config


def _typed(value: Any, leaf: knobs.Leaf) -> Any:
  """A value as a config has it: a tuple for one text, a path as text."""
  if leaf.name in ('measures.threshold', 'measures.pos_label'):  # or a name
    return leaf.default if value is None else str(value)
  if isinstance(leaf.default, tuple):
    return tuple(value) if is_listed(value) else (value,)
  if isinstance(value, numbers.Integral) and not isinstance(value, bool):
    return int(value)  # numpy's
  return os.fspath(value) if isinstance(value, os.PathLike) else value


def surface(
  function: Callable, own: Mapping[str, str] | None = None
) -> Surface:
  """How a function calls leaves: by its arguments, or entries of its options.

  `own` are leaves that it calls otherwise; several words stand as they are.

  >>> def audit(table, on_bad='error'): ...
  >>> worded('leave them out: --config.data.on_bad=drop', surface(audit))
  "leave them out: on_bad='drop'"
  """
  arguments, own = inspect.signature(function).parameters, own or {}
  known = getattr(function, 'known', {})
  entries = {leaf.name: name for name, leaf in known.items()}

  def called(leaf: str, value: str | None) -> str:
    name = RENAMED.get(leaf, leaf.rpartition('.')[2])
    name = own.get(leaf, name if name in arguments else '')
    if value is None:
      return entries.get(leaf, name) or leaf
    plain = repr(value.strip('\'"')) if value else '…'
    if leaf in entries and leaf not in own:
      return f'options={{{entries[leaf]!r}: {plain}}}'
    if not name:
      return f'the command and its flag {in_config(leaf, value)}'
    return name if ' ' in name else f'{name}={plain}'

  return called


def door(
  own: Mapping[str, str] | None = None,
  known: Mapping[str, knobs.Leaf] | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
  """A function of the library whose errors are in its own words.

  `known` are the entries of its `options`, which its help lists.
  """

  def decorate(function: Callable[P, T]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
      try:
        return function(*args, **kwargs)
      except UserError as error:
        if error.surface is in_config:  # else an inner door has said it
          error.surface = surface(call, own)
        raise

    made: Any = call
    made.known = known or {}
    made.__doc__ = _documented(function, made.known)
    return made

  return decorate


def _documented(function: Callable, known: Mapping[str, knobs.Leaf]) -> str:
  """A docstring whose `{arguments}` are those of ARGUMENTS, a function's own
  before everybody's, and whose `{options}` is the help of each knob."""
  filled = function.__doc__ or ''
  named = inspect.signature(function).parameters if '{arg' in filled else ()
  about = lambda k: ARGUMENTS.get(f'{function.__name__}.{k}') or ARGUMENTS[k]
  own = [f'{k}: {about(k)}.' for k in named if k != 'self']
  more = [f'{k}: {HELP[v.name]} [{v.default!r}]' for k, v in known.items()]
  for place, each in (('arguments', own), ('options', more)):
    lines = [
      textwrap.fill(one, 80, initial_indent=' ' * 4, subsequent_indent=' ' * 6)
      for one in each
    ]
    # Python 3.13 takes the indentation off docstrings.
    filled = re.sub(rf' *\{{{place}\}}', lambda _: '\n'.join(lines), filled)
  return filled


def retell(
  results: Any, function: Callable, own: Mapping[str, str] | None = None
) -> None:
  """The notes, warnings and paragraphs of results, in a function's words."""
  reworded = functools.partial(worded, surface=surface(function, own))
  results.notes = [*map(reworded, results.notes)]
  for contender in results.contenders.values():
    for one in contender['sets'].values():
      for kind in ('warnings', 'notes'):
        if kind in one:
          one[kind] = [*map(reworded, one[kind])]
  for part in (p for one in results.sections for p in one['parts']):
    if part['part'] == 'text':
      part['text'] = reworded(part['text'])
