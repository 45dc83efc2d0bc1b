"""Instance weights against scikit-learn, published values and a simulation."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairjax.config import Config, Data, Method, Weighting
from fairjax.core.errors import UserError
from fairjax.data.tables.terms import count_terms, read_terms
from fairjax.methods import crossfit
from fairjax.methods.evidence import evidence
from fairjax.methods.reweight import (
  QUANTILES,
  clip,
  cross_predict,
  ratio,
  report,
  reweight,
  weights,
)


def config_of(seed=0, terms='', **knobs):
  method = Method(terms=terms)
  return Config(seed=seed, method=method, weighting=Weighting(**knobs))


def table_of(texts, labels, **columns):
  table = pd.DataFrame({'id': [f'train-{i}' for i in range(len(texts))]})
  labels = np.array(labels, np.int64)
  return table.assign(text=texts, label=labels, **columns)


def gendered(n=600, seed=0, classes=2):
  """Short texts whose label leans on the gender word."""
  rng = np.random.default_rng([seed, 1])
  words = ['he', 'she', 'the man', 'a woman', 'nobody', 'her brother']
  pick = rng.integers(0, len(words), n)
  label = np.where(rng.random(n) < 0.7, pick % classes, rng.integers(classes))
  texts = [f'{words[k]} came by {"so " * (i % 3)}' for i, k in enumerate(pick)]
  return table_of(texts, label)


# Counting


def test_words_are_counted_between_any_separators():
  texts = ['Gay, gay gay! (GAY)', 'a middle-aged man', '', 'gayer  day', 'Ünal']
  counts, length = count_terms(texts, ['gay', 'middle aged', 'aged', 'ünal'])
  none = [0, 0, 0, 0]
  wanted = [[4, 0, 0, 0], [0, 1, 1, 0], none, none, [0, 0, 0, 1]]
  assert counts.toarray().tolist() == wanted
  assert length.tolist() == [4, 4, 0, 2, 1]


def test_counts_equal_a_slow_twin(monkeypatch):
  monkeypatch.setattr('fairjax.data.tables.terms.BLOCK', 7)  # several blocks
  rng = np.random.default_rng(3)
  parts = ['a', 'b', 'c', 'd', 'x']
  texts = [' '.join(rng.choice(parts, rng.integers(0, 9))) for _ in range(300)]
  terms = ['a', 'b', 'a b', 'b b', 'a b c', 'q']
  counts, length = count_terms(texts, terms)
  for i, text in enumerate(texts):
    words = text.split()
    assert length[i] == len(words)
    for j, term in enumerate(terms):
      t = term.split()
      starts = range(len(words) - len(t) + 1)
      slow = sum(words[s : s + len(t)] == t for s in starts)
      assert counts[i, j] == slow


def test_bad_term_files(tmp_path):
  path = tmp_path / 'terms.txt'
  with pytest.raises(UserError, match='does not exist'):
    read_terms(str(path))
  for content, says in (
    *(('', 'is empty'), ('\n\n', 'is empty')),
    *(
      ('a\nb\nA\n', 'line 3 .* repeats line 1'),
      ('a\n&\n', 'line 2 .* no word'),
    ),
  ):
    path.write_text(content)
    with pytest.raises(UserError, match=says):
      read_terms(str(path))


# P(y|z)


def rows_of_z(n=400, classes=2, seed=0):
  rng = np.random.default_rng([seed, 2])
  z = rng.poisson(0.4, (n, 9)) * np.array([1, 0.37, 1, 1, 2.1, 1, 1, 1, 1])
  score = z[:, :classes] * 1.5 + rng.gumbel(size=(n, classes))
  return z, score.argmax(1)


@pytest.mark.parametrize(
  ('classes', 'k', 'criterion', 'depth'),
  [(2, 5, 'entropy', 18), (3, 4, 'gini', 3), (2, 60, 'entropy', 27)],
)
def test_the_forest_is_cross_val_predict(classes, k, criterion, depth):
  """The oracle: equal to the last bits although each z is written once."""
  z, label = rows_of_z(classes=classes)
  trees = 30 if k < 60 else 3
  model = RandomForestClassifier(
    trees, max_depth=depth, criterion=criterion, random_state=233
  )
  theirs = cross_val_predict(model, z, label, cv=k, method='predict_proba')
  rows = crossfit.distinct(z), label, crossfit.folds(label, k), classes
  knobs = dict(trees=trees, depth=depth, criterion=criterion, seed=233)
  ours = crossfit.forest(*rows, **knobs)
  assert len(crossfit.distinct(z).values) < len(z)
  np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)


def test_the_forest_is_the_same_in_processes(monkeypatch):
  z, label = rows_of_z()
  rows = crossfit.distinct(z), label, crossfit.folds(label, 3), 2
  knobs = dict(trees=30, depth=9, criterion='gini', seed=1)
  alone = crossfit.forest(*rows, **knobs)
  monkeypatch.setattr(crossfit, 'PARALLEL', 0)
  assert (crossfit.forest(*rows, **knobs) == alone).all()


@pytest.mark.parametrize('classes', [2, 3])
def test_the_logistic_is_cross_val_predict(classes):
  z, label = rows_of_z(classes=classes)
  z = (z - z.mean(0)) / z.std(0)  # they would standardise within the fold
  model = LogisticRegression(max_iter=1000, tol=1e-8)
  theirs = cross_val_predict(model, z, label, cv=6, method='predict_proba')
  fold = crossfit.folds(label, 6)
  ours = crossfit.logistic(crossfit.distinct(z), label, fold, classes)
  np.testing.assert_allclose(ours, theirs, atol=1e-4)
  scaled = make_pipeline(StandardScaler(), LogisticRegression())
  near = cross_val_predict(scaled, z, label, cv=6, method='predict_proba')
  np.testing.assert_allclose(ours, near, atol=0.02)


def test_the_count_equals_a_slow_twin():
  z, label = rows_of_z(n=150, classes=3)
  fold = crossfit.folds(label, 7)
  ours = crossfit.count(crossfit.distinct(z), label, fold, 3)
  for i in range(len(z)):
    others = fold != fold[i]
    same = others & (z == z[i]).all(1)
    prior = np.bincount(label[others], minlength=3) / others.sum()
    slow = np.bincount(label[same], minlength=3) + prior
    np.testing.assert_allclose(ours[i], slow / (same.sum() + 1))


# Weights


def test_golden_four_rows():
  label = np.array([0, 0, 1, 1])
  p = np.array([0.8, 0.4, 0.5, 0.25])
  w = ratio(label, p)
  np.testing.assert_allclose(w, [2 / 3, 4 / 3, 2 / 3, 4 / 3], rtol=1e-15)
  np.testing.assert_allclose(ratio(np.array([0, 2, 2, 2]), p)[0], 1)
  with pytest.raises(UserError, match='label 0 have mean 1; choose'):
    clip(np.zeros(2, int), np.array([0.5, 1.5]), 1.0)


@pytest.mark.parametrize('estimator', ['forest', 'logistic', 'count'])
def test_every_class_has_mean_weight_one(estimator):
  table = gendered()
  made = weights(table, config_of(estimator=estimator, n_estimators=20))
  assert made['id'].tolist() == table['id'].tolist()
  for c in (0, 1):
    rows = (table['label'] == c).to_numpy()
    assert abs(made['weight'][rows].mean() - 1) < 1e-12
  # Rows without a gender word have the class prior.
  none = table['text'].str.startswith('nobody').to_numpy()
  prior = table['label'].value_counts(normalize=True)
  expect = table['label'].map(prior)[none]
  np.testing.assert_allclose(made['p'][none], expect)


@pytest.mark.parametrize('limit', [1.2, 2.0, 50.0])
def test_clipping_keeps_the_class_means_and_the_order(limit):
  rng = np.random.default_rng(0)
  label = rng.integers(0, 2, 500)
  raw = ratio(label, rng.beta(1, 2, 500))
  w = clip(label, raw, limit)
  assert w.max() <= limit
  for c in (0, 1):
    assert abs(w[label == c].mean() - 1) < 1e-12
    assert (np.diff(w[label == c][np.argsort(raw[label == c])]) >= 0).all()
    below = (label == c) & (w < limit - 1e-9)
    scale = w[below] / raw[below]
    np.testing.assert_allclose(scale, scale[0])  # one factor a class
  if limit > raw.max():
    np.testing.assert_allclose(w, raw)


def test_the_method_weights_training_and_validation_only():
  table = gendered()
  tables = {'train': table[:400], 'valid': table[400:500], 'test': table[500:]}
  config = config_of(n_estimators=10)
  out = reweight(tables, config)
  both = pd.concat([out['train'], out['valid']])
  for c in (0, 1):
    assert abs(both['weight'][both['label'] == c].mean() - 1) < 1e-12
  assert 'weight' not in out['test'] and 'weight' not in tables['train']
  again = reweight(tables, config)['train']['weight']
  assert (again == out['train']['weight']).all()
  other = reweight(tables, dataclasses.replace(config, seed=5))
  assert (other['train']['weight'] != again).any()
  doubled = {**tables, 'train': tables['train'].assign(weight=2.0)}
  twice = reweight(doubled, config)['train']['weight']
  np.testing.assert_allclose(twice, 2 * again)


TABLE1 = {  # term: comments, share toxic (the paper's Table 1)
  'gay': (868, 0.574),
  'homosexual': (202, 0.344),
  'mexican': (116, 0.216),
  'blind': (257, 0.148),
  'black': (1123, 0.131),
}


@pytest.mark.parametrize('estimator', ['count', 'forest'])
def test_the_pattern_of_the_papers_table_1(tmp_path, estimator):
  """159,686 comments, 9.6 % toxic: the weights undo each term's share."""
  path = tmp_path / 'terms.txt'
  path.write_text('\n'.join(TABLE1))
  texts, labels = [], []
  for term, (rows, share) in TABLE1.items():
    toxic = round(rows * share)
    texts += [f'a {term} person'] * rows
    labels += [1] * toxic + [0] * (rows - toxic)
  rest = 159_686 - len(texts)
  toxic = round(159_686 * 0.096) - sum(labels)
  texts += ['a plain person'] * rest
  labels += [1] * toxic + [0] * (rest - toxic)
  order = np.random.default_rng(0).permutation(len(texts))
  table = table_of(np.array(texts, object)[order], np.array(labels)[order])
  config = config_of(
    z='terms', terms=str(path), estimator=estimator, n_estimators=10
  )
  made = weights(table, config)
  for term, (rows, share) in TABLE1.items():
    has = table['text'].str.contains(term)
    for y, p in ((1, share), (0, 1 - share)):
      some = made['weight'][has & (table['label'] == y)]
      q = (0.904, 0.096)[y]
      # Folds and, for the forest, bootstraps move p by its sampling error.
      error = 4 * np.sqrt((1 - p) / (p * rows))
      assert some.mean() == pytest.approx(q / p, rel=error)
  out = report(table, made, config)
  gaps = {row['term']: row for row in out['terms']}
  assert gaps['gay']['rows'] == 868
  assert gaps['gay']['positive'] == pytest.approx(0.0325, abs=2e-4)
  assert gaps['gay']['gap'] > 0.025
  for row in gaps.values():
    assert abs(row['weighted_gap']) < 0.06 * max(row['weighted_overall'], 0.003)


