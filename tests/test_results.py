"""results.json: one schema, read back as it was written, documented."""

import ast
import json
import math
import pathlib
import re

import numpy as np
import pytest
import small

import fairjax
from fairjax import results
from fairjax.core.errors import UserError
from fairjax.metrics.measures import MEASURES
from fairjax.results import Results

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONE = {
  'value': np.float32(0.5),
  'low': 0.25,
  'high': np.float64(0.75),
  'seeds': np.array([0.25, 0.75]),
}


def some() -> Results:
  return Results(
    recipe='diet',
    data='planted',
    model='tiny',
    seeds=[0, 1],
    contenders={
      'cda': {
        'sets': {
          'test': {
            'rows': 9,
            'quality': {'auc': dict(ONE)},
            'fairness': {'gender/dp': {'value': math.nan, 'note': 'why'}},
            'groups': {'women': {'rows': 4, 'fpr': dict(ONE)}},
            'warnings': ['w'],
          }
        },
        'facts': {'total': np.int64(3), 'quantiles': (1, 2)},
      }
    },
    tests=[
      {
        'set': 'test',
        'measure': 'auc',
        'ours': 'cda',
        'theirs': 'none',
        'difference': dict(ONE),
        'p': None,
        'test': 't',
      }
    ],
    facts={7: pathlib.Path('a/b')},
    sections=[
      results.section(
        'h',
        results.fold('f', results.table([{'a': ONE}], {'a': 'A'}, screen=True)),
        results.figure('forest', 'n', 'c', effects={'a': ONE}, x_label='x'),
      )
    ],
  )


def test_a_name_without_a_row_is_not_written(tmp_path):
  """Every number has its label, direction and meaning; read are all."""
  written = results.write(tmp_path, some())
  for part in ('quality', 'fairness', 'groups'):
    one = some()
    own = one.sets['test']
    own = own['groups']['women'] if part == 'groups' else own[part]
    own['gender/goodness at eer'] = dict(ONE)
    with pytest.raises(UserError, match='without a row: gender/goodness'):
      results.write(tmp_path, one)
    assert results.read(tmp_path) == written
    assert results.from_tree(results.plain(one)) is not None


def test_what_is_written_is_what_is_read(tmp_path):
  written = results.write(tmp_path, some())
  assert results.read(tmp_path) == written
  assert results.write(tmp_path, written) == written
  assert results.read(tmp_path) == written
  text = (tmp_path / 'results.json').read_text()
  assert json.loads(text, parse_constant=pytest.fail)['version'] == 1
  own = written.sets['test']
  assert own['fairness']['gender/dp']['value'] is None
  assert own['quality']['auc']['seeds'] == [0.25, 0.75]
  assert written.facts == {'7': 'a/b'}
  assert written.contenders['cda']['facts']['quantiles'] == [1, 2]


def test_a_frame_has_a_row_a_number():
  found = some()
  found.sets['test']['quality']['auc'] |= {'low': 0.0, 'high': 1.0}
  frame = found.to_frame()
  of = (frame['group'] + ' ' + frame['measure']).tolist()
  assert of == [' auc', ' gender/dp', 'women fpr']
  assert frame['value'][0] == 0.5 and frame['note'][1] == 'why'
  assert frame.isna()['high'][0] and 'too few for an' in frame['note'][0]


@pytest.mark.parametrize(
  'path, value, words', small.cases(__file__, 'wrong_results.json')
)
def test_a_wrong_file_is_one_sentence(tmp_path, path, value, words):
  results.write(tmp_path, some())
  tree = json.loads((tmp_path / 'results.json').read_text())
  *parents, last = (int(k) if k.isdigit() else k for k in path.split('.'))
  at = tree
  for key in parents:
    at = at[key]
  at[last] = value
  if path == 'version' and value is None:
    del tree['version']
  (tmp_path / 'results.json').write_text(json.dumps(tree))
  with pytest.raises(UserError, match=words) as error:
    results.read(tmp_path)
  assert '\n' not in str(error.value) and str(tmp_path) in str(error.value)


def keys(form):
  if isinstance(form, list):
    form = form[0]
  if isinstance(form, dict):
    for key, below in form.items():
      yield from () if key == '*' else (key.removesuffix('?'),)
      yield from keys(below)


def test_the_schema_is_documented():
  text = (ROOT / 'fairjax' / 'report' / 'SCHEMA.md').read_text()
  named = set(re.findall(r'`([\w ]+)`', text))
  forms = [results.SCHEMA, *results.PARTS.values()]
  assert {key for form in forms for key in keys(form)} <= named
  assert set(results.PARTS) <= named
  assert f'Version {results.VERSION}' in text
  # A name that another object has too: a set's `notes` were told of the file.
  for heading, form in {
    'The file': results.SCHEMA,
    'A contender': results.SCHEMA['contenders']['*'],
    'A test': results.SCHEMA['tests'][0],
    'A verdict': results.SCHEMA['verdicts'][0],
    'A finding': results.SCHEMA['findings?'][0],
    'An Estimate': results.SCHEMA['tests'][0]['difference'],
  }.items():
    part = text.partition(f'## {heading}\n')[2].partition('\n## ')[0]
    own = {key.removesuffix('?') for key in form} - {'*'}
    if heading == 'A contender':
      own |= {key.removesuffix('?') for key in form['sets']['*']} - {'*'}
    assert own <= set(re.findall(r'`(\w+)`', part)), heading


def test_every_measure_that_is_written_by_name_has_a_row():
  """A run whose last line is a refusal has lost nothing but its hours."""
  found = {}
  for path in pathlib.Path(fairjax.__file__).parent.rglob('*.py'):
    for node in ast.walk(ast.parse(path.read_text())):
      if not isinstance(node, ast.Assign):
        continue
      for one in node.targets:
        match one:
          case ast.Subscript(
            ast.Name('quality' | 'fairness' | 'fair'), ast.Constant(str(name))
          ):
            found[name] = path.name
  assert len(found) >= 5
  assert {k: v for k, v in found.items() if k not in MEASURES} == {}
