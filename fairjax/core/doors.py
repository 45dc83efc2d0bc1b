"""Functions of the library: their mistakes in their own arguments.

Inner code names leaves of the config, as the command has them. What leaves by
a function of the library (`fairjax.audit`, `fairjax.weights`, …) names what
its caller can write.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from fairjax.core.errors import Surface, UserError, in_config, worded

P = ParamSpec('P')
T = TypeVar('T')

# Leaves whose arguments have another name in every function that has these.
RENAMED = {
  'measures.resamples': 'n_resamples',
  'seed': 'random_state',
}


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
) -> Callable[[Callable[P, T]], Callable[P, T]]:
  """A function of the library whose errors are in its own words."""

  def decorate(function: Callable[P, T]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
      try:
        return function(*args, **kwargs)
      except UserError as error:
        if error.surface is in_config:  # else an inner door has said it
          error.surface = surface(function, own)
        raise

    return call

  return decorate


def retell(
  results: Any, function: Callable, own: Mapping[str, str] | None = None
) -> None:
  """The notes, warnings and paragraphs of results, in a function's words."""
  told = functools.partial(worded, surface=surface(function, own))
  results.notes = [*map(told, results.notes)]
  for contender in results.contenders.values():
    for one in contender['sets'].values():
      for kind in ('warnings', 'notes'):
        if kind in one:
          one[kind] = [*map(told, one[kind])]
  for part in (p for one in results.sections for p in one['parts']):
    if part['part'] == 'text':
      part['text'] = told(part['text'])