@pytest.mark.parametrize('estimator', ['exact', 'count', 'forest'])
def test_weighted_risk_is_the_risk_without_discrimination(estimator):
  """The theorem, by simulation.

  Fair world: y and z independent, x given (y, z). Selection by (y, z) leaves
  P(z) as it was. The risk of a fixed classifier, weighted, on selected data
  must be its risk in the fair world.
  """
  rng = np.random.default_rng([7, 1])
  q_z = np.array([0.5, 0.35, 0.15])
  p_toxic = np.array([0.1, 0.4, 0.75])  # P(y=1|z) after selection
  q_y = np.array([1 - q_z @ p_toxic, q_z @ p_toxic])  # what P(y) then is
  chosen = np.stack([(1 - p_toxic) / q_y[0], p_toxic / q_y[1]])  # y z
  chosen /= chosen.max()
  # Keep P(z): sum_y q(y) s(y, z) is constant over z by construction.
  np.testing.assert_allclose(np.ptp(q_y @ chosen), 0, atol=1e-12)

  def world(n):
    y = rng.choice(2, n, p=q_y)
    z = rng.choice(3, n, p=q_z)
    x = rng.normal(y + 0.8 * z, 1)
    return y, z, x

  def loss(y, x):  # a fixed classifier that leans on what z moved
    return np.logaddexp(0, -(2 * y - 1) * (1.3 * x - 1))

  y, _, x = world(400_000)
  fair = loss(y, x)
  y, z, x = world(250_000)
  kept = rng.random(len(y)) < chosen[y, z]
  y, z, x = y[kept], z[kept], x[kept]
  table = table_of([''] * len(y), y, z=z.astype(str))
  if estimator == 'exact':
    own = np.where(y == 1, p_toxic[z], 1 - p_toxic[z])
    w = q_y[y] / own
  else:
    config = config_of(z='columns:z', estimator=estimator, n_estimators=10)
    w = weights(table, config)['weight'].to_numpy()
  ours = w * loss(y, x)
  error = np.hypot(
    fair.std() / np.sqrt(len(fair)), ours.std() / np.sqrt(len(ours))
  )
  assert abs(ours.mean() - fair.mean()) < 3 * error
  assert abs(loss(y, x).mean() - fair.mean()) > 10 * error  # the bias is real


