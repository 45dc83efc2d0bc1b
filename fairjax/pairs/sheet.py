"""A sheet of pairs for human annotation, written and read.

  python -m fairjax.pairs.sheet SHEET.csv [SHEET.csv ...]

reads filled sheets back and prints, for each question and way of writing, the
share of yes with its exact interval (Clopper-Pearson). The rows are shuffled
and the sheet does not say who wrote what: a file beside it does.
"""

import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.core import artefacts, escape
from fairjax.core.errors import UserError, count
from fairjax.data.tables import readers
from fairjax.metrics.inference import clusters, tails

QUESTIONS = {
  'turned': 'is every word about the person of the other group?',
  'fluent': 'is the rewrite as fluent as the source?',
  'kept': 'is everything else as the source says?',
}
_YES, _NO = ('y', 'yes', '1', 'true'), ('n', 'no', '0', 'false')
_LEVEL = 0.95


class Answer(NamedTuple):
  """One question about one way of writing."""

  contender: str
  question: str
  yes: int
  rated: int
  low: float
  high: float


def key_path(path: pathlib.Path) -> pathlib.Path:
  """Where a sheet's key lies: who wrote which row."""
  return path.with_name(f'{path.stem}_key.csv')


def write(
  path: pathlib.Path,
  sources: Sequence[str],
  rewrites: Mapping[str, Sequence[str]],
  rows: int = 100,
  seed: int = 0,
) -> bool:
  """Up to `rows` pairs of each contender that differ, in random order.

  A sheet that people have begun to fill stays, with its key: then False.
  """
  if _begun(path):
    return False
  rng = np.random.default_rng([seed, 0x5EE7])
  lines = []
  same = clusters.of_texts(sources)  # each text is asked of once a contender
  for name, texts in rewrites.items():
    able = [i for i, (a, b) in enumerate(zip(sources, texts)) if a != b]
    if same is not None:
      first = np.unique(same[able], return_index=True)[1]
      able = [able[k] for k in np.sort(first)]
    for i in rng.permutation(able)[:rows]:
      lines.append((name, sources[i], texts[i]))
  order = rng.permutation(len(lines))
  table = pd.DataFrame(
    [lines[i] for i in order], columns=['contender', 'source', 'rewrite']
  )
  table.insert(0, 'row', np.arange(1, len(table) + 1))
  key = escape.csv(table[['row', 'contender']])
  artefacts.write_text(key_path(path), key)
  sheet = table[['row', 'source', 'rewrite']].assign(
    **dict.fromkeys(QUESTIONS, '')
  )
  artefacts.write_text(path, escape.csv(sheet))
  return True


def _begun(path: pathlib.Path) -> bool:
  """Whether a sheet is there with an answer in it."""
  if not path.is_file():
    return False
  sheet = readers.read(str(path))
  cells = sheet[[name for name in QUESTIONS if name in sheet]]
  return bool((cells.fillna('').astype(str) != '').any(axis=None))


def read(path: str | pathlib.Path) -> list[Answer]:
  """What was filled in; an answer is yes, no, or nothing yet."""
  path = pathlib.Path(path)
  sheet, key = readers.read(str(path)), readers.read(str(key_path(path)))
  remedy = 'it is not a sheet of pairs'
  readers.need(sheet, path, ('row', *QUESTIONS), remedy)
  who = dict(zip(key['row'].astype(str), key['contender']))
  unknown = [r for r in sheet['row'].astype(str) if r not in who]
  if unknown:
    raise UserError(
      f'{path} has a row {unknown[0]!r} that {key_path(path)} does not know; '
      'keep the column row as it was written'
    )
  contenders = sheet['row'].astype(str).map(who)
  out = []
  for question in QUESTIONS:
    answers = [
      _answer(path, question, *cell) for cell in sheet[question].items()
    ]
    known = pd.Series(answers, dtype=object)
    for name in dict.fromkeys(key['contender']):
      rated = known[(contenders == name).to_numpy()].dropna()
      low, high = tails.clopper_pearson(int(rated.sum()), len(rated), _LEVEL)
      out.append(
        Answer(name, question, int(rated.sum()), len(rated), low, high)
      )
  return out


def _answer(path, question: str, index: int, cell) -> bool | None:
  word = '' if pd.isna(cell) else str(cell).strip().lower().removesuffix('.0')
  if word in _YES or word in _NO:
    return word in _YES
  if word:
    raise UserError(
      f'{path}, row {index + 2}: {question} is {cell!r}; answer yes or no, or '
      'leave it empty'
    )
  return None


def main(paths: Sequence[str]) -> int:
  if not paths or any(path.startswith('-') for path in paths):
    print(__doc__, file=sys.stderr)
    return 2
  try:
    for path in paths:
      for one in read(path):
        if not one.rated:
          print(f'{one.contender}: {one.question} is not answered yet')
          continue
        print(
          f'{one.contender}: {one.question} {one.yes / one.rated:.2f} '
          f'[{one.low:.2f}, {one.high:.2f}] of {count(one.rated, "pair")} '
          f'({QUESTIONS[one.question]})'
        )
  except UserError as error:
    print(f'fairjax: {error}', file=sys.stderr)
    return 2
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
