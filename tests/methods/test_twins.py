"""augment and substitute against slow twins of themselves."""

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config, Method, Scoring
from fairjax.core.errors import UserError
from fairjax.data.sets import planted
from fairjax.data.tables import schema
from fairjax.methods.augment import augment, counterparts
from fairjax.methods.substitute import substitute
from fairjax.pairs.swapping import dictionary

TEXTS = ('He left.', 'Rain again.', 'She sang to her son.', 'A man, a plan.')
TWINS = ('She left.', 'Rain again.', 'He sang to his daughter.', 'A woman.')


def table_of(n=4, twin=True, **columns):
  table = pd.DataFrame(
    {
      'id': [f'r{(7 * k) % n}' for k in range(n)],
      'text': [TEXTS[k % 4] for k in range(n)],
      'label': np.arange(n) % 2,
      **columns,
    }
  )
  return table.assign(twin=[TWINS[k % 4] for k in range(n)]) if twin else table


def config_of(path='', seed=0, **method):
  return Config(
    seed=seed, method=Method(**method), scoring=Scoring(path=str(path))
  )


def refused(match, call, *args):
  with pytest.raises(UserError, match=match) as error:
    call(*args)
  assert '\n' not in str(error.value)


@pytest.fixture
def scores(tmp_path):
  """Scores with ties, in another order than the table's."""
  rng = np.random.default_rng(5)
  ids = [f'r{k}' for k in rng.permutation(40)]
  frame = pd.DataFrame({'id': ids, 'ge': rng.integers(0, 6, 40) / 7})
  frame.to_parquet(tmp_path / 'scores.parquet')
  return tmp_path / 'scores.parquet'


@pytest.mark.parametrize('ratio', (0.1, 0.37, 0.8, 1.0))
def test_the_best_twins_are_added_ties_by_id(scores, ratio):
  table = table_of(40)
  config = config_of(scores, rank='ge', ratio=ratio)
  made = augment({'train': table}, config)['train']
  score = pd.read_parquet(scores).set_index('id')['ge']
  order = sorted(table['id'], key=lambda i: (-score[i], i))
  text, twin = (table.set_index('id')[c] for c in ('text', 'twin'))
  wanted = {i for i in order[: int(40 * ratio)] if text[i] != twin[i]}
  assert made['id'].tolist() == table['id'].tolist() + [
    f'{i}~twin' for i in table['id'] if i in wanted
  ]
  added = made[made['origin'] == 'twin']
  assert added['text'].tolist() == [twin[i[:-5]] for i in added['id']]
  assert added['twin'].tolist() == [text[i[:-5]] for i in added['id']]


def test_equal_twins_are_counted_and_added_only_on_request():
  table = {'train': table_of(8)}
  made = augment(table, config_of())['train']
  assert len(made) == 8 + 6
  assert made.attrs['notes'] == [
    "6 twins, the data's own, joined 8 train rows; "
    '2 of the 8 chosen twins equal their text'
  ]
  assert len(augment(table, config_of(keep_equal=True))['train']) == 16


def test_twins_are_swapped_where_the_table_has_none():
  made = augment({'train': table_of(4, twin=False)}, config_of())['train']
  swapped = ['She left.', 'He sang to his daughter.', 'A woman, a plan.']
  assert made['text'].tolist()[4:] == swapped
  assert 'twin' not in made


def test_planted_twins_and_the_swap_change_the_same_places():
  """Partners may differ (Mr: Ms or Mrs; Aisha: Ahmed or Mohammed).

  In .989 of 4,000 rows the same places change; "the host", whose hostess no
  rule is sure of, is a third of the others.
  """
  table = planted.load(Config())['train']
  own = dictionary.swap(list(table['text']), names=True).texts
  same = [
    [a == b for a, b in zip(text.split(), twin.split())]
    == [a == b for a, b in zip(text.split(), other.split())]
    for text, twin, other in zip(table['text'], table['twin'], own)
  ]
  assert np.mean(same) >= 0.98
  none = table['group'] == ''
  assert [t for t, n in zip(own, none) if n] == list(table['text'][none])


def test_a_direction_or_list_overrules_the_column(tmp_path):
  table = table_of(4)
  male = counterparts(table, config_of(direction='male'))
  assert male['text'].tolist()[::2] == ['He left.', 'He sang to his son.']
  words = tmp_path / 'weather.csv'
  words.write_text('rain,snow\n')
  made = counterparts(table, config_of(words=str(words)))
  assert made['same'].tolist() == [True, False, True, True]
  assert made['text'].iloc[1] == 'Snow again.'


def test_both_texts_of_a_pair_are_swapped():
  pair = ['His hat.', 'Her hat.', 'No hat.', 'No hat.']
  table = table_of(4, text_pair=pair)
  made = augment({'train': table}, config_of())['train']
  # Row 1 has no twin of its text, but one of its pair.
  assert made['text_pair'].tolist()[4:] == ['Her hat.', 'His hat.', *pair[2:]]


def test_a_twin_speaks_of_the_other_group():
  groups = ['male', '', 'Female', 'teachers']
  table = table_of(4, group=groups)
  assert counterparts(table, config_of())['group'].tolist() == [
    *('female', '', 'male', '')
  ]
  to_female = counterparts(table, config_of(direction='female'))
  assert to_female['group'].tolist()[0] == 'female'


def test_validation_rows_only_on_request():
  tables = {
    'train': table_of(4),
    'valid': table_of(4).assign(id=list('abcd')),
    'test': table_of(4).assign(id=list('efgh')),
  }
  for method in (augment, substitute):
    both = schema.check(method(tables, config_of(how='all')))
    assert (both['valid']['origin'] == 'twin').sum() == 3
    assert both['test'] is tables['test']
    refused("method.how is 'down'", method, tables, config_of(how='down'))


def test_scores_that_do_not_fit_are_one_sentence(scores, tmp_path):
  tables = {'train': table_of(41)}
  refused('scoring.path is empty', augment, tables, config_of(rank='ge'))
  refused("no row for id 'r40'", augment, tables, config_of(scores, rank='ge'))
  refused(
    "no column 'gee'.*mean 'ge'", augment, tables, config_of(scores, rank='gee')
  )
  twice = tmp_path / 'twice.csv'
  twice.write_text('id,ge\nr0,1\nr0,2\n')
  refused("id 'r0' twice", augment, tables, config_of(twice, rank='ge'))


def test_coins_fall_as_often_as_asked():
  table = table_of(4000)
  table['id'] = [f'r{k}' for k in range(4000)]
  made = substitute({'train': table}, config_of(ratio=0.3))['train']
  assert len(made) == 4000
  taken = made['id'].str.endswith('~twin')
  differs = (table['text'] != table['twin']).to_numpy()
  assert not taken[~differs].any()
  share = taken[differs].mean()
  assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / differs.sum())
  # Row for row the text or its twin, whatever the coin says.
  text = np.where(taken, table['twin'], table['text'])
  assert made['text'].tolist() == text.tolist()
