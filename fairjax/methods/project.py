"""Word vectors without a gender direction (Bolukbasi et al., NeurIPS 2016).

Hard removal: words that should not tell gender lose their part along the
direction, and the two words of an equalised pair end up equally far from every
such word. All vectors come out with length 1, as in the paper, whose equations
hold on the sphere. What a linear probe can still read from the neighbourhoods
of the words is another matter; these are evidence for "+" rows of a table, not
a promise.
"""

import pathlib
from collections.abc import Sequence

import numpy as np

from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.pairs.swapping import word_lists

# Pairs that differ in gender and hardly in anything else.
_FILE = pathlib.Path(__file__).with_name('defining_pairs.csv')
DEFINING = tuple(map(tuple, paths.csv_lines(_FILE, 'word pairs')))


def remove_gender(
  words: Sequence[str],
  vectors: np.ndarray,
  defining: Sequence[tuple[str, ...]] = DEFINING,
  equalised: Sequence[tuple[str, str]] | None = None,
) -> np.ndarray:
  """Vectors [n, d] of `words` with the gender direction removed.

  Words of `defining` and `equalised` (our own pairs by default) keep a gender:
  they are made symmetric instead. A word that is in several pairs is equalised
  in the first.
  """
  ours = word_lists.gender().rows if equalised is None else equalised
  place = {word: i for i, word in enumerate(words)}
  basis = subspace(unit(vectors), known(place, defining, 'defining'))
  gendered = [*ours, *defining]
  keep = {place[w] for pair in gendered for w in pair[:2] if w in place}
  out = neutralise(unit(vectors), basis, np.array(sorted(keep), int))
  used: set[str] = set()
  first = []
  for pair in gendered:
    if not used & set(pair[:2]) and all(w in place for w in pair[:2]):
      first.append(pair[:2])
      used |= set(pair[:2])
  return equalise(out, basis, known(place, first, 'equalised'))


def needs() -> tuple[str, ...]:
  """The words whose vectors say what gender is, of `remove_gender`."""
  pairs = [*DEFINING, *word_lists.gender().rows]
  return tuple(dict.fromkeys(word for pair in pairs for word in pair[:2]))


def known(
  place: dict[str, int], pairs: Sequence[Sequence[str]], kind: str
) -> np.ndarray:
  """Indices [p, 2] of the pairs whose two words have vectors."""
  both = [[place[a], place[b]] for a, b in pairs if a in place and b in place]
  if not both:
    raise UserError(
      f'none of the {len(pairs)} {kind} word pairs is among the '
      f'{len(place)} words with a vector; the vectors need lower-case words '
      f'such as {DEFINING[0]}'
    )
  return np.array(both)


def unit(vectors: np.ndarray) -> np.ndarray:
  """Rows of length 1; a row of zeros stays."""
  length = np.linalg.norm(vectors, axis=1, keepdims=True)
  return vectors / np.where(length > 0, length, 1)


def subspace(
  vectors: np.ndarray, pairs: np.ndarray, dimensions: int = 1
) -> np.ndarray:
  """The gender directions, orthonormal rows [k, d].

  The first principal components of the pairs' words around each pair's mean,
  that is, of their halved differences.
  """
  half = (vectors[pairs[:, 0]] - vectors[pairs[:, 1]]) / 2
  _, _, axes = np.linalg.svd(half.astype(np.float64), full_matrices=False)
  return axes[:dimensions]


def neutralise(
  vectors: np.ndarray, basis: np.ndarray, keep: np.ndarray
) -> np.ndarray:
  """w - w_B, scaled to length 1, in all rows but `keep`."""
  out = unit(vectors - vectors @ basis.T @ basis)
  out[keep] = vectors[keep]
  return out


def equalise(
  vectors: np.ndarray, basis: np.ndarray, pairs: np.ndarray
) -> np.ndarray:
  """Rows [p, 2] that differ only along the basis, and symmetrically.

  With the pair's mean m, v = m - m_B:

    w = v + sqrt(1 - |v|^2) (w_B - m_B) / |w_B - m_B|
  """
  both = vectors[pairs]  # p 2 d
  mean = both.mean(1)
  within = mean @ basis.T @ basis
  v = mean - within
  offset = both @ basis.T @ basis - within[:, None]
  length = np.linalg.norm(offset, axis=2, keepdims=True)
  offset = offset / np.where(length > 0, length, 1)
  room = np.sqrt(np.maximum(1 - (v**2).sum(1), 0))  # else NaN by rounding
  out = vectors.copy()
  out[pairs] = v[:, None] + room[:, None, None] * offset
  return out
