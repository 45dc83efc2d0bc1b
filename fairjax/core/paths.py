"""Paths of input files, checked, with one sentence for what is missing.

A pipe would be waited for without end, a device never ends: whatever a user
names is looked at before it is opened.
"""

import contextlib
import csv
import difflib
import errno
import os
import pathlib
import re
import stat
from collections.abc import Iterator

from fairjax.core.errors import UserError

# NUL, and what ends a line elsewhere than in a csv file.
UNSEEN = re.compile('[\0\v\f\x1c-\x1e\x85\u2028\u2029\ufeff]')


def shown(path) -> str:
  """A path as a sentence names it: a long one without its middle."""
  text = str(path)
  text = text if text.isprintable() else repr(text)[1:-1]
  return text if len(text) <= 160 else f'{text[:80]}…{text[-60:]}'


def is_path(name: str) -> bool:
  """Whether it is written as a path, and can be no name of a model."""
  return name.startswith(('/', './', '../', '~')) or name.endswith('/')


def unwritable(text: str) -> str:
  """What makes a text one that no file can hold; '' where nothing does."""
  if '\0' in text:
    return 'has a NUL in it'
  try:
    text.encode()
  except UnicodeEncodeError:
    return 'has bytes that are not UTF-8'
  return ''


def free_memory() -> int:
  """Bytes that a program may still take, as far as the system says."""
  try:
    with open('/proc/meminfo', encoding='ascii') as file:
      (kb,) = re.findall(r'MemAvailable:\s+(\d+) kB', file.read())
  except (OSError, ValueError):
    return 2**40  # unknown: nothing is held back
  return int(kb) * 1024


def place(path: str | os.PathLike, kinds: tuple[str, ...] = ()) -> pathlib.Path:
  """Where an ordinary file is; a sentence where there is none.

  A pipe would be waited for, and a folder or an address is something else.
  `kinds` are suffixes of files to name in a folder.
  """
  text = os.fspath(path)
  if not text:
    raise UserError('no file is named; give the path of one')
  if odd := unwritable(text):
    raise UserError(f'{shown(text)} {odd}; check the path')
  if re.match(r'[A-Za-z][A-Za-z0-9+.-]+://', text):
    raise UserError(
      f'{shown(text)} is an address; download it, and name the file here'
    )
  where = at_home(text)
  try:
    mode = os.stat(where).st_mode
  except OSError as error:
    raise UserError(_missing(text, where, error)) from error
  if stat.S_ISDIR(mode):
    names = sorted(os.listdir(where)) if os.access(where, os.R_OK) else []
    inside = [n for n in names if n.endswith(kinds)] if kinds else []
    inside.sort(key=lambda n: 'predictions' not in n)  # of a run
    raise UserError(
      f'{shown(text)} is a folder; name a file in it'
      + (f', such as {text.rstrip("/")}/{inside[0]}' if inside else '')
    )
  if not stat.S_ISREG(mode):
    raise UserError(_flowing(text))
  return where


def at_home(path: str | os.PathLike) -> pathlib.Path:
  """The path with `~` as the home folder, which no shell fills in `--x=~`."""
  try:
    return pathlib.Path(path).expanduser()
  except RuntimeError as error:
    raise UserError(
      f'{shown(path)} begins with the home folder of nobody; write it out'
    ) from error


def refuse_pipe(path: str | os.PathLike) -> None:
  """A sentence where a path is neither a file nor a folder, if it is there;
  and where it can be the path of none."""
  if odd := unwritable(os.fspath(path)):
    raise UserError(f'{shown(path)} {odd}; check the path')
  where = at_home(path)
  try:
    mode = os.stat(where).st_mode
  except OSError as error:
    if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
      raise UserError(_missing(os.fspath(path), where, error)) from error
    return
  if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
    raise UserError(_flowing(path))


@contextlib.contextmanager
def reading(path: str | os.PathLike, what: str = '') -> Iterator[None]:
  """Around the reading of a file, whose failure is told; pipes are refused."""
  refuse_pipe(path)
  name = f'the {what} {shown(path)}' if what else shown(path)
  try:
    yield
  except FileNotFoundError as error:
    inside = os.fspath(error.filename or path)
    if inside != os.fspath(path):  # of a folder that is there
      raise UserError(_missing(inside, pathlib.Path(inside), error)) from error
    raise UserError(f'{name} does not exist') from error
  except OSError as error:
    why = error.strerror or error
    raise UserError(f'cannot read {name}: {why}') from error


def csv_lines(path: str | os.PathLike, what: str) -> list[list[str]]:
  """The cells of each line of a csv file; a sentence calls the file `what`."""
  try:
    with reading(path, what):
      with open(path, encoding='utf-8-sig', newline='') as file:
        lines = list(csv.reader(file))
  except (UnicodeDecodeError, csv.Error) as error:
    raise UserError(
      f'the {what} {path} is no csv file in UTF-8; save it as one (of Windows: '
      'iconv -f cp1252 -t utf-8)'
    ) from error
  for k, line in enumerate(lines, 1):
    if odd := UNSEEN.search(''.join(line)):
      raise UserError(
        f'the {what} {path}, line {k}, has the character {odd[0]!r}, which is '
        'no part of a word; end lines as \\n does, and save it as UTF-8'
      )
  return lines


def _flowing(path: str | os.PathLike) -> str:
  return (
    f'{shown(path)} is a pipe or a device, not a file; write what comes out of '
    'it to a file and name that'
  )


def _missing(path: str, where: pathlib.Path, error: OSError) -> str:
  name, folder = shown(path), where.parent
  if error.errno == errno.ENAMETOOLONG:
    return f'{name} is too long for the name of a file; check the path'
  if error.errno == errno.ELOOP:
    return f'{name} is a link that leads to itself; name a file'
  if error.errno == errno.ENOTDIR:
    return f'{name} cannot exist: a part of its path is a file; check the path'
  if error.errno != errno.ENOENT:
    return f'cannot read {name}: {error.strerror}'
  if where.is_symlink():
    return f'{name} is a link to {os.readlink(where)}, which does not exist'
  if not folder.is_dir():
    return f'{name} does not exist, nor does its folder; check the path'
  names = os.listdir(folder) if os.access(folder, os.R_OK) else []
  near = difflib.get_close_matches(where.name, names, n=3, cutoff=0.5)
  hint = f'did you mean {" or ".join(near)}?' if near else 'check the path'
  return f'{name} does not exist; {hint}'
