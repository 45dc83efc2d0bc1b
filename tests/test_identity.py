"""What a stage is made from, leaf by leaf, and artefacts that are damaged."""

import dataclasses
import json
import pathlib
import shutil

import numpy as np
import pandas as pd
import pytest
from small import cases, changed, fitted, heard

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts, knobs
from fairjax.core.errors import UserError
from fairjax.report import measured
from fairjax.stages import experiment
from fairjax.stages.identity import identity
from fairjax.train import loop
from fairjax.train.progress import Log

pytestmark = pytest.mark.usefixtures('small_and_alone')
LEAVES = {leaf.name: leaf for leaf in knobs.leaves(Config)}


def another(leaf: knobs.Leaf, tmp_path: pathlib.Path):
  """Another value of the right type than the default."""
  old = leaf.default
  if leaf.name in ('net.precision', 'model'):
    return {'model': 'small'}.get(leaf.name, 'int8')  # neither's 'auto'
  if leaf.path:
    (tmp_path / 'file').write_text('one\n')
    return str(tmp_path / 'file')
  if isinstance(old, bool):
    return not old
  if isinstance(old, int | float):
    return old + 1
  if isinstance(old, tuple):
    return old[1:] if old else ('x',)
  return f'{old}x'


@pytest.mark.parametrize('name', LEAVES)
def test_a_leaf_changes_the_stages_it_says_and_no_other(name, tmp_path):
  config = Config()
  section, _, last = name.rpartition('.')
  owner = getattr(config, section) if section else config
  setattr(owner, last, another(LEAVES[name], tmp_path))
  for what in knobs.STAGES:
    same = identity(config, what) == identity(Config(), what)
    assert same == (what not in LEAVES[name].changes), what


def test_a_misspelt_stage_is_refused():
  """It would be changed by nothing, and never be made again."""
  with pytest.raises(KeyError, match='trainig'):
    identity(Config(), 'trainig')
  with pytest.raises(KeyError, match='mesures'):
    knobs.knob(1, changes=('data', 'mesures'))
  with pytest.raises(KeyError, match='tekst'):
    knobs.section(Config, 'tekst')


def test_every_stage_named_is_known():
  named = {what for leaf in LEAVES.values() for what in leaf.changes}
  assert named == set(knobs.STAGES)


def spied(real, read: set[str], prefix: str = ''):
  """A config, or a section of it, that writes down which leaves are read."""
  names = {field.name for field in dataclasses.fields(real)}

  class Spy(type(real)):
    def __getattribute__(self, name):
      value = super().__getattribute__(name)
      if name in names and not dataclasses.is_dataclass(value):
        read.add(prefix + name)
      return value

  spy = object.__new__(Spy)
  for name in names:
    value = getattr(real, name)
    inner = dataclasses.is_dataclass(value)
    value = spied(value, read, f'{name}.') if inner else value
    object.__setattr__(spy, name, value)
  return spy


# Read during a fit, and change how it runs, not what comes out.
HOW = {'train.save_every', 'mesh.fsdp', 'mesh.seed', 'reuse', 'train.export'}
# How answers are read, which stands in theirs.
HOW |= {'measures.threshold', 'audit.choose', 'audit.equalize'}


@pytest.fixture(scope='module')
def fit(small_and_alone, tmp_path_factory):
  """A function that trains in a folder: what it finds, and what it said."""
  tables = stages.load(fitted(), tmp_path_factory.mktemp('data'), heard()[0])

  def fit(config, folder):
    log, said = heard()
    model = stages.prepare(config, tables, log)
    e = stages.Experiment(config, folder, log)
    result = e.fit(model, stages.pools(model, tables))
    chances = stages.probabilities(config, model, result.params, tables['test'])
    return chances, said

  return fit


@pytest.fixture(scope='module')
def first(fit, tmp_path_factory):
  """The folder of a fit, and what it found."""
  folder = tmp_path_factory.mktemp('first') / 'run'
  return folder, fit(fitted(), folder)[0]


@pytest.fixture
def run(first, tmp_path):
  """That folder, for a test to change."""
  return shutil.copytree(first[0], tmp_path / 'run')


def test_what_a_fit_reads_is_in_its_identity(fit, tmp_path, monkeypatch):
  read = set()
  monkeypatch.setattr(experiment, 'identity', lambda *a, **k: 'x')
  fit(spied(fitted(), read), tmp_path / 'run')
  silent = read - HOW
  assert silent >= {'model', 'train.lr', 'net.dropout', 'seeds'}
  assert [n for n in silent if 'training' not in LEAVES[n].changes] == []


def test_a_model_folder_is_known_by_content(fit, tmp_path):
  config = fitted()
  config.train.export = True
  with Log(tmp_path, main=False) as log:
    tables = stages.load(config, tmp_path, log)
    model = stages.prepare(config, tables, log)
    params = loop.initial(model, [0, 1])
    stages.write_models(config, model, params, tmp_path / 'models')
  folder = tmp_path / 'models' / 'seed_0'
  config.model = str(folder)
  run = tmp_path / 'run'
  first, _ = fit(config, run)
  again, said = fit(config, run)
  assert any('taken from' in line for line in said)
  np.testing.assert_array_equal(first, again)
  other = tmp_path / 'models' / 'seed_1' / 'model.safetensors'
  (folder / 'model.safetensors').write_bytes(other.read_bytes())
  second, said = fit(config, run)
  assert not any('taken from' in line for line in said)
  assert np.abs(first - second).max() > 1e-6


