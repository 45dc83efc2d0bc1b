"""supplement: the terms' shares after it, counted by hand."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config, Data, Method
from fairjax.core.errors import UserError
from fairjax.data.tables import schema
from fairjax.methods.supplement import (
  EPSILON,
  dixon,
  length_edges,
  second_table,
  shares,
  supplement,
)

TERMS = ('gay', 'deaf', 'old')


def texts_of(rng, n, chance):
  """Texts of one term or none, label 1 by the term's own chance."""
  kind = rng.integers(0, 4, n)
  words = [(*TERMS, 'tall')[k] for k in kind]
  texts = [f'{w} {"x" * int(s)}' for w, s in zip(words, rng.integers(1, 60, n))]
  label = (rng.random(n) < np.array(chance)[kind]).astype(int)
  return pd.DataFrame({'text': texts, 'label': label})


@pytest.fixture
def data(tmp_path):
  rng = np.random.default_rng(2)
  table = texts_of(rng, 900, (0.6, 0.35, 0.05, 0.2))
  table.insert(0, 'id', [f'r{k}' for k in range(900)])
  texts_of(rng, 6000, (0.5,) * 4).to_csv(tmp_path / 'more.csv', index=False)
  (tmp_path / 'terms.txt').write_text('\n'.join(TERMS))
  method = Method(
    table=str(tmp_path / 'more.csv'), terms=str(tmp_path / 'terms.txt')
  )
  return {'train': table.assign(group='')}, Config(method=method)


def test_the_formula_of_dixon():
  # 20 rows, 12 not positive (f = 0.6); the term: t = 5 of 6 rows.
  members = np.zeros((1, 20), bool)
  members[0, :6] = True
  positive = np.array([1] * 5 + [0] + [1] * 3 + [0] * 11)
  ((term, label, place, count),) = dixon(members, positive, np.zeros(20, int))
  assert (term, label, place) == (0, 0, 0)
  assert count == pytest.approx((0.6 * 6 - 1) / 0.4)
  assert (1 + count) / (6 + count) == pytest.approx(0.6)
  # Not where the term has the bin's share, no positive, or the bin no other.
  place = np.repeat([0, 2, 4], [4, 4, 2])
  positive = np.array([1, 0, 1, 0, 0, 0, 1, 1, 1, 1])
  members = np.array([[1, 1, 0, 0, 1, 0, 0, 0, 1, 0]], bool)
  assert [*dixon(members, positive, place)] == []


def test_the_formula_of_shares():
  """Of 40 %: the third of a term's rows is near enough, all are too many."""
  positive = np.r_[np.ones(40, int), np.zeros(60, int)]
  members = np.zeros((5, 100), bool)
  members[0, [0, 1, 40]] = True  # 2 of 3: (2 + 0) / (3 + a) <= .41
  members[1, 40:45] = True  # 0 of 5: b / (5 + b) >= .39
  members[2, np.r_[0:41, 41:100]] = True  # 40 of 100
  members[3, np.r_[0:39, 41:100, 99]] = True  # 39 of 98, which is near
  found = [*shares(members, positive, np.zeros(100, int))]
  assert found == [(0, 0, -1, 2), (1, 1, -1, 4)]


def test_terms_get_the_share_of_their_bin(data):
  tables, config = data
  before, made = tables['train'], supplement(*data)['train']
  added = made[made['origin'] == config.method.table]
  assert (added['label'] == 0).all() and len(added) > 50
  edges = length_edges(before['text'])
  place = lambda t: np.searchsorted(edges, t['text'].str.len())
  seen = 0
  for term in TERMS:
    for k in range(5):
      whole = before[place(before) == k]
      f = (whole['label'] == 0).mean()
      of = lambda t: t[(place(t) == k) & t['text'].str.startswith(term)]
      more = of(added)
      now = of(made)
      if (of(before)['label'] == 0).mean() >= f:
        assert not len(more)
        continue
      seen += 1
      share = (now['label'] == 0).mean()
      assert share <= f + 1e-9  # rounded down, so one more would pass f
      assert ((now['label'] == 0).sum() + 1) / (len(now) + 1) > f
  assert seen > 5


@pytest.mark.parametrize('epsilon', (EPSILON, 0.05))
def test_the_fewest_rows_bring_every_term_near_the_whole(
  data, epsilon, monkeypatch
):
  tables, config = data
  config.method.how = 'share'
  monkeypatch.setattr('fairjax.methods.supplement.EPSILON', epsilon)
  made = supplement(tables, config)['train']
  p_all = tables['train']['label'].mean()
  for term in TERMS:
    of = made[made['text'].str.startswith(term)]
    t, size = of['label'].sum(), len(of)
    added = of[of['origin'] != 'data']['label']
    assert abs(t / size - p_all) <= epsilon + 1e-9
    assert added.nunique() == 1  # only what is missing
    one_less = (t - added.iloc[0]) / (size - 1)
    assert abs(one_less - p_all) > epsilon


