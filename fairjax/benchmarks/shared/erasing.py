"""Fits an eraser of gender on the user's texts, and probes for what is left.

A text is male where the lists can only turn it to female, and the other way
round; texts of both are left out, texts of neither are a third class (as in
bias-bench) where there are enough of them to be one. Vectors are the mean of
the last layer. SentenceDebias is fitted on both versions of each text.

What an eraser leaves is asked of texts that it never saw, by a probe that is
fitted on such texts too: on its own texts LEACE leaves nothing by construction.
"""

import numpy as np

from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.methods.erasers import ERASERS, Eraser
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import IntervalOptions

FOLDS = 5
LEAST = 20  # texts of a class


def sides(texts: list[str]) -> tuple[np.ndarray, list[str], list[str]]:
  """0 neither, 1 male, 2 female, −1 both; and the two versions."""
  from fairjax.pairs.swapping import dictionary

  male, female = (
    dictionary.swapper(side, names=True)(texts).texts
    for side in ('male', 'female')
  )
  is_female = np.array([a != b for a, b in zip(texts, male)])
  is_male = np.array([a != b for a, b in zip(texts, female)])
  kind = is_male + 2 * is_female
  return np.where(kind == 3, -1, kind), male, female


def fit(judge, texts: list[str], name: str, config) -> Eraser:
  """The eraser of that name, fitted on a sample of the texts."""
  options = config.benchmarks
  rng = np.random.default_rng([config.seed, 0xB6])
  sample = np.sort(rng.permutation(len(texts))[: options.eraser_rows])
  texts = [texts[i] for i in sample]
  kind, male, female = sides(texts)
  gendered = int((kind > 0).sum())
  if gendered < 20:
    raise UserError(
      f'{gendered} of {len(texts)} texts of {config.data.path} speak of one '
      'gender; an eraser needs 20 at least'
    )
  method = find(ERASERS, 'eraser', name)
  if name == 'sentence':
    real = [i for i in range(len(texts)) if male[i] != female[i]]
    both = [judge.vectors([side[i] for i in real]) for side in (male, female)]
    return method(np.stack(both, axis=1))
  neither = int((kind == 0).sum())
  real = kind >= (0 if neither >= LEAST else 1)
  vectors = judge.vectors([t for t, ok in zip(texts, real) if ok])
  return method(vectors, kind[real], seed=config.seed)


def probe(judge, texts: list[str], how: IntervalOptions) -> dict:
  """How often a linear probe of the vectors tells a text's gender, as a set.

  A logistic regression whose penalty is chosen by cross-validation, fitted on
  four fifths of the texts of one gender and asked about the fifth; of the more
  frequent gender as many texts are drawn as there are of the other, so that
  half are told by chance.
  """
  kind, _, _ = sides(texts)
  of = [np.flatnonzero(kind == side) for side in (1, 2)]
  count = [len(rows) for rows in of]
  least = min(count)
  if least < LEAST:
    return {
      'rows': sum(count),
      'quality': {},
      'warnings': [
        f'{count[0]} of the held-out texts are male and {count[1]} female by '
        f'our word lists; a probe needs {LEAST} of each, so what an eraser '
        'leaves is not known: give more texts, or raise '
        '--config.benchmarks.held_out'
      ],
    }
  rng = np.random.default_rng([how.seed, 0xBB])
  rows = np.concatenate([np.sort(rng.permutation(r)[:least]) for r in of])
  label = np.repeat([0, 1], least)
  hits = np.sum(probed(judge.vectors([texts[i] for i in rows]), label))
  value = clusters.share(int(hits), len(rows), how)
  warnings = []
  taken = judge.eraser is not None and not np.array_equal(
    judge.eraser[0], np.eye(len(judge.eraser[0]))
  )
  if judge.eraser is not None and not taken:
    warnings.append(
      'this eraser found no direction that tells the gender of texts that it '
      'was not fitted on, so the model is as it was'
    )
  elif taken and value['low'] > 0.5:
    warnings.append(
      f'a linear probe still tells the gender of {value["value"]:.2f} of the '
      'held-out texts, of which half are told by chance: erasers leave the '
      'sampling error of the texts that they are fitted on, and what is not '
      'linear; fit them on more texts (--config.benchmarks.eraser_rows)'
    )
  return {
    'rows': len(rows),
    'quality': {'probe_accuracy': value | {'null': 0.5}},
    'warnings': warnings,
  }


def probed(x: np.ndarray, label: np.ndarray, seed: int = 0) -> np.ndarray:
  """Whether each row is told rightly by a probe that did not see it."""
  from sklearn.linear_model import LogisticRegression
  from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
  )
  from sklearn.pipeline import make_pipeline
  from sklearn.preprocessing import StandardScaler

  chosen = GridSearchCV(
    LogisticRegression(max_iter=500, tol=1e-3),
    {'C': (1e-4, 1e-3, 1e-2, 1e-1)},
    cv=3,
    scoring='neg_log_loss',
  )
  folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
  model = make_pipeline(StandardScaler(), chosen)
  return cross_val_predict(model, x, label, cv=folds) == label
