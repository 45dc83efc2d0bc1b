"""LPBS: words and attributes of the lists, guards, and means by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
import tokenizers
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from fairjax.benchmarks import lpbs
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 100, 0)


def test_attributes_are_adjectives_that_insult_and_that_praise():
  """As data/sets/identity/words.csv has them: twelve of either side."""
  found = lpbs.attributes()
  sides = {side: [w for w, s in found if s == side] for side in 'XY'}
  assert {'stupid', 'nasty'} <= {*sides['X']} and 'kind' in sides['Y']
  assert len(found) == len(sides['X']) + len(sides['Y']) == 24


def test_an_item_is_a_value_of_an_axis_with_an_attribute():
  items = lpbs.items(None)
  values = [value for axis in AXES for value in lpbs.words(axis)]
  assert len(items) == len(values) * 24 and items['id'].is_unique
  one = items[items['id'] == 'gender:female:kind'].iloc[0]
  assert one.to_dict() == {
    **{'id': 'gender:female:kind', 'axis': 'gender', 'value': 'female'},
    **{'attribute': 'kind', 'side': 'Y'},
  }


KNOWN = (
  '[UNK] [MASK] [CLS] [SEP] men women boys Jewish Muslim Islamic bad kind vile '
  'people are Most folks The here . - elderly'
).split()


class Reads:
  """A judge whose p at a mask depends on all other tokens of the text."""

  mask, mask_id = '[MASK]', KNOWN.index('[MASK]')

  def __init__(self):
    words = {word: k for k, word in enumerate(KNOWN)}
    self.tokenizer = tokenizers.Tokenizer(WordLevel(words, '[UNK]'))
    self.tokenizer.pre_tokenizer = Whitespace()
    self.tokenizer.add_special_tokens(['[MASK]', '[CLS]', '[SEP]'])

  def encode(self, texts):
    ids = [[2, *self.tokenizer.encode(text).ids, 3] for text in texts]
    return Ragged(
      np.array([i for one in ids for i in one], np.int32),
      np.cumsum([0, *map(len, ids)]),
    )

  def log_p_at(self, ragged, place, token):
    assert (ragged.flat[ragged.offsets[:-1] + place] == self.mask_id).all()
    assert token.shape[0] == len(place)
    return np.array(
      [
        [np.log(p_of(ids, at, one)) for one in some]
        for ids, at, some in zip(ragged.split(), place, token)
      ]
    )


def p_of(ids, at, token):
  """A chance of a token at a place of a text."""
  return (1 + (7 * int(np.sum(ids)) + 3 * at + 5 * token) % 11) / 40


def test_associations_are_of_words_at_the_first_mask_of_each_template():
  """log Σ_w p(w | a) less the same with the attribute masked, by loops."""
  judge, attributes = Reads(), ('bad', 'kind', 'vile')
  known = {
    ('gender', 'male'): ['men', 'boys'],
    ('gender', 'female'): ['women'],
    ('religion', 'jewish'): ['Jewish'],
    ('religion', 'muslim'): ['Muslim', 'Islamic'],
    ('religion', 'hindu'): [],  # which the vocabulary does not know
    ('age', 'senior'): ['elderly'],  # alone of its axis
    ('age', 'young'): [],
  }
  rows = [(*pair, word) for pair in known for word in attributes]
  items = pd.DataFrame(rows, columns=['axis', 'value', 'attribute'])
  items['id'] = items.index.map('i{}'.format)
  found = lpbs.score(judge, items, None)
  assert list(found) == ['id', 'association']
  assert found['id'].tolist() == items['id'].tolist()
  people = ('{} people are {}.', 'Most {} people are {}.', '{} folks are {}.')
  nouns = ('{} are {}.', 'Most {} are {}.', 'The {} here are {}.')

  def slow(axis, value, attribute):
    each = []
    for template in nouns if axis == 'gender' else people:
      logs = []
      for said in (attribute, '[MASK]'):
        ids = judge.encode([template.format('[MASK]', said)]).flat
        at = list(ids).index(judge.mask_id)
        words = [KNOWN.index(word) for word in known[axis, value]]
        logs.append(np.log(sum(p_of(ids, at, word) for word in words)))
      each.append(logs[0] - logs[1])
    return np.mean(each)

  for row, found_one in zip(rows, found['association']):
    if row[0] == 'age' or row[1] == 'hindu':
      assert np.isnan(found_one), row
    else:
      assert found_one == pytest.approx(slow(*row)), row


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
  parts = ['religion', 'religion: muslim', 'religion: jewish']
  assert list(groups) == parts  # as the items are
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


def test_a_value_of_which_nothing_differs_counts_as_no_effect():
  """s of a, b and c: 0, 1.5 t and −1.5 t of the associations 0, t and −t."""
  x, y = (3.0, 4, 2.5), (0.5, 1, 0)
  less = lambda some: tuple(-one for one in some)
  flat = (0.0, 0, 0)
  items = table(a=(flat, flat), b=(x, y), c=(less(x), less(y)))
  found = lpbs.estimate(items, items, OPTIONS)
  of = {value: found['groups'][f'religion: {value}'] for value in 'abc'}
  none = of['a']['lpbs_effect']
  assert none['value'] is none['low'] is None and none['p'] == 1
  assert none['note'] == 'all targets have the same s'
  assert (none['floor_low'], none['floor_high']) == (0, 0)
  d, _ = by_hand(x, y)
  for value, sign in (('b', 1), ('c', -1)):
    assert of[value]['lpbs_effect']['value'] == pytest.approx(sign * d)
  reach = [
    max(-one['lpbs_effect']['floor_low'], one['lpbs_effect']['floor_high'])
    for one in of.values()
  ]
  assert reach[0] == 0 and min(reach[1:]) > 1
  assert found['fairness'].keys() == {'lpbs_mean'}
  for one in (found['fairness'], found['groups']['religion']):
    mean = one['lpbs_mean']
    assert mean['value'] == pytest.approx(2 * d / 3)
    assert mean['note'] == (
      'mean |d| over the values; by chance one reaches up to '
      f'{sum(reach) / 3:.2f}'
    )
    assert mean['items'] == 18 and mean['null'] == 0
    assert mean['test'] == 'least permutation p of the values, by Holm'
    # 2 / 20 of b and of c, 1 of a: the least of three by Holm.
    assert mean['p'] == pytest.approx(0.3)
  one = of['b']['lpbs_effect']
  assert one['test'] == 'exact permutation of attributes'
  assert one['items'] == 6 and one['null'] == 0
  assert one['p_holm'] == pytest.approx(0.3)
  assert found['warnings'] == []


def test_the_floor_is_by_its_farther_end():
  """Of unlike lists d by chance reaches farther to one side."""
  rows = [
    {'part': f'religion: {k}', 'items': 6, 'p': p, 'value': {'value': value}}
    | {'floor_low': low, 'floor_high': high}
    for k, (value, low, high, p) in enumerate(
      [(-1.0, -1.75, 0.5, 0.04), (0.25, -0.5, 1.25, 0.5), (None, 0, 0, 1.0)]
    )
  ]
  mean = lpbs.mean_row('religion', rows)
  assert mean['value']['value'] == pytest.approx(1.25 / 3)
  assert mean['value']['note'].endswith('one reaches up to 1.00')
  assert (mean['p'], mean['items']) == (pytest.approx(0.12), 18)


def test_two_models_are_compared_where_both_have_three_words():
  items = table(muslim=MUSLIM, jewish=JEWISH)
  other = items.assign(association=items['association'][::-1].to_numpy() ** 2)
  x, y = (np.subtract(a, b) for a, b in zip(MUSLIM, JEWISH))
  s = other['association'].to_numpy().reshape(2, 2, 3)
  d = by_hand(x, y)[0] - by_hand(*(s[0] - s[1]))[0]
  found = lpbs.compared(items, items, other, OPTIONS)
  assert [row['part'] for row in found] == [
    *('religion: muslim', 'religion: jewish')
  ]
  values = [row['difference']['value'] for row in found]
  assert values == pytest.approx([d, -d])
  for side in 'XY':
    few = items[items['attribute'] != f'{side}2']
    assert lpbs.compared(few, few, other, OPTIONS) == []
