"""Quotas: how many rows of each class or cell are kept, and which by lot.

DRoP (Vysogorets, Ahuja and Kempe, ICLR 2025, arXiv:2404.05579) keeps of class
k a share proportional to 1 − recall_k of a query model, so that pruning takes
from what is learned already and not from a hard class; a class that has fewer
rows than its quota is kept whole, and what it leaves goes to the others in the
same proportions. The rows of a class are drawn at random.
"""

import numpy as np
from jaxtyping import Float, Integer


def part(rows: float, share: float) -> int:
  """⌊rows · share⌋ of the share as it is written: .7 of 90 is 63, not 62."""
  return int(round(rows * share, 6))


def quotas(
  sizes: Integer[np.ndarray, ' k'], densities: Float[np.ndarray, ' k'], n: int
) -> Integer[np.ndarray, ' k']:
  """n rows over classes, size × density of each, none above its size.

  Where all densities are 0 they count as equal. Whole numbers by the largest
  remainder; n is at most the sum of the sizes.
  """
  sizes = np.asarray(sizes, np.int64)
  weight = sizes * np.asarray(densities, np.float64)
  n = min(n, int(sizes.sum()))
  counts = np.zeros(len(sizes))
  free = np.ones(len(sizes), bool)
  while (rest := n - counts.sum()) > 1e-9:
    share = np.where(free, weight, 0)
    if not share.sum():  # nothing is asked of those left: by their sizes
      share = np.where(free, sizes, 0)
    counts += rest * share / share.sum()
    full = counts >= sizes
    counts[full], free = sizes[full], free & ~full
  floor = np.floor(counts + 1e-9).astype(np.int64)  # 2.999… is 3
  order = np.argsort(floor - counts, kind='stable')  # largest remainder
  floor[order[: n - floor.sum()]] += 1
  return floor


def pick(
  order: Integer[np.ndarray, ' n'],
  cell: Integer[np.ndarray, ' n'],
  counts: Integer[np.ndarray, ' k'],
  rng: np.random.Generator,
) -> Integer[np.ndarray, ' m']:
  """`counts[k]` of `order` at random from each cell k, in the order drawn."""
  shuffle = rng.permutation(len(order))
  place = np.zeros(len(order), np.int64)  # within its cell, as drawn
  for k in range(len(counts)):
    own = shuffle[cell[shuffle] == k]
    place[own] = np.arange(len(own))
  rows = shuffle[place[shuffle] < np.asarray(counts)[cell[shuffle]]]
  return order[rows]
