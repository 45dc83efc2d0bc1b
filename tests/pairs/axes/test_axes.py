"""Axes of identity: what is exchanged, what stays, and files of a user's."""

import pytest

import fairjax
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary

OWN = [axis for axis in AXES if axis != 'gender']


def test_a_text_takes_the_next_exchange_where_its_own_is_unsure():
  """The girls become young women alone, whichever of three is drawn."""
  texts = [f'The girls met in room {k}.' for k in range(12)]
  swapped = dictionary.swap([*texts, 'Go girls!'], axis='age')
  assert {spans[0][3] for spans in swapped.spans[:-1]} == {'young women'}
  assert swapped.left[:-1] == [0] * 12
  assert swapped.left[-1] == 1 and not swapped.spans[-1]
  every = dictionary.swap_every(texts[:1], axis='age')
  assert sorted(len(one.spans[0]) for one in every) == [0, 0, 1]


@pytest.mark.parametrize('axis', OWN)
def test_no_word_becomes_one_of_its_own_value(axis):
  """Each word in a sentence of its form turns to another value, or stays."""
  frame = {
    'adjective': 'There were two {} women here.',
    'noun': 'She met one {} who sang.',
    'nouns': 'All {} here sang.',
    'group': 'We help the {}.',
    'name': 'She left {}.',
  }
  rows = [*table.load(axis).words()]
  texts = [frame[row.form].format(one.text) for _, _, one, row in rows]
  swapped = dictionary.swap(texts, axis=axis)
  changed = 0
  for (word, value, *_), text, new, spans in zip(
    rows, texts, swapped.texts, swapped.spans, strict=True
  ):
    for start, end, old, _ in spans:
      if old.lower() != word:
        continue
      changed += 1
      assert new != text
      tail = len(text) - end
      put = new[start : len(new) - tail].strip().lower()
      assert exchange.reader(axis)(put) != table.load(axis).values[value], put
  assert changed >= 2, axis


def test_texts_draw_and_repeat():
  texts = [f'Jews met in room {k}.' for k in range(40)]
  one = dictionary.swap(texts, axis='religion', seed=0).texts
  assert one == dictionary.swap(texts, axis='religion', seed=0).texts
  assert len({text.split()[0] for text in one}) > 3  # not one value for all
  assert one[:5] == dictionary.swap(texts[:5], axis='religion', seed=0).texts
  assert len(dictionary.swap_every(texts[:2], axis='religion')) == 9


@pytest.mark.parametrize(
  ('options', 'said'),
  [
    ({'axis': 'nosuch'}, "there is no axis 'nosuch'; name one of gender"),
    ({'axis': 'age', 'direction': 'male'}, "'opposite' or one of child, young"),
    ({'axis': 'race', 'words': [['a', 'b']]}, 'leave them, or leave axis'),
  ],
)
def test_what_does_not_fit_is_told(options, said):
  with pytest.raises(UserError, match=said):
    fairjax.swap('A text.', **options)
