"""Each argument of the library exchanged for what it should not be.

    python tests/chaos/test_odd_arguments.py [SEED]

tries every door, argument and odd value; the suite two hundred of them. What
comes of it is a result or one sentence.
"""

import itertools
import pathlib
import sys

import numpy as np
import pandas as pd

import fairjax
from fairjax.core import errors
from fairjax.data.tables import inputs

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from test_mutations import no_fault, outcome

N = 40
Y = np.tile([0, 1], N // 2)
P = np.clip(0.3 + 0.4 * Y + np.linspace(-0.2, 0.2, N), 0, 1)
G = np.repeat(['f', 'm'], N // 2)
TABLE = pd.DataFrame(
  {
    'text': [f'she said {i}' for i in range(N)],
    'label': Y,
    'gender': G,
    'id': [f'r{i}' for i in range(N)],
  }
)
# Made anew for each call: an iterator is used up.
ODD = (
  *(lambda v=v: v for v in (None, True, -1, 0, 1.5, 10**400, 1e999, 1j, b'x')),
  *(lambda v=v: v for v in ('', ' ', '\0', 'x' * 5000, '\u202e', 'NaN', '..')),
  *(lambda v=v: v for v in ('/dev/null', '/etc', 'gender', 'label', 'text')),
  *(lambda v=v: v for v in ([], {}, [[]], {'': None}, {'a': {}}, (), set())),
  *(lambda v=v: v for v in ([1, 'a', None], ('a', 1), range(3), [1e999])),
  *(lambda v=v: v for v in (object(), object, len, pathlib.Path('/no'))),
  *(lambda v=v: v for v in (pd.NA, pd.NaT, np.float32(1), np.array('x'))),
  *(lambda v=v: v for v in (np.zeros(3), np.zeros((2, 2, 2)), TABLE, Y, P, G)),
  *(lambda v=v: [v] * N for v in ('a', None, {}, [1], True, '1', 10**400)),
  *(lambda v=v: np.array([v] * N) for v in (object(), 'x', b'x', 1j)),
  lambda: np.datetime64('2020-01-01'),
  lambda: np.array(['2020-01-01'] * N, 'datetime64[D]'),
  lambda: pd.DataFrame(),
  lambda: pd.Series(dtype=float),
  lambda: pd.Categorical(G),
  lambda: np.ma.array(P, mask=Y),
  lambda: P.reshape(4, 10),
  lambda: [np.nan, *P[1:]],
  lambda: iter([1, 2]),
  lambda: (i for i in range(N)),
  lambda: np.array([10**5000, 1], object),
)
MODEL = lambda texts: [0.9 * ('she' in text) for text in texts]
INFERENCE = {'confidence_level': 0.95, 'n_resamples': 20, 'random_state': 0}
LABELLED = {'y_true': Y, 'y_score': P, 'groups': G, 'pos_label': None}
AUDIT = {
  'data': TABLE,
  **{'text': 'text', 'label': 'label', 'groups': ('gender',), 'controls': ()},
  **{'reference': '', 'intersections': True, 'cluster': '', 'edited': ''},
  **{'swaps': ('auto',), 'training': '', 'against': None, 'classes': ()},
  **{'threshold': 0.5, 'labels': '', 'costs': '', 'equalize': ''},
  **{'pos_label': 1, 'fail_if': '', 'on_bad': 'error', 'batch_size': 64},
  **{'min_group': 10, **INFERENCE},
}
DOORS = {
  'assess': (
    fairjax.assess,
    LABELLED
    | INFERENCE
    | {'threshold': 0.5, 'intersections': False}
    | {'cluster': None, 'metrics': None},
  ),
  'thresholds': (
    fairjax.thresholds,
    LABELLED
    | INFERENCE
    | {'criterion': 'equal_fpr', 'decide_by': None}
    | {'threshold': 0.5, 'holdout': 0.5, 'sample_weight': None},
  ),
  'swap': (
    fairjax.swap,
    {'texts': ['she said'], 'direction': 'opposite', 'words': None}
    | {'names': True, 'axis': 'gender', 'random_state': 0},
  ),
  'weights': (
    fairjax.weights,
    {'table': TABLE, 'z': 'gender', 'terms': '', 'estimator': 'count'}
    | {'random_state': 0},
  ),
  'diet': (
    fairjax.diet,
    {'scores': TABLE.assign(ge=0.1), 'factual': 0.4, 'counterfactual': 0.4}
    | {'ranking': 'healthy_random', 'random_state': 0},
  ),
  'audit': (fairjax.audit, {'model': P, **AUDIT}),
  'audit of a function': (fairjax.audit, {'model': MODEL, **AUDIT}),
}
CASES = [
  (door, name, k)
  for door, (_, given) in DOORS.items()
  for name, k in itertools.product(given, range(len(ODD)))
]


def asked(function, given: dict):
  """What a door says, with those of its options as options."""
  known = given.keys() & function.known.keys()
  more = {'options': {k: given[k] for k in known}} if known else {}
  return function(**{k: given[k] for k in given.keys() - known}, **more)


def tried(cases) -> dict[str, str]:
  found = {}
  for door, name, k in cases:
    function, given = DOORS[door]
    odd = ODD[k]()
    found[f'{door}({name}={type(odd).__name__} {k})'] = outcome(
      lambda f=function, g=given | {name: odd}: asked(f, g)
    )
  return found


def test_two_hundred():
  chosen = np.random.default_rng(32).permutation(len(CASES))[:200]
  counts = no_fault(tried([CASES[k] for k in chosen]))
  assert counts['told'] > 150 and counts['fine'] > 4


def test_what_is_odd_is_not_taken_for_something_else():
  """Each was accepted: a mask was dropped, a table was its columns' names."""
  odd = {
    'a mask': lambda: fairjax.assess(Y, np.ma.array(P, mask=Y, fill_value=0)),
    'masked labels': lambda: fairjax.assess(np.ma.array(Y, mask=Y), P),
    'complex': lambda: fairjax.assess(Y, P.astype(complex)),
    'complex too': lambda: fairjax.audit(P.astype(complex), TABLE),
    'a bool': lambda: fairjax.assess(Y, P, threshold=True),
    'a word for True': lambda: fairjax.assess(Y, P, intersections='no'),
    'a table': lambda: fairjax.swap(TABLE),
    'a mapping': lambda: fairjax.swap({'he ran': 1}),
    'names': lambda: fairjax.swap('Mary ran', names=7),
    'a seed': lambda: fairjax.swap('he ran', random_state='x'),
    'a class': lambda: fairjax.audit(P, TABLE, options={'classes': 'rude'}),
    'edits': lambda: fairjax.audit(MODEL, TABLE, options={'edited': 'x.csv'}),
    'a set': lambda: fairjax.assess(Y, set(P)),
  }
  assert no_fault({k: outcome(v) for k, v in odd.items()})['fine'] == 0
  views = [dict(enumerate(P)).values(), P]  # that has an order
  assert len({str(fairjax.assess(Y, v, n_resamples=0)) for v in views}) == 1
  assert inputs.labels([1, 1], None)[0] == [0, 1]


def test_faces_of_results_say_what_they_know():
  given = {'groups': G, 'n_resamples': 20}
  one = fairjax.assess(Y, P, **given)
  few = {'n_resamples': 20}
  audited = fairjax.audit(P, TABLE, groups='gender', options=few)
  limits = fairjax.thresholds(Y, P, **given)
  doors = {
    'key': lambda odd: one[odd],
    'plot': lambda odd: audited.plot(odd),
    'words': lambda odd: audited.words(odd),
    'compare': lambda odd: fairjax.compare(one, odd),
    'load': lambda odd: fairjax.load(odd),
    'precision': lambda odd: fairjax.load('/no', precision=odd),
    'model': lambda odd: fairjax.score(odd, TABLE),
    'groups': lambda odd: limits.predict(P, odd),
    'scores': lambda odd: limits.predict(odd, G),
  }
  found = {
    f'{name}({k})': outcome(lambda call=call, odd=odd: call(odd()))
    for k, odd in enumerate(ODD)
    for name, call in doors.items()
    if (k + len(name)) % 4 == 0
  }
  counts = no_fault(found)
  assert counts['told'] > 90 and counts['fine'] < 12


def test_a_sentence_is_one_line_that_can_be_read():
  assert str(errors.UserError('a\nb  c')) == 'a b  c'
  long = str(errors.UserError(f'x is {"y" * 9999}; the remedy'))
  assert len(long) < errors.LONGEST and long.endswith('; the remedy')
  assert errors.shown('one\ntwo') == "'one\\ntwo'"
  assert errors.shown(np.zeros((9, 99)), 20).count('\n') == 0
  assert errors.shown(10**5000) == '<int>'


if __name__ == '__main__':
  print(dict(no_fault(tried(CASES))))
