"""INLP: iterative nullspace projection.

Ravfogel et al. 2020 (arXiv:2004.07667). A linear classifier of the concept is
trained, its weights' directions are taken out, and again on what is left. The
paper's implementation adds up projections, and stops after a number of rounds
(80 by habit). Here the weights' span has one orthonormal basis, so the
projection is exact, and the number of rounds is chosen on held-out rows: the
first after which a new classifier is not better than the largest class (a
one-sided test at 5 %).
"""

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from fairjax.errors import UserError
from fairjax.methods.erasers import Eraser, orthogonal, span

ROUNDS = 80
HELD_OUT = 0.3


def fit(
  x: Float[np.ndarray, 'n d'],
  z: Int[np.ndarray, ' n'],
  seed: int = 0,
  rounds: int = ROUNDS,
  choose: bool = True,
) -> Eraser:
  """The projection; without `choose`, after exactly `rounds` rounds."""
  from sklearn.svm import LinearSVC

  if len(np.unique(z)) < 2:
    raise UserError(
      'the rows of an eraser are of one class only; give texts of two at least'
    )
  x = np.asarray(x, np.float64)
  order = np.random.default_rng([seed, 0xE1]).permutation(len(x))
  boundary = max(int(HELD_OUT * len(x)), 1)
  validation, train = order[:boundary], order[boundary:]
  # A classifier without an intercept, as in the paper, on centred features.
  mean = x[train].mean(0)
  scale = max(np.sqrt(((x[train] - mean) ** 2).mean()), 1e-30)
  x = (x - mean) / scale
  largest = np.bincount(np.unique(z[train], return_inverse=True)[1]).argmax()
  majority = np.unique(z[train])[largest]
  constant = float((z[validation] == majority).mean())
  basis = np.zeros((x.shape[1], 0))
  accuracies = []
  for _ in range(min(rounds, x.shape[1])):
    remainder = x - (x @ basis) @ basis.T
    svm = LinearSVC(fit_intercept=False, dual=False, random_state=seed)
    svm.fit(remainder[train], z[train])
    right = svm.predict(remainder[validation]) == z[validation]
    accuracies.append(float(right.mean()))
    if choose and not _better(right, constant):
      break
    wider = span(np.concatenate([basis, _rows(svm, basis)], axis=1))
    if wider.shape[1] in (basis.shape[1], x.shape[1]):
      break
    basis = wider
  return orthogonal(
    basis,
    method='inlp',
    rows=len(x),
    rounds=len(accuracies) - 1 if choose else len(accuracies),
    accuracies=accuracies,
    constant=constant,
  )


def _rows(svm, basis: np.ndarray) -> np.ndarray:
  """The classifier's directions outside the basis, of length 1: [d, k]."""
  rows = svm.coef_.T
  rows = rows - basis @ (basis.T @ rows)
  return rows / np.maximum(np.linalg.norm(rows, axis=0), 1e-30)


def _better(right: np.ndarray, constant: float) -> bool:
  """Whether the share of right ones is above the constant's, at 5 %."""
  return bool(
    stats.binom.sf(right.sum() - 1, len(right), min(constant, 1.0)) < 0.05
  )
