"""Of which value a text speaks: one answer for gender and every other axis."""

import numpy as np
import pytest

from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows
from fairjax.pairs import attributes
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import axis_values

NAMED = table_rows(__file__, '../sheets/named.csv')


@pytest.mark.parametrize(('axis', 'text', 'wanted'), NAMED)
def test_a_text_names_the_values_that_its_words_name(axis, text, wanted):
  (found,) = axis_values.named([text], axis)
  values = exchange.values(axis)
  assert {values[k] for k in np.flatnonzero(found)} == {*wanted.split()}
  one = {0: axis_values.NEITHER, 1: found.argmax()}
  (single,) = axis_values.single([text], axis)
  assert single == one.get(found.sum(), axis_values.SEVERAL)


# Not nationality: 39 versions, each a list of its own, take seconds.
@pytest.mark.parametrize('axis', [a for a in AXES if a != 'nationality'])
def test_every_version_names_the_value_that_it_is_turned_to(axis):
  """Of an axis's own words: each version is of its value, or is unchanged."""
  text = {
    'gender': 'He saw his uncle.',
    'age': 'The children and an 11-year-old boy came.',
    'class': 'Poor people voted.',
    'disability': 'Deaf people voted.',
  }.get(axis)
  if text is None:
    value = exchange.values(axis)[0]
    proper = axis in ('religion', 'nationality')
    word = 'heterosexual' if axis == 'orientation' else value
    text = f'Some {word.title() if proper else word} people voted.'
  every = axis_values.versions([text], axis)
  for value, (version,) in enumerate(every):
    assert axis_values.single([version], axis).tolist() == [value], version
  assert sum(version == [text] for version in every) == 1


def test_texts_that_do_not_name_an_axis_are_one_sentence():
  with pytest.raises(UserError, match='names sexual orientation'):
    axis_values.require(['It rained.', 'She left.'], 'orientation', 'my.csv')
  axis_values.require(
    ['It rained.', 'A gay man left.'], 'orientation', 'my.csv'
  )


def test_seed_words_are_those_of_two_values_that_stand_for_each_other():
  first, second = attributes.seed_words('religion:muslim', 'religion:christian')
  assert first == ['muslim', 'muslims', 'islam']
  assert second == ['christian', 'christians', 'christianity']
  for one, two, said in (
    ('religion:muslim', 'race:asian', 'two values of one axis'),
    ('religion:muslim', 'religion:muslim', 'two values of one axis'),
    ('religion:muslim', 'religion:jedi', "has no value 'jedi'; it has christi"),
    ('faith:muslim', 'faith:jedi', "there is no axis 'faith'; name one of"),
  ):
    with pytest.raises(UserError, match=said):
      attributes.seed_words(one, two)
