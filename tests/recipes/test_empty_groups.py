"""A group column that is empty: told where it is needed, and only there."""

import numpy as np
import pandas as pd
import pytest

from fairjax import stages
from fairjax.config import Config, Data, Measures, Method, Weighting
from fairjax.core.errors import UserError
from fairjax.methods import diet_rows
from fairjax.recipes.weighting import algorithm
from fairjax.stages import Experiment
from fairjax.train.progress import Log

SPLITS = np.repeat(['train', 'valid', 'test'], [12, 8, 8])


def loaded(tmp_path, empty, name=None, **sections):
  """Tables whose `who` has a value but in the splits `empty`."""
  path = tmp_path / 'data.csv'
  table = pd.DataFrame({'text': [f'row {i}' for i in range(len(SPLITS))]})
  table['label'], table['split'] = np.arange(len(SPLITS)) % 2, SPLITS
  who = np.where(np.arange(len(SPLITS)) // 2 % 2, 'f', 'm')
  table['who'] = np.where(np.isin(SPLITS, empty), '', who)
  table.to_csv(path, index=False)
  data = Data(name='file', path=str(path), split='split', group=name or '')
  config = Config(data=data, **sections)
  with Log(tmp_path / 'run', config) as log:
    return config, stages.load(config, tmp_path / 'run', log), log


@pytest.mark.parametrize('empty', [['test'], ['train', 'valid', 'test']])
@pytest.mark.parametrize('flag', ['data.group', 'measures.groups'])
def test_what_is_measured_has_groups(tmp_path, empty, flag):
  measures = Measures(groups='who' if flag == 'measures.groups' else '')
  name = 'who' if flag == 'data.group' else None
  config, tables, _ = loaded(tmp_path, empty, name, measures=measures)
  with pytest.raises(UserError) as told:
    stages.test_sets(config, tables)
  assert f"column 'who' of {flag} is empty in every row of" in str(told.value)


def test_a_classifier_without_a_method_needs_no_groups_of_train(tmp_path):
  config, tables, _ = loaded(tmp_path, ['train', 'valid'], 'who')
  test = stages.test_sets(config, tables)['test']
  assert stages.groups_of(config, test).names == ['f', 'm']
  members, names, *_ = stages.groups_of(config, tables['train'])
  assert members.shape == (0, 12) and names == []


@pytest.mark.parametrize(
  ('sections', 'sentence'),
  [
    (
      dict(method=Method(name='reweight')),
      "column 'who' of --config.weighting.z is empty in every training row",
    ),
    (
      dict(method=Method(name='balance', by='who')),
      "no training row has a value in column 'who' of method.by=who",
    ),
  ],
)
def test_methods_that_read_the_groups_of_train(tmp_path, sections, sentence):
  z = Weighting(z='columns:who')
  config, tables, log = loaded(tmp_path, ['train'], weighting=z, **sections)
  with pytest.raises(UserError, match=sentence):
    stages.mitigate(config, tables, log)


def test_weighting(tmp_path):
  z = Weighting(z='columns:who')
  config, tables, log = loaded(tmp_path, ['train'], weighting=z)
  with pytest.raises(UserError, match='is empty in every training row'):
    algorithm.weigh(Experiment(config, tmp_path, log), tables)


def test_the_ranking_cells(tmp_path):
  _, tables, _ = loaded(tmp_path, ['train'], 'who')
  with pytest.raises(UserError, match='no row to take from has a group'):
    diet_rows.cells(tables['train'])
