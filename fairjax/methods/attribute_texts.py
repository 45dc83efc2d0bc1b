"""Attribute classifiers of texts, cross-fitted.

Logistic regression on tf-idf of words, one for each of K folds of the source
texts (those that are equal but for case and blanks share a fold); the rewrites
of a text are judged by the classifier whose training left the text out. So a
rewrite is not recognised by the words of its own source, and no rewriter has a
part in its own judge.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Integer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from fairjax.core.errors import UserError
from fairjax.methods import crossfit
from fairjax.metrics.inference import clusters

FOLDS = 5
DRAWS = 5  # of the larger group, at most
EVEN = 73  # their stream
# What a classifier reads; two of different kinds make different mistakes.
KINDS: dict[str, dict] = {
  'words': {'token_pattern': r'(?u)\b\w+\b'},
  'characters': {'analyzer': 'char_wb', 'ngram_range': (2, 4)},
}


def folds(
  texts: Sequence[str], attribute: Integer[np.ndarray, ' n']
) -> Integer[np.ndarray, ' n']:
  """The fold of each text: stratified over the distinct ones."""
  code = clusters.of_texts(list(texts))
  code = np.arange(len(texts)) if code is None else code
  where = np.unique(code, return_index=True)[1]
  value = np.asarray(attribute)[where]
  kinds, sizes = np.unique(value, return_counts=True)
  if len(kinds) < 2:
    raise UserError(
      f'all {len(texts)} texts show attribute {kinds[0]}, so no classifier can '
      'tell two apart; give texts of both (--config.data.group)'
    )
  if sizes.min() < FOLDS:
    raise UserError(
      f'attribute {kinds[sizes.argmin()]} has only {sizes.min()} distinct '
      f'texts for {FOLDS} folds; give more texts of it'
    )
  return crossfit.folds(value, FOLDS)[code]


def _even(
  attribute: Integer[np.ndarray, ' n'],
  train: Integer[np.ndarray, ' m'],
  fold: int,
) -> list[Integer[np.ndarray, ' j']]:
  """Draws of the rows `train` with as many of either attribute.

  A text without signs must be of neither, though one be the larger, which
  weights do not give: each rare word of the smaller would weigh more. Several
  draws read more of the larger (Liu, Wu and Zhou 2009, EasyEnsemble).
  """
  sides = [train[attribute[train] == side] for side in (0, 1)]
  size = min(map(len, sides))
  if not size:
    return [train]  # all of one attribute
  count = min(DRAWS, round(max(map(len, sides)) / size))
  rng = np.random.default_rng([fold, EVEN])
  return [
    np.sort(np.concatenate([rng.permutation(own)[:size] for own in sides]))
    for _ in range(count)
  ]


def chances(
  texts: Sequence[str],
  attribute: Integer[np.ndarray, ' n'],
  rewrites: Mapping[str, Sequence[str]],
  rows: Integer[np.ndarray, ' m'],
  kind: str = 'words',
) -> dict[str, Float[np.ndarray, ' m']]:
  """P(attribute 1) of each version of the texts `rows`.

  `texts` are all texts to learn from; `rewrites` name versions of those at
  `rows`, in their order. `kind` is a key of KINDS.
  """
  whole, attribute = np.array(list(texts), object), np.asarray(attribute)
  fold = folds(texts, attribute)
  out = {name: np.zeros(len(rows)) for name in rewrites}
  for number in range(FOLDS):
    mine = np.flatnonzero(fold[rows] == number)
    draws = _even(attribute, np.flatnonzero(fold != number), number)
    for train in draws if len(mine) else ():
      words = TfidfVectorizer(sublinear_tf=True, **KINDS[kind])
      model = LogisticRegression(C=10.0, max_iter=1000)
      model.fit(words.fit_transform(whole[train]), attribute[train])
      for name, versions in rewrites.items():
        read = words.transform([versions[int(i)] for i in mine])
        out[name][mine] += model.predict_proba(read)[:, 1] / len(draws)
  return out
