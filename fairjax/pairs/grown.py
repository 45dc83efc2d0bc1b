"""Seed pairs grown from one: words whose difference repeats its own.

With a mean embedding m_w of every word and the seeds' difference
d = m_second - m_first, words a and b are a pair if each is the nearest of the
other's shifted embedding (m_a + α d and m_b - α d), and if their difference
points where d does (its cosine is above a least). d is then the mean difference
of all pairs, and they are sought again: the self-training of cross-lingual
dictionaries (Artetxe, Labaka and Agirre 2018, arXiv:1805.06297) within one
language. A head that is fitted on words of many kinds learns what their pairs
share; one fitted on a single pair learns those two words.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

ROWS = 1024  # words whose neighbours are sought at a time


def grow(
  mean: Float[np.ndarray, 'w d'],
  seeds: tuple[Sequence[int], Sequence[int]],
  rounds: int,
  alpha: float = 0.3,
  least: float = 0.5,
) -> list[tuple[int, int]]:
  """Pairs (first, second) of rows of `mean`, without the seeds themselves."""
  first, second = (list(side) for side in seeds)
  start = mean[second].mean(0) - mean[first].mean(0)
  direction, pairs = start, []
  for _ in range(rounds):
    new = [
      (a, b)
      for a, b in reciprocal(mean, alpha * direction)
      if not {a, b} & {*first, *second}
    ]
    if new:
      gap = mean[[b for _, b in new]] - mean[[a for a, _ in new]]
      new = [new[k] for k in np.flatnonzero(cosine(gap, direction) > least)]
    # A word that is the first of one pair and the second of another shows
    # neither side.
    both = {a for a, _ in new} & {b for _, b in new}
    new = [pair for pair in new if not both & set(pair)]
    if new == pairs:
      break
    pairs = new
    gaps = [mean[b] - mean[a] for a, b in pairs]
    direction = np.mean([start, *gaps], 0)
  return pairs


def reciprocal(
  mean: Float[np.ndarray, 'w d'], shift: Float[np.ndarray, ' d']
) -> list[tuple[int, int]]:
  """(a, b): b is nearest to m_a + shift, and a to m_b - shift."""
  up, down = (nearest(mean, mean + sign * shift) for sign in (1, -1))
  return [(a, int(b)) for a, b in enumerate(up) if down[b] == a]


def nearest(
  mean: Float[np.ndarray, 'w d'], x: Float[np.ndarray, 'w d']
) -> Int[np.ndarray, ' w']:
  """The row of `mean` nearest to each row of x, but for the same row."""
  squares, out = np.square(mean).sum(1), np.empty(len(x), int)
  for k in range(0, len(x), ROWS):
    part = x[k : k + ROWS]
    distance = squares[None] - 2 * part @ mean.T
    rows = np.arange(len(part))
    distance[rows, k + rows] = np.inf
    out[k : k + ROWS] = distance.argmin(1)
  return out


def cosine(
  x: Float[np.ndarray, 'n d'], y: Float[np.ndarray, '*n d']
) -> Float[np.ndarray, ' n']:
  """The cosine of each row of x with y, or with its row of y; 0 for zeros."""
  norm = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
  return (x * y).sum(-1) / np.maximum(norm, 1e-12)
