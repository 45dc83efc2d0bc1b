"""balance: counts of cells against a slow count."""

import collections

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config, Method
from fairjax.core.errors import UserError
from fairjax.methods.balance import balance, cells, with_gender

SIZES = {('f', 0): 9, ('f', 1): 31, ('m', 0): 24, ('m', 1): 14, ('', 1): 6}


@pytest.fixture
def tables():
  rows = [key for key, n in SIZES.items() for _ in range(n)]
  rows = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
  table = pd.DataFrame(rows, columns=['group', 'label'])
  table.insert(0, 'id', [f'r{k}' for k in range(len(table))])
  return {'train': table.assign(text='a text')}


def count(table):
  return collections.Counter(zip(table['group'], table['label']))


def run(tables, **method):
  return balance(tables, Config(method=Method(**method)))['train']


@pytest.mark.parametrize('how, goal', [('down', 9), ('up', 31)])
@pytest.mark.parametrize('ratio', (0.0, 0.3, 0.5, 1.0))
def test_cells_move_to_one_size_and_no_group_stays(tables, how, goal, ratio):
  made = count(run(tables, how=how, ratio=ratio))
  for key, n in SIZES.items():
    wanted = n + int(ratio * (goal - n)) if key[0] else n
    assert made[key] == wanted, key
  freely = run(tables, how=how, ratio=ratio, replacement=True)
  assert count(freely) == made
  (note,) = freely.attrs['notes']
  inside = [made[key] for key in SIZES if key[0]]
  ends = ' to '.join(dict.fromkeys(map(str, (min(inside), max(inside)))))
  became = f'{sum(made.values())}: {ends} of each group and label'
  assert note == f'84 rows became {became}, before 9 to 31'


def test_a_share_of_the_way_is_that_which_is_written():
  """.7 of 90 rows are 63, of which floating point makes 62.99999."""
  rows = pd.DataFrame(
    {'text': 'x', 'label': [0] * 100 + [1] * 10, 'group': 'a'}
  ).assign(id=[str(k) for k in range(110)])
  made = run({'train': rows}, how='up', ratio=0.7)
  assert (made['label'] == 1).sum() == 10 + 63


def test_no_row_is_copied_twice_before_all_are_once(tables):
  made = run(tables, how='up')
  made['row'] = made['id'].str.partition('~')[0]
  for key, n in SIZES.items():
    part = made[(made['group'] == key[0]) & (made['label'] == key[1])]
    times = part['row'].value_counts()
    assert len(times) == n and times.max() - times.min() <= 1


def test_a_copy_is_the_row_under_another_id(tables):
  made = run(tables, how='up')
  copies = made[made['origin'] == 'copy']
  assert copies['id'].str.fullmatch(r'r\d+~[2-9]').all()
  own = tables['train'].set_index('id').loc[copies['id'].str.split('~').str[0]]
  assert own['label'].tolist() == copies['label'].tolist()


def test_a_combination_without_rows_is_named(tables):
  table = tables['train']
  lost = table[(table['group'] != 'm') | (table['label'] == 0)]
  with pytest.raises(UserError, match='no training row has group=m label=1'):
    run({'train': lost})
  with pytest.raises(UserError, match=r"the column 'age'.*it has id"):
    run(tables, by='age,label')
  with pytest.raises(UserError, match=r'method\.by is empty'):
    run(tables, by=' ')
  with pytest.raises(UserError, match="'down' and 'up'"):
    run(tables, how='sideways')


@pytest.mark.parametrize('by', ('group,label', 'label, group'))
def test_rows_of_no_group_are_in_no_cell(tables, by):
  cell, names = cells(tables['train'], by)
  empty = (tables['train']['group'] == '').to_numpy()
  assert ((cell < 0) == empty).all() and len(names) == 4


def test_gender_is_read_from_the_text():
  texts = ['He left.', 'She left.', 'Rain.', 'He met her.', 'I saw the boy.']
  table = pd.DataFrame({'text': texts})
  own = with_gender(table, Config())
  assert own['gender'].tolist() == ['male', 'female', '', '', 'male']
  known = table.assign(gender='x')
  assert with_gender(known, Config()) is known


def test_a_column_that_is_empty_in_every_row_is_told(tables):
  empty = {'train': tables['train'].assign(group='')}
  with pytest.raises(
    UserError, match=r"no training row has a value in .*'group'"
  ):
    run(empty)
  halves = tables['train'].assign(other='')
  halves['other'] = np.where(halves['group'] == '', 'x', '')
  with pytest.raises(UserError, match=r"column 'other' .* beside the others"):
    run({'train': halves}, by='group,other')
