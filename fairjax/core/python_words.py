"""Sentences in the words of the library: arguments where flags would be.

Inner code speaks of knobs, as the command has them. What leaves by a function
of the library (`fairjax.audit`, `fairjax.weights`, …) names what its caller
can write.
"""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from fairjax.core.errors import UserError

P = ParamSpec('P')
T = TypeVar('T')

# Knobs whose arguments have another name, in each function that has these.
RENAMED = {
  'measures.resamples': 'n_resamples',
  'seed': 'random_state',
}
# A flag with its value, or a knob's name in the middle of a sentence.
FLAG = re.compile(
  r'--config\.([a-z_]+(?:\.[a-z_]+)?)(=(\'[^\']*\'|"[^"]*"|[^\s;)?]*[^\s;)?,.]))?'
)
KNOB = re.compile(
  r'\b((?:audit|benchmarks|data|generate|measures|method|perturb|scoring|'
  r'weighting|writing)\.[a-z_]+)\b(?!\.)'
)


def said(
  words: str, function: Callable, own: Mapping[str, str] | None = None
) -> str:
  """A sentence with arguments where the command would have flags.

  `own` are knobs of the function that its arguments call otherwise; a value of
  several words stands as it is.

  >>> def audit(table, on_bad='error'): ...
  >>> said('drop such rows with --config.data.on_bad=drop', audit)
  "drop such rows with on_bad='drop'"
  """
  known, own = inspect.signature(function).parameters, own or {}

  def argument(knob: str) -> str:
    name = RENAMED.get(knob, knob.rpartition('.')[2])
    return own.get(knob, name if name in known else '')

  def flag(match: re.Match) -> str:
    name, value = argument(match[1]), match[3]
    if not name:
      return f'the command and its flag {match[0]}'
    if ' ' in name:
      return name
    if value is None:
      return f'{name}=…'
    plain = value.strip('\'"')
    return f'{name}={plain!r}'

  words = FLAG.sub(flag, words)
  return KNOB.sub(lambda match: argument(match[1]) or match[1], words)


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
        raise UserError(said(str(error), function, own)) from error

    return call

  return decorate


def retell(
  results: Any, function: Callable, own: Mapping[str, str] | None = None
) -> None:
  """The notes, warnings and paragraphs of results, in a function's words."""
  told = functools.partial(said, function=function, own=own)
  results.notes = [*map(told, results.notes)]
  for contender in results.contenders.values():
    for one in contender['sets'].values():
      for kind in ('warnings', 'notes'):
        if kind in one:
          one[kind] = [*map(told, one[kind])]
  for part in (p for one in results.sections for p in one['parts']):
    if part['part'] == 'text':
      part['text'] = told(part['text'])
