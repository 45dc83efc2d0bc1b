"""What leaves by the library is in its words, at every one of its doors."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import UserError
from fairjax.core import python_words
from fairjax.results import Results, section, text

ROWS = pd.DataFrame(
  {'text': ['She won.', 'He won.'] * 20, 'label': [0, 1] * 20}
)
OWN = {'data.group': "a column called 'group'", 'data.id': 'ids'}


def door(table, on_bad='error', n_resamples=9): ...


@pytest.mark.parametrize(
  'sentence, words',
  [
    (
      'drop them with --config.data.on_bad=drop',
      "drop them with on_bad='drop'",
    ),
    ("as --config.data.on_bad='x y'; or not", "as on_bad='x y'; or not"),
    ('data.on_bad is 3', 'on_bad is 3'),
    ('data.id is 3', 'ids is 3'),
    ('measures.resamples is 0', 'n_resamples is 0'),
    ('name --config.data.group', "name a column called 'group'"),
    (
      'train with --config.train.track=True',
      'train with the command and its flag --config.train.track=True',
    ),
    ('the file data.csv is empty', 'the file data.csv is empty'),
  ],
)
def test_a_sentence_names_arguments(sentence, words):
  assert python_words.said(sentence, door, OWN) == words


DOORS = {
  'assess': (lambda: fairjax.assess([0, 1], [0.1]), 'y_score'),
  'thresholds': (
    lambda: fairjax.thresholds([0, 1], [0.1, 0.2], ['a', 'b'], holdout=2),
    'holdout is 2',
  ),
  'swap': (lambda: fairjax.swap('x', direction='up'), 'direction'),
  'weights': (lambda: fairjax.weights(ROWS, z='identity'), "z='columns:a,b'"),
  'weights_knob': (lambda: fairjax.weights(ROWS, folds=1), 'folds is 1'),
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
  assert not re.search(r'\b(audit|data|method|weighting|writing)\.[a-z]', said)


def test_every_function_of_the_library_is_such_a_door():
  plain = {'UserError', 'Assessment', 'Comparison', 'Classifier', 'Equalized'}
  # Of arrays and results alone, which no knob speaks of.
  plain |= {'__version__', 'compare', 'gradient_norms'}
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
  python_words.retell(results, door)
  told = "name it with on_bad='drop'"
  assert results.notes == [told]
  assert results.contenders['m']['sets']['s']['warnings'] == [told]
  assert results.sections[0]['parts'][0]['text'] == told
