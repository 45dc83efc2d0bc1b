"""The library: what scikit-learn and pandas users hand in and get back."""

import json
import pathlib
import re
import shutil
import warnings

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import programs
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

import fairjax
from fairjax import stages
from fairjax.config import Config, shipped
from fairjax.core.errors import UserError
from fairjax.metrics.group_thresholds import Thresholds
from fairjax.recipes import norms
from fairjax.train import loop
from fairjax.train.progress import Log


@pytest.fixture(scope='module')
def data():
  rng = np.random.default_rng(0)
  n = 300
  y = rng.integers(0, 2, n)
  p = np.clip(0.3 * y + rng.random(n) * 0.7, 0, 1)
  frame = pd.DataFrame(
    {
      'gender': rng.choice(['f', 'm', None], n, p=[0.5, 0.4, 0.1]),
      'age': rng.choice(['young', 'old'], n),
    }
  )
  return y, p, frame


def test_import_is_light():
  code = (
    'import sys, time; t = time.process_time(); import fairjax;'
    'print(time.process_time() - t, "jax" in sys.modules, "assess" in '
    'dir(fairjax))'
  )
  out = programs.printed('-c', code).split()
  assert float(out[0]) < 0.3 and out[1:] == ['False', 'True']
  with pytest.raises(AttributeError, match='no attribute'):
    fairjax.asses  # noqa: B018


def test_assess_agrees_with_scikit_learn_and_fairlearn(data):
  fairlearn = pytest.importorskip('fairlearn.metrics')
  y, p, frame = data
  result = fairjax.assess(y, p, frame['gender'], n_resamples=200)
  assert result['accuracy']['value'] == accuracy_score(y, p >= 0.5)
  assert result['auc']['value'] == pytest.approx(roc_auc_score(y, p))
  known = frame['gender'].notna().to_numpy()
  gap = fairlearn.demographic_parity_difference(
    y[known], p[known] >= 0.5, sensitive_features=frame['gender'][known]
  )
  assert result['dp']['value'] == pytest.approx(1 - gap)
  assert result['dp']['low'] < result['dp']['value'] < result['dp']['high']
  rows = result.to_frame()
  assert set(rows['group']) == {'', 'f', 'm'}
  assert list(result.groups.index) == ['f', 'm']
  assert 'accuracy' in repr(result) and '<table' in result._repr_html_()
  assert result.plot('tpr').axes


def test_several_columns_and_names(data):
  y, p, frame = data
  words = np.where(y == 1, 'toxic', 'fine')
  both = fairjax.assess(
    words, p, frame, pos_label='toxic', intersections=True, n_resamples=0
  )
  plain = fairjax.assess(y, p, frame['age'], n_resamples=0)
  assert both['age/dp']['value'] == plain['dp']['value']
  assert 'gender × age/dp' in both.results.measured('model', 'data')
  turned = fairjax.assess(words, 1 - p, pos_label='fine', n_resamples=0)
  assert turned['auc']['value'] == pytest.approx(plain['auc']['value'])
  seeds = fairjax.assess(y, np.stack([p, p[::-1]]), n_resamples=0)
  assert len(seeds['auc']['seeds']) == 2
  three = np.eye(3)[y + 1] * 0.5 + 1 / 6
  labels = np.array(list('abc'))[y + 1]
  labels[:3] = 'a'
  assert fairjax.assess(labels, three, n_resamples=0)['accuracy']['value'] > 0.9


def test_compare_is_of_the_same_rows(data):
  y, p, frame = data
  a = fairjax.assess(y, p, frame['age'], n_resamples=200)
  b = fairjax.assess(y, np.full(len(y), 0.4), frame['age'], n_resamples=200)
  test = fairjax.compare(a, b)
  gap = a['accuracy']['value'] - b['accuracy']['value']
  assert test['accuracy']['difference']['value'] == pytest.approx(gap)
  assert test['accuracy']['p'] < 0.05
  assert {'measure', 'value', 'low', 'high', 'p'} <= set(test.to_frame())
  assert '<table' in test._repr_html_() and test.plot().axes
  with pytest.raises(UserError, match='different labels'):
    fairjax.compare(a, fairjax.assess(1 - y, p, n_resamples=0))


