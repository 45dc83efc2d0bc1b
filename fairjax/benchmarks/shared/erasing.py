"""Fits an eraser of an axis on the user's texts, and probes for what is left.

A text is of the one value of `method.axis` that its words name (male where the
lists can only turn it to female); texts of several are left
out, and texts of none are a further class (as in bias-bench) where there are
enough of them to be one. Vectors are the mean of the last layer. SentenceDebias
is fitted on the version of each text for every value.

What an eraser leaves is asked of texts that it never saw, by a probe that is
fitted on such texts too: on its own texts LEACE leaves nothing by construction.
"""

import numpy as np

from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.methods.erasers import ERASERS, Eraser
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.sample import RowSample

FOLDS = 5
ROWS = 2000  # texts that an eraser is fitted on
LEAST = 20  # texts of a class
FEWEST = 3  # texts of a value that an eraser gets: INLP splits them


def fit(judge, texts: list[str], name: str, config) -> Eraser:
  """The eraser of that name, fitted on a sample of the texts."""
  from fairjax.pairs.axes import exchange
  from fairjax.pairs.swapping import axis_values

  axis = config.method.axis
  rng = np.random.default_rng([config.seed, 0xB6])
  sample = np.sort(rng.permutation(len(texts))[:ROWS])
  texts = [texts[i] for i in sample]
  kind = axis_values.single(texts, axis)
  count = np.bincount(kind[kind >= 0], minlength=len(exchange.values(axis)))
  known = np.flatnonzero(count >= FEWEST)
  if count[known].sum() < LEAST or len(known) < 2:
    raise UserError(
      f'{count.sum()} of {len(texts)} texts of {config.data.path} speak of '
      f'one {exchange.called(axis)} alone, {_counted(axis, count)}; an eraser '
      f'needs {LEAST} at least, of two kinds'
    )
  method = find(ERASERS, 'eraser', name)
  if name == 'sentence':
    every = axis_values.versions(texts, axis)
    real = [i for i, one in enumerate(zip(*every)) if len({*one}) == len(one)]
    both = [judge.vectors([side[i] for i in real]) for side in every]
    return method(np.stack(both, axis=1))
  seen = np.isin(kind, known)
  if (kind == axis_values.NEITHER).sum() >= LEAST:  # as in bias-bench
    seen |= kind == axis_values.NEITHER
  vectors = judge.vectors([t for t, ok in zip(texts, seen) if ok])
  return method(vectors, kind[seen], seed=config.seed)


def _counted(axis: str, count: np.ndarray) -> str:
  """'12 male, 3 female', the values that no text names left out."""
  from fairjax.pairs.axes import exchange

  named = zip(count, exchange.values(axis))
  return ', '.join(f'{n} {value}' for n, value in named if n) or 'none of any'


def probe(
  judge, texts: list[str], how: RowSample, axis: str = 'gender'
) -> dict:
  """How often a linear probe of the vectors tells what a text says of an axis.

  A logistic regression whose penalty is chosen by cross-validation, fitted on
  four fifths of the texts of one value and asked about the fifth; of each value
  as many texts are drawn as there are of the rarest (those of fewer than LEAST
  texts left out), so that one in so many values is right by chance. Equal texts
  are one: the probe would be asked of a text that it was fitted on.
  """
  from fairjax.pairs.axes import exchange
  from fairjax.pairs.swapping import axis_values

  code = clusters.of_texts(texts)
  if code is not None:
    texts = [texts[i] for i in np.sort(np.unique(code, return_index=True)[1])]
  kind, called = axis_values.single(texts, axis), exchange.called(axis)
  count = np.bincount(kind[kind >= 0], minlength=len(exchange.values(axis)))
  of = [np.flatnonzero(kind == v) for v in np.flatnonzero(count >= LEAST)]
  if len(of) < 2:
    return {
      'rows': int(count.sum()),
      'quality': {},
      'warnings': [
        f'of the held-out texts that speak of one {called}, by our word lists '
        f'there are {_counted(axis, count)}; a probe needs {LEAST} of each, so '
        'what an eraser leaves is not known: give more texts'
      ],
    }
  least = min(map(len, of))
  rng = np.random.default_rng([how.seed, 0xBB])
  rows = np.concatenate([np.sort(rng.permutation(r)[:least]) for r in of])
  label = np.repeat(np.arange(len(of)), least)
  hits = np.sum(probed(judge.vectors([texts[i] for i in rows]), label))
  value, chance = clusters.share(int(hits), len(rows), how), 1 / len(of)
  warnings = []
  taken = judge.eraser is not None and not np.array_equal(
    judge.eraser[0], np.eye(len(judge.eraser[0]))
  )
  if judge.eraser is not None and not taken:
    warnings.append(
      f'this eraser found no direction that tells the {called} of texts that '
      'it was not fitted on, so the model is as it was'
    )
  elif taken and value['low'] > chance:
    warnings.append(
      f'a linear probe still tells the {called} of {value["value"]:.2f} of '
      f'the held-out texts, of which {chance:.2g} are right by chance: erasers '
      'leave the sampling error of the texts that they are fitted on, and what '
      'is not linear'
    )
  return {
    'rows': len(rows),
    'quality': {'probe_accuracy': value | {'null': chance}},
    'warnings': warnings,
  }


def probed(x: np.ndarray, label: np.ndarray, seed: int = 0) -> np.ndarray:
  """Whether each row is predicted rightly by a probe that did not see it."""
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
