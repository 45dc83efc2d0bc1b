"""Fits an eraser of gender on the user's texts, by our word lists.

A text is male where the lists can only turn it to female, and the other way
round; texts of both are left out, texts of neither are a third class (as in
bias-bench). Vectors are the mean of the last layer. SentenceDebias is fitted
on both versions of each text.
"""

import numpy as np

from fairjax.errors import UserError
from fairjax.methods.erasers import ERASERS, Eraser
from fairjax.registry import find


def sides(texts: list[str]) -> tuple[np.ndarray, list[str], list[str]]:
  """0 neither, 1 male, 2 female, −1 both; and the two versions."""
  from fairjax.pairs import dictionary

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
  real = kind >= 0
  vectors = judge.vectors([t for t, ok in zip(texts, real) if ok])
  return method(vectors, kind[real], seed=config.seed)
