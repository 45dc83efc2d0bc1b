"""How many texts name an axis so that rules can exchange it.

  python -m fairjax.pairs.axes.reach FILE:COLUMN ...

  python -m fairjax.pairs.axes.reach SST-2/dev.csv:sentence \\
      RTE/dev.tsv:sentence1+sentence2 CoLA/dev_in_domain.tsv:3

prints, a line an axis and a column a file, the percentage of rows in which
something is exchanged, with its exact interval. Columns of one row are joined
by +; a number counts the columns, from 0, of a file without a header.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax.config.axes import AXES
from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.metrics.inference import tails
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary

# What Qian et al. 2022 count as one.
TOGETHER = {'race or nationality': ('race', 'nationality')}


def changed(texts: Sequence[str], axis: str) -> np.ndarray:
  """Which texts the axis' exchange changes; of gender, first names too."""
  names = True if axis == 'gender' else None
  spans = dictionary.swap(texts, names=names, axis=axis).spans
  return np.array([bool(one) for one in spans], bool)


def reach(columns: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
  """Which rows each axis changes in one of their texts, and `TOGETHER`."""
  out = {
    exchange.called(axis): np.any([changed(c, axis) for c in columns], axis=0)
    for axis in AXES
  }
  for name, parts in TOGETHER.items():
    out[name] = np.any([out[exchange.called(axis)] for axis in parts], axis=0)
  return out


def read(where: str) -> list[list[str]]:
  """The texts of 'FILE:COLUMN+COLUMN', a list a column."""
  path, mark, named = where.rpartition(':')
  if not mark or not named:
    raise UserError(
      f'{paths.shown(where)} names no column; say which one has the texts, as '
      'in my.csv:sentence'
    )
  wanted = named.split('+')
  if all(one.isdecimal() for one in wanted):
    frame = pd.read_csv(
      paths.place(path), sep='\t', header=None, quoting=3, dtype=str
    )
    frame.columns = list(map(str, frame.columns))
  else:
    frame = readers.read(path)
  for one in wanted:
    if one not in frame:
      raise UserError(
        f'{paths.shown(path)} has no column {one!r}; it has '
        f'{", ".join(map(str, frame.columns))}'
      )
  texts = [frame[one].fillna('').astype(str).tolist() for one in wanted]
  if not texts[0]:
    raise UserError(f'{paths.shown(path)} has no rows; give texts')
  return texts


def lines(found: Mapping[str, Mapping[str, np.ndarray]]) -> list[str]:
  """A line an axis, a column a file."""
  names = next(iter(found.values()))
  titles = [f'{name} ({len(one["gender"]):,})' for name, one in found.items()]
  widths = [max(len(title), 20) + 2 for title in titles]
  row = lambda cells: ''.join(c.rjust(w) for c, w in zip(cells, widths))
  return [' ' * 20 + row(titles)] + [
    f'{axis:20}' + row([_share(one[axis]) for one in found.values()])
    for axis in names
  ]


def _share(hit: np.ndarray) -> str:
  low, high = tails.clopper_pearson(int(hit.sum()), len(hit), 0.95)
  return f'{100 * hit.mean():.1f} [{100 * low:.1f}, {100 * high:.1f}]'


def main(args: list[str]) -> int:
  parser = argparse.ArgumentParser(
    'fairjax.pairs.axes.reach',
    description='How many texts name an axis so that rules can exchange it.',
  )
  parser.add_argument('files', nargs='+', metavar='FILE:COLUMN')
  chosen = parser.parse_args(args)
  try:
    found = {where: reach(read(where)) for where in chosen.files}
  except UserError as error:
    print(error, file=sys.stderr)
    return 2
  short = {'/'.join(w.split('/')[-2:]): one for w, one in found.items()}
  print('\n'.join(lines(short)))
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
