"""Cross-predicted P(y|z) of a random forest, against scikit-learn's.

Both sides use all cores and give the same numbers. z is drawn to look like the
weighting paper's: gender words by tf·idf in tweets, or counts of identity terms
and the length in comments. The peer fits every forest on all rows; ours once
on each distinct (z, y). The paper's own: --what=tweets --trees=1000 --folds=250
and --what=comments --rows=127820; here are fewer trees and folds.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from fairjax.bench import race
from fairjax.methods import crossfit


def run(args: list[str]) -> dict:
  """Races one of the paper's settings."""
  known = {'rows': 4000, 'trees': 50, 'folds': 10, 'seed': 0}
  known['what'] = (*SETTINGS,)
  chosen = race.options('weights', __doc__, args, **known)
  make, depth = SETTINGS[chosen.what]
  rng = np.random.default_rng([chosen.seed, 0xF0])
  z, label = make(rng, chosen.rows)

  def ours():
    return crossfit.forest(
      crossfit.distinct(z),
      label,
      crossfit.folds(label, chosen.folds),
      2,
      trees=chosen.trees,
      depth=depth,
      criterion='entropy',
      seed=233,
    )

  def peer():
    forest = RandomForestClassifier(
      chosen.trees, max_depth=depth, criterion='entropy', random_state=233
    )
    return cross_val_predict(
      forest, z, label, cv=chosen.folds, method='predict_proba', n_jobs=-1
    )

  race.same(ours(), peer(), 'P(y|z)', 1e-12)
  sides = {'fairjax': ours, 'cross_val_predict': peer}
  times = race.interleave(sides, chosen.rounds, warmup=0)
  facts = {'unit': 'seconds', 'distinct': len(crossfit.distinct(z).values)}
  return race.report(f'weights {chosen.what}', times, chosen, **facts)


def tweets(rng: np.random.Generator, n: int) -> tuple:
  """Rows with gender words: tf·idf of 100 words, few of them common."""
  z = _words(rng, n, 100, 1 + rng.poisson(0.6, n))
  z *= np.log(n / ((z > 0).sum(0) + 1))
  return z, _label(rng, z, 0.3)


def comments(rng: np.random.Generator, n: int) -> tuple:
  """Counts of 50 rare identity terms, and the number of words."""
  z = _words(rng, n, 50, rng.poisson(0.3, n) * (rng.random(n) < 0.2))
  length = np.exp(rng.normal(3.6, 1, n)).astype(int) + 1
  return np.column_stack([z, length]), _label(rng, z, 0.1)


def _words(rng, n: int, kinds: int, counts: np.ndarray) -> np.ndarray:
  share = 1 / np.arange(1, kinds + 1)
  row = np.repeat(np.arange(n), counts)
  word = rng.choice(kinds, len(row), p=share / share.sum())
  cells = np.bincount(row * kinds + word, minlength=n * kinds)
  return cells.reshape(n, kinds).astype(float)


def _label(rng, z: np.ndarray, share: float) -> np.ndarray:
  lean = z @ rng.normal(0, 0.5, z.shape[1])
  cut = np.quantile(lean + rng.logistic(size=len(z)), 1 - share)
  return (lean + rng.logistic(size=len(z)) > cut).astype(np.int64)


SETTINGS = {'tweets': (tweets, 27), 'comments': (comments, 18)}
