"""Diets against a slow twin that follows the papers' words, and their laws."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairjax.config import Config, Diet, Method
from fairjax.core.errors import UserError
from fairjax.data import word_tables
from fairjax.data.tables import schema
from fairjax.methods import augment, quotas
from fairjax.methods import diet_rows as diet
from fairjax.methods.diet_rows import RANKINGS

SCORES = ('ge', 'el2n', 'forgetting', 'grand', 'pvi', 'wrong', 'stereotype')
CODE = Method(replacement=True, keep_equal=True)


def tables(n=40, seed=0, equal=0.3):
  """Rows in no order of their ids, and scores with many ties."""
  rng = np.random.default_rng(seed)
  ids = [f'r{k}' for k in rng.permutation(n)]
  text = [f'text {i}' for i in ids]
  twin = [t if rng.random() < equal else t + ' twin' for t in text]
  table = pd.DataFrame({'id': ids, 'text': text, 'twin': twin})
  table['label'] = (rng.random(n) < 0.4).astype(int)
  table['group'] = [('man', 'woman', None)[k] for k in rng.integers(0, 3, n)]
  scores = pd.DataFrame({'id': ids})
  for name in SCORES[:-1]:
    scores[name] = rng.integers(0, 6, n) / 4
  scores['wrong'] = rng.integers(0, 2, n)
  scores['stereotype'] = rng.integers(-1, 2, n)
  # Rows of either frame may come in any order.
  return table, scores.sample(frac=1, random_state=seed)


def taken(name, a, b, table, scores, method=None, seed=0):
  options = Diet(ranking=name, factual=a, counterfactual=b)
  config = Config(diet=options, method=method or Method())
  ids = table['id'].to_numpy()
  rows, twins = diet.positions(table, scores, name, (a, b), config, seed)
  return list(ids[rows]), list(ids[twins])


def slow_first(rows, score, n, falling):
  """One after the other: the best of those left, the first id of equals."""
  left, out = list(rows), []
  while left and len(out) < n:
    ends = max if falling else min
    best = ends(score[i] for i in left)
    out.append(min(i for i in left if score[i] == best))
    left.remove(out[-1])
  return out


# What is certain of a ranking's rows and twins: the first by falling (-) or
# rising (+) score, all, none, those of a sign; ? is decided by lot.
CERTAIN = word_tables.table_rows(__file__, 'certain_rows.csv')


def slow(name, a, b, table, scores):
  """The sets of ids that no lot decides, of rows and of twins."""
  rules = {ranking: halves for ranking, *halves in CERTAIN}
  twin_of = dict(zip(table['id'], table['twin']))
  text_of = dict(zip(table['id'], table['text']))
  rows = sorted(table['id'])
  twins = [i for i in rows if twin_of[i] != text_of[i]]

  def half(rule, who, ratio):
    if rule in ('?', 'all', 'none'):
      return {'?': None, 'all': who, 'none': []}[rule]
    if rule[-1].isdigit():
      signs = dict(zip(scores['id'], scores['stereotype']))
      return [i for i in who if str(signs[i]) in rule.split(',')]
    score = dict(zip(scores['id'], scores[rule[1:]]))
    return slow_first(who, score, int(len(rows) * ratio), rule[0] == '-')

  return half(rules[name][0], rows, a), half(rules[name][1], twins, b)


@pytest.mark.parametrize('name', RANKINGS)
@settings(max_examples=15, deadline=None)
@given(
  seed=st.integers(0, 10**6),
  a=st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]),
  b=st.sampled_from([0.0, 0.2, 0.4, 1.0]),
  equal=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_rankings_are_those_of_the_slow_twin(name, seed, a, b, equal):
  table, scores = tables(30, seed, equal)
  rows, twins = taken(name, a, b, table, scores, seed=seed)
  want_rows, want_twins = slow(name, a, b, table, scores)
  if want_rows is not None:
    assert sorted(rows) == sorted(want_rows)
  if want_twins is not None:
    assert sorted(twins) == sorted(want_twins)


@pytest.mark.parametrize('name', RANKINGS)
def test_contract(name):
  table, scores = tables(60)
  rows, twins = taken(name, 0.4, 0.3, table, scores, seed=5)
  ids = set(table['id'])
  usable = set(table['id'][table['twin'] != table['text']])
  assert set(rows) <= ids and set(twins) <= usable  # no equal twins
  assert len(set(rows)) == len(rows) and len(set(twins)) == len(twins)
  assert (rows, twins) == taken(name, 0.4, 0.3, table, scores, seed=5)
  # The order of the table and of the scores is nobody's business.
  mixed = table.sample(frac=1, random_state=3), scores.sort_values('id')
  again = taken(name, 0.4, 0.3, *mixed, seed=5)
  assert (set(rows), set(twins)) == (set(again[0]), set(again[1]))
  drawn = {'random', 'apart', 'heads', 'cells', 'quota wrong'} & set(
    RANKINGS[name]
  )
  other = taken(name, 0.4, 0.3, table, scores, seed=6)
  assert ((rows, twins) != other) == bool(drawn)


@pytest.mark.parametrize('name', RANKINGS)
def test_limits(name):
  table, scores = tables(30)
  usable = int((table['twin'] != table['text']).sum())
  counted = ('random', 'apart', 'top', 'bottom', 'quota', 'cells')
  ruled = lambda rule: rule.split()[0] in counted
  for a, b in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
    rows, twins = taken(name, a, b, table, scores)
    if ruled(RANKINGS[name][1]):
      assert len(twins) == b * usable
    if ruled(RANKINGS[name][0]) and RANKINGS[name][0] != 'apart':
      assert len(rows) == a * len(table)


def slow_quotas(sizes, densities, n):
  """Algorithm 1 of DRoP, in exact fractions: shares of each class."""
  kept, free, left = [Fraction(0)] * len(sizes), set(range(len(sizes))), n
  while left > 0 and free:
    z = sum(sizes[k] * densities[k] for k in free) / left
    if not z:
      break
    left = 0
    for k in list(free):
      kept[k] += densities[k] / z
      if kept[k] > 1:
        left += sizes[k] * (kept[k] - 1)
        kept[k] = Fraction(1)
        free.discard(k)
  return [size * share for size, share in zip(sizes, kept)]


@given(
  sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5), data=st.data()
)
def test_quotas_are_those_of_the_paper(sizes, data):
  error = data.draw(
    st.lists(st.integers(1, 9), min_size=len(sizes), max_size=len(sizes))
  )
  n = data.draw(st.integers(0, sum(sizes)))
  found = quotas.quotas(np.array(sizes), np.array(error) / 10, n)
  want = slow_quotas(sizes, [Fraction(e, 10) for e in error], n)
  assert found.sum() == n and (found <= sizes).all()
  assert all(abs(a - b) < 1 for a, b in zip(found, want))


def test_quotas_at_the_ends():
  sizes = np.array([10, 30])
  assert list(quotas.quotas(sizes, np.array([0.5, 0.5]), 20)) == [5, 15]
  assert list(quotas.quotas(sizes, np.array([0.9, 0.1]), 20)) == [10, 10]
  assert list(quotas.quotas(sizes, np.array([0, 0]), 20)) == [5, 15]
  assert list(quotas.quotas(sizes, np.array([0.4, 0]), 20)) == [10, 10]
  assert list(quotas.quotas(sizes, np.array([1, 1]), 99)) == [10, 30]
  few = np.array([8, 3, 7])
  assert list(quotas.quotas(few, np.array([6, 0, 3]), 16)) == [8, 1, 7]


def test_more_of_what_a_probe_gets_wrong_and_as_many_of_each_cell():
  ids = [f'{k:03d}' for k in range(100)]
  table = pd.DataFrame({'id': ids, 'text': 'x', 'twin': 'y'})
  table['label'] = [int(k < 20) for k in range(100)]
  table['group'] = ['man' if k % 5 else 'woman' for k in range(100)]
  # A tenth of label 0 is wrong, half of label 1.
  wrong = [int(k % 2 if k < 20 else k % 10 == 0) for k in range(100)]
  scores = pd.DataFrame({'id': ids, 'wrong': wrong})
  rows, _ = taken('drop', 0.3, 0, table, scores)
  label = table.set_index('id')['label'][rows]
  assert (label == 1).sum() == round(30 * 20 * 0.5 / (20 * 0.5 + 80 * 0.1))
  rows, _ = taken('cells', 0.3, 0, table, scores)
  cells = table.set_index('id').loc[rows].groupby(['label', 'group']).size()
  # Four rows are women of label 1; the other three share what is left.
  assert sorted(cells) == [4, 8, 9, 9]
  with pytest.raises(UserError, match='no groups'):
    taken('cells', 0.3, 0, table.drop(columns='group'), scores)


@pytest.mark.parametrize(
  'a, b, rows, twins', [(0.3, 0.2, 4057, 2705), (0.4, 0.4, 5410, 5410)]
)
def test_sizes_of_the_paper(a, b, rows, twins):
  """13,525 tweets of which 4,889 have a twin that differs."""
  n, differ = 13525, 4889
  ids = [f'{k:05d}' for k in range(n)]
  table = pd.DataFrame({'id': ids, 'text': 'x', 'label': 0, 'twin': 'x'})
  table.loc[: differ - 1, 'twin'] = 'y'
  score = np.where(np.arange(n) < differ, np.arange(n) + 1.0, 0.0)
  scores = pd.DataFrame({'id': ids, 'ge': score})
  found = taken('healthy_random', a, b, table, scores, CODE)
  assert [len(part) for part in found] == [rows, twins]
  plain = taken('healthy_random', a, b, table, scores)
  assert [len(part) for part in plain] == [rows, min(twins, differ)]
  if a == 0.4:
    # With replacement 5,410 draws are about 4,459 rows, and the first 40 % by
    # GE hold 90.4 % of twins that differ.
    assert len(found[0]) + len(found[1]) == 10820
    assert abs(len(set(found[0])) - 4459) < 60
    assert sum(int(i) < differ for i in found[1]) / twins == pytest.approx(
      0.904, abs=1e-3
    )
    config = Config(diet=Diet())
    pool = diet.rows(table, scores, 'healthy_random', (a, b), config, [0])
    _, told = diet.notes(table, pool, config)
    assert '5410 twins were asked for and only 4889' in told


def test_random_halves_nest_and_are_independent():
  table, scores = tables(200, equal=0.0)
  small = taken('random', 0.2, 0.1, table, scores, seed=1)
  large = taken('random', 0.5, 0.4, table, scores, seed=1)
  assert set(small[0]) < set(large[0]) and set(small[1]) < set(large[1])
  shared = len(set(large[0]) & set(large[1]))
  assert 15 < shared < 65  # 40 are expected of two draws of 100 and 80


def test_super_healthy_rows_are_not_those_of_the_twins():
  table, scores = tables(60, equal=0.0)
  for method in (Method(), Method(replacement=True)):
    rows, twins = taken('super_healthy_random', 0.4, 0.4, table, scores, method)
    assert len(rows) == len(twins) == 24 and not set(rows) & set(twins)
  # No row is left where all twins are taken.
  assert not taken('super_healthy_random', 0.4, 1.0, table, scores)[0]


def test_substitution_keeps_each_row_once():
  table, _ = tables(400)
  rows, twins = taken('cds', 1.0, 1.0, table, None)
  assert sorted(rows + twins) == sorted(table['id'])
  usable = (table['twin'] != table['text']).sum()
  assert abs(len(twins) - usable / 2) < 4 * (usable / 4) ** 0.5


@pytest.mark.parametrize('rows', [90, 100, 340, 13525])
def test_a_share_is_of_the_number_as_it_is_written(rows):
  """.7 of 90 rows are 63; in floating point 62.99… and so 62."""
  for percent in range(101):
    want = Fraction(percent, 100) * rows // 1
    assert quotas.part(rows, percent / 100) == want
  table, scores = tables(90, equal=0)
  found = taken('healthy_ge', 0.7, 0.35, table, scores)
  assert [len(half) for half in found] == [63, 31]
  table, scores = tables(100, equal=0)
  found = taken('augment_ge', 1, 0.29, table, scores)
  assert [len(half) for half in found] == [100, 29]


def test_rows_of_the_pool():
  table, scores = tables(30)
  config = Config(diet=Diet())
  found = diet.rows(table, scores, 'cda', (1, 1), config, [0, 1, 2])
  n = len(table)
  usable = np.flatnonzero(table['twin'] != table['text'])
  for row in found:
    assert sorted(row) == [*range(n), *(n + usable)]
  mine = diet.rows(table, scores, 'healthy_random', (0.5, 0.2), config, [0, 1])
  ids, twins = taken('healthy_random', 0.5, 0.2, table, scores, seed=1)
  place = dict(zip(table['id'], range(n)))
  want = [place[i] for i in ids] + [n + place[i] for i in twins]
  assert list(mine[1]) == sorted(want)
  assert (mine[0] != mine[1]).any()


def test_equal_twins_on_request():
  table, scores = tables(40, equal=0.5)
  method = Method(keep_equal=True)
  _, twins = taken('healthy_random', 0.5, 0.9, table, scores, method)
  assert len(twins) == 36
  diets = Diet(factual=0.5, counterfactual=0.9)
  config = Config(diet=diets, method=method)
  pool = diet.rows(table, scores, 'healthy_random', (0.5, 0.9), config, [0])
  facts = diet.facts(table, pool)
  equal = (table['twin'] == table['text']).sum()
  assert equal - 4 <= facts['equal twins'] <= equal
  assert (
    f'{facts["equal twins"]} such twins were added'
    in diet.notes(table, pool, config)[0]
  )


def test_twins_of_the_data_or_by_words():
  table = pd.DataFrame(
    {
      **{'id': ['a', 'b'], 'text': ['she left', 'it rained']},
      **{'label': [0, 1], 'twin': ['he LEFT', 'it rained']},
    }
  )
  config = Config(diet=Diet())
  own, rows = diet.with_twins({'train': table}, config)
  assert list(own['train']['twin']) == list(rows['text']) == [*table['twin']]
  bare = table.drop(columns='twin')
  made, rows = diet.with_twins({'train': bare}, config)
  assert list(made['train']['twin']) == ['he left', 'it rained']
  assert list(rows['label']) == [0, 1]
  assert list(rows['id']) == ['a~twin', 'b~twin']


def test_a_pair_whose_second_text_alone_is_swapped_has_a_twin():
  """Scores ask about the pair that may be added, and it may be added."""
  table = pd.DataFrame({'id': ['a', 'b'], 'text': 'It rained.'})
  table['text_pair'] = ['She got wet.', 'The dog got wet.']
  table['label'] = [0, 1]
  config = Config()
  own, rows = diet.with_twins({'train': table}, config)
  assert list(own['train']['twin']) == list(table['text'])
  assert list(own['train']['twin_pair']) == list(rows['text_pair'])
  assert rows['text_pair'][0] == 'He got wet.'
  assert list(rows['twin_pair']) == list(table['text_pair'])
  assert schema.has_twin(own['train']).tolist() == [True, False]
  schema.check({**own, 'valid': rows})
  # A method that is handed the diet's table takes the same twins.
  made = augment.counterparts(own['train'], config)
  assert list(made['text_pair']) == list(rows['text_pair'])
  scores = pd.DataFrame({'id': ['a', 'b'], 'ge': [1.0, 0.0]})
  taken = diet.positions(
    own['train'], scores, 'augment_ge', (1.0, 0.5), config, 0
  )
  assert list(taken[1]) == [0]


def test_what_is_wrong_is_said():
  table, scores = tables(20)
  with pytest.raises(UserError, match=r"score 'ge'.*scoring\.names"):
    taken('healthy_random', 0.4, 0.4, table, scores.drop(columns='ge'))
  with pytest.raises(UserError, match="has no score 'ge'"):
    taken('healthy_random', 0.4, 0.4, table, scores.iloc[1:])
  with pytest.raises(UserError, match='no row to take from has a group'):
    taken('cells', 0.4, 0.4, table.assign(group=''), scores)
  for name, shares, says in (
    ('healthy', (0, 0), "no ranking 'healthy'; did you mean 'healthy_"),
    (3, (0, 0), 'no ranking 3; there are healthy'),
    ('random', (-0.1, 0), r'diet\.factual.*in \[0, 1\]'),
    ('random', (0, 1.1), r'diet\.counterfactual'),
    ('random', (True, 0), r'diet\.factual'),
    ('random', (0, '1'), r'diet\.counterfactual'),
  ):
    with pytest.raises(UserError, match=says):
      diet.check(name, shares)
  for name in RANKINGS:
    asked = {*SCORES} & {*re.findall(r'[a-z0-9]+', ' '.join(RANKINGS[name]))}
    assert sorted(diet.needs(name)) == sorted(asked)
