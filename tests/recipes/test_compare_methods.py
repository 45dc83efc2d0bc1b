"""The comparison of methods: its parts on made-up predictions, and whole."""

import re

import numpy as np
import pandas as pd
import pytest

from fairjax import stages
from fairjax.config import Config, Data, Measures, Method, Planted, Train
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows
from fairjax.recipes import compare


@pytest.fixture(scope='module')
def made(tmp_path_factory):
  """Two predictors of 400 rows: `none` leans on the group, `fair` does not."""
  rng = np.random.default_rng(0)
  label, group = np.arange(400) % 2, np.arange(400) // 2 % 2
  table = pd.DataFrame(
    {
      'id': [f't{k}' for k in range(400)],
      'text': [f'text {k}' for k in range(400)],  # else one cluster
      'label': label,
      'group': np.array(['male', 'female'])[group],
    }
  )
  config = Config(
    seeds=5, measures=Measures(resamples=200), data=Data(name='made <up>')
  )
  lean = {'none': 0.3, 'fair <b>': 0.0, 'unfair': 0.45}
  chances, runs = {}, {}
  for name, slope in lean.items():
    score = 0.3 + 0.3 * label + slope * (group - 0.5)
    p = np.clip(score + rng.normal(0, 0.12, (5, 400)), 0, 1)
    both = {'test': np.stack([1 - p, p], -1)}
    chances[name] = both
    runs[name] = {'sets': stages.assess(config, {'test': table}, both)}
    runs[name]['page'] = f'{stages.file_name(name)}/report.html'
  pairs = [(name, 'none') for name in lean if name != 'none']
  tests = stages.compare(config, {'test': table}, chances, pairs)
  return table, chances, runs, tests


def gains(tests, measure='dp'):
  """The test over examples of each contender."""
  own = [t for t in tests if 't-test' not in t['test']]
  return {t['ours']: t for t in own if t['measure'] == measure}


def test_differences_are_those_of_the_measures(made):
  table, chances, _, tests = made
  female = (table['group'] == 'female').to_numpy()

  def dp(name):
    rates = chances[name]['test'][..., 1] >= 0.5
    return 1 - abs(rates[:, female].mean(1) - rates[:, ~female].mean(1)).mean()

  found = gains(tests)
  assert list(found) == ['fair <b>', 'unfair']
  for name, test in found.items():
    assert test['difference']['value'] == pytest.approx(dp(name) - dp('none'))
  assert found['fair <b>']['p'] < 0.02 and found['unfair']['p'] < 0.02
  assert found['fair <b>']['difference']['low'] > 0


def test_notes_say_who_does_not_help(made):
  *_, tests = made
  notes = '\n'.join(compare.notes({'none': ['a note']}, tests))
  assert 'none: a note' in notes
  assert 'unfair, test: lowers dp' in notes
  assert 'fair <b>, test: lowers' not in notes
  assert compare.notes({}, [t | {'theirs': 'unfair'} for t in tests]) == []
  unfair = [t | {'ours': 'cda'} for t in tests if t['ours'] == 'unfair']
  assert 'dp: twins help as far as' in '\n'.join(compare.notes({}, unfair))


def test_contenders_change_options():
  config = Config(method=Method(ratio=0.9, by='group,label'))
  own = compare.variant(config, 'balance:how=up:ratio=0.5').method
  assert (own.name, own.how, own.ratio) == ('balance', 'up', 0.5)
  assert compare.variant(config, 'augment').method.ratio == 0.9
  assert config.method.name == 'none'
  for name, match in table_rows(__file__, 'wrong_variants.csv'):
    with pytest.raises(UserError, match=match):
      compare.variant(config, name)


def test_what_a_method_says_of_the_data_is_said_before_training(tmp_path):
  config = Config(recipe='compare', model='nano', seeds=1)
  config.planted.rows = config.planted.test_rows = 40
  for name, match in (
    ('balance:by=age', "'balance:by=age': method.by names the column 'age'"),
    ('supplement', "'supplement': method.table is empty"),
    ('augment:rank=ge', "'augment:rank=ge': .* scoring.path is empty"),
  ):
    config.method.compare = ('blind', name)
    with pytest.raises(UserError, match=match):
      compare.run(config, tmp_path)
  assert not (tmp_path / 'none').exists()


def test_only_what_applies_is_compared():
  train = pd.DataFrame(columns=['id', 'text', 'label'])
  usual = lambda **m: compare.usual(
    Config(method=Method(**m)), {'train': train}
  )
  assert not any(re.match('balance|supplement', n) for n in usual())
  assert 'balance' in usual(by='gender,label')
  assert 'supplement' in usual(table='more.csv')


@pytest.mark.slow
def test_whole_and_again_without_training(tmp_path, remade):
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
  remade(tmp_path, first)
  assert first.set_names() == ['test', 'identity']
  assert {t['theirs'] for t in first.tests} == {'none', 'blind'}
  again = compare.run(config, tmp_path)
  assert again == first
  log = (tmp_path / 'blind' / 'log.txt').read_text()
  assert len(re.findall(r'training/\w+: taken from', log)) == 1
  assert (tmp_path / 'report.html').exists()
