"""INLP: iterative nullspace projection.

Ravfogel et al. 2020 (arXiv:2004.07667). A linear classifier of the concept is
trained, its weights' directions are taken out, and again on what is left. The
paper's implementation adds up projections of SVMs, and stops after a number of
rounds (80 by habit). Here the weights' span has one orthonormal basis, so the
projection is exact; the classifier is a logistic regression with an intercept,
classes weigh alike, and its penalty is chosen on rows of its own. Rounds end
where it no longer helps on held-out rows (one half chooses the penalty for the
other), by a proper score: its log loss, classes weighing alike, is not below
that of a constant, log K (a one-sided t test at 5 %). The share of right ones
would not do: where one of three classes is rare, it stays at the largest
class's though the rare one is predicted well.
"""

import numpy as np
from jaxtyping import Float, Int

from fairjax.core.errors import UserError
from fairjax.methods.erasers import Eraser, need_two, orthogonal, span
from fairjax.metrics.inference import tails

ROUNDS = 80
PARTS = (0.7, 0.85)  # of the rows: to fit, and two halves to stop by
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)


def fit(
  x: Float[np.ndarray, 'n d'],
  z: Int[np.ndarray, ' n'],
  seed: int = 0,
  rounds: int = ROUNDS,
  choose: bool = True,
) -> Eraser:
  """The projection; without `choose`, after exactly `rounds` rounds."""
  classes, z = np.unique(z, return_inverse=True)
  need_two(classes)
  x = np.asarray(x, np.float64)
  train, *halves = _parts(z, seed)
  mean = x[train].mean(0)
  # One scale for all features: a penalty means the same everywhere.
  scale = max(np.sqrt(((x[train] - mean) ** 2).mean()), 1e-30)
  x = (x - mean) / scale
  basis = np.zeros((x.shape[1], 0))
  gains = []
  for _ in range(min(rounds, x.shape[1])):
    left = x - (x @ basis) @ basis.T
    models = _classifiers(left[train], z[train])
    each = [[_gain(m, left[h], z[h]) for m in models] for h in halves]
    means = np.mean([[one.mean() for one in half] for half in each], axis=0)
    best = [int(np.argmax([one.mean() for one in half])) for half in each]
    # Each half by the penalty that the other chose.
    gain = np.concatenate([each[0][best[1]], each[1][best[0]]])
    model = models[int(means.argmax())]
    gains.append(float(gain.mean()))
    if choose and not helps(gain):
      break
    wider = span(np.concatenate([basis, _rows(model, basis)], axis=1))
    # Nothing was added, or nothing would be left.
    if wider.shape[1] in (basis.shape[1], x.shape[1]):
      break
    basis = wider
  return orthogonal(
    basis,
    method='inlp',
    rows=len(x),
    rounds=len(gains) - 1 if choose else len(gains),  # the last did not help
    gains=gains,
  )


def _parts(z: np.ndarray, seed: int) -> list[np.ndarray]:
  """Rows to fit on, and two halves of those to stop by; all of each class."""
  rng, parts = np.random.default_rng([seed, 0xE1]), []
  for one in np.unique(z):
    rows = rng.permutation(np.flatnonzero(z == one))
    if len(rows) < 3:
      raise UserError(
        f'INLP needs three rows of each class at least, and one has {len(rows)}'
        '; give more texts'
      )
    ends = [int(share * len(rows)) for share in PARTS]
    ends[0] = min(max(ends[0], 1), len(rows) - 2)
    ends[1] = min(max(ends[1], ends[0] + 1), len(rows) - 1)
    parts.append(np.split(rows, ends))
  return [np.sort(np.concatenate(one)) for one in zip(*parts)]


def _classifiers(x: np.ndarray, z: np.ndarray) -> list:
  """Logistic regressions of equal classes, one a penalty."""
  from sklearn.linear_model import LogisticRegression

  model = lambda c: LogisticRegression(
    C=c, class_weight='balanced', max_iter=500, tol=1e-3
  )
  return [model(c).fit(x, z) for c in PENALTIES]


def _gain(model, x: np.ndarray, z: np.ndarray) -> np.ndarray:
  """log K less the log loss of each row, by weights of equal classes."""
  count = np.bincount(z, minlength=len(model.classes_))
  logs = model.predict_log_proba(x)[np.arange(len(z)), z]
  return len(z) / (len(count) * count[z]) * (np.log(len(count)) + logs)


def helps(gain: np.ndarray) -> bool:
  """Whether the mean gain is above 0, at 5 %."""
  error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
  if not error:
    return bool(gain.mean() > 0)  # equal gains: no t test
  return bool(tails.t_sf(gain.mean() / error, len(gain) - 1) < 0.05)


def _rows(model, basis: np.ndarray) -> np.ndarray:
  """The classifier's directions outside the basis, of length 1: [d, k]."""
  rows = model.coef_.T
  rows = rows - basis @ (basis.T @ rows)
  return rows / np.maximum(np.linalg.norm(rows, axis=0), 1e-30)
