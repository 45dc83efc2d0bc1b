"""The seam of benchmarks: a toy one is a file, a row, and on the page."""

import sys

import numpy as np
import pandas as pd
import pytest

from fairjax import benchmarks, results
from fairjax.benchmarks import BENCHMARKS, Benchmark
from fairjax.benchmarks.shared.measure import measure
from fairjax.config import Audit, Benchmarks, Config, Data, Measures
from fairjax.core.errors import UserError
from fairjax.metrics.measures import MEASURES, Measure
from fairjax.recipes.benchmarks import experiment as recipe
from fairjax.report import page, terminal

CONFIG = Config(measures=Measures(resamples=200))
KINDS = ('age', 'gender')


def items(config):
  """Pairs of a stereotype and its opposite, of two bias types."""
  table = pd.DataFrame(
    {
      'id': [f'i{k}' for k in range(40)],
      'more': [f'<b>they</b> are {k}' for k in range(40)],
      'less': [f'they are {-k}' for k in range(40)],
      'kind': [KINDS[k % 2] for k in range(40)],
    }
  )
  table.attrs['notes'] = ['2 rows are known to be broken']
  return table


def score(model, items, config):
  gap = [model(a) - model(b) for a, b in zip(items['more'], items['less'])]
  return pd.DataFrame({'id': items['id'], 'gap': gap})


def estimate(items, scores, how):
  """The share of items in which the stereotype is the likelier, as CrowS."""
  own = lambda rows: share((scores['gap'][rows] > 0).to_numpy(), how)
  kinds = {k: (items['kind'] == k).to_numpy() for k in KINDS}
  return {
    'fairness': {'stereotype': own(np.ones(len(items), bool))},
    'groups': {
      kind: {'rows': int(rows.sum()), 'stereotype': own(rows)}
      for kind, rows in kinds.items()
    },
  }


def share(values, how):
  draws = np.random.default_rng(how.seed).choice(
    values, (how.resamples, len(values))
  )
  low, high = np.quantile(draws.mean(1), [0.025, 0.975])
  return {'value': values.mean(), 'low': low, 'high': high, 'seeds': []}


@pytest.fixture
def toy(monkeypatch):
  row = Benchmark(
    __name__, ('mask', 'judge'), 'a toy of 40 pairs', texts=('more', 'less')
  )
  monkeypatch.setitem(BENCHMARKS, 'toy', row)
  own = Measure(
    'own', f'{__name__}:estimate', 'stereotype score',
    'share of pairs whose stereotype is the likelier', 0, 0.5, leads=True,
    pictured=True,
  )  # fmt: skip
  monkeypatch.setitem(MEASURES, 'stereotype', own)


def likes(texts):
  """A model that finds texts about a bit number 0 the likelier."""
  number = int(texts.split()[-1])
  return float(number % 3 == 0) * np.sign(number) + 0.1 * (number > 0)


def test_a_benchmark_is_a_set_of_a_contender(toy, tmp_path):
  other = lambda text: -likes(text)
  sets, tables = {}, {}
  for name, model in (('one', likes), ('other', other)):
    one, tables[name] = measure('toy', model, CONFIG)
    sets[name] = {'sets': {'toy': one}}
  kept = sets['one']['sets']['toy']
  assert kept['rows'] == 40 and kept['fairness']['stereotype']['value'] > 0.9
  assert list(tables['one'].columns) == ['id', 'more', 'less', 'kind', 'gap']
  found = results.Results(
    recipe='benchmarks', model='tiny', contenders=sets, focus='one'
  )
  page.publish(tmp_path, found)
  html = (tmp_path / 'report.html').read_text()
  for words in ('one on toy', 'stereotype score', 'gender', 'broken'):
    assert words in html
  assert (tmp_path / 'plots' / 'contenders_stereotype_toy.png').exists()
  assert (tmp_path / 'plots' / 'rates_toy.png').exists()
  text = terminal.summary(results.read(tmp_path))
  assert '### toy: contenders' in text and 'stereotype' in text


def test_items_that_cannot_be_scored_are_counted(toy):
  some = lambda text: np.nan if text.endswith(('7', '-8')) else likes(text)
  one, table = measure('toy', some, CONFIG)
  assert one['rows'] == 35 and len(table) == 40
  assert '5 of 40 items cannot be scored' in one['warnings'][1]
  # By what the model was asked, since an id says nothing.
  named = '‘<b>they</b> are 7’, ‘<b>they</b> are 8’, ‘<b>they</b> are 17’'
  assert f'{named} and 2 more' in one['warnings'][1]
  with pytest.raises(UserError, match='can score none of the 40 items'):
    measure('toy', lambda text: np.nan, CONFIG)


def test_what_a_model_must_be_able_to_do(toy):
  assert benchmarks.capability('toy', ['judge', 'mask']) == 'mask'
  assert benchmarks.capability('toy', ['judge']) == 'judge'
  with pytest.raises(UserError, match=r'can mask or judge, but .* classify'):
    benchmarks.capability('toy', ['classify'])