def test_swap_keeps_the_kind_of_column():
  assert fairjax.swap('She lost her keys.') == 'He lost his keys.'
  series = pd.Series(['Mary left.', 'a dog'], index=[5, 2], name='t')
  out = fairjax.swap(series)
  assert list(out.index) == [5, 2] and out[2] == 'a dog' and out[5] != series[5]
  assert fairjax.swap(['he'], direction='female') == ['she']
  assert fairjax.swap(['red car'], words=[['red', 'blue']]) == ['blue car']


def test_a_column_in_which_nothing_is_exchanged_is_told():
  texts = ['Die Muslime kamen.', 'Es regnet.']
  with pytest.warns(UserWarning, match='none of 2 texts has a word'):
    assert fairjax.swap(texts, axis='religion') == texts
  with warnings.catch_warnings():
    warnings.simplefilter('error')
    assert fairjax.swap([], axis='religion') == []
    assert fairjax.swap('It rained.') == 'It rained.'
    assert fairjax.swap(['She ran.', 'It rained.'])[0] == 'He ran.'


def test_words_of_a_swap_may_be_a_mapping():
  text = 'A cat and a dog.'
  assert fairjax.swap(text, words={'cat': 'dog'}) == 'A dog and a cat.'
  assert fairjax.swap(text, words=[('cat', 'dog')]) == 'A dog and a cat.'
  assert fairjax.swap('cat', words={'cat': ['emu', 'dog']}) in ('emu', 'dog')
  for words in (['cat', 'dog'], [1], [('cat', 2)], {'cat': 2}):
    with pytest.raises(fairjax.api.UserError, match='no group of words'):
      fairjax.swap(text, words=words)


def test_weights_and_diets_of_a_table():
  texts = ['she is fine', 'he is fine', 'she is bad', 'he is bad'] * 30
  label = ([0, 0, 1, 1] * 30)[:118] + [0, 1]
  table = pd.DataFrame({'text': texts, 'label': label}, index=range(7, 127))
  w = fairjax.weights(table, options={'estimator': 'count'})
  assert list(w.index) == list(table.index) and np.allclose(w.mean(), 1, 0.1)
  who = table.text.str[:2].rename('who')
  named = fairjax.weights(table.assign(who=who), 'columns:who')
  assert named.equals(fairjax.weights(table, sensitive_features=who.to_frame()))
  table['ge'] = np.arange(120.0)
  out = fairjax.diet(table, 0.25, 0.5)
  assert (out['origin'] == 'twin').sum() == 60 and len(out) == 90
  assert out['id'].is_unique and out['text'].str.startswith(('she', 'he')).all()


@pytest.fixture(scope='module')
def folder(small_and_alone, tmp_path_factory):
  """A tiny classifier, written as a Hugging Face folder."""
  path = tmp_path_factory.mktemp('model')
  config = Config(model='tiny', seeds=1)
  config.planted.rows = config.planted.test_rows = 20
  config.tokens.vocab_size = 200
  with Log(path, main=False) as log:
    tables = stages.load(config, path, log)
    bundle = stages.prepare(config, tables, log)
    params = loop.initial(bundle, [0])
    stages.write_models(config, bundle, params, path)
  return path / 'seed_0', tables['train']


def test_a_folder_predicts_as_transformers_does(folder, torch):
  transformers = pytest.importorskip('transformers')
  path, table = folder
  model = fairjax.load(path)
  texts = list(table['text'][:5])
  ours = model.predict_proba(texts)
  peer = transformers.AutoModelForSequenceClassification.from_pretrained(path)
  words = transformers.AutoTokenizer.from_pretrained(path)
  with torch.no_grad():
    logits = peer.eval()(**words(texts, padding=True, return_tensors='pt'))
  theirs = torch.softmax(logits.logits, -1).numpy()
  np.testing.assert_allclose(ours, theirs, atol=1e-5)
  assert list(model.predict(texts)) == [
    peer.config.id2label[i] for i in theirs.argmax(-1)
  ]
  assert model.predict_proba([]).shape == (0, 2)
  with pytest.raises(UserError, match='no text'):
    model.predict_proba(['a', None])