def test_no_row_is_added_twice_and_too_few_are_told(data, tmp_path):
  tables, config = data
  short = pd.read_csv(config.method.table).head(100)
  short.to_csv(tmp_path / 'short.csv', index=False)
  config.method.table = str(tmp_path / 'short.csv')
  made = supplement(tables, config)['train']
  added = made['id'][made['id'].str.startswith('supplement:')]
  assert added.is_unique and 0 < len(added) < 100
  assert f'{len(added)} rows of' in made.attrs['notes'][0]
  asked = int(made.attrs['notes'][0].split('where ')[1].split()[0])
  assert asked > len(added)


def test_a_row_with_two_terms_is_drawn_once(data, tmp_path):
  tables, config = data
  table = tables['train']
  both = table['text'].str.replace('gay', 'gay deaf').str.replace('old', 'tall')
  more = pd.read_csv(config.method.table)
  more['text'] = more['text'].str.replace('gay', 'gay deaf')
  more[more['text'].str.startswith('gay')].to_csv(
    config.method.table, index=False
  )
  made = supplement({'train': table.assign(text=both)}, config)['train']
  assert made['id'].is_unique


def test_columns_that_the_second_table_lacks(data):
  tables, config = data
  made = supplement({'train': tables['train'].assign(weight=2.0)}, config)
  made = made['train']
  assert (made['group'] == '').all()
  own = (made['origin'] == 'data').to_numpy()
  assert own.sum() == 900 and (made['weight'] == np.where(own, 2, 1)).all()
  added = f'{(~own).sum()} rows of {config.method.table} joined 900 training'
  assert made.attrs['notes'][0].startswith(added)


def test_a_supplement_to_pairs_of_texts_with_twins_has_none_of_its_own(data):
  """In a diet's tables, whose rows have a second text of their twin."""
  tables, config = data
  more = pd.read_csv(config.method.table).assign(pair='A hat.')
  more.to_csv(config.method.table, index=False)
  table = tables['train'].assign(text_pair='His hat.', twin_pair='Her hat.')
  table['twin'] = table['text']
  own = dataclasses.replace(config, data=Data(text_pair='pair'))
  made = supplement({'train': table}, own)['train']
  added = made['origin'] == config.method.table
  assert added.sum() > 50
  assert (made['twin_pair'][added] == 'A hat.').all()
  assert not schema.has_twin(made)[added].any()


def test_mistakes_are_one_sentence(data, tmp_path):
  tables, config = data
  (tmp_path / 'odd.txt').write_text('zebra\n')
  for field, value, match in (
    ('how', 'all', "knows 'dixon' and 'share'"),
    ('terms', str(tmp_path / 'odd.txt'), 'has one of the 1 terms'),
    ('terms', str(tmp_path / 'none.txt'), 'cannot read the terms'),
    ('table', '', 'method.table is empty'),
    ('table', str(tmp_path / 'none.csv'), 'does not exist'),
  ):
    own = dataclasses.replace(config.method, **{field: value})
    with pytest.raises(UserError, match=match) as error:
      supplement(tables, Config(method=own))
    assert '\n' not in str(error.value)


def test_the_second_table_has_the_labels_of_the_first(tmp_path):
  """All its rows are of one class, which is class 1 of the training rows."""
  path = tmp_path / 'more.csv'
  path.write_text('text,label\na gay man,toxic\nan old man,toxic\n')
  config = Config(method=Method(name='supplement', table=str(path)))
  known = {'fine': 0, 'toxic': 1}
  more = second_table(config, known)
  assert list(more['label']) == [1, 1]
  path.write_text('text,label\na gay man,rude\n')
  with pytest.raises(UserError, match="'rude'"):
    second_table(config, known)


def beside(path, text, label):
  """A small table to train on, and the config of a second one."""
  pd.DataFrame({'text': text, 'label': label}).to_csv(path, index=False)
  rows = {'text': ['gay x', 'gay y', 'other z'], 'label': [1, 1, 0]}
  config = Config(method=Method(table=str(path)))
  return pd.DataFrame({'id': list('abc'), **rows}), config


def test_rows_of_the_second_table_that_are_left_out_are_told(tmp_path):
  """They went without a word."""
  texts, labels = ['a gay man', 'a gay day'], ['0', '']
  train, config = beside(tmp_path / 'more.csv', texts, labels)
  made = supplement({'train': train}, config)['train']
  assert made.attrs['notes'][0].endswith(
    '; 1 row of it without text or label left out'
  )


def test_texts_that_are_held_out_are_not_learned_from(tmp_path):
  """A test text of the second table was trained on with its label."""
  texts = ['a gay man', 'a gay day', 'a gay hat']
  train, config = beside(tmp_path / 'more.csv', texts, 0)
  test = pd.DataFrame({'id': ['d'], 'text': ['a gay day'], 'label': [0]})
  for split in ('valid', 'test'):
    made = supplement({'train': train, split: test}, config)['train']
    added = made.loc[made['origin'] == config.method.table, 'text']
    assert 'a gay day' not in set(added)
    said = '; 1 row of it left out, whose text is held out'
    assert made.attrs['notes'][0].endswith(said)
  test = test.loc[[0] * 3].assign(
    id=list('def'), text=['a gay man', 'a gay day', 'a gay hat']
  )
  with pytest.raises(UserError, match=r'every text of .* is held out'):
    supplement({'train': train, 'test': test}, config)
