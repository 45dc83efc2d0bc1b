"""JSON parsing, strict where Python's is not.

Whatever is wrong is a ValueError that says it in words. A key that is there
twice is refused, since one of its values would be lost; nesting is bounded,
since what walks a value goes down with it; half a surrogate pair is no text.
"""

import collections
import json
from collections.abc import Mapping
from typing import Any

DEEPEST = 100  # objects and arrays within each other


def parse(text: str) -> Any:
  """The value that a JSON text holds."""
  try:
    value = json.loads(text, object_pairs_hook=_once)
  except RecursionError:  # before the depth can be counted
    raise ValueError(_DEEP) from None
  except ValueError as error:
    if 'digits' not in str(error):
      raise
    raise ValueError('it has a number of over 4,300 digits') from error
  if text.count('[') + text.count('{') > DEEPEST:
    _refuse_depth(value)
  if '\\u' in text:
    try:
      json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
      half = ascii(error.object[error.start])
      raise ValueError(f'{half} is half a pair of surrogates') from error
  return value


_DEEP = f'it is nested deeper than {DEEPEST} levels'


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
  value = dict(pairs)
  if len(value) < len(pairs):
    counts = collections.Counter(key for key, _ in pairs)
    twice = next(key for key, count in counts.items() if count > 1)
    raise ValueError(f'the key {twice[:80]!r} is there twice in one object')
  return value


def _refuse_depth(value: Any) -> None:
  """Level by level, so that the walk itself never goes deep."""
  level = [value]
  for _ in range(DEEPEST + 1):
    level = [one for one in level if isinstance(one, dict | list)]
    if not level:
      return
    inside = (one.values() if type(one) is dict else one for one in level)
    level = [value for values in inside for value in values]
  raise ValueError(_DEEP)


def flat(tree: Mapping, prefix: str = '') -> dict[str, Any]:
  """Nested dicts as one, with dotted keys."""
  out: dict[str, Any] = {}
  for key, value in tree.items():
    name, inside = f'{prefix}{key}', isinstance(value, Mapping)
    out |= flat(value, f'{name}.') if inside else {name: value}
  return out