def test_a_folder_that_names_no_class_has_those_of_transformers(
  folder, tmp_path
):
  """transformers writes no id2label of two classes that nobody has named."""
  source, table = folder
  path = shutil.copytree(source, tmp_path / 'unsaid')
  config = json.loads((path / 'config.json').read_text())
  for field in ('id2label', 'label2id', 'num_labels'):
    config.pop(field, None)
  (path / 'config.json').write_text(json.dumps(config))
  model = fairjax.load(path)
  texts = list(table['text'][:4])
  assert list(model.classes_) == ['LABEL_0', 'LABEL_1']
  numbers = model.predict_proba(texts).argmax(-1)
  assert list(model.predict(texts)) == [f'LABEL_{i}' for i in numbers]
  assert model.predict_proba([]).shape == (0, 2)
  assert 'el2n' in fairjax.score(model, table.head(4), names=['el2n'])


def test_a_model_decides_by_the_thresholds_of_groups(folder, tmp_path):
  path, table = folder
  model = fairjax.load(path)
  texts = list(table['text'][:6])
  p = model.predict_proba(texts)[:, 1]
  rule = Thresholds('equal_fpr', {'f': float(p.max()), 'm': 0.0}, 1.0)
  groups = ['f', 'm', 'f', 'm', 'f', 'm']
  expected = [one == 'm' or p[k] >= p.max() for k, one in enumerate(groups)]
  rule.save(tmp_path / 'thresholds.json')
  names = ('groups', 'sensitive_features')
  for given, name in zip((rule, tmp_path / 'thresholds.json'), names):
    found = model.predict(texts, thresholds=given, **{name: groups})
    assert list(found) == list(model.classes_[np.array(expected, int)])
  with pytest.raises(UserError, match='need the group of each text'):
    model.predict(texts, thresholds=rule)
  with pytest.raises(UserError, match='thresholds is 7; what'):
    model.predict(texts, thresholds=7, groups=groups)
  for odd in ('one text', table, {'he ran': 1}, 7, None):  # letters, names
    with pytest.raises(UserError, match='; a column of texts is needed'):
      model.predict_proba(odd)
  with pytest.raises(UserError, match='batch_size is 0'):
    model.predict_proba(texts, batch_size=0)


def test_scores_feed_a_diet(folder, tmp_path):
  path, table = folder
  model = fairjax.load(path)
  scored = fairjax.score(model, table, ('ge', 'el2n', 'grand'))
  assert list(scored['id']) == list(table['id'])
  p = model.predict_proba(table['text'])
  wrong = p - np.eye(2)[table['label']]
  el2n = np.sqrt((wrong**2).sum(-1))
  np.testing.assert_allclose(scored['el2n'], el2n, atol=1e-5)
  assert (scored['grand'] > 0).all()
  assert len(fairjax.diet(scored, 0.5, 0.25, ranking='healthy_el2n')) == 15
  with pytest.raises(UserError, match='over epochs'):
    fairjax.score(model, table, ['forgetting'])
  config = shipped('norms')
  table.to_csv(rows := tmp_path / 'rows.csv')
  config.model, config.data.id, config.data.path = str(path), 'id', str(rows)
  most = scored['id'][scored['grand'].idxmax()]
  page = f'class="lead">Of {len(table)} rows, {most} has the largest GraNd'
  norms.run(config, tmp_path)
  assert page in (tmp_path / 'report.html').read_text('utf-8')
  kept = pd.read_parquet(tmp_path / 'scores.parquet')
  pd.testing.assert_frame_equal(kept[['id', 'grand']], scored[['id', 'grand']])


def test_a_classifier_predicts_by_integers(folder):
  path, table = folder
  model = fairjax.load(path, precision='int8')
  exact = fairjax.load(path).predict_proba(table['text'])
  near = model.predict_proba(table['text'])
  assert 0 < np.abs(near - exact).max() < 0.02
  with pytest.raises(UserError, match='no gradient'):
    fairjax.score(model, table, ['grand'])
  with pytest.raises(UserError, match="precision is 'int4'"):
    fairjax.load(path, precision='int4')


