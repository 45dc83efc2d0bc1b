"""HolisticBias: published counts, phrases, and tests of pairs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairjax.benchmarks import holistic
from fairjax.benchmarks.shared import result_rows
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 200, 0)


@pytest.fixture(scope='module')
def lists():
  SHARED = Path(__file__).resolve().parents[3] / 'shared' / 'data'

  if not SHARED.is_dir():
    pytest.skip(f'no {SHARED}: the published lists are not on this machine')
  return holistic.read(SHARED / 'bias_eval')[0]


@pytest.fixture(scope='module')
def table(lists):
  return holistic.sentences(lists)


def test_the_counts_are_the_published_ones(lists, table):
  assert len(holistic.phrases(lists)) == 22_029
  assert len(table) == 566_625
  assert table['text'].nunique() == 563_195
  assert len(holistic.comparable(table)) == 549_120
  assert len(lists.templates) == 26


def test_a_sample_is_stratified_and_keeps_all_nouns(lists):
  kept, few = holistic.sample(lists, 3, 2, 0)
  assert len(kept.templates) == 3
  per_axis = few.groupby('axis')['descriptor'].nunique()
  assert len(per_axis) == 13 and (per_axis == 2).all()
  assert (few.groupby(['axis', 'descriptor']).size() == 32).all()
  again = holistic.sample(lists, 3, 2, 0)[1]
  assert list(again['one']) == list(few['one'])


def test_golden_fact_eleven():
  a = np.array([10, 12, 11, 13, 14, 15.0])
  values = {'a': a, 'b': a + 10, 'c': a + 0.5}
  table = pd.DataFrame(
    [
      {
        'axis': 'x',
        'template': 't',
        'descriptor': d,
        'noun': i,
        'perplexity': v,
      }
      for d, row in values.items()
      for i, v in enumerate(row)
    ]
  )
  found = holistic.pairs(table).set_index(['one', 'other'])['p']
  np.testing.assert_allclose(
    [found['a', 'b'], found['a', 'c'], found['b', 'c']],
    [0.0021645, 0.6991342, 0.0021645],
    atol=1e-7,
  )
  rows = holistic.rows(
    found.reset_index().assign(axis='x', template='t'), OPTIONS
  )
  assert rows[0]['value']['value'] == pytest.approx(200 / 3)


def test_without_a_difference_five_in_a_hundred_differ():
  rng = np.random.default_rng(0)
  table = pd.DataFrame(
    [
      {'axis': a, 'template': t, 'descriptor': f'd{d}', 'noun': n}
      for a in 'xy'
      for t in 'uvw'
      for d in range(12)
      for n in range(32)
    ]
  )
  table['perplexity'] = np.exp(rng.normal(size=len(table)))
  rows = holistic.rows(holistic.pairs(table), OPTIONS)
  assert 2 < rows[0]['value']['value'] < 9  # by name, p < .05
  assert rows[1]['value']['value'] < 0.5  # at a false discovery rate of .05


def test_three_pairs_that_all_differ_are_not_sure_of_a_hundred():
  """Resampling printed 100 [100, 100]; three descriptors say no more than
  three of three do, Clopper and Pearson's [29.2, 100]."""
  pairs = pd.DataFrame(
    [('a', 'b', 0.01), ('a', 'c', 0.02), ('b', 'c', 0.03)],
    columns=['one', 'other', 'p'],
  ).assign(axis='x', template='t')
  value = holistic.rows(pairs, OPTIONS)[0]['value']
  assert value['value'] == value['high'] == 100
  assert value['low'] == pytest.approx(100 * 0.025 ** (1 / 3))
  value = holistic.rows(pairs.assign(p=0.5), OPTIONS)[0]['value']
  assert value['value'] == value['low'] == 0
  assert value['high'] == pytest.approx(100 * (1 - 0.025 ** (1 / 3)))


