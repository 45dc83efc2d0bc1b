"""Linear erasers of a concept from representations: x ← x A + b.

What INLP, SentenceDebias and LEACE give, so that one place applies and exports
all of them. ERASERS names them; each is a function of features [n, d] and
labels [n] (of pairs of features for SentenceDebias) → Eraser.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from fairjax.core.errors import UserError
from fairjax.core.registry import table

ERASERS = table(__file__, 'erasers')


class Eraser(NamedTuple):
  """x ← x A + b, rows as vectors; `rank` directions are taken out."""

  matrix: Float[np.ndarray, 'd d']
  shift: Float[np.ndarray, ' d']
  rank: int
  facts: dict

  def __call__(self, x: Float[np.ndarray, '*n d']) -> np.ndarray:
    return x @ self.matrix + self.shift


def need_two(classes: np.ndarray) -> None:
  if len(classes) < 2:
    raise UserError(
      'the rows of an eraser are of one class only; give texts of two at least'
    )


def orthogonal(basis: Float[np.ndarray, 'd k'], **facts) -> Eraser:
  """x − B Bᵀ x for orthonormal columns B: exactly nothing is left of them."""
  d, k = basis.shape
  return Eraser(np.eye(d) - basis @ basis.T, np.zeros(d), k, facts)


def span(columns: Float[np.ndarray, 'd k']) -> Float[np.ndarray, 'd r']:
  """An orthonormal basis of the columns' span."""
  u, s, _ = np.linalg.svd(columns, full_matrices=False)
  # Smaller singular values are rounding.
  return u[:, s > s.max(initial=0) * 1e-8] if s.size else columns
