"""The exceptions that end a run without a traceback.

A mistake has fields, and a surface (command, library, config) says them in
names that its caller can write. A leaf of the config stands in a sentence as
`--config.NAME` or `--config.NAME=VALUE`, and nowhere else is one looked for.
"""

import difflib
import re
import signal
from collections.abc import Callable, Iterable, Mapping
from typing import Any

LONGEST = 600  # letters of a sentence
# How a surface calls a leaf: of its name, and of the value that a sentence
# gives it ('' names the flag alone, None where no flag is meant).
Surface = Callable[[str, str | None], str]
FLAG = re.compile(
  r'--(?:config\.(?!workdir\b)([a-z_]\w*(?:\.[a-z_]\w*)?)|(workdir))'
  r'(?:=(\'[^\']*\'|"[^"]*"|[^\s;)?]*[^\s;)?,.]))?'
)
# A sentence about a leaf begins with its name: 'audit.costs is …'.
HEAD = re.compile(r'([a-z]+\.[a-z_]\w*|seeds?|model|reuse) (?=[a-z])')
NOTHING = object()  # None is a value that may have come


def in_config(leaf: str, value: str | None) -> str:
  """The surface of configs, and of runs that no caller's words are known of."""
  if value is None:
    return leaf
  flag = f'--{leaf}' if leaf == 'workdir' else f'--config.{leaf}'
  return flag + (f'={value}' if value else '')


def worded(sentence: str, surface: Surface) -> str:
  """A sentence with each leaf as the surface calls it."""
  called = lambda found: surface(found[1] or found[2], found[3] or '')
  return FLAG.sub(called, sentence)


class UserError(Exception):
  """A user's mistake, explained in one sentence.

    UserError('my.csv is empty; name another with --config.data.path')
    UserError(where='train.lr', got=0, expected='a number above 0 is needed')

  `where` is a leaf of the config or an argument; a sentence without one may
  begin with it. The command line prints it without a traceback and exits
  with code 2. It may quote what it was given: of a long text the ends are said,
  on one line.
  """

  def __init__(
    self,
    sentence: str = '',
    *,
    where: str = '',
    got: Any = NOTHING,
    expected: str = '',
    remedy: str = '',
  ):
    super().__init__(sentence)
    if not where and (head := HEAD.match(sentence)):
      where, sentence = head[1], sentence[head.end() :]
    self.where, self.expected, self.remedy = where, expected, remedy
    self.got = None if got is NOTHING else got
    came = '' if got is NOTHING else f'is {shown(got, 180)}'
    parts = (sentence, came, expected, remedy)
    self.sentence = '; '.join(part for part in parts if part)
    self.surface: Surface = in_config

  def __str__(self) -> str:
    # Not super's: beside a KeyError that is the repr of the sentence.
    text = worded(self.sentence, self.surface)
    if self.where:
      text = f'{self.surface(self.where, None)} {text}'
    words = ' '.join(text.splitlines())
    long = len(words) > LONGEST
    return f'{words[:350]}…{words[-240:]}' if long else words


class Failed(Exception):
  """The run is done, and a gate that the user set has failed: exit code 1."""


class Undecided(Exception):
  """The run is done, and its gate could not be measured: exit code 3."""


class Interrupted(BaseException):
  """The run was asked to stop, has saved, and can be resumed.

  Like KeyboardInterrupt no Exception: nobody's `except Exception` takes it.
  """


def asked_to_stop() -> list[signal.Signals]:
  """The signals that ask a run to stop; Windows has but one."""
  names = ('SIGTERM', 'SIGHUP')
  return [getattr(signal, name) for name in names if hasattr(signal, name)]


def brief(error: BaseException, most: int = 200) -> str:
  """What a library says of a file, as a part of a sentence: it may quote the
  file, line by line."""
  line = ' '.join(str(error).strip().split('\n')[0].split())
  return (line if len(line) <= most else f'{line[:most]}…') or repr(error)


def shown(value: Any, most: int = 80) -> str:
  """A value as a sentence quotes it: on one line, and not long.

  >>> shown('one\\ntwo' * 9, 10)
  "'one\\\\ntwoo…"
  """
  try:
    line = ' '.join(repr(value).split())
  except Exception:  # a number of too many digits, an object of a stranger
    line = f'<{type(value).__name__}>'
  return line if len(line) <= most else f'{line[:most]}…'


def quoted(texts: Iterable, most: int = 3, long: int = 60) -> str:
  """The first of some texts, and how many more there are.

  >>> quoted(['She is a nurse.', 'word ' * 99, 'c', 'd', 'e'], 2, 20)
  '‘She is a nurse.’, ‘word word word word …’ and 3 more'
  """
  lines = [' '.join(str(text).split()) for text in texts]
  some = (x if len(x) <= long else f'{x[:long]}…' for x in lines[:most])
  names = ', '.join(f'‘{one}’' for one in some)
  rest = len(lines) - most
  return f'{names} and {rest:,} more' if rest > 0 else names


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
  """What a sentence asks where a name is not known."""
  near = difflib.get_close_matches(name, known, n=1)
  return f'did you mean {near[0]!r}?' if near else otherwise


def is_listed(value: Any) -> bool:
  """Whether a value is several ones: no text, and no array of no axis."""
  several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
  return several and getattr(value, 'ndim', 1) > 0


def need(right: Any, name: str, value: Any, wanted: str) -> None:
  """Raises UserError where an argument of the library is not right."""
  if not right:
    raise UserError(where=name, got=value, expected=wanted)


def count(number: int, one: str, many: str = '') -> str:
  """'1 row' or '2 rows', as a sentence says it."""
  return f'{number:,} {one if number == 1 else many or one + "s"}'


def same_index(**given: Any) -> None:
  """Refuses pandas columns whose indices hold the same labels in another
  order: read by their places, rows of different examples would be paired."""
  first = None
  for name, values in _indexed(given):
    index = values.index
    if first is None:
      first = name, index
    elif len(index) == len(first[1]) and not index.equals(first[1]):
      if set(index) == set(first[1]):
        raise UserError(
          f'{name} has the index labels of {first[0]} in another order; align '
          f'them, as in {name}.loc[{first[0]}.index], or say that the rows '
          'stand in the same order with .reset_index(drop=True) on both'
        )


def _indexed(given: Mapping[str, Any]):
  for name, values in given.items():
    if hasattr(values, 'iloc'):  # a column or a table of pandas
      yield name, values
    elif isinstance(values, Mapping):
      yield from _indexed({f'{name}[{k!r}]': v for k, v in values.items()})
