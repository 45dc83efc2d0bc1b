"""One skeleton under every recipe that compares, and few files a system."""

import pathlib
import re

import pandas as pd
import pytest
from small import changed

import fairjax
from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.recipes import RECIPES
from fairjax.stages import Experiment

ROOT = pathlib.Path(fairjax.__file__).parent / 'recipes'
OWN = {  # what a recipe does itself, and why
  'Log(': {'compare.py', 'diet/rank.py', 'audit/recipe.py'},  # several logs
  'keep_predictions(': set(),
  'stages.publish(': {
    *('compare.py', 'diet/rank.py', 'perturbation/fairtune.py'),  # of parts
    'audit/recipe.py',
  },
}


@pytest.mark.parametrize('call', OWN)
def test_the_skeleton_of_a_run_is_said_once(call):
  users = {
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob('*.py')
    if re.search(rf'(?<![\w]){re.escape(call)}', path.read_text('utf-8'))
  }
  assert users <= OWN[call]


# The files of recipes/ that hold a system's algorithm, from its experiment on.
@pytest.mark.parametrize(
  ('start', 'most'),
  [
    ('diet/experiment', 4),
    ('weighting/experiment', 4),
    ('fairflow/experiment', 7),
    ('mbcda/experiment', 6),
    ('perturbation/fairtune', 7),
    ('perturbation/perturber', 7),
    ('audit/recipe', 8),
  ],
)
def test_few_files_hold_an_algorithm(start, most):
  room = start.split('/')[0]
  asks = (
    rf'from fairjax\.recipes\.{room}(?:\.(\w+))? import ([^\n(]+|\([^)]+\))'
  )
  seen, todo = set(), [start.split('/')[1]]
  while todo:
    name = todo.pop()
    path = ROOT / room / f'{name}.py'
    if name in seen or not path.is_file():
      continue
    seen.add(name)
    for module, names in re.findall(asks, path.read_text('utf-8')):
      todo += [module] if module else re.findall(r'\w+', names)
  assert 0 < len(seen) <= most, seen


def test_what_two_experiments_measured_is_joined():
  one = Experiment(Config(), None, None)
  one.add('ours', 'test', {'rows': 3, 'quality': {'auc': {'value': 0.5}}})
  one.add('ours', 'test', {'warnings': ['few rows']})
  other = one.of(Config(seed=1))
  assert other.config.seed == 1 and other.contenders is one.contenders
  more = Experiment(Config(), None, None)
  more.add('ours', 'GECO', {'rows': 2})
  more.tests.append({'set': 'GECO'})
  one.take(more)
  sets = one.contenders['ours']['sets']
  assert list(sets) == ['test', 'GECO'] and len(sets['test']) == 3
  found = one.results(title='Two')
  assert found.title == 'Two' and found.contenders == one.contenders
  assert found.tests == [{'set': 'GECO'}]


def test_contenders_of_like_names_keep_their_predictions(tmp_path):
  """Names that are one as files, for their case or marks, were one file."""
  frames = {name: pd.DataFrame({'p0': [0.5]}) for name in ('a', 'x y', 'X-y')}
  stages.write_predictions(tmp_path, frames, 'a')
  kept = lambda: {path.name for path in (tmp_path / 'predictions').iterdir()}
  assert kept() == {'x-y.parquet', 'X-y-2.parquet'}
  stages.write_predictions(tmp_path, frames, 'x y')
  assert kept() == {'a.parquet', 'X-y-2.parquet'}


@pytest.mark.parametrize('recipe', RECIPES)
def test_a_refused_call_leaves_a_finished_run_as_it_was(recipe, tmp_path):
  """versions.json and config.json named the refused one beside results.json."""
  data, folder = tmp_path / 'rows.csv', tmp_path / 'run'
  data.write_text('text,gender\nHe ran.,m\n')  # no label, no corpus, one row
  swap = Config(recipe='swap', text='He left.')
  mistaken = Config(recipe=recipe)
  mistaken.data.name, mistaken.data.path = 'file', str(data)

  def call(config):
    stages.begin(config, folder)
    find(RECIPES, 'recipe', config.recipe)(config, folder)

  call(swap)
  for name in ('log.txt', 'hygiene.json'):
    (folder / name).write_text('{}\n')
  before = {p: p.read_bytes() for p in folder.rglob('*') if p.is_file()}
  with pytest.raises(UserError):
    call(mistaken)
  assert {path: path.read_bytes() for path in before} == before
  call(changed(swap, seed=7))
  assert artefacts.read_json(folder / 'config.json')['seed'] == 7