def test_a_label_that_follows_z_is_a_finite_weight_and_a_warning():
  table = gendered()
  table['label'] = table['text'].str.startswith('he').astype(int)
  table.loc[table.index[table['label'] == 1][0], 'label'] = 0
  config = config_of(n_estimators=20)
  made = weights(table, config)
  label = table['label'].to_numpy()
  p = cross_predict(evidence(table, config), label, config)
  p = p[np.arange(len(p)), label]  # of no vote: half of one, or the least
  least = min(0.5 / 20, p[p > 0].min())
  assert (p == 0).any()
  np.testing.assert_array_equal(made['p'], np.where(p > 0, p, least))
  np.testing.assert_allclose(made['weight'], ratio(label, made['p'].to_numpy()))
  out = report(table, made, config)
  assert out['near_zero']['share'] > 0
  assert any('P(y|z) is below' in line for line in out['warnings'])


def test_the_report_adds_up():
  """Of given weights and chances, by numpy."""
  table, rng = gendered(), np.random.default_rng(0)
  label, p = table['label'].to_numpy(), rng.uniform(0.1, 0.9, 600)
  p[:4], w = [0.02, 0.03, 0.04, 0.05], rng.gamma(0.6, size=600)
  given = table[['id']].assign(weight=w, p=p)
  config = config_of(n_estimators=20, max_weight=1.5)
  out, z = report(table, given, config), evidence(table, config)
  kish = lambda x: x.sum() ** 2 / (x * x).sum()
  classes = [label == 0, label == 1]
  raw = 1 / p / np.choose(label, [(1 / p[own]).mean() for own in classes])
  over = np.maximum(raw - 1.5, 0)
  mass = over.sum() / raw.sum()
  for name, value in {
    'rows': 600,
    'columns': 6,  # he, she, man, woman, her, brother
    'distinct': len({*map(tuple, z.values[z.fitted].tolist())}),
    'rows_with_prior': table['text'].str.startswith('nobody').sum(),
    'effective': kish(w),
    'effective_by_class': [kish(w[own]) for own in classes],
    'mean_by_class': [w[own].mean() for own in classes],
    'quantiles': {str(q): np.quantile(w, q) for q in QUANTILES},
    'clip': {'limit': 1.5, 'rows': (over > 0).sum(), 'mass': mass},
    'near_zero': {'below': 0.05, 'share': 3 / 600},  # a vote of 20 trees
  }.items():
    assert out[name] == pytest.approx(value), name
  made = [cross_predict(z, label, config, n) for n in ('logistic', 'count')]
  made = [p, *(one[np.arange(600), label] for one in made)]
  names = ['forest', 'logistic', 'count']
  for one, name, own in zip(out['estimators'], names, made, strict=True):
    weight = ratio(label, own)
    assert one.pop('name') == name
    assert one == pytest.approx(
      {
        **{'log_loss': -np.log(own).mean(), 'largest': weight.max()},
        'effective': kish(weight),
        'correlation': np.corrcoef(1 / own, 1 / p)[0, 1],
      }
    )
  for row in out['terms']:
    has = table['text'].str.contains(rf'\b{row["term"]}\b').to_numpy()
    assert row['rows'] == has.sum()
    for weight, kind in ((np.ones(600), ''), (w, 'weighted_')):
      shares = [weight[has & own].sum() / weight[own].sum()
                for own in (classes[1], label >= 0)]  # fmt: skip
      found = [row[kind + k] for k in ('positive', 'overall', 'gap')]
      assert found == pytest.approx([*shares, shares[0] - shares[1]])
  told = [line.split()[0] for line in out['warnings']]
  assert told == ['P(y|z)', 'the', 'weighting.max_weight']
  config = config_of(estimator='count')
  p = np.r_[0.01, np.full(599, 0.5)]
  out = report(table, given.assign(weight=1.0, p=p), config)
  assert out['near_zero'] == {'below': 0.01, 'share': 0}
  assert out['clip'] == {'limit': 0, 'rows': 0, 'mass': 0}
  assert out['effective'] == 600 and out['warnings'] == []


