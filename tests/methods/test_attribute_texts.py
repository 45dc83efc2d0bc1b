"""Cross-fitted classifiers of an attribute: scikit-learn's, and folds."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from fairjax.core.errors import UserError
from fairjax.methods import attribute_texts


def test_chances_of_groups_of_one_size_are_scikit_learn_s():
  rng = np.random.default_rng(1)
  shows = np.arange(100) % 2
  words = np.array(['a', 'bc', 'cde', 'x'])
  texts = [
    f'{" ".join(words[: 2 + s][rng.integers(0, 2 + s, 6)])} t{i}'
    for i, s in enumerate(shows)
  ]
  rows = rng.permutation(100)[:30]
  for kind, reads in attribute_texts.KINDS.items():
    model = make_pipeline(
      TfidfVectorizer(sublinear_tf=True, **reads),
      LogisticRegression(C=10, max_iter=1000),
    )
    theirs = cross_val_predict(
      model, texts, shows, cv=StratifiedKFold(5), method='predict_proba'
    )
    own = {'own': [texts[i] for i in rows]}
    ours = attribute_texts.chances(texts, shows, own, rows, kind)['own']
    np.testing.assert_allclose(ours, theirs[rows, 1], atol=1e-6)
  five = [f'{k} x' for k in range(10)]
  assert len(attribute_texts.folds(five, shows[:10])) == 10
  for texts, own, says in (
    (five[:9], shows[:9], 'attribute 1 has only 4 distinct texts for 5 folds'),
    (five, shows[:10] * 0, 'all 10 texts show attribute 0'),
  ):
    with pytest.raises(UserError, match=says):
      attribute_texts.folds(texts, own)


def test_no_text_is_judged_by_a_classifier_that_saw_it():
  """Texts with a word of their own: only one that saw it could tell."""
  rng = np.random.default_rng(0)
  shows = rng.integers(0, 2, 200)
  texts = [f'word{i} word{i}' for i in range(200)]
  rows = np.arange(200)
  chance = attribute_texts.chances(texts, shows, {'x': texts}, rows)['x']
  # All that is left is the prior of the other folds.
  assert np.abs(chance - 0.5).max() < 0.2
  again = attribute_texts.chances(
    texts * 2, np.tile(shows, 2), {'x': texts}, rows
  )['x']
  right = ((again > 0.5) == shows).mean()
  assert right < 0.7  # equal texts share a fold
  loud = [text.upper() for text in texts]  # whose words are the same
  again = attribute_texts.chances(
    texts + loud, np.tile(shows, 2), {'x': texts}, rows
  )['x']
  assert ((again > 0.5) == shows).mean() < 0.7
  plain = [f'{"he" if s else "she"} left {i}' for i, s in enumerate(shows)]
  told = attribute_texts.chances(plain, shows, {'x': plain}, rows)['x']
  assert ((told > 0.5) == shows).all()


def test_the_larger_group_is_not_what_a_text_without_signs_shows():
  """407 texts of one group were dropped and 23 of the other, all by names."""
  rng = np.random.default_rng(0)
  group = (rng.random(400) < 0.1).astype(int)
  plain = np.arange(400) % 4 == 0  # of these a name alone would tell
  texts = [
    f'{f"person{k}" if p else "she" if g else "he"} left'
    for k, (g, p) in enumerate(zip(group, plain))
  ]
  every = np.arange(400)
  chance = attribute_texts.chances(texts, group, {'x': texts}, every)['x']
  # By the share of the groups: .09 on average, and none above .17.
  assert abs(chance[plain].mean() - 0.5) < 0.15
