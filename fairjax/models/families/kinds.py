"""What a value of a config.json may be: a check, and how a sentence says it."""

from collections.abc import Callable
from typing import Any, NamedTuple

LONG = 80  # characters of a value that a sentence shows


def shown(value: Any) -> str:
  """A value as JSON has it, not too long for a sentence."""
  words = {True: 'true', False: 'false', None: 'null'}
  plain = value is None or isinstance(value, bool)
  text = words[value] if plain else repr(value)
  return text if len(text) <= LONG else text[:LONG] + '…'


class Allowed(NamedTuple):
  """What a value may be."""

  about: str  # 'a whole number from 1 to 100'
  fits: Callable[[Any], bool]
  read: Callable = lambda value: value


def whole(low: int = 1, high: int = 2**20) -> Allowed:
  return Allowed(
    f'a whole number from {low} to {high}',
    lambda v: type(v) is int and low <= v <= high,
  )


def _number(
  about: str, low: float, high: float, open_: bool = False
) -> Allowed:
  """A whole number will do where a number is asked for."""

  def fits(value: Any) -> bool:
    if type(value) not in (int, float):
      return False
    return low <= value < high and not (open_ and value == low)

  return Allowed(about, fits, float)


LARGE = 1e30  # far below what float32 holds
NAMED = {
  'share': _number('a number from 0 to below 1', 0.0, 1.0),
  'positive': _number('a number above 0', 0.0, LARGE, open_=True),
  'spread': _number('a number that is not negative', 0.0, LARGE),
  'zero': Allowed('0, all that is known here', lambda v: v == 0),
  'number': Allowed('a number', lambda v: type(v) in (int, float)),
  'integer': Allowed('a whole number', lambda v: type(v) is int),
  'flag': Allowed('true or false', lambda v: type(v) is bool),
  'token': Allowed(
    "a token's id, a whole number from 0",
    lambda v: type(v) is int and 0 <= v < 2**31,
  ),
  'width': whole(1, 2**16),
  'depth': whole(1, 2**10),
  'vocabulary': whole(1, 2**24),
}


def one_of(*names: str) -> Allowed:
  return Allowed('one of ' + ', '.join(names), lambda v: v in list(names))


def only(value: Any) -> Allowed:
  """A feature that only one value of is known here."""
  return Allowed(
    f'{shown(value)}, all that is known here',
    lambda v: type(v) is type(value) and v == value,
  )


def list_of(*names: str) -> Allowed:
  return Allowed(
    'a list of ' + ' and '.join(names),
    lambda v: isinstance(v, list) and all(one in list(names) for one in v),
    tuple,
  )
