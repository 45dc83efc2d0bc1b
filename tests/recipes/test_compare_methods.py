"""The comparison of methods: its parts on made-up predictions, and whole."""

import re

import numpy as np
import pandas as pd
import pytest

from fairjax import stages
from fairjax.config import Config, Data, Measures, Method, Planted, Train
from fairjax.errors import UserError
from fairjax.recipes import compare


@pytest.fixture(scope='module')
def made(tmp_path_factory):
  """Two predictors of 400 rows: `none` leans on the group, `fair` does not."""
  rng = np.random.default_rng(0)
  label, group = np.arange(400) % 2, np.arange(400) // 2 % 2
  table = pd.DataFrame(
    {
      'id': [f't{k}' for k in range(400)],
      'text': 'a text',
      'label': label,
      'group': np.array(['male', 'female'])[group],
    }
  )
  config = Config(
    seeds=5, measures=Measures(resamples=200), data=Data(name='made <up>')
  )
  lean = {'none': 0.3, 'fair <b>': 0.0, 'unfair': 0.45}
  chances, found = {}, {}
  for name, slope in lean.items():
    score = 0.3 + 0.3 * label + slope * (group - 0.5)
    p = np.clip(score + rng.normal(0, 0.12, (5, 400)), 0, 1)
    both = {'test': np.stack([1 - p, p], -1)}
    chances[name] = stages.prediction_table('test', table, both['test'])
    found[name] = stages.assess(config, {'test': table}, both)
  found['none']['notes'].append('a note')
  tests = compare.tests(config, {'test': table}, chances)
  return table, chances, found, tests


def test_rows_hold_every_contender_and_measure(made):
  _, _, found, _ = made
  rows = compare.rows(found)
  assert [row['method'] for row in rows] == ['none', 'fair <b>', 'unfair']
  for row in rows:
    assert set(row) == {'set', 'method', *compare.MEASURES} - {'macro_auc'}
  own = found['unfair']['sets']['test']
  assert rows[2]['dp'] == own['fairness']['dp']
  assert rows[2]['auc'] == own['quality']['auc']


def test_differences_are_those_of_the_measures(made):
  table, chances, _, tests = made
  female = (table['group'] == 'female').to_numpy()

  def dp(name):
    columns = [f'p{k}' for k in range(5)]
    rates = chances[name][columns].to_numpy().T >= 0.5
    return 1 - abs(rates[:, female].mean(1) - rates[:, ~female].mean(1)).mean()

  gains = compare.over_examples(tests, 'test', 'dp')
  assert list(gains) == ['fair <b>', 'unfair']
  for name, test in gains.items():
    assert test['difference']['value'] == pytest.approx(dp(name) - dp('none'))
  assert gains['fair <b>']['p'] < 0.02 and gains['unfair']['p'] < 0.02
  assert gains['fair <b>']['difference']['low'] > 0


def test_notes_say_who_does_not_help(made):
  *_, found, tests = made
  notes = '\n'.join(compare.notes(found, tests))
  assert 'none: a note' in notes
  assert 'unfair, test: lowers dp' in notes
  assert 'fair <b>, test: lowers' not in notes


def test_the_table_and_the_page(made, tmp_path):
  *_, found, tests = made
  results = {
    'name': 'made <up>',
    'model': 'tiny',
    'seeds': [0, 1],
    'methods': compare.rows(found),
    'tests': tests,
    'notes': compare.notes(found, tests),
  }
  (part,) = compare.parts(results)
  assert [row['method'] for row in part[2]] == ['fair <b>', 'unfair']
  assert {'dp', 'p of dp', 'p of dp over seeds', 'auc'} <= set(part[2][0])
  assert '| unfair' in compare.summary(results)
  page = compare.report(results, tmp_path)
  assert '<b>' not in page and 'made &lt;up&gt;' in page
  assert 'href="fair-b-/report.html"' in page
  assert (tmp_path / 'plots' / 'dp_test.png').exists()


def test_probabilities_of_many_classes_come_back():
  rng = np.random.default_rng(1)
  p = rng.dirichlet(np.ones(3), (2, 5))
  table = pd.DataFrame({'id': list('abcde'), 'label': 0})
  kept = stages.prediction_table('test', table, p)
  assert np.array_equal(compare.probabilities(kept), p)


def test_contenders_change_options():
  config = Config(method=Method(ratio=0.9, by='group,label'))
  own = compare.variant(config, 'balance:how=up:ratio=0.5').method
  assert (own.name, own.how, own.ratio) == ('balance', 'up', 0.5)
  assert compare.variant(config, 'augment').method.ratio == 0.9
  assert config.method.name == 'none'
  for name, match in (
    ('augmnet', "did you mean 'augment'"),
    ('augment:rat=1', "'rat' is no option"),
    ('augment:ratio=all', 'ratio takes a number'),
  ):
    with pytest.raises(UserError, match=match):
      compare.variant(config, name)


def test_only_what_applies_is_compared():
  train = pd.DataFrame(columns=['id', 'text', 'label'])
  usual = lambda **m: compare.usual(
    Config(method=Method(**m)), {'train': train}
  )
  assert not any(re.match('balance|supplement', n) for n in usual())
  assert 'balance' in usual(by='gender,label')
  assert 'supplement' in usual(table='more.csv')


@pytest.mark.slow
def test_whole_and_again_without_training(tmp_path):
  config = Config(
    recipe='compare',
    model='tiny',
    seeds=2,
    data=Data(name='planted'),
    planted=Planted(rows=80, test_rows=40),
    train=Train(lr=1e-3, epochs=1, batch=16, patience=0),
    measures=Measures(resamples=100, sets=('test', 'identity')),
    method=Method(compare=('substitute:ratio=0.5', 'blind')),
  )
  first = compare.run(config, tmp_path)
  assert {row['set'] for row in first['methods']} == {'test', 'identity'}
  again = compare.run(config, tmp_path)
  assert again == first
  log = (tmp_path / 'blind' / 'log.txt').read_text()
  assert log.count('training: taken from') == 1
  assert (tmp_path / 'report.html').exists()
