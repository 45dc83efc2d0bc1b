"""P(y|z) of each row from a model that never saw that row.

The protocol is scikit-learn's `cross_val_predict` with an integer cv: K
stratified folds in table order, without shuffling; a row's probability comes
from the estimator fitted on the K-1 other folds.

z takes few distinct values while the rows are many, so everything runs once
per distinct (z, y). For trees that is exact, not an approximation: a tree sees
its bootstrap sample only as integer weights, their sums are exact in float64,
and a node of one distinct (z, y) is a leaf however many rows it stands for. So
`forest` returns what `cross_val_predict(RandomForestClassifier(...))` returns,
to rounding, at K = 250 as well.
"""

from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from fairjax.core.errors import UserError

BLOCK = 25  # trees a task; fixed, so that the sum never depends on the cores
PARALLEL = 2_000_000  # trees × distinct (z, y) from which processes pay


class Distinct(NamedTuple):
  """Rows of z, each written once."""

  values: np.ndarray  # float32 [u, d]
  row: np.ndarray  # int64 [n]: which of them an example has


def distinct(z: np.ndarray) -> Distinct:
  """Groups equal rows of z [n, d], in the order of first appearance."""
  z = np.asarray(z, np.float32) + 0.0  # one zero, not two
  row = np.zeros(len(z), np.int64)
  for column in z.T:  # a sort of whole rows takes far longer
    code, kinds = pd.factorize(column)
    if len(kinds) > 1:  # a constant column splits no group
      # Numbered anew each time, so that the codes never overflow.
      row = pd.factorize(row * len(kinds) + code)[0]
  first = np.full(row.max() + 1, len(row))
  np.minimum.at(first, row, np.arange(len(row)))
  return Distinct(z[first], row)


def folds(label: np.ndarray, k: int) -> np.ndarray:
  """The fold [n] in which each row is held out: stratified, unshuffled."""
  kinds, sizes = np.unique(label, return_counts=True)
  if len(kinds) < 2:
    raise UserError(
      f'all {len(label)} rows that P(y|z) is fitted on have label {kinds[0]}, '
      'so a fold would train on one class; weights need two'
    )
  if sizes.min() < k:
    raise UserError(
      f'weighting.folds is {k} but label {kinds[sizes.argmin()]} has only '
      f'{sizes.min()} of the rows that P(y|z) is fitted on; use fewer folds'
    )
  fold = np.empty(len(label), np.int64)
  split = StratifiedKFold(k).split(np.zeros((len(label), 1)), label)
  for number, (_, held_out) in enumerate(split):
    fold[held_out] = number
  return fold


def forest(
  z: Distinct,
  label: np.ndarray,
  fold: np.ndarray,
  classes: int,
  *,
  trees: int,
  depth: int,
  criterion: str,
  seed: int,
) -> np.ndarray:
  """Random forest probabilities [n, c]; trees, folds on all cores."""
  pairs = _pairs(z, label, classes)
  # As sklearn's forest seeds its trees; every fold begins with the same seed.
  state = np.random.RandomState(seed)
  seeds = [state.randint(np.iinfo(np.int32).max) for _ in range(trees)]
  count = fold.max() + 1
  tasks = [
    (k, seeds[start : start + BLOCK])
    for k in range(count)
    for start in range(0, trees, BLOCK)
  ]
  run = joblib.delayed(_vote)
  many = count * trees * len(pairs.label) >= PARALLEL
  votes = joblib.Parallel(n_jobs=-1 if many else 1)(
    run(
      pairs,
      z.values[np.unique(z.row[fold == k])],
      pairs.row[fold != k],
      some,
      depth,
      criterion,
    )
    for k, some in tasks
  )
  out = np.empty((len(label), classes))
  for k in range(count):
    held_out = fold == k
    # Soft votes: a random forest averages its trees' shares.
    shares = sum(v for v, task in zip(votes, tasks) if task[0] == k) / trees
    out[held_out] = shares[_rank(z.row[held_out])]
  return out


class _Pairs(NamedTuple):
  """The distinct (z, y)."""

  values: np.ndarray  # float32 [v, d]
  label: np.ndarray  # int64 [v]
  row: np.ndarray  # int64 [n]: which of them an example is


def _pairs(z: Distinct, label: np.ndarray, classes: int) -> _Pairs:
  code, row = np.unique(z.row * classes + label, return_inverse=True)
  return _Pairs(z.values[code // classes], code % classes, row)


def _rank(row: np.ndarray) -> np.ndarray:
  """The place of each value among the sorted distinct ones."""
  return np.unique(row, return_inverse=True)[1]


def _vote(pairs, queries, train, seeds, depth, criterion) -> np.ndarray:
  """Summed votes [q, c] of one fold's trees for `queries` [q, d].

  train [m] are the training rows' pairs.
  """
  total = 0.0
  with sklearn.config_context(
    skip_parameter_validation=True, assume_finite=True
  ):
    for seed in seeds:
      # Rows are drawn, as sklearn's forest does, and counted by pair.
      sample = np.random.RandomState(seed).randint(0, len(train), len(train))
      weight = np.bincount(train[sample], minlength=len(pairs.label))
      tree = DecisionTreeClassifier(
        criterion=criterion,
        max_depth=depth or None,
        max_features='sqrt',  # a forest's default in sklearn
        random_state=seed,
      )
      tree.fit(
        pairs.values,
        pairs.label.astype(np.float64),
        sample_weight=weight.astype(np.float64),
        check_input=False,
      )
      total = total + tree.predict_proba(queries, check_input=False)
  return np.asarray(total)


def logistic(
  z: Distinct, label: np.ndarray, fold: np.ndarray, classes: int
) -> np.ndarray:
  """L2-penalised logistic regression (C = 1) on standardised z: [n, c]."""
  share = np.bincount(z.row) / len(z.row)
  centre = share @ z.values
  scale = np.sqrt(share @ (z.values - centre) ** 2)
  flat = Distinct((z.values - centre) / np.where(scale > 0, scale, 1), z.row)
  pairs = _pairs(flat, label, classes)
  out = np.empty((len(label), classes))
  for k in range(fold.max() + 1):
    held_out = fold == k
    weight = np.bincount(pairs.row[~held_out], minlength=len(pairs.label))
    model = LogisticRegression(max_iter=1000, tol=1e-6)
    model.fit(pairs.values, pairs.label, sample_weight=weight)
    columns = flat.values[np.unique(z.row[held_out])]
    out[held_out] = model.predict_proba(columns)[_rank(z.row[held_out])]
  return out


def count(
  z: Distinct, label: np.ndarray, fold: np.ndarray, classes: int
) -> np.ndarray:
  """Counts, with one pseudo-row spread as the class prior: [n, c].

  P(y|z) = (n(y, z) + n(y)/n) / (n(z) + 1) over the other folds, so a z that
  they do not hold gets their prior, and nothing is 0.
  """
  kinds = len(z.values)
  cells, place = np.unique(fold * kinds + z.row, return_inverse=True)
  flat = np.bincount(z.row * classes + label, minlength=kinds * classes)
  total = flat.reshape(kinds, classes)
  fold_count = np.bincount(
    place * classes + label, minlength=len(cells) * classes
  )
  others = total[cells % kinds] - fold_count.reshape(-1, classes)
  size = (fold.max() + 1, classes)
  by_fold = np.bincount(fold * classes + label, minlength=np.prod(size))
  rest = total.sum(0) - by_fold.reshape(size)
  prior = rest / rest.sum(1, keepdims=True)
  p = (others + prior[cells // kinds]) / (others.sum(1, keepdims=True) + 1)
  return p[place]
