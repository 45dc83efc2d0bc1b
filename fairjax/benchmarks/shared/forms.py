"""What a benchmark's file must hold, field by field, and the sentence if not.

A form is that of results.py (a type, [form of every item], a mapping of keys
in which 'key?' may be missing and '*' is any other) with rules of values as
leaves. Each benchmark declares one form a file; what reads a file checks it.
"""

import pathlib
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairjax import results
from fairjax.core import strict_json
from fairjax.core.errors import UserError
from fairjax.core.knobs import Rule, rule
from fairjax.data.tables import files, readers

LONGEST = 20_000  # letters of a text: no model here reads as many


def _text(value: Any) -> bool:
  return isinstance(value, str) and 0 < len(value.strip()) <= LONGEST


TEXT = rule(_text, f'a text of 1 to {LONGEST:,} letters')
# Empty where there is nothing to say.
WORDS = rule(
  lambda value: value in (None, '') or _text(value),
  f'a text of at most {LONGEST:,} letters, or empty',
)
NAME = rule(
  lambda value: _text(value) or _whole(value), 'a text or a whole number'
)


def _whole(value: Any) -> bool:
  """A whole number; a column of them is one of floats where one is missing."""
  if isinstance(value, bool):
    return False
  return isinstance(value, int) or (
    isinstance(value, float) and value.is_integer()
  )


def one_of(*values: Any) -> Rule:
  """One of these; of numbers, also as a csv writes them."""
  known = {str(value) for value in values}

  def accepts(value):
    if isinstance(value, str):
      return value.strip() in known
    return _whole(value) and str(int(value)) in known

  return rule(accepts, ' or '.join(map(str, values)))


def number(low: float, high: float) -> Rule:
  """A number from `low` to `high`; also as a csv writes it."""

  def accepts(value):
    if isinstance(value, bool) or not isinstance(value, int | float | str):
      return False
    try:
      return low <= float(value) <= high
    except (ValueError, OverflowError):
      return False

  return rule(accepts, f'a number from {low:g} to {high:g}')


def matching(pattern: str, words: str) -> Rule:
  return rule(lambda v: _text(v) and bool(re.fullmatch(pattern, v)), words)


def filled(form: Any) -> Rule:
  """A list of one item at least, each of the form."""
  fits = lambda value: next(results.problems(value, [form], 'x'), None) is None
  return rule(
    lambda value: isinstance(value, list) and bool(value) and fits(value),
    'a list with items',
  )


def either(words: str, *forms: Any) -> Rule:
  """What any of these forms accepts."""
  fits = lambda value, form: next(results.problems(value, form, 'x'), None)
  return rule(lambda v: any(fits(v, form) is None for form in forms), words)


def check(value: Any, form: Any, path: str | pathlib.Path, where: str) -> None:
  """One sentence where a value is not of the form."""
  wrong = next(results.problems(value, form, where), None)
  if wrong:
    wrong = wrong if where or wrong[0] != ' ' else f'the whole{wrong}'
    wrong = wrong if len(wrong) <= 240 else f'{wrong[:200]} … {wrong[-36:]}'
    raise UserError(
      f'{readers.shown(path)}: {wrong}; give the file as it was published'
    )


def published(path: str | pathlib.Path) -> Any:
  """A JSON file's value."""
  text = readers.text(path)
  try:
    return strict_json.parse(text)
  except ValueError as error:
    raise UserError(
      f'{readers.shown(path)} is no JSON ({error}); give the file as it was '
      'published'
    ) from error


def tree(path: str | pathlib.Path, form: Any) -> Any:
  """A JSON file's value, checked."""
  value = published(path)
  check(value, form, path, '')
  return value


def table(path: str | pathlib.Path, form: Mapping[str, Any]) -> pd.DataFrame:
  """The rows of a csv, tsv or jsonl file, each checked; null is None.

  In a csv, a field that is an object is its JSON.
  """
  frame = files.read(str(path))
  names = [name.removesuffix('?') for name in form if name != '*']
  needed = [name for name in names if name in form]
  readers.need(frame, path, needed, 'give the file as it was published')
  names = [name for name in names if name in frame.columns]
  twice = [name for name in names if list(frame.columns).count(name) > 1]
  if twice:
    raise UserError(f'{path} has column {twice[0]!r} twice; leave one')
  kinds = {name: form.get(name, form.get(f'{name}?')) for name in names}
  columns = {name: _plain(frame[name], kinds[name]) for name in names}
  for name, values in columns.items():
    for row, value in enumerate(values):
      check(value, kinds[name], path, f'{name} of row {row} (from 0)')
  return frame.assign(
    **{n: pd.Series(v, frame.index, object) for n, v in columns.items()}
  )


def _plain(column: pd.Series, form: Any) -> list:
  """A column's values, None for null; objects from their JSON."""
  missing = column.map(
    lambda v: v is None or (isinstance(v, float) and v != v) or v is pd.NA
  )
  values = [None if gone else v for v, gone in zip(column.tolist(), missing)]
  if isinstance(form, dict):
    values = [_parsed(v) if isinstance(v, str) else v for v in values]
  return values


def _parsed(text: str) -> Any:
  try:
    return strict_json.parse(text)
  except ValueError:
    return text
