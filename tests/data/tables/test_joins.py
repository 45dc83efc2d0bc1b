"""What comes in is joined by a key, read as what it is, and said.

Each was read wrong, and without a word, before there was one reader.
"""

import time

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import UserError

N = 60
DRAW = np.random.default_rng(3)
Y = np.tile([0, 1], N // 2)
P = np.clip(0.25 + 0.5 * Y + DRAW.normal(0, 0.1, N), 0.01, 0.99).round(3)
SEX = np.where(DRAW.random(N) < 0.5, 'f', 'm')
DATA = pd.DataFrame({'label': Y, 'sex': SEX})
AUC = fairjax.assess(Y, P, n_resamples=0)['auc']['value']
ACCURACY = fairjax.assess(Y, P, n_resamples=0)['accuracy']['value']
SHUFFLED = DRAW.permutation(N)


def audit(model, data=DATA, **given):
  options = {'n_resamples': 0, 'swaps': ()} | given
  return fairjax.audit(model, data, groups='sex', options=options)


def notes(found) -> str:
  return ' '.join(found.results.notes)


@pytest.mark.parametrize('key', ['ID', 'example_id', 'uid', 'Unnamed: 0'])
def test_predictions_are_joined_by_a_key_of_any_name(key):
  data = DATA.assign(**{key: np.arange(N) + 5})
  rows = pd.DataFrame({key: np.arange(N) + 5, 'score': P}).iloc[SHUFFLED]
  for given in ({}, {'id': key}):
    found = audit(rows, data, **given)
    assert found['auc']['value'] == AUC
    assert f'is joined by {key}' in notes(found)


def test_wide_tables_are_joined_in_time_that_grows_with_their_columns():
  wide = pd.DataFrame(DRAW.random((N, 3000))).add_prefix('c')
  table = pd.concat([DATA, wide], axis=1)
  began = time.process_time()
  audit(wide.assign(score=P), table)
  assert time.process_time() - began < 12  # it was 30


def test_two_keys_that_disagree_are_asked_about():
  data = DATA.assign(uid=np.arange(N) + 5, case=[f'c{i}' for i in range(N)])
  rows = data[['uid']].assign(case=data['case'][::-1].to_numpy(), score=P)
  with pytest.raises(UserError, match=r"'case'.* with options={'id': …}"):
    audit(rows, data)
  assert audit(rows, data, id='uid')['auc']['value'] == AUC


@pytest.mark.parametrize('rows', [pd.DataFrame({'score': P}), P, list(P)])
def test_rows_without_a_key_are_said_to_be_taken_in_order(tmp_path, rows):
  found = audit(rows)
  page = found.save(tmp_path / 'run').read_text()
  assert all('in the order of the rows' in one for one in (page, notes(found)))


SERIES = {
  'groups': lambda one: fairjax.assess(one(Y), P, groups=SERIED['sex']),
  'y_score': lambda one: fairjax.assess(SERIED['y'], one(P)),
  'sample_weight': lambda one: fairjax.assess(
    SERIED['y'], P, sample_weight=one(P)
  ),
  'cluster': lambda one: fairjax.assess(SERIED['y'], P, cluster=one(SEX)),
  'decide_by': lambda one: fairjax.thresholds(
    SERIED['y'], P, SEX, decide_by=one(SEX)
  ),
  'groups of a rule': lambda one: RULE.predict(pd.Series(P), one(SEX)),
  'columns': lambda one: fairjax.assess(
    SERIED['y'], P, groups={'a': SEX, 'b': one(SEX)}
  ),
  'model': lambda one: audit(one(P), DATA),
  'weights': lambda one: fairjax.weights(
    pd.DataFrame({'text': list(map(str, P)), 'label': Y}),
    sensitive_features=one(SEX),
  ),
  'table': lambda one: audit(one(P).to_frame('score'), DATA),
}
RULE = fairjax.thresholds(Y, P, SEX, n_resamples=100)
SERIED = {'y': pd.Series(Y), 'sex': pd.Series(SEX)}


@pytest.mark.parametrize('name', SERIES)
def test_a_column_whose_index_is_in_another_order_is_refused(name):
  turned = lambda values: pd.Series(values).iloc[::-1]
  with pytest.raises(UserError, match=r'another order.*reset_index\(drop=True'):
    SERIES[name](turned)
  SERIES[name](pd.Series)  # in the same order it is fine


class Named:
  def __init__(self, *names):
    self.classes_ = np.array(names)

  def predict_proba(self, texts):
    own = P[[int(text) for text in texts]]
    return np.stack([1 - own, own], 1)


TEXTS = DATA.assign(text=[str(i) for i in range(N)])


@pytest.mark.parametrize(
  ('names', 'right'),
  [
    (('acceptable', 'unacceptable'), True),
    (('unacceptable', 'acceptable'), True),
    (('safe', 'unsafe'), True),
    (('unsafe', 'safe'), False),  # class 0 is the one to detect
    (('fine', 'toxic'), True),
  ],
)
def test_classes_of_a_model_are_held_against_numbers_and_named(names, right):
  """A word and its negation say only that they are two: their order was
  turned, and nothing said."""
  found = audit(Named(*names), TEXTS)
  assert found['auc']['value'] == pytest.approx(AUC if right else 1 - AUC)
  assert list(found.results.classes) == list(names if right else names[::-1])
  assert all(name in notes(found) for name in names)


def test_which_label_is_the_one_to_detect_is_said():
  for names in (('acceptable', 'unacceptable'), ('safe', 'unsafe')):
    found = audit(P, DATA.assign(label=np.array(names)[Y]))
    assert 'is read as class 1, the one to detect' in notes(found)


@pytest.mark.parametrize('labels', [float, bool, int, str])
@pytest.mark.parametrize('said', [float, bool, int, str])
def test_decisions_of_any_type_are_labels_or_asked_about(labels, said):
  """Accuracy .210 for .790 where the first label was the positive one."""
  y, decided = Y.astype(labels), (P >= 0.5).astype(int).astype(said)
  call = lambda: fairjax.assess(y, decided, pos_label=y[0], n_resamples=0)
  if labels is str and said is not str:
    return  # beside words they are probabilities
  if said in (int, str) or said is labels:
    assert call()['accuracy']['value'] == ACCURACY
  else:
    with pytest.raises(UserError, match='pos_label is the first label'):
      call()
  known = fairjax.assess(y, decided, pos_label=y[1], n_resamples=0)
  assert known['accuracy']['value'] == ACCURACY
  # Fractions are the chance of the positive label still.
  p = fairjax.assess(y, 1 - P, pos_label=y[0], n_resamples=0)
  assert p['auc']['value'] == pytest.approx(AUC)


def test_reversed_scores_and_percents_divided_twice_are_said():
  found = fairjax.thresholds(Y, 1 - P, SEX, n_resamples=20, min_group=1)
  for said in (found.after.warnings[0], repr(found), found._repr_html_()):
    assert 'the AUC is 0.0' in said and 'reversed?' in said
  small = fairjax.assess(Y, P / 100, n_resamples=0)
  said = 'Were percents divided twice? y_score has no probability above 0.01.'
  assert said in small.warnings


def test_one_number_in_two_spellings_is_said():
  sizes = np.where(SEX == 'f', '1,000', '1000')
  found = fairjax.assess(Y, P, groups=np.where(Y, sizes, 'x'), n_resamples=0)
  rule = fairjax.thresholds(Y, P, sizes, n_resamples=20, min_group=1)
  for one in (found, rule, rule.after):
    said = [w for w in one.warnings if 'one number in two spellings' in w]
    assert len(said) == 1


def test_ids_that_are_numbers_sort_as_numbers(tmp_path):
  audit(P, DATA.assign(id=np.arange(N)[::-1])).save(tmp_path / 'run')
  kept = pd.read_parquet(tmp_path / 'run' / 'predictions.parquet')
  assert kept.sort_values('id')['id'].tolist() == [*range(N)]
