"""The recipe: weights to results, its table, its daggers, its sentences."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from fairjax import config as c
from fairjax import stages
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables import files, hygiene
from fairjax.methods import reweight
from fairjax.methods.evidence import evidence
from fairjax.metrics.inference import significance
from fairjax.recipes.weighting import algorithm
from fairjax.recipes.weighting import experiment as weighting
from fairjax.report.measured import daggers
from fairjax.stages import Experiment
from fairjax.train.progress import Log

GLOVE = 'he she man woman her his boy girl kind rude'.split()


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
  return tmp_path_factory.mktemp('weighting')


@pytest.fixture(scope='module')
def config(folder):
  """260 short texts: 'rude' tells the label, and so does a woman."""
  rng = np.random.default_rng(0)
  label = rng.integers(0, 2, 260)
  woman = np.where(rng.random(260) < 0.85, label, 1 - label)
  who = np.array([['he', 'a man', 'his boy'], ['she', 'a woman', 'her girl']])
  text = [
    f'{who[w, rng.integers(3)]} was {"rude" if y else "kind"}'
    for w, y in zip(woman, np.where(rng.random(260) < 0.7, label, 1 - label))
  ]
  table = pd.DataFrame({'text': text, 'label': label})
  table['group'] = np.array(['male', 'female'])[woman]
  table['split'] = np.repeat(['train', 'valid', 'test'], [80, 30, 150])
  table['age'] = rng.integers(20, 60, 260)
  table['town'] = np.array(['x', 'y'])[rng.integers(0, 2, 260)]
  table.to_csv(folder / 'data.csv', index=False)
  vectors = rng.normal(size=(len(GLOVE), 8))
  lines = [f'{w} ' + ' '.join(map(str, v)) for w, v in zip(GLOVE, vectors)]
  (folder / 'glove.txt').write_text('\n'.join(lines))
  return c.Config(
    recipe='weighting',
    model='lstm',
    seeds=2,
    data=c.Data(
      name='file', path=str(folder / 'data.csv'), group='group', split='split'
    ),
    tokens=c.Tokens(max_length=8),
    net=c.Net(glove=str(folder / 'glove.txt')),
    train=c.Train(
      lr=1e-2, optimizer='rmsprop', batch=16, epochs=4, schedule='constant'
    ),
    weighting=c.Weighting(
      estimator='count', rows=('baseline', 'swap', 'weight', 'weight+')
    ),
    measures=c.Measures(resamples=50),
  )


@pytest.fixture(scope='module')
def run(config, folder):
  return weighting.run(config, folder / 'run')


@pytest.mark.parametrize(
  ('asked', 'first'), [('0.5', '0.5'), ('0.3', '0.3'), ('eer', '0.5')]
)
def test_a_threshold_that_is_asked_for_stands_beside_eer(asked, first):
  """It was .5, and said to be, whatever measures.threshold was."""
  own = weighting.at_first(c.Config(measures=c.Measures(threshold=asked)))
  assert own.measures.threshold == first
  rates, she = {'fpr': {'value': 0.1}}, {'fpr': {'value': 0.2}}
  sets = {'test': {'quality': rates, 'groups': {'she': she}}}
  e = Experiment(own, None, None)
  e.contenders['baseline'] = {'sets': sets}
  bars = weighting.rates_by_term(e, 'test', 'fpr')
  assert f'of test, at threshold {first} (' in bars['caption']


def test_every_row_is_measured_at_both_thresholds(config, folder, run, remade):
  remade(folder / 'run', run)
  assert list(run.contenders) == list(config.weighting.rows)
  for name in run.contenders:
    line = run.measured(name, 'test')
    for key in ('auc', 'fped', 'fned', 'fped at eer', 'fned at eer'):
      assert len(line[key]['seeds']) == 2
  assert set(weighting.against(list(config.weighting.rows)).items()) == {
    ('swap', 'baseline'),
    ('weight', 'baseline'),
    ('weight+', 'baseline'),
  }
  assert run.facts['weighted rows'] == len(
    artefacts.read_table(folder / 'run' / 'weights.parquet')
  )
  page = (folder / 'run' / 'report.html').read_text()
  for words in ('The weights', 'swap', 'effective'):
    assert words in page
  for name in ('weights', 'terms', 'fpr_by_term_test'):
    assert (folder / 'run' / 'plots' / f'{name}.png').exists()


def test_numbers_are_those_of_the_published_predictions(folder, run):
  """FPED and Δfpr from rows/*.parquet by hand."""
  seen = []
  for row, contender in run.contenders.items():
    path = folder / 'run' / 'predictions' / f'{row}.parquet'
    if row == run.focus:
      path = folder / 'run' / 'predictions.parquet'
    p = artefacts.read_table(path)
    rate = lambda rows, s: (rows[rows['label'] == 0][f'p{s}'] >= 0.5).mean()
    gaps = {
      name: [rate(rows, s) - rate(p, s) for s in range(2)]
      for name, rows in p.groupby('group')
    }
    fped = np.abs(list(gaps.values())).sum(0)
    line = run.measured(row, 'test')
    np.testing.assert_allclose(line['fped']['seeds'], fped, atol=1e-6)
    told = weighting.deviations(contender['sets']['test'], 'fpr')
    seen.append(np.mean(gaps['male']))
    for name, gap in gaps.items():
      assert told[name] == pytest.approx(np.mean(gap), abs=1e-6)
  assert any(seen)  # else it says nothing


def test_daggers_are_t_tests_of_the_seeds(run):
  tests = [t for t in run.tests if 't-test' in t['test']]
  assert tests
  for test in tests:
    ours, base = (
      run.measured(name, 'test')[test['measure']]['seeds']
      for name in (test['ours'], 'baseline')
    )
    if test['p'] is not None:
      expect = scipy.stats.ttest_rel(ours, base).pvalue
      assert test['p'] == pytest.approx(expect, rel=1e-3, abs=1e-6)
  adjusted = significance.adjusted([t['p'] for t in tests])
  assert daggers(run) == {
    ('test', t['ours'], t['measure'])
    for t, p in zip(tests, adjusted)
    if p is not None and p <= 0.05
  }


def test_weights_are_an_artefact_and_reach_the_training(config, folder, run):
  log = Log(folder / 'log')
  tables = stages.load(config, folder / 'log', log)
  path = folder / 'run' / 'weights.parquet'
  stamp = path.stat().st_mtime_ns
  made, _ = algorithm.weigh(Experiment(config, folder / 'run', log), tables)
  assert path.stat().st_mtime_ns == stamp
  other = dataclasses.replace(config.weighting, estimator='logistic')
  own = dataclasses.replace(config, weighting=other)
  algorithm.weigh(Experiment(own, folder / 'run', log), tables)
  assert path.stat().st_mtime_ns != stamp
  given = algorithm.tables_of(config, tables, made, 'weight+')
  expect = reweight.reweight(tables, config)
  for split in ('train', 'valid'):
    pd.testing.assert_frame_equal(given[split], expect[split])
  for y in (0, 1):
    every = pd.concat([given['train'], given['valid']])
    assert every['weight'][every['label'] == y].mean() == pytest.approx(1)
  swapped = algorithm.tables_of(config, tables, made, 'swap')
  assert len(swapped['valid']) == 60
  assert 'weight' not in algorithm.tables_of(config, tables, made, 'baseline')


@pytest.mark.slow
def test_another_glove_file_of_that_name_is_another_training(config, folder):
  """A fit is taken over only where the vectors are those it was made from."""
  path = folder / 'vectors.txt'
  path.write_text('he 1 0\nshe 0 1\nrude 1 1\n')
  own = dataclasses.replace(
    config,
    seeds=1,
    net=c.Net(glove=str(path)),
    train=dataclasses.replace(config.train, epochs=1),
    weighting=dataclasses.replace(config.weighting, rows=('baseline',)),
  )
  fits = folder / 'vectors' / 'training'
  for text, count in (
    ('he 1 0\nshe 0 1\nrude 1 1\n', 1),
    ('he 1 0\nshe 0 1\nrude 1 2\n', 2),
  ):
    path.write_text(text)
    weighting.run(own, folder / 'vectors')
    assert len([*fits.glob('*.made.json')]) == count


def test_no_weight_is_the_baseline(config, folder, run):
  """Weights of 1 give the baseline's predictions, to the bit."""
  log = Log(folder / 'log')
  tables = stages.load(config, folder / 'log', log)
  ids = reweight.fitted_rows(tables)['id']
  one = algorithm.tables_of(
    config, tables, pd.DataFrame({'id': ids, 'weight': 1.0}), 'weight'
  )
  e = Experiment(config, folder / 'one', log)
  e.sets = {'test': tables['test']}
  given = {'baseline': tables, 'weight': one}
  weighting.trained(e, given, tables, 'weight')
  chances = [e.chances[name]['test'] for name in given]
  np.testing.assert_array_equal(*chances)


@pytest.mark.parametrize(
  'changes, sentence',
  [
    ({'folds': 999}, 'use fewer folds'),
    ({'z': 'columns:nothing'}, "the column 'nothing'"),
  ],
)
def test_mistakes_are_one_sentence(config, folder, changes, sentence):
  own = dataclasses.replace(config.weighting, **changes)
  with pytest.raises(UserError, match=sentence):
    weighting.run(dataclasses.replace(config, weighting=own), folder / 'bad')


def test_vectors_are_missed_before_the_forests(config, folder):
  """Weights of a large table take minutes; a wrong path is told first."""
  own = dataclasses.replace(config, net=c.Net(glove='/no/glove.txt'))
  with pytest.raises(UserError, match=r'net\.glove is .* no such file'):
    weighting.run(own, folder / 'absent')
  assert not (folder / 'absent' / 'weights.parquet').exists()


def test_plus_needs_vectors_and_terms_must_occur(config, folder):
  with pytest.raises(UserError, match='needs word vectors'):
    algorithm.check(dataclasses.replace(config, net=c.Net()))
  path = folder / 'terms.txt'
  path.write_text('zebra\n')
  own = dataclasses.replace(config.weighting, z='terms')
  given = {'weighting': own, 'method': c.Method(terms=str(path))}
  asked = dataclasses.replace(config, **given)
  with pytest.raises(UserError, match='none of the 1 identity terms'):
    weighting.run(asked, folder / 'bad')


def test_the_users_columns_reach_z(config):
  tables, _ = hygiene.usable(files.load(config), 'error')
  own = c.Weighting(z='columns:age,town')
  z = evidence(tables['train'], dataclasses.replace(config, weighting=own))
  assert z.names == ['age', 'town=x', 'town=y']
  ages = tables['train']['age'].astype(float)
  np.testing.assert_array_equal(z.values[:, 0], ages)