# z


def test_tf_idf_by_hand():
  texts = ['he he ran', 'she ran', 'he and she', 'nobody ran', 'she she', 'he']
  z = evidence(table_of(texts, [0, 1, 0, 1, 0, 0]), config_of())
  assert z.names == ['he', 'she']
  assert z.fitted.tolist() == [True, True, True, False, True, True]
  idf = np.log(5 / 4)  # each word is in 3 of the 5 rows that have one
  tf = [[2, 0], [0, 1], [1, 1], [0, 0], [0, 2], [1, 0]]
  np.testing.assert_allclose(z.values, idf * np.array(tf), rtol=1e-6)


def test_terms_and_identity_columns(tmp_path):
  path = tmp_path / 'terms.txt'
  path.write_text('gay\nblack\nnever there\n')
  table = table_of(
    ['a gay man', 'Black and black', 'the sea'],
    [0, 1, 0],
    male=[0.2, np.nan, 1.0],
    muslim=[0, 0, 0.5],
  )
  z = evidence(table, config_of(z='terms', terms=str(path)))
  assert z.names == ['gay', 'black', 'length']
  assert z.values.tolist() == [[1, 0, 3], [0, 2, 3], [0, 0, 2]]
  z = evidence(table, config_of(z='identity', terms=str(path)))
  assert z.names == ['male', 'muslim', 'gay', 'black', 'length']
  np.testing.assert_allclose(z.values[:, 0], [0.2, 0, 1])
  assert z.terms == ['male', 'muslim', '"gay"', '"black"']
  assert z.present.toarray().tolist() == [
    [False, False, True, False],
    [False, False, False, True],
    [True, True, False, False],
  ]
  z = evidence(table, config_of(z='terms'))  # our own list
  assert {'gay', 'black'} <= set(z.names)


