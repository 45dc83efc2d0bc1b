"""Claims by the direction of their measure."""

from fairjax.metrics import measures
from fairjax.report import verdict


def line(measure, low, high):
  return {
    'set': 'texts',
    'ours': 'a',
    'theirs': 'b',
    'measure': measure,
    'difference': {'value': (low + high) / 2, 'low': low, 'high': high},
    'test': 'bootstrap',
    'p': 0.01,
  }


def verdicts(*tests):
  names = ('transfer_accuracy', 'tprd_size')
  return {
    one['claim']: one['verdict']
    for one in verdict.ahead(tests, 'a', 'b', names)
  }


def test_ahead_is_above_where_more_is_better_and_below_where_less_is():
  size = measures.MEASURES['tprd_size'].label
  up, down = (
    line('transfer_accuracy', 0.1, 0.2),
    line('tprd_size', -0.3, -0.1),
  )
  assert verdicts(up, down) == {
    'a is above b in transfer accuracy on texts': verdict.HOLDS,
    f'a is below b in {size} on texts': verdict.HOLDS,
  }
  worse = verdicts(
    line('transfer_accuracy', -0.2, -0.1), line('tprd_size', 0.1, 0.3)
  )
  assert set(worse.values()) == {verdict.FAILS}
  unknown = verdicts(line('tprd_size', -0.2, 0.1))
  assert list(unknown.values()) == [verdict.OPEN]


def test_a_turned_interval_keeps_its_order():
  turned = verdict.negated({'value': -0.2, 'low': -0.3, 'high': -0.1})
  assert turned == {'value': 0.2, 'low': 0.1, 'high': 0.3, 'seeds': []}


def test_a_test_of_theirs_against_ours_says_it_with_its_sign_turned():
  turned = line('transfer_accuracy', -0.2, -0.1) | {'ours': 'b', 'theirs': 'a'}
  (claim,) = verdict.ahead([turned], 'a', 'b', ('transfer_accuracy',))
  assert claim['claim'] == 'a is above b in transfer accuracy on texts'
  assert claim['verdict'] == verdict.HOLDS
  assert (claim['effect']['low'], claim['effect']['high']) == (0.1, 0.2)
  # One in the claim's own direction stands before it.
  own = line('transfer_accuracy', -0.5, -0.4)
  (claim,) = verdict.ahead([turned, own], 'a', 'b', ('transfer_accuracy',))
  assert claim['verdict'] == verdict.FAILS
