"""Attribute classifiers of texts, cross-fitted.

Logistic regression on tf-idf of words, one for each of K folds of the source
texts (equal texts share a fold); the rewrites of a text are judged by the
classifier whose training left the text out. So a rewrite is not recognised by
the words of its own source, and no rewriter has a part in its own judge.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from fairjax.core.errors import UserError
from fairjax.methods import crossfit

# What a classifier reads; two of different kinds make different mistakes.
KINDS = {
  'words': {'token_pattern': r'(?u)\b\w+\b'},
  'characters': {'analyzer': 'char_wb', 'ngram_range': (2, 4)},
}


def folds(
  texts: Sequence[str], attribute: Integer[np.ndarray, ' n'], k: int
) -> Integer[np.ndarray, ' n']:
  """The fold of each text: stratified over the distinct ones."""
  code = pd.factorize(pd.Series(list(texts)))[0]
  where = np.unique(code, return_index=True)[1]
  value = np.asarray(attribute)[where]
  kinds, sizes = np.unique(value, return_counts=True)
  if len(kinds) < 2:
    raise UserError(
      f'all {len(texts)} texts show attribute {kinds[0]}, so no classifier can '
      'tell two apart; give texts of both (--config.data.group)'
    )
  if sizes.min() < k:
    raise UserError(
      f'attribute {kinds[sizes.argmin()]} has only {sizes.min()} distinct '
      f'texts for {k} folds; lower --config.rewriters.folds'
    )
  return crossfit.folds(value, k)[code]


def chances(
  texts: Sequence[str],
  attribute: Integer[np.ndarray, ' n'],
  rewrites: Mapping[str, Sequence[str]],
  rows: Integer[np.ndarray, ' m'],
  k: int = 5,
  kind: str = 'words',
) -> dict[str, Float[np.ndarray, ' m']]:
  """P(attribute 1) of each version of the texts `rows`.

  `texts` are all texts to learn from; `rewrites` name versions of those at
  `rows`, in their order. `kind` is a key of KINDS.
  """
  texts, attribute = np.array(list(texts), object), np.asarray(attribute)
  fold = folds(texts, attribute, k)
  out = {name: np.empty(len(rows)) for name in rewrites}
  for number in range(k):
    train = fold != number
    words = TfidfVectorizer(sublinear_tf=True, **KINDS[kind])
    model = LogisticRegression(C=10.0, max_iter=1000)
    model.fit(words.fit_transform(texts[train]), attribute[train])
    mine = np.flatnonzero(fold[rows] == number)
    for name, versions in rewrites.items() if len(mine) else ():
      read = words.transform([versions[i] for i in mine])
      out[name][mine] = model.predict_proba(read)[:, 1]
  return out
