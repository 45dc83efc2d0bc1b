"""Which value of an axis a text names, and how it reads with another.

Whoever asks about groups by their words asks here: erasers, probes, TPRD of
twins, protocols. Gender's values are male and female, by its list and rules; a
text of another axis is of the values whose words the exchange finds in it.
"""

import os
from collections.abc import Sequence

import numpy as np

from fairjax.core.errors import UserError
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary

NEITHER, SEVERAL = -1, -2


def named(
  texts: Sequence[str],
  axis: str | os.PathLike = 'gender',
  spans: Sequence[Sequence[dictionary.Span]] | None = None,
  **options,
) -> np.ndarray:
  """Which values each text names: bool [n, v]; `options` are the swap's.

  `spans`, where a swap to the opposite gender has found them already.
  """
  if axis == 'gender':
    chosen = {'names': True} | options | {'direction': 'opposite'}
    if spans is None:
      spans = dictionary.swap(texts, **chosen).spans
    return genders(spans, **chosen)
  value_of, values = exchange.reader(axis), exchange.values(axis)
  out = np.zeros((len(texts), len(values)), bool)

  def note(rows, swapped):
    for row, spans in zip(rows, swapped.spans):
      for _, _, old, _ in spans:
        if value := value_of(old):
          out[row, values.index(value)] = True

  drawn = dictionary.swap(texts, axis=axis)
  note(range(len(texts)), drawn)
  # What one exchange leaves ("Muslims and Jews" to Jews) another turns.
  again = [row for row, count in enumerate(drawn.left) if count]
  if not again:
    return out
  some = [texts[row] for row in again]
  for value in values:
    note(again, dictionary.swap(some, value, axis=axis))
  # Beside a value that is named a word that no exchange turns names one too:
  # Muslims and Jews do not become Hindus twice, and are two groups.
  again = [row for row in again if out[row].any()]
  some = [texts[row] for row in again]
  run = dictionary.swapper(axis=axis, step=1)
  for column, starts in enumerate(exchange.places(axis, some)):
    alone = run(some, starts)
    for row, turned, left in zip(again, alone.spans, alone.left):
      out[row, column] |= bool(turned) or left > 0
  return out


def genders(
  spans: Sequence[Sequence[dictionary.Span]], words=None, names=None, **_
) -> np.ndarray:
  """Which genders the words name that a swap to the opposite turned: [n, 2]."""
  side = dictionary.genders(words, names).get
  out = np.zeros((len(spans), 2), bool)
  for row, each in zip(out, spans):
    for span in each:
      if (value := side(span[2].lower())) is not None:  # no article
        row[value] = True
  return out


def single(
  texts: Sequence[str], axis: str | os.PathLike = 'gender', **options
) -> np.ndarray:
  """The one value that each text names, NEITHER or SEVERAL: [n]."""
  found = named(texts, axis, **options)
  count = found.sum(1)
  return np.select([count == 1, count > 1], [found.argmax(1), SEVERAL], NEITHER)


def versions(
  texts: Sequence[str], axis: str | os.PathLike = 'gender'
) -> list[list[str]]:
  """The texts turned to each value of the axis, a list a value."""
  names = True if axis == 'gender' else None
  return [
    dictionary.swap(texts, value, names=names, axis=axis).texts
    for value in exchange.values(axis)
  ]


def require(
  texts: Sequence[str], axis: str | os.PathLike, where: str, **options
) -> None:
  """Stops where no text names the axis."""
  if not named(texts, axis, **options).any():
    values = exchange.values(axis)
    some = ', '.join(values[:8]) + (' …' if len(values) > 8 else '')
    raise UserError(
      f'no text of {where} names {exchange.called(axis)} ({some}), so there is '
      'nothing to exchange; give texts that do, or another axis'
    )
