"""Finds and checks the user's copies of benchmark files.

Their licences forbid shipping most of them, so a sentence says where each
comes from. A file is known by its md5; another version is reported, not
refused.
"""

import hashlib
import pathlib

import numpy as np

from fairjax import benchmarks
from fairjax.benchmarks import BENCHMARKS
from fairjax.config import Config
from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows


class NotThere(UserError):
  """A folder without the files of a benchmark."""


# {benchmark: {the md5 of a version, or how it begins: which that is}}
VERSIONS: dict[str, dict[str, str]] = {}
for _name, _md5, _about in table_rows(benchmarks.__file__, 'versions.csv'):
  VERSIONS.setdefault(_name, {})[_md5] = _about


def places(folder: str | pathlib.Path, what: str) -> list[pathlib.Path]:
  """Every file that a benchmark reads."""
  files = BENCHMARKS[what].files
  return [locate(folder, what, *names.split('|')) for names in files]


def locate(folder: str | pathlib.Path, what: str, *names: str) -> pathlib.Path:
  """The first of `names` (globs) in a folder or one below it.

  `what` is the benchmark that reads it, whose row says where it comes from,
  and its names.
  """
  names = names or tuple(BENCHMARKS[what].files[0].split('|'))
  root = pathlib.Path(folder).expanduser()
  if not root.is_dir():
    raise UserError(
      f'{folder} is not a folder; name the one with your benchmark files with '
      '--config.benchmarks.data'
    )
  for name in names:
    if places := found(root, name):
      return paths.place(places[0])
  raise NotThere(
    f'{folder} holds no {" or ".join(names[:3])}, which {what} reads; get it '
    f'from {BENCHMARKS[what].origin} and put it there, or leave {what} out of '
    '--config.benchmarks.names'
  )


def found(root: pathlib.Path, name: str) -> list[pathlib.Path]:
  """The files of a glob in a folder, else of one below it, or two."""
  for pattern in (name, f'*/{name}', f'*/*/{name}'):
    if places := sorted(root.glob(pattern)):
      return places
  return []


class Undrawn(UserError):
  """A benchmark that is defined by all of its items."""


def drawn(unit: np.ndarray, config: Config, stream: int) -> np.ndarray:
  """The rows that data.limit draws, by the seed; 0 takes all.

  `unit` numbers, from 0, what is drawn whole: as many as fit, or one.
  """
  sizes = np.bincount(unit)
  order = np.random.default_rng([config.seed, stream]).permutation(len(sizes))
  fits = np.cumsum(sizes[order]) <= (config.data.limit or len(unit))
  fits[:1] = True
  return np.flatnonzero(np.isin(unit, order[fits]))


def md5(path: pathlib.Path) -> str:
  return hashlib.md5(path.read_bytes()).hexdigest()


class Known(str):
  """A sentence that says which known version a file is."""


def version(path: pathlib.Path, what: str) -> str:
  """One sentence: which version of a benchmark a file is, by its md5."""
  digest, known = md5(path), VERSIONS[what]
  for start, name in known.items():
    if digest.startswith(start):
      return Known(f'{path.name} is {name} (md5 {digest})')
  return (
    f'{path.name} (md5 {digest}) is none of the versions known here '
    f'({"; ".join(known.values()) or "none"}), so its numbers may not compare '
    'with published ones'
  )
