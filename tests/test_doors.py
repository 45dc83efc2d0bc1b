"""What leaves by the library is in its words, at every one of its doors."""

import functools
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import UserError
from fairjax.cli import commands
from fairjax.config import doors
from fairjax.core.errors import worded
from fairjax.results import Results, section, text

ROWS = pd.DataFrame(
  {'text': ['She won.', 'He won.'] * 20, 'label': [0, 1] * 20}
)
OWN = {'data.group': "a column called 'group'", 'data.id': 'ids'}


def door(table, on_bad='error', n_resamples=9): ...


LIBRARY = doors.surface(door, OWN)
SPELT = commands.surface(['audit', 'd.csv', '--config.audit.weight=x'])
SHORT = commands.surface(['audit', 'd.csv'])
BAD = 'measures.resamples is 0; leave out with --config.data.on_bad=drop.'
WEIGHT = 'audit.weight is x (fairjax help audit.weight): --config.audit.weight'


@pytest.mark.parametrize(
  'surface, given, words',
  [
    (LIBRARY, BAD, "n_resamples is 0; leave out with on_bad='drop'."),
    (LIBRARY, "as --config.data.on_bad='x y'; or", "as on_bad='x y'; or"),
    (LIBRARY, 'data.id is 3; --config.data.on_bad', 'ids is 3; on_bad=…'),
    (LIBRARY, 'fill --config.data.group', "fill a column called 'group'"),
    (LIBRARY, 'set --config.train.export=1', 'the command and its flag'),
    (LIBRARY, 'data.csv is empty', 'data.csv is empty'),
    (SHORT, WEIGHT, '--weight is x (fairjax help audit.weight): --weight'),
    (SPELT, WEIGHT, WEIGHT),
    (SHORT, BAD, BAD),
    (commands.surface(['--config=x.py']), WEIGHT, WEIGHT),
  ],
)  # fmt: skip
def test_a_mistake_names_what_its_caller_can_write(surface, given, words):
  error = UserError(given)
  error.surface = surface
  assert words in str(error)


def test_fields_make_the_sentence():
  error = UserError(where='train.lr', got=0, expected='more', remedy='a; b')
  assert str(error) == 'train.lr is 0; more; a; b'
  assert (error.where, error.got, error.expected) == ('train.lr', 0, 'more')
  again = pickle.loads(pickle.dumps(UserError('seeds is 0')))
  assert again.where == 'seeds' and str(again) == 'seeds is 0'
  assert worded('a --config.x.y=1, b', lambda *it: str(it)) == (
    "a ('x.y', '1'), b"
  )


DOORS = {
  'assess': (lambda: fairjax.assess([0, 1], [0.1]), 'y_score'),
  'thresholds': (
    lambda: fairjax.thresholds([0, 1], [0.1, 0.2], ['a', 'b'], holdout=2),
    'holdout is 2',
  ),
  'swap': (lambda: fairjax.swap('x', direction='up'), 'direction'),
  'weights': (lambda: fairjax.weights(ROWS, z='identity'), "z='columns:a,b'"),
  'knob': (lambda: fairjax.weights(ROWS, options={'folds': 1}), 'folds is 1'),
  'weights_words': (lambda: fairjax.weights(ROWS, 'terms'), "'terms': …"),
  'fit': (
    lambda: fairjax.FairClassifier('weights').fit(['a'] * 40, [0, 1] * 20),
    'argument sensitive_features, or a file of words of the texts with options',
  ),
  'save': (
    lambda: fairjax.assess([0, 1], [0.1, 0.9]).save('/dev/null/x'),
    'another folder with folder=…',
  ),
  'diet': (
    lambda: fairjax.diet(ROWS.assign(ge=0.1), ranking='cells'),
    "a column called 'group'",
  ),
  'load': (lambda: fairjax.load(''), 'folder=…'),
  'perturb': (lambda: fairjax.perturb('x', attribute='no'), 'attribute'),
  'fairscore': (
    lambda: fairjax.fairscore(lambda t: t, ['She won.'], by='model'),
    'by is',
  ),
  'benchmark': (lambda: fairjax.benchmark('x', 'crows'), 'data='),
  'audit': (
    lambda: fairjax.audit(np.ones(40) / 2, ROWS, groups='sex'),
    "no column 'sex'",
  ),
  'write': (lambda: fairjax.write(lambda p: p), 'classifier=…'),
}


@pytest.mark.parametrize('name', DOORS)
def test_a_door_speaks_of_arguments(name):
  call, words = DOORS[name]
  with pytest.raises(UserError) as error:
    call()
  said = str(error.value)
  assert words in said, said
  assert '--config' not in said, said
  said = said.replace("{'method.terms': …}", '')  # as `options` are typed
  assert not re.search(r'\b(audit|data|method|weighting|writing)\.[a-z]', said)


def test_every_function_of_the_library_is_such_a_door():
  plain = {'UserError', 'Assessment', 'Comparison', 'Classifier', 'Equalized'}
  # Of arrays and results alone, which no knob speaks of.
  plain |= {'__version__', 'compare', 'gradient_norms'}
  plain |= {'FairClassifier', 'AuditCallback'}
  plain |= {'AuditOptions', 'WeightOptions', 'WriteOptions'}
  for name in {*fairjax.__all__} - plain:
    function = getattr(fairjax, name)
    assert function.__wrapped__.__module__ == function.__module__, name
    assert len(inspect.signature(function).parameters) > 1
    assert {*DOORS} & {name} or name == 'score'


def test_results_are_told_anew():
  flag = 'name it with --config.data.on_bad=drop'
  results = Results(
    recipe='audit',
    notes=[flag],
    contenders={'m': {'sets': {'s': {'warnings': [flag]}}}},
    sections=[section('x', text(flag))],
  )
  doors.retell(results, door)
  told = "name it with on_bad='drop'"
  assert results.notes == [told]
  assert results.contenders['m']['sets']['s']['warnings'] == [told]
  assert results.sections[0]['parts'][0]['text'] == told


def test_options_come_from_the_knobs():
  """The rest of what an audit takes is options, by keyword or in one."""
  table = pd.DataFrame({'p': [0.1, 0.9] * 20, 'label': [0, 1] * 20})
  table['sex'] = ['f', 'f', 'm', 'm'] * 10
  ask = functools.partial(fairjax.audit, 'p', table)
  how = fairjax.AuditOptions(n_resamples=20, min_group=5)
  with pytest.warns(FutureWarning, match=r"options={'n_resamples': …, 'min_g"):
    whole = ask(groups='sex', **how)
  same = ask(sensitive_features='sex', options=how)
  assert same['dp'] == whole['dp'] and whole.config.measures.min_group == 5
  assert fairjax.audit.known['n_resamples'].default == 10000
  assert fairjax.write.known['top_k'].default == 0
  assert 'min_group: smallest number of rows' in fairjax.audit.__doc__
  with pytest.raises(UserError, match="no option 'min_grp'; did you mean"):
    ask(options={'min_grp': 5})
  with pytest.raises(UserError, match=r'^n_resamples is -1; a number from 0'):
    ask(options={'n_resamples': -1})
  with pytest.raises(UserError, match='another name of groups'):
    ask(groups='sex', sensitive_features='sex')
  for name in ('demographic_parity', 'demographic_parity_difference', 'DP'):
    with pytest.raises(KeyError, match="did you mean 'dp'"):
      whole[name]


def test_dir_is_the_api_alone():
  assert {*dir(fairjax)} == {*fairjax.__all__}
