"""Hygiene against hand-made faults, and the published facts of the tweets."""

import collections

import numpy as np
import pandas as pd
import pytest
import small

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables import hygiene, schema

FAULTS = small.cases(__file__, 'faults.json')  # text, label, reason


def cleaned(tables, on_bad='error'):
  """Usable tables, the report, and the rows left out."""
  kept, bad = hygiene.usable(tables, on_bad)
  return kept, hygiene.report(tables, kept, kept, bad), bad


def tables_of(cells, split='train', **columns):
  table = pd.DataFrame(
    {
      'id': [f'{split}:{i}' for i in range(len(cells))],
      'text': pd.Series([c[0] for c in cells], dtype=object),
      'label': pd.Series([c[1] for c in cells], dtype='Int64'),
      **columns,
    }
  )
  return {split: table}


def test_each_fault_has_its_reason():
  tables = tables_of(FAULTS)
  kept, report, bad = cleaned(tables, 'drop')
  expected = [(i, why) for i, (_, _, why) in enumerate(FAULTS) if why]
  assert list(zip(bad['row'], bad['reason'])) == expected
  assert kept['train']['text'].tolist() == [t for t, _, w in FAULTS if not w]
  facts = report['splits']['train']
  assert facts['rows'] == 10 and facts['kept'] == 3
  assert facts['bad'] == collections.Counter(w for *_, w in FAULTS if w)
  schema.check(kept)


def test_error_names_the_rows_and_the_remedy():
  with pytest.raises(UserError) as told:
    cleaned(tables_of(FAULTS))
  sentence = str(told.value)
  assert 'has 7 rows that cannot be used: row 1 (no text)' in sentence
  assert '…' in sentence and '--config.data.on_bad=drop' in sentence


def test_tables_that_come_in_are_left_alone():
  tables = tables_of(FAULTS)
  before = tables['train'].copy()
  cleaned(tables, 'drop')
  pd.testing.assert_frame_equal(tables['train'], before)


def test_counts_equal_a_slow_twin():
  rng = np.random.default_rng(0)
  words = ['a', 'b', 'c &amp; d', 'e &lt', 'f &#39; g', 'h', 'i', 'j']
  tables = {}
  for split in ('train', 'valid', 'test'):
    cells = [
      (words[i] + str(j), int(k))
      for i, j, k in zip(*rng.integers(0, [[8], [4], [2]], (3, 25)))
    ]
    tables |= tables_of(cells, split)
  kept, report, _ = cleaned(tables)
  seen = {}
  for split, table in kept.items():
    labels = collections.defaultdict(set)
    repeats = 0
    for text, label in zip(table['text'], table['label']):
      repeats += text in labels
      labels[text].add(label)
    facts = report['splits'][split]
    assert facts['duplicates'] == repeats > 0
    assert facts['conflicts'] == sum(len(v) > 1 for v in labels.values()) > 0
    assert facts['html_entities'] == sum(
      '&amp;' in t or '&#39;' in t for t in table['text']
    )
    for before, texts in seen.items():
      inside = [i for i, t in zip(table['id'], table['text']) if t in texts]
      leak = report['leaks'][f'{before}/{split}']
      assert leak['rows'] == len(inside) and leak['ids'] == inside[:5]
    seen[split] = set(table['text'])


def test_pairs_are_equal_only_when_both_texts_are():
  cells = [('a', 0), ('a', 0), ('a', 1)]
  tables = tables_of(cells, text_pair=['x', 'y', 'x'])
  _, report, _ = cleaned(tables)
  facts = report['splits']['train']
  assert facts['duplicates'] == 1 and facts['conflicts'] == 1


def test_missing_twins_are_the_text_itself():
  tables = tables_of([('he', 0), ('she', 1), ('they', 1)])
  tables['train']['twin'] = ['she', None, '#NAME?']
  kept, report, _ = cleaned(tables)
  assert kept['train']['twin'].tolist() == ['she', 'she', 'they']
  assert report['splits']['train']['twins'] == 1
  assert report['splits']['train']['twins_lost'] == 2


def test_one_class_is_said():
  _, report, _ = cleaned(tables_of([('a', 1), ('b', 1)]))
  assert report['splits']['train']['one_class']
  assert 'train: all rows have label 1' in report['warnings']


def test_a_split_without_usable_rows_is_an_error():
  with pytest.raises(UserError, match='no row that can be used'):
    cleaned(tables_of([(None, 1), ('', 0)]), 'drop')


@pytest.fixture
def tweets(shared):
  config = Config()
  config.data.name = 'file'
  folder = shared / 'twitter_sexism'
  config.data.path = str(folder / 'train_original.csv')
  config.data.twin_path = str(folder / 'train_gender_swap.csv')
  config.data.valid_path = str(folder / 'valid_original.csv')
  config.data.test_path = str(folder / 'test_original_even.csv')
  config.data.text, config.data.label = 'tweet', 'Class'
  return config
