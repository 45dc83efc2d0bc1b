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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from fairjax.config import HELP, Config
from fairjax.core import knobs, paths
from fairjax.core.errors import (
  Surface,
  UserError,
  in_config,
  is_listed,
  nearest,
  need,
  worded,
)

# What an argument is, said once; FUNCTION.NAME where it is another there.
ARGUMENTS: dict[str, str] = dict(
  paths.csv_lines(
    pathlib.Path(__file__).with_name('arguments.csv'), 'arguments'
  )[1:]
)
P = ParamSpec('P')
T = TypeVar('T')

# Leaves whose arguments have another name in every function that has these.
RENAMED = {
  'measures.resamples': 'n_resamples',
  'seed': 'random_state',
  'workdir': 'folder',
}


def options(
  names: Sequence[str],
  base: Config,
  own: Mapping[str, str] | None = None,
  but: Sequence[str] = (),
) -> dict[str, knobs.Leaf]:
  """{argument: leaf} of sections and of single leaves, with base's values.

  An argument is the leaf's last word, or what `own` calls it; `but` names
  leaves that a function takes otherwise.
  """
  called = RENAMED | dict(own or {})
  found = {}
  for leaf in knobs.leaves(Config):
    section, _, last = leaf.name.rpartition('.')
    if leaf.name not in but and (section in names or leaf.name in names):
      value = knobs.value(base, leaf.name)
      found[called.get(leaf.name, last)] = leaf._replace(default=value)
  return found


def configured(
  config: Config, known: Mapping[str, knobs.Leaf], given: Mapping[str, Any]
) -> Config:
  """The config with the values of options, checked."""
  for name, value in given.items():
    if name not in known:
      hint = nearest(name, known, f'there are {", ".join(known)}')
      raise UserError(f'there is no option {name!r}; {hint}')
    section, _, last = known[name].name.rpartition('.')
    at = getattr(config, section) if section else config
    setattr(at, last, _typed(value, known[name].default))
  knobs.check(config, Config)
  return config


def _typed(value: Any, default: Any) -> Any:
  """A value as a config has it: a tuple for one text, a path as text."""
  if isinstance(default, tuple):
    return tuple(value) if is_listed(value) else (value,)
  if isinstance(value, numbers.Integral) and not isinstance(value, bool):
    return int(value)  # numpy's
  return os.fspath(value) if isinstance(value, os.PathLike) else value


def surface(
  function: Callable, own: Mapping[str, str] | None = None
) -> Surface:
  """How a function calls leaves: by its arguments.

  `own` are leaves that it calls otherwise; several words stand as they are.

  >>> def audit(table, on_bad='error'): ...
  >>> worded('leave them out: --config.data.on_bad=drop', surface(audit))
  "leave them out: on_bad='drop'"
  """
  known, own = inspect.signature(function).parameters, own or {}

  def called(leaf: str, value: str | None) -> str:
    name = RENAMED.get(leaf, leaf.rpartition('.')[2])
    name = own.get(leaf, name if name in known else '')
    if value is None:
      return name or leaf
    if not name:
      return f'the command and its flag {in_config(leaf, value)}'
    plain = value.strip('\'"')
    return name if ' ' in name else f'{name}={repr(plain) if value else "…"}'

  return called


def door(
  own: Mapping[str, str] | None = None,
  known: Mapping[str, knobs.Leaf] | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
  """A function of the library whose errors are in its own words.

  Its **options are `known`: arguments, or entries of the mapping `options=`;
  its signature and help have each, from the knob.
  """

  def decorate(function: Callable[P, T]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
      try:
        if known:
          more = kwargs.pop('options', None)
          more = {} if more is None else more
          right = isinstance(more, Mapping)
          need(right, 'options', more, '{name: value} is needed')
          kwargs |= more
        return function(*args, **kwargs)
      except UserError as error:
        if error.surface is in_config:  # else an inner door has said it
          error.surface = surface(call, own)
        raise

    made: Any = call
    if known:
      made.__signature__ = _signature(function, known)
    made.__doc__ = _documented(function, known or {})
    return made

  return decorate


def _signature(function: Callable, known: Mapping) -> inspect.Signature:
  whole = inspect.signature(function)
  kind = inspect.Parameter
  own = [p for p in whole.parameters.values() if p.kind != kind.VAR_KEYWORD]
  own += [
    kind(name, kind.KEYWORD_ONLY, default=leaf.default, annotation=leaf.type)
    for name, leaf in known.items()
    if name not in whole.parameters
  ]
  more = kind('options', kind.KEYWORD_ONLY, default=None, annotation=Mapping)
  return whole.replace(parameters=[*own, more])


def _documented(function: Callable, known: Mapping[str, knobs.Leaf]) -> str:
  """A docstring whose `{arguments}` are those of ARGUMENTS, a function's own
  before everybody's, and whose `{options}` is the help of each knob."""
  filled = function.__doc__ or ''
  named = inspect.signature(function).parameters if '{arg' in filled else ()
  about = lambda k: ARGUMENTS.get(f'{function.__name__}.{k}') or ARGUMENTS[k]
  own = [f'{k}: {about(k)}.' for k in named if k not in ('self', 'options')]
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
