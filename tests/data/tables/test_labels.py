"""Labels stay the task they are: a mapping is shown, or the remedy is."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data import load_tables
from fairjax.data.tables import group_names, labels, splits
from fairjax.data.word_tables import table_rows


def cells(names, n=60) -> str:
  rows = [f'text {i},{names[i % len(names)]}\n' for i in range(n)]
  return 'text,label\n' + ''.join(rows)


def config_for(tmp_path, train, test=None, **fields) -> Config:
  config = Config()
  config.data.name = 'file'
  for split, names in (('', train), ('test_', test)):
    if names:
      path = tmp_path / f'{split}a.csv'
      path.write_text(cells(names), encoding='utf-8')
      setattr(config.data, f'{split}path', str(path))
  for name, value in fields.items():
    setattr(config.data, name, value)
  return config


def refusal(config) -> str:
  with pytest.raises(UserError) as error:
    load_tables(config)
  sentence = str(error.value)
  assert '\n' not in sentence and len(sentence) < 400, sentence
  return sentence


REFUSED = table_rows(__file__, 'refused_labels.csv')
HUGE = ['huge', '9' * 400 + '|0', '', 'data.labels']


@pytest.mark.parametrize('row', [*REFUSED, HUGE], ids=lambda row: row[0])
def test_another_task_is_refused_with_a_remedy_that_works(row, tmp_path):
  """What stands behind --config.data.labels= is pasted into a shell."""
  train, test, said = (cell.split('|') for cell in row[1:])
  config = config_for(tmp_path, train, test if row[2] else None)
  sentence = refusal(config)
  for part in said:
    assert part in sentence, sentence
  flag = re.search(r"--config\.data\.labels='?([^']*=\d[^']*)'?", sentence)
  if not flag or '…' in flag[0] or '>' in flag[0]:
    return
  word = shlex.split(flag[0])[0]
  config.data.labels = word.partition('labels=')[2]
  tables, _, _ = load_tables(config)
  assert set(tables['train']['label']) >= {0, 1}


def test_a_rule_names_classes_and_may_join_words(tmp_path):
  config = config_for(tmp_path, ['No', 'no', 'yes'], labels='No=0,no=0,yes=1')
  tables, report, _ = load_tables(config)
  assert report['labels'] == {'No': 0, 'no': 0, 'yes': 1}
  assert labels.class_names(tables) == ('No/no', 'yes')


def test_a_rule_for_a_class_that_no_row_has(tmp_path):
  config = config_for(tmp_path, ['a', 'c'], labels='a=0,b=1,c=2')
  assert "'b'" in refusal(config)
  config.data.labels = 'a=0,c=1,b=2'
  tables, report, _ = load_tables(config)
  assert labels.class_names(tables) == ('a', 'c')
  assert any("'b'" in w for w in report['warnings'])


def test_a_limit_that_leaves_one_class_is_told(tmp_path):
  sentence = refusal(config_for(tmp_path, ['0'] * 59 + ['1'], limit=3))
  assert 'data.limit' in sentence and 'two' in sentence


def test_the_positive_class_is_named_or_refused(tmp_path):
  tables, _, _ = load_tables(config_for(tmp_path, ['BAD', 'NOT_BAD']))
  assert labels.positive(tables, 1) == 'BAD'
  assert labels.positive(tables, 0) == 'NOT_BAD'
  for wrong in (-1, 2):
    with pytest.raises(UserError, match=r'measures\.pos_label') as error:
      labels.positive(tables, wrong)
    assert "1 'BAD'" in str(error.value) and str(wrong) in str(error.value)
  bad = {'test': tables['train'].query('label == 1')}
  assert "0 is 'NOT_BAD' (0 rows)" in labels.sentence(bad, 1)
  said = labels.sentence(tables, 1)
  assert "0 is 'NOT_BAD'" in said and "positive is 'BAD'" in said


# Groups.


def grouped(names, split='train'):
  table = pd.DataFrame({'group': pd.Series(names, dtype=object)})
  return {split: table}


def test_a_threshold_is_held_against_the_number_that_is_written():
  """7 of 10 annotators are .7 as float32 too, in which data sets are kept."""
  shares = np.arange(11) / 10
  for kind in (np.float64, np.float32):
    for rule in ('>=0.7', '>0.6'):
      table = pd.DataFrame({'label': shares.astype(kind)})
      labels.number({'train': table}, rule, 'toxicity')
      assert table['label'].tolist() == [0] * 7 + [1] * 4, (kind, rule)
  table = pd.DataFrame({'label': np.array([0.7, np.nan], np.float32)})
  labels.number({'train': table}, '>=0.7', 'toxicity')
  assert table['label'].isna().tolist() == [False, True]


def test_group_names_are_one_for_blanks_case_and_none():
  tables = grouped(['F', 'f', ' F', 'Female ', 'NaN', 'None', None, '', 'M'])
  tables['test'] = grouped(['F', 'female', 'nan'])['train']
  remarks = group_names.tidy(tables, 'group')
  assert list(tables['train']['group']) == [
    *('F', 'F', 'F', 'Female', '', '', '', '', 'M')
  ]
  assert list(tables['test']['group']) == ['F', 'Female', '']
  said = ' '.join(remarks)
  for part in ("'f'", "'F'", "'female'", "'NaN'", "'None'", 'no group'):
    assert part in said, said
  assert any("'F' and 'Female'" in one for one in remarks)


def test_group_names_that_are_right_are_left_alone():
  tables = grouped(['male', 'female', '', 'male'])
  before = tables['train'].copy()
  assert group_names.tidy(tables, 'group') == []
  pd.testing.assert_frame_equal(tables['train'], before)


def test_groups_of_numbers_become_names():
  tables = {'train': pd.DataFrame({'age': [1.0, np.nan, 2.0, 2.5]})}
  group_names.tidy(tables, 'age')
  assert list(tables['train']['age']) == ['1', '', '2', '2.5']


def test_another_column_of_groups_is_tidied_too(tmp_path):
  config = config_for(tmp_path, ['0', '1'])
  names = ['F', 'f ', 'NaN', 'M']
  rows = [f'text {i},{i % 2},{names[i % 4]}\n' for i in range(80)]
  path = tmp_path / 'g.csv'
  path.write_text('text,label,who\n' + ''.join(rows))
  config.data.path = str(path)
  config.measures.groups = 'who'
  tables, report, _ = load_tables(config)
  for table in tables.values():
    assert set(table['who']) <= {'F', 'M', ''}
  assert any("'NaN'" in warning for warning in report['warnings'])


def test_the_report_counts_what_a_limit_leaves(tmp_path):
  config = config_for(tmp_path, ['0', '1'], limit=8)
  tables, report, _ = load_tables(config)
  facts = report['splits']['train']
  assert facts['rows'] == 48 and facts['kept'] == 48 and facts['used'] == 8
  assert sum(facts['labels'].values()) == len(tables['train']) == 8


def test_a_class_that_a_limit_leaves_out_is_told(tmp_path, monkeypatch):
  names = ['a', 'b'] * 12 + ['c']  # c in one row of 25
  config = config_for(tmp_path, names, names, limit=10)
  for seed in range(20):
    monkeypatch.setattr(splits, 'SEED', seed)
    try:
      tables, report, _ = load_tables(config)
    except UserError:
      continue
    lost = 2 not in set(tables['train']['label'])
    rows = int((tables['test']['label'] == 2).sum())
    said = [w for w in report['warnings'] if 'data.limit' in w]
    assert len(said) == lost
    if lost and rows:
      break
  assert "no training row of 'c'" in said[0], said
  assert f'stands in {rows} row of test' in said[0]


def test_scores_are_rounded_to_ordered_classes():
  """STS-B's column: half goes up, and every grade up to the largest counts."""
  table = pd.DataFrame({'label': ['0.0', '1.5', '2.499', '5']})
  other = pd.DataFrame({'label': ['4', None]})
  tables = {'train': table, 'test': other}
  assert labels.number(tables, 'round', 'score') == 'round'
  assert table['label'].tolist() == [0, 2, 2, 5]
  assert other['label'][0] == 4 and other['label'].isna()[1]
  assert table.attrs['classes'] == tuple('012345')


PUBLIC = table_rows(__file__, 'public_labels.csv')


@pytest.mark.parametrize('turned', (False, True))
@pytest.mark.parametrize('row', PUBLIC, ids=lambda row: row[0])
def test_public_label_sets_are_read_as_their_authors_do(row, turned):
  """Right, or asked; never inverted (OFF of OLID was no offence once)."""
  _, *names, sought = row
  names = names[::-1] if turned else names
  table = pd.DataFrame({'label': names * 5})
  if not sought:
    with pytest.raises(UserError, match='does not say which is the positive'):
      labels.number({'train': table}, '', 'label')
    return
  labels.number({'train': table}, '', 'label')
  found = table.attrs['classes'][1]
  assert found == sought, f'{names}: class 1 is {found}'
