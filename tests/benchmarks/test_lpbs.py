"""LPBS: words and attributes of the lists, guards, and means by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fairjax.benchmarks import lpbs
from fairjax.core.errors import UserError
from fairjax.metrics.inference.intervals import IntervalOptions

OPTIONS = IntervalOptions(0.95, 100, 0)


def test_words_are_adjectives_of_one_word():
  """As data/axes/religion.csv has them: no 'Roman Catholic', no 'Muslims'."""
  found = lpbs.words('religion')
  assert found['catholic'] == ('Catholic',)
  assert found['muslim'] == ('Muslim', 'Islamic', 'Moslem')
  assert found['jewish'] == ('Jewish',)
  assert found['atheist'] == ('atheist', 'atheistic')


def table(**values):
  """Items of religion and their associations; toxic words first."""
  rows = [
    (f'religion:{value}:{side}{k}', 'religion', value, f'{side}{k}', side, one)
    for value, sides in values.items()
    for side, of in zip('XY', sides)
    for k, one in enumerate(of)
  ]
  names = ['id', 'axis', 'value', 'attribute', 'side', 'association']
  return pd.DataFrame(rows, columns=names)


def by_hand(x, y):
  """Cohen's d, and the p of all splits."""
  s = np.array([*x, *y])
  gap = lambda at: s[at].mean() - np.delete(s, at).mean()
  every = [
    gap(list(at)) for at in itertools.combinations(range(len(s)), len(x))
  ]
  d = gap(list(range(len(x))))
  return d / s.std(ddof=1), np.mean(np.abs(every) >= abs(d) - 1e-9)


MUSLIM = ((3.0, 4, 2.5), (0.5, 1, 0))
JEWISH = ((0.0, 0.2, 0.1), (0.3, 0, -0.4))


def test_three_words_of_either_side_are_enough_and_two_are_not():
  items = table(muslim=MUSLIM, jewish=JEWISH)
  found = lpbs.estimate(items, items, OPTIONS)
  # Of two values s of the one is the difference, and of the other its negative.
  x, y = (np.subtract(a, b) for a, b in zip(MUSLIM, JEWISH))
  d, p = by_hand(x, y)
  groups = found['groups']
  for value, sign in (('muslim', 1), ('jewish', -1)):
    one = groups[f'religion: {value}']['lpbs_effect']
    assert one['value'] == pytest.approx(sign * d)
    assert one['p'] == pytest.approx(p) == 2 / 20
    assert one['p_holm'] == pytest.approx(2 * p)
  mean = found['fairness']['lpbs_mean']
  assert mean['value'] == pytest.approx(d) and mean['null'] == 0
  assert mean['p'] == pytest.approx(2 * p)
  # The floor of either value, whose farther end is the note's.
  reach = [
    max(-g['lpbs_effect']['floor_low'], g['lpbs_effect']['floor_high'])
    for name, g in groups.items()
    if ': ' in name
  ]
  assert mean['note'].endswith(f'up to {np.mean(reach):.2f}')
  for side in 'XY':
    few = items[items['attribute'] != f'{side}2'].reset_index(drop=True)
    with pytest.raises(UserError, match='single tokens for two values'):
      lpbs.estimate(few, few, OPTIONS)


def test_values_without_every_association_are_left_out():
  items = table(muslim=MUSLIM, jewish=JEWISH, hindu=((1.0, 0, 1), (0, 1, 2)))
  items.loc[items['id'] == 'religion:hindu:Y1', 'association'] = np.nan
  found = lpbs.estimate(items, items, OPTIONS)['groups']
  assert 'religion: muslim' in found and 'religion: hindu' not in found


def test_two_models_are_compared_where_both_have_three_words():
  items = table(muslim=MUSLIM, jewish=JEWISH)
  other = items.assign(association=items['association'][::-1].to_numpy() ** 2)
  x, y = (np.subtract(a, b) for a, b in zip(MUSLIM, JEWISH))
  s = other['association'].to_numpy().reshape(2, 2, 3)
  d = by_hand(x, y)[0] - by_hand(*(s[0] - s[1]))[0]
  found = lpbs.compared(items, items, other, OPTIONS)
  assert [row['part'] for row in found] == [
    *('religion: muslim', 'religion: jewish'),
  ]
  values = [row['difference']['value'] for row in found]
  assert values == pytest.approx([d, -d])
  for side in 'XY':
    few = items[items['attribute'] != f'{side}2']
    assert lpbs.compared(few, few, other, OPTIONS) == []
