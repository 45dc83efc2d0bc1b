"""CONTRIBUTING's table, followed to the letter in a copy of the package."""

import os
import pathlib
import re
import shutil

import programs
import pytest

ROOT = pathlib.Path(__file__).parents[1]

# What a newcomer writes: the file of each row of the table, then a line for
# each registry that the row names, in the table's order.
NEW = {
  'data set': (
    'rhymes',
    """
import pandas as pd


def load(config):
  def rows(split, n):
    texts = [f'he is the {split} number {k}' for k in range(n)]
    return pd.DataFrame({
      'id': [f'{split}{k}' for k in range(n)],
      'text': texts,
      'label': [k % 2 for k in range(n)],
      'group': ['ab'[k // 2 % 2] for k in range(n)],
      'twin': [text.replace('he', 'she', 1) for text in texts],
    })
  return {s: rows(s, n) for s, n in
          {'train': 40, 'valid': 20, 'test': 40}.items()}
""",
    ['rhymes,fairjax.data.sets.rhymes:load,numbers of people'],
  ),
  'method': (
    'shorten',
    """
def shorten(tables, config):
  train = tables['train']
  keep = len(train) - int(len(train) * config.method.ratio) // 2
  return {**tables, 'train': train.iloc[:keep].reset_index(drop=True)}
""",
    ['shorten,fairjax.methods.shorten:shorten,half the rows,ratio'],
  ),
  'score': (
    'surety',
    """
def surety_scores(predictions, config):
  return abs(predictions.logits).max(-1)
""",
    [
      'surety,fairjax.scores.surety:surety_scores,top logit',
      'surest,top surety,none',
    ],
  ),
  'measure': (
    'jaccard',
    """
import numpy as np


def jaccard(counts):
  wrong = counts[..., 0, 1] + counts[..., 1, 0]
  return counts[..., 1, 1] / np.maximum(counts[..., 1, 1] + wrong, 1)
""",
    [
      'jaccard,confusion,fairjax.metrics.jaccard:jaccard,,1,1,,,,,Jaccard '
      'index,overlap of labels and decisions,'
    ],
  ),
  'benchmark': (
    'toy',
    (ROOT / 'tests/benchmarks/toy_benchmark.py').read_text(),
    [
      'toy,fairjax.benchmarks.toy,embed,a toy,word first second',
      'toy_gap,own,,,0,0,-inf,inf,,,toy gap,how much nearer,',
    ],
  ),
  'family': (
    'camembert',
    (ROOT / 'fairjax/models/families/xlm_roberta.py')
    .read_text()
    .replace('xlm-roberta', 'camembert')
    .replace('XLM', 'Camem'),
    ['camembert,fairjax.models.families.camembert:FAMILY,CamemBERT'],
  ),
  'recipe': (
    'thrown',
    """
import numpy as np

from fairjax import stages
from fairjax.train.progress import Log


def run(config, folder):
  with Log(folder, config) as log:
    tables = stages.load(config, folder, log)
    sets = stages.test_sets(config, tables)
    made = stages.mitigate(config, tables, log)
    rng = np.random.default_rng(config.seed)
    chances = {}
    for name, table in sets.items():
      p = rng.random((1, len(table), 1))
      chances[name] = np.concatenate([1 - p, p], -1)
    return stages.results(
      config,
      contenders={'coin': {'sets': stages.assess(config, sets, chances)}},
      facts={'rows': len(made['train'])},
    )
""",
    ['thrown,fairjax.recipes.thrown:run,"a coin, measured"'],
  ),
  'config': (
    'thrown',
    """
from fairjax import config as c


def get_config():
  return c.Config(
    recipe='thrown', seeds=1, data=c.Data(name='rhymes'),
    method=c.Method(name='shorten'), measures=c.Measures(resamples=20),
  )
""",
    [],
  ),
  'race': (
    'nothing',
    '''
"""Nothing against nothing, to see how fast it is."""


def run(args):
  return {'race': 'nothing', 'ratio': 1.0}
''',
    [],
  ),
}

# What follows from the rows: run in the copy, where the word is made true.
USED = """
import subprocess, sys
import numpy as np
from fairjax import results
found = results.read('run')
one = found.contenders['coin']['sets']['test']
assert one['quality']['jaccard']['value'] is not None
assert found.facts['rows'] == 20

from fairjax.cli import manual
shown = manual.everything()
for name in ('rhymes', 'shorten', 'surety', 'jaccard', 'toy',
             'thrown'):
  assert name in shown, name

from fairjax.config import Config, Diet
from fairjax.data.sets import rhymes
from fairjax.methods import diet_rows
from fairjax.core.registry import find
from fairjax.scores import SCORES
import types
table = rhymes.load(None)['train']
logits = np.arange(80.).reshape(1, 40, 2)
score = find(SCORES, 'score', 'surety')(
  types.SimpleNamespace(logits=logits), Config())
scores = table[['id']].assign(surety=score[0])
rows, twins = diet_rows.positions(
  table, scores, 'surest', (.1, .1), Config(diet=Diet(ranking='surest')), 0)
assert sorted(rows) == [36, 37, 38, 39] and not len(twins)

from fairjax.benchmarks.shared.measure import measure
class Model:
  name = 'toy'
  unknown = staticmethod(lambda texts: np.zeros(len(texts), bool))
  vectors = staticmethod(lambda texts: np.array([[len(t)] for t in texts]))
gap = measure('toy', Model, Config())[0]['fairness']['toy_gap']['value']
assert gap == -5.5, gap  # -7, -5, -5 and -5

from fairjax.models import families
from fairjax.models.folders import hf
module = families.module(
  families.named('tiny', 99, 'camembert'), 'classify', classes=2)
assert hf.hf_config(module)['model_type'] == 'camembert'
assert families.shape_from_hf(hf.hf_config(module)) == module.shape

from fairjax.bench.__main__ import races
assert 'nothing' in races()
"""


