"""Contracts: what every data-side method keeps, over the whole dictionary."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from fairjax.config import Config, Method, Planted, Weighting
from fairjax.core.registry import find
from fairjax.data.sets import planted
from fairjax.data.tables import schema
from fairjax.methods import METHODS, ON_TEST_SETS, READS, unread

# A new method inherits every test with its defaults; these are more ways.
WAYS = {
  **{name: {} for name in METHODS},
  'augment half': {'ratio': 0.5},
  'augment equal': {'keep_equal': True},
  'augment by words': {'direction': 'female'},
  'substitute half': {'ratio': 0.5},
  'balance up': {'how': 'up'},
  'balance up freely': {'how': 'up', 'replacement': True},
  'balance half': {'ratio': 0.5},
  'blind remove': {'how': 'remove'},
  'supplement share': {'how': 'share'},
}
RANDOM = (
  'augment half',
  'substitute half',
  'balance',
  'balance up',
  'supplement',
)


@pytest.fixture(scope='module')
def tables():
  return planted.load(
    Config(planted=Planted(rows=80, test_rows=20, correlation=0.8))
  )


@pytest.fixture(scope='module')
def second(tmp_path_factory):
  """A second table with the terms of ours that supplement may need."""
  more = planted.load(Config(planted=Planted(rows=20, test_rows=400)))
  path = tmp_path_factory.mktemp('second') / 'more.csv'
  more['valid'][['text', 'label']].to_csv(path, index=False)
  path.with_name('terms.txt').write_text('he\nshe\nthe\n')
  return path


def config_of(way, second, seed=0, **more):
  method = Method(
    name=way.split()[0],
    table=str(second),
    terms=str(second.with_name('terms.txt')),
    **{**WAYS[way], **more},
  )
  return Config(
    seed=seed, method=method, weighting=Weighting(estimator='count', folds=2)
  )


def apply(way, tables, second, **options):
  config = config_of(way, second, **options)
  return find(METHODS, 'method', config.method.name)(tables, config)


def source(ids):
  """The id of the row that each row was made of."""
  return ids.str.replace(r'~(twin|\d+)$', '', regex=True)


@pytest.mark.parametrize('way', WAYS)
def test_keeps_ids_labels_order_and_input(way, tables, second):
  before = {split: table.copy() for split, table in tables.items()}
  after = schema.check(apply(way, tables, second))
  for split, table in tables.items():
    assert_frame_equal(table, before[split])
  made = after['train']
  assert made['id'].is_unique
  own = made[~made['id'].str.startswith('supplement:')]
  label = tables['train'].set_index('id')['label']
  assert own['label'].tolist() == label.loc[source(own['id'])].tolist()
  kept = own[own['id'].isin(tables['train']['id'])]
  places = pd.Index(tables['train']['id']).get_indexer(kept['id'])
  assert (np.diff(places) > 0).all()
  if 'origin' in made:
    rest = own[~own['id'].isin(kept['id'])]
    assert not (rest['origin'] == 'data').any()
    same = kept[kept['origin'] == 'data']
    text = tables['train'].set_index('id')['text']
    assert same['text'].tolist() == text.loc[same['id']].tolist()


@pytest.mark.parametrize('way', WAYS)
def test_depends_on_the_seed_alone(way, tables, second):
  first, again, other = (
    apply(way, tables, second, seed=seed)['train'] for seed in (3, 3, 4)
  )
  assert_frame_equal(first, again)
  if way in RANDOM:
    assert sorted(first['text']) != sorted(other['text'])


@pytest.mark.parametrize('way', WAYS)
def test_leaves_validation_and_tests_alone(way, tables, second):
  after = apply(way, tables, second)
  assert list(after) == list(tables)
  if way.split()[0] in ON_TEST_SETS:
    return
  assert after['test'] is tables['test']
  valid = after['valid']
  if way == 'reweight':
    valid = valid.drop(columns='weight')
  assert_frame_equal(valid, tables['valid'])


@pytest.mark.parametrize(
  'way', [w for w in WAYS if w.split()[0] not in (*ON_TEST_SETS, 'reweight')]
)
def test_ratio_zero_changes_nothing(way, tables, second):
  after = apply(way, tables, second, ratio=0.0)['train']
  if 'origin' in after:  # which a method may leave out (schema.py)
    assert set(after.pop('origin')) == {'data'}
  assert_frame_equal(after, tables['train'])


@pytest.mark.parametrize('way', ('augment', 'substitute'))
def test_a_larger_ratio_changes_more_rows_and_the_same(way, tables, second):
  few, more = (
    set(apply(way, tables, second, ratio=r)['train']['id']) for r in (0.3, 0.6)
  )
  made = lambda ids: {i for i in ids if i.endswith('~twin')}
  assert made(few) < made(more)


def test_a_knob_that_no_method_reads_is_found():
  method = Config().method
  method.by, method.names = 'label', False
  assert unread(method) == ['names', 'by']
  method.name = 'augment+balance'
  assert unread(method) == []


OTHERS = {
  **{'ratio': 0.3, 'direction': 'female', 'axis': 'religion'},
  **{'scope': 'pronouns', 'names': False, 'by': 'group', 'rank': 'ge'},
  **{'replacement': True, 'keep_equal': True},
  **{'table': 'none.csv', 'terms': 'none.txt'},
}


@pytest.mark.parametrize('name', sorted(READS))
def test_a_knob_that_a_method_is_not_said_to_read_changes_nothing(
  name, tables, second
):
  method = find(METHODS, 'method', name)
  before = method(tables, config_of(name, second))
  for knob in OTHERS.keys() - set(READS[name]):
    config = config_of(name, second)
    setattr(config.method, knob, OTHERS[knob])
    after = method(tables, config)
    for split in before:
      assert_frame_equal(before[split], after[split])