def test_columns_are_numbers_or_one_indicator_a_value():
  more = {'age': ['3', '4', '5', '3'], 'sex': ['f', '', None, 'm']}
  more |= {'gap': ['1', '', '2', '3'], 'none': '', 'lost': None, 'one': 1}
  table = table_of(['x'] * 4, [0, 1, 0, 1], **more)
  named = Config(data=Data(group='age, sex'), weighting=Weighting(z='group'))
  z = evidence(table, named)
  assert z.names == z.terms == ['age', 'sex=', 'sex=f', 'sex=m']
  each = [[3, 0, 1, 0], [4, 1, 0, 0], [5, 1, 0, 0], [3, 0, 0, 1]]
  assert z.values.tolist() == each and z.fitted.all()
  assert (z.present.toarray() == (z.values > 0)).all()
  assert evidence(table, config_of(z='columns:sex,none')).names[-1] == 'none='
  for name, says in {
    'label': 'names the label itself',
    'size': r"names the column 'size'; the table has id, text",
    'gap': "column 'gap' .* is empty in row train-1; fill",
    'one': 'z is the same in all 4 rows',
    'none': "column 'none' .* is empty in every training row",
    'lost': "column 'lost' .* is empty in every training row",
  }.items():
    with pytest.raises(UserError, match=says):
      reweight({'train': table}, config_of(z=f'columns:{name}', folds=2))


def test_terms_that_no_row_has_are_told(tmp_path):
  path = tmp_path / 'terms.txt'
  path.write_text('zebra\nyak\n')
  table = table_of(['he', 'she'] * 6, [0, 1] * 6)
  with pytest.raises(UserError, match='none of the 2 identity terms'):
    weights(table, config_of(folds=2, z='terms', terms=str(path)))
  table['text'] = 'sea'
  with pytest.raises(UserError, match='gender words occurs'):
    weights(table, config_of(folds=2))