def steps() -> dict[str, tuple[str, list[str]]]:
  """{what: (file, tables)} of CONTRIBUTING's table."""
  text = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
  rows = re.findall(
    r'^\| ([a-z ]+) \| `([^`]+)`[^|]*\|[^|]*\|(.*)\|$', text, re.M
  )
  place = re.compile(r'`[A-Z]+` in `([^`]+)`')
  return {what: (file, place.findall(line)) for what, file, line in rows}


@pytest.fixture(scope='module')
def copy(tmp_path_factory):
  folder = tmp_path_factory.mktemp('contribution')
  skip = shutil.ignore_patterns('__pycache__')
  for name in ('fairjax', 'tests'):
    shutil.copytree(ROOT / name, folder / name, ignore=skip)
  (folder / 'configs').mkdir()
  rows = steps()
  assert set(rows) == set(NEW)
  for what, (file, tables) in rows.items():
    name, text, lines = NEW[what]
    (folder / file.replace('NAME', name)).write_text(text, encoding='utf-8')
    for where, line in zip(tables, lines, strict=True):
      table = folder / 'fairjax' / where  # the line is its last
      table.write_text(f'{table.read_text()}{line}\n')
  return folder


def python(folder, *arguments):
  out = programs.python(*arguments, cwd=folder)
  said = out.stdout[-3000:] + out.stderr[-3000:]
  assert out.returncode == 0, said
  return said


def test_one_file_and_one_line_each(copy):
  """A recipe, data, method and measure that are new run by one command."""
  config = '--config=configs/thrown.py'
  python(copy, '-m', 'fairjax.main', config, '--workdir=run')
  python(copy, '-c', USED)


def test_the_newcomers_keep_the_contracts(copy):
  """Those that CONTRIBUTING says run over every entry; no origin is needed."""
  names = 'shorten or jaccard or toy_gap'
  files = ('tests/methods/test_methods.py', 'tests/metrics/test_measures.py')
  quiet = ('-q', '-p', 'no:cacheprovider')
  python(copy, '-m', 'pytest', *quiet, '-k', names, *files)


# What another package has for `fairjax.KIND`, of what NEW holds.
POINTS = """
[fairjax.data]
rhymes = other.rhymes:load
[fairjax.methods]
shorten = other.shorten:shorten
augment = other.shorten:shorten
[fairjax.scores]
surety = other.surety:surety_scores
[fairjax.measures]
jaccard = other.rows:jaccard
toy_gap = other.rows:toy_gap
[fairjax.benchmarks]
toy = other.rows:toy
broken = other.nowhere:row
[fairjax.recipes]
thrown = other.thrown:run
"""
ROWS = """
jaccard = dict(
  kind='confusion', kernel='other.jaccard:jaccard', label='Jaccard index',
  about='overlap of labels and decisions', better=1, ideal=1.0)
toy_gap = dict(
  kind='own', kernel='', label='toy gap', about='how much nearer', better=0,
  ideal=0.0, low=float('-inf'), high=float('inf'))
toy = dict(
  module='other.toy', needs=('embed',), about='a toy',
  texts=('word', 'first', 'second'))
"""


def test_a_package_outside_the_tree_adds_one_of_each(tmp_path, monkeypatch):
  """By entry points, and no name of ours becomes another's."""
  site = tmp_path / 'site'
  kinds = ('data set', 'method', 'score', 'measure', 'benchmark', 'recipe')
  files = {'__init__.py': '', 'rows.py': ROWS}
  files |= {f'{NEW[kind][0]}.py': NEW[kind][1] for kind in kinds}
  (site / 'other').mkdir(parents=True)
  for name, text in files.items():
    (site / 'other' / name).write_text(text, encoding='utf-8')
  info = site / 'other-1.0.dist-info'
  info.mkdir()
  (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: other\n')
  (info / 'entry_points.txt').write_text(POINTS)
  config = tmp_path / 'thrown.py'
  config.write_text(NEW['config'][1].strip(), encoding='utf-8')
  monkeypatch.setenv('PYTHONPATH', f'{site}{os.pathsep}{ROOT}')
  main = ('-m', 'fairjax.main', f'--config={config}', '--workdir=run')
  for seed in (1, 2):  # the second beside the first's results
    said = python(tmp_path, *main, f'--config.seed={seed}')
  shown, _, rest = USED.partition('from fairjax.config import')
  rest = rest[rest.index('from fairjax.benchmarks') :]
  used = f'{shown}\nfrom fairjax.config import Config\n{rest}'
  said += python(tmp_path, '-c', used.partition('from fairjax.models')[0])
  for left in ('augment of fairjax methods', 'broken of fairjax benchmarks'):
    assert f'other has an entry point {left}, which is left out' in said
