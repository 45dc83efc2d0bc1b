"""Which word stands for another, and where none does."""

import pytest

from fairjax.data.axes import table
from fairjax.pairs.axes import rules

PETS = """form,cats,dogs,birds
noun,cat owner,,bird owner
noun,cat lover,dog lover,
noun,cat keeper,dog keeper,bird keeper
nouns,cat keepers,dog keepers,bird keepers
group,wild,tame,winged
"""


def pets(folder):
  path = folder / 'pets.csv'
  path.write_text(PETS)
  return table.load(str(path))


def place(marked):
  start, end = marked.index('['), marked.index(']') - 1
  return marked.replace('[', '').replace(']', ''), start, end


@pytest.mark.parametrize(
  ('marked', 'wanted'),
  [
    ('A [cat keeper] ate.', 'dog keeper'),
    ('A [bird keeper] ate.', 'cat keeper'),
    # Of dogs there is no owner: the next value's, unless a dog's word in the
    # sentence becomes that too.
    ('A [cat owner] ate.', 'bird owner'),
    ('A [cat owner] met a dog keeper.', ''),
    ('A [cat owner] met a bird keeper.', 'bird owner'),
    ('A [cat owner] ate. A dog keeper slept.', 'bird owner'),
    ('A [dog lover] met a cat keeper.', 'cat lover'),
    ('A [dog lover] met a bird keeper.', ''),
    # The tame are many: no verb of one stands behind them.
    ('The [wild] live.', 'tame'),
    ('The [wild] IS cold.', ''),
    ('A [cat keeper] is cold.', 'dog keeper'),
    # What stands there already.
    ('A [cat keeper] met a dog keeper.', 'dog keeper'),
    ('Dog keepers and [cat keepers] ate.', ''),
    ('The [cat keepers], dog keepers and birds ate.', ''),
    ('Dog keepers with [cat keepers] ate.', 'dog keepers'),
  ],
)
def test_the_next_value_where_the_target_has_no_word(tmp_path, marked, wanted):
  text, start, end = place(marked)
  said = rules.entries(pets(tmp_path), lambda value: (value + 1) % 3)
  assert said[text[start:end].lower()](text, start, end) == wanted


def test_strict_and_apart(tmp_path):
  axis = pets(tmp_path)
  turn = lambda value: (value + 1) % 3
  text, start, end = place('A [cat owner] ate.')
  assert (
    rules.entries(axis, turn, strict=True)['cat owner'](text, start, end) == ''
  )
  text, start, end = place('A [cat keeper] ate.')
  said = rules.entries(axis, turn, apart=True)['cat keeper']
  assert said(text, start, end) == 'dog keeper'
  text, start, end = place('A [cat keeper] met a dog keeper.')
  assert (
    rules.entries(axis, turn, apart=True)['cat keeper'](text, start, end) == ''
  )
  same = rules.entries(axis, lambda value: 0)
  assert 'cat keeper' not in same and 'dog keeper' in same


@pytest.mark.parametrize(
  ('marked', 'wanted', 'asked'),
  [
    # Where nobody asks for it, able-bodied is said of several alone.
    ('A [deaf] man ate.', 'blind', 'able-bodied'),
    ('I am [deaf].', 'blind', 'able-bodied'),
    ('A [deaf person] ate.', 'blind person', 'able-bodied person'),
    ('Many [deaf] men ate.', 'able-bodied', 'able-bodied'),
    ('Many [deaf] old actors ate.', 'able-bodied', 'able-bodied'),
    ('Many [deaf people] ate.', *['able-bodied people'] * 2),
  ],
)
def test_a_word_of_several_alone(marked, wanted, asked):
  axis, (text, start, end) = table.load('disability'), place(marked)
  for strict, new in ((False, wanted), (True, asked)):
    said = rules.entries(axis, lambda value: 0, strict=strict)
    assert said[text[start:end].lower()](text, start, end) == new


def test_a_word_of_several_stands_for_no_other():
  """Where neither autistic nor mentally ill may be said of you."""
  text, start, end = place('You are [deaf people].')
  said = rules.entries(table.load('disability'), lambda value: 4)
  assert said['deaf people'](text, start, end) == 'disabled people'


def test_one_value_becomes_one():
  """No adjective is a group's: mentally ill would stand beside autistic."""
  said = rules.entries(table.load('disability'), lambda value: 4)
  text, start, end = place('[Deaf people] met. The deaf slept.')
  assert said['deaf people'](text, start, end) == 'Autistic people'
  for marked in (
    '[Deaf people] met, and the deaf slept.',
    'Deaf people met, and the [deaf] slept.',
  ):
    text, start, end = place(marked)
    assert said[text[start:end].lower()](text, start, end) == ''


def test_a_word_far_from_what_stands_there_is_written_where_asked():
  """Blind is of the senses: autistic stands for it where one asks."""
  text, start, end = place('A [blind] man slept.')
  for strict, new in ((True, 'autistic'), (False, 'disabled')):
    said = rules.entries(table.load('disability'), lambda value: 4, strict)
    assert said['blind'](text, start, end) == new
  text, start, end = place('Many [deaf] men slept.')
  for strict, new in ((True, 'mentally ill'), (False, 'blind')):
    said = rules.entries(table.load('disability'), lambda value: 5, strict)
    assert said['deaf'](text, start, end) == new