def test_export_and_saving_train_nothing_again(fit, run):
  config = fitted()
  config.train.export, config.train.save_every = True, 7
  _, said = fit(config, run)
  assert any('taken from' in line for line in said)


def test_a_flipped_byte_is_noticed(fit, first, run):
  (path,) = run.rglob('weights.safetensors')
  data = bytearray(path.read_bytes())
  data[-5] ^= 64
  path.write_bytes(data)
  again, said = fit(fitted(), run)
  assert not any('taken from' in line for line in said)
  np.testing.assert_array_equal(first[1], again)


@pytest.mark.parametrize('damage', ['truncate', 'remove', 'empty notes'])
def test_damaged_or_missing_is_not_done(fit, first, run, damage):
  (path,) = run.rglob('weights.safetensors')
  if damage == 'truncate':
    path.write_bytes(path.read_bytes()[:100])
  elif damage == 'remove':
    path.unlink()
  else:
    path.with_name('fit.json').write_text('{}')
  again, _ = fit(fitted(), run)
  np.testing.assert_array_equal(first[1], again)


def test_reuse_finds_the_same_artefact_anywhere(fit, run, tmp_path):
  config = fitted()
  run.rename(tmp_path / 'inner')
  config.reuse = str(tmp_path)
  _, said = fit(config, tmp_path / 'two')
  assert any('taken from' in line and 'inner' in line for line in said)
  assert not (tmp_path / 'two').exists()


def test_a_stage_is_made_once_and_again_when_stale(tmp_path):
  count = []

  def run(made_from):
    return artefacts.stage(
      tmp_path / 'a.json',
      made_from,
      lambda path: (count.append(1), artefacts.write_json(path, len(count))),
      artefacts.read_json,
    )

  assert [run('x'), run('x'), run('y'), run('y')] == [1, 1, 2, 2]
  (tmp_path / 'a.json').write_text('7')
  assert run('y') == 3
  seal = artefacts.seal_path(tmp_path / 'a.json')
  seal.write_text(json.dumps(json.loads(seal.read_text()) | {'format': 0}))
  assert run('y') == 4
  seal.write_text('[]')
  assert run('y') == 5


def test_content_of_folders_is_names_and_bytes(tmp_path):
  for name in ('a', 'b'):
    (tmp_path / name / 'inner').mkdir(parents=True)
    (tmp_path / name / 'inner' / 'file').write_text('1')
  of = lambda name: artefacts.content(tmp_path / name)
  assert of('a') == of('b') and artefacts.content('') == ''
  (tmp_path / 'b' / 'inner' / 'file').rename(tmp_path / 'b' / 'file')
  assert of('a') != of('b')
  with pytest.raises(UserError, match='does not exist'):
    artefacts.content(tmp_path / 'c')


@pytest.mark.parametrize(
  ('name', 'value', 'says'), cases(__file__, 'wrong_leaves.json')
)
def test_a_wrong_leaf_is_one_sentence(name, value, says):
  value = tuple(value) if isinstance(value, list) else value
  with pytest.raises(UserError, match=says) as caught:
    changed(Config(), **{name.replace('.', '__'): value})
  assert str(caught.value).startswith(name) and '\n' not in str(caught.value)


def test_the_positive_label_turns_labels_and_scores():
  table = pd.DataFrame(
    {'id': list('wxyz'), 'text': list('abcd'), 'label': [0, 0, 1, 1]}
  )
  chance = np.array([[0.1, 0.2, 0.8, 0.9]])
  both = np.stack([1 - chance, chance], -1)
  config = Config()
  config.measures.resamples = 0
  perfect = stages.assess(config, {'test': table}, {'test': both})
  config.measures.pos_label = 0
  turned = stages.assess(config, {'test': table}, {'test': both})
  for results in (perfect, turned):
    quality = results['test']['quality']
    assert quality['auc']['value'] == quality['accuracy']['value'] == 1
    assert quality['tpr']['value'] == 1 and quality['fpr']['value'] == 0
  rows = stages.prediction_table('test', table, both)
  shown, words = measured.probabilities(rows, 0, ('fine', 'toxic'))
  np.testing.assert_allclose(shown, 1 - chance)
  assert words == 'the probability of ‘fine’'
  labels, one, two = stages.of_positive(config, table, both, chance)
  assert list(labels) == [1, 1, 0, 0]
  np.testing.assert_allclose(one, two)


@pytest.mark.parametrize(
  ('name', 'value', 'says'),
  [
    ('groups', 'gendre', "did you mean 'gender'"),
    ('groups', 'terms:/no/terms.txt', 'cannot read the terms'),
    ('pos_label', 2, 'the labels are 0 to 1'),
  ],
)
def test_groups_and_labels_are_checked_before_training(name, value, says):
  rows = {'text': ['a', 'b'], 'label': [0, 1], 'gender': ['x', 'y']}
  tables = {s: pd.DataFrame(rows) for s in ('train', 'valid', 'test')}
  config = Config()
  setattr(config.measures, name, value)
  with pytest.raises(UserError, match=says):
    stages.test_sets(config, tables)


def test_the_config_of_an_earlier_run_stays(tmp_path):
  read = lambda path: json.loads(path.read_text())['seed']
  for seed in (0, 0, 7, 0):
    stages.keep_config(Config(seed=seed), tmp_path)
  assert read(tmp_path / 'config.json') == 0
  assert [read(p) for p in (tmp_path / 'configs').iterdir()] == [7]
