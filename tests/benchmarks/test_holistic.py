"""HolisticBias: published counts, phrases, and tests of pairs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairjax.benchmarks import holistic
from fairjax.metrics.intervals import IntervalOptions

OPTIONS = IntervalOptions(0.95, 200, 0)


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


def test_phrases_are_the_published_ones(lists):
  found = holistic.phrases(lists)
  both = set(zip(found['one'], found['many']))
  assert ('a middle-aged dad', 'middle-aged dads') in both
  assert ('a US-born woman', 'US-born women') in both
  assert ('an autistic man', 'autistic men') in both
  assert (
    'a kid who uses a wheelchair',
    'kids who use wheelchairs',
  ) in both
  latina = found[found['descriptor'] == 'Latina']
  assert 'man' not in set(latina['noun']) and 'woman' in set(latina['noun'])
  assert not found['one'].str.contains('{', regex=False).any()


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
