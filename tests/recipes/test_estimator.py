"""FairClassifier is an estimator of scikit-learn's, by every method."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import fairjax
from fairjax.recipes import estimator

TINY = {'model': 'tiny', 'epochs': 20, 'learning_rate': 1e-3}


@pytest.fixture(scope='module')
def rows():
  rng = np.random.default_rng(0)
  said = np.array(['kind and good', 'awful, nasty'])
  y = rng.integers(0, 2, 200)
  who = rng.choice(['she', 'he'], 200)
  texts = [
    f'{a} is {said[b]} in row {i}' for i, (a, b) in enumerate(zip(who, y))
  ]
  return pd.DataFrame(
    {'text': texts, 'y': np.array(['fine', 'toxic'])[y], 'who': who}
  )


@pytest.mark.parametrize('method', ['none', 'weights', 'diet'])
def test_it_learns_and_names_classes_as_y_does(rows, method, tmp_path):
  model = fairjax.FairClassifier(method, folder=str(tmp_path), **TINY)
  fitted = model.fit(rows.text, rows.y, sensitive_features=rows[['who']])
  assert fitted is model and list(model.classes_) == ['fine', 'toxic']
  assert model.score(rows.text, rows.y) > 0.9
  assert model.predict_proba(rows.text).sum() == pytest.approx(200)
  assert (tmp_path / 'report.html').is_file()


def test_it_is_cloned_cross_validated_and_put_in_a_pipeline(rows):
  model = fairjax.FairClassifier('none', random_state=3, **TINY)
  assert clone(model).get_params() == model.get_params()
  lower = FunctionTransformer(lambda X: [text.lower() for text in X])
  both = Pipeline([('lower', lower), ('model', model)])
  found = cross_val_score(both, rows.text, rows.y, cv=2)
  assert found.min() > 0.9
  with pytest.raises(NotFittedError):
    clone(model).predict(rows.text)


def test_each_method_has_a_config_that_its_knobs_belong_to():
  for method in estimator.WAYS:
    config = fairjax.FairClassifier(method, options={'train.batch': 16})
    assert config._config(['who']).train.batch == 16


@pytest.mark.parametrize(
  ('given', 'y', 'said'),
  [
    ({'method': 'dite'}, 'ab', "'dite'"),
    ({'options': {'train.epoch': 3}}, 'ab', "no option 'train.epoch'"),
    ({}, 'aa', 'one class'),
  ],
)
def test_mistakes_are_sentences(given, y, said):
  model = fairjax.FairClassifier(**given)
  with pytest.raises(fairjax.UserError, match=said):
    model.fit(['one', 'two'], list(y))