def test_authors_learn_what_is_wrong(toy, monkeypatch):
  module = sys.modules[__name__]
  patch = lambda name, value: monkeypatch.setattr(module, name, value)
  bad = {'fairness': {'unheard': {'value': 0.5}}}
  whole = estimate
  patch('estimate', lambda *_: bad)
  with pytest.raises(UserError, match=r'toy .*: unheard; .*by an entry'):
    measure('toy', likes, CONFIG)
  patch('estimate', lambda *_: {'quality': {'stereotype': 0.5}})
  with pytest.raises(ValueError, match=r'quality\.stereotype is 0\.5'):
    measure('toy', likes, CONFIG)
  patch('estimate', whole)
  scores = score
  patch('score', lambda *args: scores(*args)[::-1])
  with pytest.raises(ValueError, match='keep the ids'):
    measure('toy', likes, CONFIG)
  patch('items', lambda config: pd.DataFrame({'id': []}))
  with pytest.raises(UserError, match='benchmark toy has no items'):
    measure('toy', likes, CONFIG)


@pytest.mark.parametrize('name', BENCHMARKS)
def test_every_benchmark_has_the_three_functions(name):
  import importlib

  module = importlib.import_module(BENCHMARKS[name].module)
  for function in ('items', 'score', 'estimate'):
    assert callable(getattr(module, function))


VECTORS = {
  'one': {'he': (1, 0), 'she': (-1, 0), 'doctor': (1, 1), 'nurse': (-1, 1)},
  'two': {'he': (0, 1), 'she': (0, -1), 'doctor': (1, 1), 'nurse': (1, 0)},
}


@pytest.fixture
def written(monkeypatch, tmp_path):
  """The toy of toy_benchmark.py: its row, its measure, and two models."""
  row = Benchmark(
    'toy_benchmark', ('embed',), 'a toy', texts=('word', 'first', 'second')
  )
  monkeypatch.setitem(BENCHMARKS, 'toy', row)
  measure = Measure(
    'own', 'toy_benchmark:estimate', 'toy gap', 'how much nearer', 0, 0.0
  )
  monkeypatch.setitem(MEASURES, 'toy_gap', measure)
  for name, words in VECTORS.items():
    words = words | {'pilot': (2, 2)}
    lines = [f'{word} {x} {y}' for word, (x, y) in words.items()]
    (tmp_path / f'{name}.txt').write_text('\n'.join(lines) + '\n')
  return tmp_path


def asked(folder, against='', **more):
  return Config(
    recipe='benchmarks',
    model=str(folder / 'one.txt'),
    data=Data(name='file'),
    measures=Measures(resamples=50),
    audit=Audit(against=against),
    benchmarks=Benchmarks(names=('toy',), **more),
  )


def test_a_benchmark_is_one_file_and_one_row(written, monkeypatch):
  """Through the recipe: without data, with it, and against a second model."""
  import toy_benchmark

  found = recipe.run(asked(written), written / 'without')
  (one,) = found.contenders.values()
  toy = one['sets']['toy']
  # Each word's squared distance to she less that to he, by hand.
  assert toy['fairness']['toy_gap']['value'] == pytest.approx((4 - 4 + 8) / 3)
  # An unknown word is named, whatever its column is called.
  assert toy['rows'] == 3
  assert any('1 of 4 items hold a token' in w for w in toy['warnings'])
  assert 'toy gap' in (written / 'without' / 'report.html').read_text()
  # Against a second model, its scores are compared item by item.
  both = asked(written, against=str(written / 'two.txt'))
  (test,) = recipe.run(both, written / 'against').tests
  assert test['measure'] == 'toy_gap' and test['n'] == 3
  theirs = 4 + 0 + 8
  assert test['difference']['value'] == pytest.approx((8 - theirs) / 3)
  # A benchmark that reads files asks for them, by the row.
  row = BENCHMARKS['toy']._replace(origin='example.org (toy.csv, MIT)')
  monkeypatch.setitem(BENCHMARKS, 'toy', row)
  with pytest.raises(UserError, match=r'data is empty.*toy: example\.org'):
    recipe.run(asked(written), written / 'asks')
  with_data = asked(written, data=str(written))
  again = recipe.run(with_data, written / 'with')
  assert again.contenders == found.contenders
  # Scores that are there are taken, unless a leaf of the row has changed.
  monkeypatch.setattr(toy_benchmark, 'score', None)
  recipe.run(with_data, written / 'with')
  monkeypatch.setitem(
    BENCHMARKS, 'toy', row._replace(leaves=('benchmarks.encodings',))
  )
  with pytest.raises(TypeError, match='not callable'):
    recipe.run(with_data, written / 'with')


def test_a_column_that_the_row_names_must_be_there(written, monkeypatch):
  row = BENCHMARKS['toy']._replace(texts=('word', 'third'))
  monkeypatch.setitem(BENCHMARKS, 'toy', row)
  with pytest.raises(ValueError, match="has no column 'third'"):
    recipe.run(asked(written), written / 'run')


def test_the_recipe_knows_no_benchmark_by_name():
  """What is a benchmark's own stands in its row or its file."""
  import ast
  import inspect

  tree = ast.parse(inspect.getsource(recipe))
  words = {
    node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
  }
  assert not words & ({*BENCHMARKS} - {'holistic'})  # of its dry run