LISTS = holistic.HolisticLists(
  {
    'age': {
      'x': [
        *('old', {'descriptor': 'US-born', 'article': 'a'}),
        {'descriptor': 'pregnant', 'gender': 'female'},
      ],
      'y': ['young', 'aged'],
    },
    'body': {'z': ['tall', 'short', 'big']},
  },
  {'female': [['aunt', 'aunts']], 'neutral': [['kid', 'kids']]},
  {
    'I am {noun_phrase}.': {},
    'We like {plural_noun_phrase}!': {'must_be_noun': True},
    'Hi, {noun_phrase}.': {},
  },
  {'age': ['elders', {'noun_phrase': '{article} {noun} of age'}]},
)


def test_phrases_by_hand():
  table = holistic.phrases(LISTS)
  one = dict(zip(table['one'], table['many']))
  assert one['an old aunt'] == 'old aunts' and one['a US-born kid']
  assert one['an aunt'] == 'aunts' and one['a kid'] == 'kids'
  assert one['an aunt of age'] == 'aunts of age' and one['elders'] == 'elders'
  assert 'a pregnant aunt' in one and 'a pregnant kid' not in one
  # Nouns, descriptors alone, with both nouns or one's, with a noun, fixed.
  assert len(table) == 2 + 8 + (7 * 2 + 1) + 2 + 1
  said = holistic.sentences(LISTS)
  assert len(said) == 2 * 28 + (2 + 15 + 2)
  assert {'We like aunts of age!', 'I am pregnant.'} <= {*said['text']}
  assert not {'We like elders!', 'We like old!'} & {*said['text']}
  kept = holistic.comparable(table)
  assert len(kept) == 7 * 2 + 2 and 'pregnant' not in set(kept['descriptor'])


def test_a_descriptor_without_a_sentence_is_in_no_pair():
  table = pd.DataFrame(
    [
      {'axis': 'x', 'template': 't', 'descriptor': d, 'noun': n}
      | {'perplexity': value if (d, n) != ('c', 1) else np.nan}
      for d, value in zip('abc', (1.0, 2, 3))
      for n in range(4)
    ]
  )
  found = holistic.pairs(table)
  assert list(zip(found['one'], found['other'])) == [('a', 'b')]


def test_models_are_compared_over_templates_too():
  """Of four templates two are likelier by one model: that is no difference,
  though each has fifty descriptors."""
  items = pd.DataFrame(
    [(d, t) for d in range(50) for t in range(4)],
    columns=['descriptor', 'template'],
  )
  items = items.assign(id=items.index.astype(str), axis='x')
  gap = np.array([0.3, -0.1, 0.2, 0.0])[items['template']]
  values = [
    holistic.values(items, pd.DataFrame({'log_perplexity': 3 + part}))
    for part in (gap, 0 * gap)
  ]
  (found,) = result_rows.compare(*values, OPTIONS)
  assert found['difference']['value'] == pytest.approx(0.1)
  assert 0.25 < found['p'] < 0.4  # t of three: 1.095, .35


def test_shares_are_tested_against_chance_and_vary_by_template():
  """Of ten pairs all differ in one template and none in the other: 50, and so
  few templates tell next to nothing."""
  pairs = pd.DataFrame(
    [
      ('x', template, one, other, p)
      for template, p in (('u', 0.001), ('v', 0.5))
      for k, one in enumerate('abcde')
      for other in 'abcde'[k + 1 :]
    ],
    columns=['axis', 'template', 'one', 'other', 'p'],
  )
  pairs.loc[0, 'p'] = 0.05  # which is not below .05
  rows = {
    (row['part'], row['metric']): row for row in holistic.rows(pairs, OPTIONS)
  }
  whole, fdr = rows['all', 'holistic_pairs'], rows['all', 'holistic_pairs_fdr']
  assert (whole['null'], fdr['null']) == (5, 0)
  assert whole['value']['value'] == fdr['value']['value'] == 45
  assert whole['value']['low'] < 5 and whole['value']['high'] > 90
  alone = rows['template u', 'holistic_pairs']['value']
  assert alone['value'] == 90 and alone['low'] > whole['value']['low'] + 10
