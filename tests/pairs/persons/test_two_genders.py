"""Sentences whose two persons gender tells apart, by hand."""

import re

import pytest

from fairjax.core.errors import UserError
from fairjax.pairs.persons import parallel, two_genders

TEXT = 'She told him that she had lost his key.'
BOTH_MEN = 'He told him that he had lost his key.'
BOTH_WOMEN = 'She told her that she had lost her key.'
CROSSED = 'He told her that he had lost her key.'


def test_each_person_is_turned_and_turned_back():
  rows = [tuple(row.values()) for row in two_genders.rows(TEXT) if row]
  assert sorted(rows) == sorted(
    [
      ('She', 'man', TEXT, BOTH_MEN),
      ('He', 'woman', BOTH_MEN, TEXT),
      ('him', 'woman', BOTH_MEN, CROSSED),
      ('him', 'woman', TEXT, BOTH_WOMEN),
      ('her', 'man', BOTH_WOMEN, TEXT),
      ('She', 'man', BOTH_WOMEN, CROSSED),
    ]
  )


@pytest.mark.parametrize(
  'text',
  [
    'She wrote to her mother that he was ill.',  # she, or her mother
    'Mary met Anna before she saw him.',  # Mary, or Anna
    'The women saw him when she left.',  # she is none of them
    'He gave him the key.',  # nobody else's gender
    'The key was lost.',
  ],
)
def test_a_sentence_that_gender_does_not_settle_is_left_out(text):
  assert two_genders.persons(text) is None
  assert list(two_genders.rows(text)) == []


def test_a_word_that_does_not_name_its_place_is_no_prompt():
  """With both alike, 'she' would name the first of them."""
  rows = [*two_genders.rows('If she asks, he says that he saw her.')]
  assert None in rows
  for row in filter(None, rows):
    first = re.search(rf'\b{row["word"]}\b', row['text']).start()
    changed = [
      m.start()
      for m, n in zip(
        re.finditer(r'\w+', row['text']), re.finditer(r'\w+', row['target'])
      )
      if m[0] != n[0]
    ]
    assert changed[0] == first


def test_the_source_is_drawn_by_its_seed_and_split_by_sentence():
  texts = [
    f'{TEXT} {k} years ago, she left him and his dog.' for k in range(60)
  ]
  table = parallel.read(('two_genders',), '.', 0, texts, 100)
  assert len(table) <= 100 and table['source_name'].eq('two_genders').all()
  assert not table['gold'].any() and table['axis'].eq('gender').all()
  other = parallel.read(('two_genders',), '.', 1, texts, 100)
  assert set(other['text']) != set(table['text'])
  again = parallel.read(('two_genders',), '.', 0, texts, 100)
  assert again.equals(table)
  of = table.groupby(table['text'].str.extract(r'(\d+)')[0])['split']
  assert of.nunique().max() == 1 and table['split'].nunique() > 1


def test_texts_without_such_a_sentence_are_one_sentence():
  with pytest.raises(UserError, match=r'two_genders.* has no pair'):
    parallel.read(('two_genders',), '.', 0, ['The key was lost.'])
