"""FairClassifier is an estimator of scikit-learn's, by every method."""

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import fairjax
from fairjax.recipes import estimator

TINY = {'model': 'tiny', 'epochs': 12, 'learning_rate': 2e-3}
# A vocabulary of one size: folds of rows share their programs.
TINY['options'] = {'measures.resamples': 20, 'tokens.vocab_size': 64}


@pytest.fixture(scope='module')
def rows():
  rng = np.random.default_rng(0)
  said = np.array(['kind and good', 'awful, nasty'])
  y = rng.integers(0, 2, 200)
  who = rng.choice(['she', 'he'], 200)
  order = enumerate(zip(who, y))
  texts = [f'{a} is {said[b]} in row {i}' for i, (a, b) in order]
  names = np.array(['fine', 'toxic'])[y]
  return pd.DataFrame({'text': texts, 'y': names, 'who': who})


@pytest.mark.parametrize('method', ['none', 'weights', 'diet'])
def test_it_learns_and_names_classes_as_y_does(rows, method, tmp_path):
  model = fairjax.FairClassifier(method, folder=str(tmp_path), **TINY)
  fitted = model.fit(rows.text, rows.y, sensitive_features=rows[['who']])
  assert fitted is model and list(model.classes_) == ['fine', 'toxic']
  assert model.score(rows.text, rows.y) > 0.9
  p = model.predict_proba(rows.text)
  assert p.sum() == pytest.approx(200)
  pd.to_pickle(model, tmp_path / 'kept')
  assert (pd.read_pickle(tmp_path / 'kept').predict_proba(rows.text) == p).all()
  assert (tmp_path / 'report.html').is_file()
  loaded = fairjax.load(tmp_path)  # is an estimator, too
  assert loaded.get_params() == {}
  both = Pipeline([('same', FunctionTransformer()), ('model', loaded)])
  truth = loaded.classes_[(rows.y == 'toxic').astype(int)]
  assert cross_val_score(both, rows.text, truth, cv=2).min() > 0.9


def test_it_is_cloned_cross_validated_and_put_in_a_pipeline(rows):
  model = fairjax.FairClassifier('none', random_state=3, **TINY)
  assert clone(model).get_params() == model.get_params()
  lower = FunctionTransformer(lambda X: [text.lower() for text in X])
  both = Pipeline([('lower', lower), ('model', model)])
  assert cross_val_score(both, rows.text, rows.y, cv=2).min() > 0.9
  with pytest.raises(NotFittedError):
    clone(model).predict(rows.text)


def test_an_encoder_that_stays_gets_a_new_head(rows, tmp_path):
  places = [tmp_path / name / 'export' / 'seed_0' for name in 'ab']
  stays = {'model': str(places[0]), 'options': {'net.init': 'frozen'}}
  turned = np.where(rows.y == 'fine', 'toxic', 'fine')  # what no head knows yet
  for name, given, y in ('a', {}, rows.y), ('b', stays, turned):
    model = fairjax.FairClassifier('none', folder=f'{tmp_path / name}', **TINY)
    assert model.set_params(**given).fit(rows.text, y).score(rows.text, y) > 0.9
  known, made = (load_file(at / 'model.safetensors') for at in places)
  other = {n.rpartition('.')[0] for n in known if (known[n] != made[n]).any()}
  assert other == {'bert.pooler.dense', 'classifier'}


def test_each_method_has_a_config_that_its_knobs_belong_to():
  for method in estimator.WAYS:
    asked = fairjax.FairClassifier(method, options={'train.batch': 16})
    assert estimator.config_of(asked, ['who']).train.batch == 16


class Checked(fairjax.FairClassifier):
  """scikit-learn checks nothing of what takes no tables of numbers."""

  def __sklearn_tags__(self):
    tags = super().__sklearn_tags__()
    tags.input_tags.two_d_array = True
    return tags


# Checks of numbers whose own sentences hide ours, and one of one class.
OTHERS = {
  'check_positive_only_tag_during_fit',
  *('check_estimator_sparse_array', 'check_estimator_sparse_matrix'),
  *('check_estimators_nan_inf', 'check_classifiers_one_label'),
  'check_estimators_empty_data_messages',
}


def test_scikit_learns_checks_fail_but_for_want_of_texts():
  found = check_estimator(Checked('none', **TINY), on_fail=None, on_skip=None)
  named = {'passed': [], 'failed': [], 'skipped': []}
  for one in found:
    named[one['status']].append(one['check_name'])
    if one['status'] == 'failed' and one['check_name'] not in OTHERS:
      assert 'is no ' in str(one['exception']), one
  assert len(named['passed']) > 20 and {*named['failed']} > OTHERS
  assert 'check_classifiers_regression_target' in named['passed']


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