def test_the_readme_lines_run(folder, tmp_path, monkeypatch):
  readme = pathlib.Path(__file__).parent.parent / 'README.md'
  blocks = re.findall(r'```python\n(.*?)```', readme.read_text(), re.S)
  path, table = folder
  rng = np.random.default_rng(0)
  names = {
    'df': table.assign(gender=['f', 'm'] * 10, site=['a', 'a', 'b', 'b'] * 5),
    'model': lambda texts: [0.9 if 'he ' in t else 0.2 for t in texts],
    'prompts_to_texts': lambda prompts: [f'so {p}' for p in prompts],
    'y_true': table['label'],
    'y_score': rng.random(len(table)),
    'other': rng.random(len(table)),
    'folder': path,
  }
  assert blocks
  monkeypatch.chdir(tmp_path)  # where the audit's page goes
  pd.DataFrame({'id': table['id'], 'p': rng.random(len(table))}).to_csv(
    'predictions.csv', index=False
  )
  for block in blocks:
    exec(block, names)
  assert (tmp_path / 'audit' / 'report.html').exists()
  assert 0 <= names['result']['dp']['value'] <= 1
  assert len(names['diet']) == 16 and names['df']['weight'].notna().all()


def test_gradient_norms_of_ones_own_model():
  net = nn.Sequential([nn.Dense(3), nn.relu, nn.Dense(1)])
  x = jnp.asarray(np.random.default_rng(0).normal(size=(4, 2)))
  params = net.init(jax.random.key(0), x)['params']
  loss = lambda y, t: jnp.sum((y - t) ** 2, -1)
  norms = fairjax.gradient_norms(net, params, x, jnp.ones((4, 1)), loss)
  one = jax.grad(
    lambda p: loss(net.apply({'params': p}, x[:1]), jnp.ones((1, 1)))[0]
  )(params)
  expected = np.sqrt(sum(float((g**2).sum()) for g in jax.tree.leaves(one)))
  np.testing.assert_allclose(norms[0], expected, rtol=1e-5)


def test_rows_of_one_cluster_are_drawn_together():
  rng = np.random.default_rng(0)
  y, p = rng.integers(0, 2, 60), rng.random(60)
  groups = np.array(['a', 'b'])[rng.integers(0, 2, 60)]
  who = np.arange(60)
  width = lambda one: one['high'] - one['low']
  assess = lambda k, **more: fairjax.assess(
    np.tile(y, k), np.tile(p, k), groups=np.tile(groups, k), **more
  )
  alone = assess(1, n_resamples=1000)
  thrice = assess(3, n_resamples=1000)
  told = assess(3, n_resamples=1000, cluster=pd.Series(np.tile(who, 3)))
  for name in ('dp', 'accuracy', 'auc', 'fpr'):
    assert width(thrice[name]) < 0.75 * width(alone[name])
    assert 0.85 < width(told[name]) / width(alone[name]) < 1.2, name
  assert any('180 rows are 60 clusters' in w for w in told.warnings)
  other = assess(3, n_resamples=1000)
  compared = fairjax.compare(told, other)['accuracy']['difference']
  assert compared['value'] == 0


def test_a_table_keeps_its_labels_and_each_row_needs_a_text():
  """Names came back as numbers; no text was a traceback of arrow."""
  text = [f'{"She" if k % 2 else "He"} ran {k}.' for k in range(20)]
  table = pd.DataFrame({'text': text, 'label': ['ok', 'toxic'] * 10})
  taken = fairjax.diet(table.assign(ge=np.arange(20.0)), ranking='healthy_ge')
  assert set(taken['label']) == {'ok', 'toxic'} and len(taken) == 16
  label = dict(zip(text, table['label']))
  for _, row in taken[taken['origin'] == ''].iterrows():
    assert label[row['text']] == row['label']
  table.loc[3, 'text'] = None
  for call in (
    lambda: fairjax.weights(table, options={'estimator': 'count'}),
    lambda: fairjax.diet(table.assign(ge=0.0)),
  ):
    with pytest.raises(UserError, match=r'row 3 has \w+ for a text'):
      call()
