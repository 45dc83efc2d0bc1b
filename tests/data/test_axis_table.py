"""A table of an axis: one of your own, and what is wrong with it."""

import pathlib

import pytest

import fairjax
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows


def test_a_file_is_an_axis(tmp_path):
  path = tmp_path / 'pets.csv'
  path.write_text('form,cats,dogs\nnoun,cat owner,dog owner\n')
  said = fairjax.swap('A cat owner and a dog owner.', axis=str(path))
  assert said == 'A dog owner and a cat owner.'


def test_a_file_says_itself_what_turns_together(tmp_path):
  """Its name says nothing, not even that of an axis of ours."""
  path = tmp_path / 'gender_identity.csv'
  rows = 'form,cats,dogs\nnoun,cat owner,dog owner\nadjective,feline*,canine*\n'
  path.write_text(rows)
  text = 'A cat owner met a canine.'
  assert fairjax.swap(text, axis=str(path)) == 'A dog owner met a canine.'
  path.write_text(rows + 'together,all,all\n')
  assert fairjax.swap(text, axis=str(path)) == text
  both = 'A cat owner met a dog owner.'
  assert fairjax.swap(both, axis=str(path)) == 'A dog owner met a cat owner.'


@pytest.mark.parametrize(('text', 'said'), table_rows(__file__, 'bad_axes.csv'))
def test_a_wrong_file_is_told(tmp_path, text, said):
  path = pathlib.Path(tmp_path / 'axis.csv')
  path.write_text(text)
  with pytest.raises(UserError, match=said) as told:
    fairjax.swap('x', axis=str(path))
  assert 'axis.csv' in str(told.value)
