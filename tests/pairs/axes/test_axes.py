"""Axes of identity: what is exchanged, what stays, and files of a user's."""

import pathlib

import pytest

import fairjax
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import dictionary

OWN = [axis for axis in AXES if axis != 'gender']


@pytest.mark.parametrize(
  ('axis', 'to', 'text', 'wanted'),
  [
    # Number and part of speech, articles, names of a faith.
    (
      *(
        'religion',
        'hindu',
        'A Muslim and his wife, both Muslims, left Islam.',
      ),
      'A Hindu and his wife, both Hindus, left Hinduism.',
    ),
    (
      *('race', 'asian', 'Black people, a black man and a black cat.'),
      'Asians, an Asian man and a black cat.',
    ),
    ('race', 'black', 'An Asian doctor ate.', 'A black doctor ate.'),
    (
      *('nationality', 'german', 'Mexican immigrants like French toast.'),
      'German immigrants like French toast.',
    ),
    (
      *('class', 'rich', 'The poor get poor acting from poor people.'),
      'The rich get poor acting from rich people.',
    ),
    # Phrases, first names, places and days of a religion stay.
    *(
      (axis, to, text, text)
      for axis, to, text in (
        ('race', 'white', 'Black Friday in the White House'),
        ('race', 'white', 'She wore a black dress.'),
        ('religion', 'muslim', 'Christian Bale acts.'),
        ('religion', 'muslim', 'She is a Catholic who goes to church.'),
        ('religion', 'hindu', 'Muslims pray in the mosque.'),
        ('orientation', 'gay', 'He went straight home.'),
        ('disability', 'deaf', 'They turn a blind eye.'),
        # Names in capitals, wars, what a thing is for, tongues, coming out.
        ('disability', 'deaf', 'He taught at the School for the Blind.'),
        ('race', 'hispanic', 'It was the 1948 Arab–Israeli War.'),
        ('nationality', 'cuban', 'It is the Society of British Artists.'),
        ('nationality', 'dutch', 'She arrived without either German or help.'),
        ('nationality', 'dutch', 'A Canadian artist lives in Canada.'),
        ('age', 'senior', 'She coached a girls basketball team.'),
        ('age', 'senior', 'I went there since I was very young.'),
        ('age', 'senior', 'He is married with a child.'),
        ('orientation', 'straight', 'He is openly gay.'),
        ('orientation', 'lesbian', 'Kim is openly gay.'),
        ('gender_identity', 'nonbinary', 'The trans Alaska pipeline leaks.'),
      )
    ),
    # Ages: figures, words for children, what agrees.
    (
      *('age', 'child', 'An 80-year-old man is 80 years old.'),
      'An 11-year-old boy is 11 years old.',
    ),
  ],
)
def test_what_changes_and_what_stays(axis, to, text, wanted):
  assert fairjax.swap(text, axis=axis, direction=to) == wanted


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
      assert exchange.value_of(axis, put) != table.load(axis).values[value], put
  assert changed >= 2, axis


def test_texts_draw_and_repeat():
  texts = [f'Jews met in room {k}.' for k in range(40)]
  one = dictionary.swap(texts, axis='religion', seed=0).texts
  assert one == dictionary.swap(texts, axis='religion', seed=0).texts
  assert len({text.split()[0] for text in one}) > 3  # not one value for all
  assert one[:5] == dictionary.swap(texts[:5], axis='religion', seed=0).texts
  assert len(dictionary.swap_every(texts[:2], axis='religion')) == 9


def test_a_file_is_an_axis(tmp_path):
  path = tmp_path / 'pets.csv'
  path.write_text('form,cats,dogs\nnoun,cat owner,dog owner\n')
  said = fairjax.swap('A cat owner and a dog owner.', axis=str(path))
  assert said == 'A dog owner and a cat owner.'


@pytest.mark.parametrize(
  ('text', 'said'),
  [
    ('', "its first line must be 'form'"),
    ('form,a\nnoun,x\n', "its first line must be 'form'"),
    ('form,a,a\nnoun,x,y\n', 'give each a name of its own'),
    ('form,a,b\nverb,x,y\n', "line 2 begins with 'verb'; a form is needed"),
    ('form,a,b\nnoun,x\n', 'line 2 has 1 cells where the first line names 2'),
    ('form,a,b\nnoun,x,\n', 'line 2 has a word of one value alone'),
    ('form,a,b\nnoun,x,x\n', "has 'x' of a and of b"),
    ('form,a,b\n', 'has no words'),
  ],
)
def test_a_wrong_file_is_told(tmp_path, text, said):
  path = pathlib.Path(tmp_path / 'axis.csv')
  path.write_text(text)
  with pytest.raises(UserError, match=said) as told:
    fairjax.swap('x', axis=str(path))
  assert 'axis.csv' in str(told.value)


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
