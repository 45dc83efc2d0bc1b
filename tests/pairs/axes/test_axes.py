"""Axes: rules, senses and exchanges, against sheets of cases."""

import csv
import pathlib

import pytest

import fairjax
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.data.axes.table import Word
from fairjax.data.word_tables import table_rows
from fairjax.pairs import cues
from fairjax.pairs.axes import exchange, rules, senses
from fairjax.pairs.swapping import dictionary
from fairjax.pairs.swapping.neighbours import last_word, next_word

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


PETS = """form,cats,dogs,birds
noun,cat owner,,bird owner
noun,cat lover,dog lover,
noun,cat keeper,dog keeper,bird keeper
nouns,cat keepers,dog keepers,bird keepers
group,wild,tame,winged
"""
ROWS = table_rows(__file__, '../sheets/rules.csv')


@pytest.mark.parametrize(('axis', 'to', 'how', 'marked', 'wanted'), ROWS)
def test_what_a_word_becomes(tmp_path, axis, to, how, marked, wanted):
  path = tmp_path / 'pets.csv'
  path.write_text(PETS)
  known = table.load(str(path) if axis == 'pets' else axis)
  turn = lambda value: (value + 1) % 3 if to == 'next' else int(to)
  start, end = marked.index('['), marked.index(']') - 1
  text = marked.replace('[', '').replace(']', '')
  said = rules.entries(known, turn, **({how: True} if how else {}))
  rule = said.get(text[start:end].lower(), lambda *at: 'no rule')
  assert rule(text, start, end) == wanted


SHEET = pathlib.Path(__file__).parents[1] / 'sheets' / 'senses.csv'
WORDS = [Word(one, True) for one in ('English', 'poor', 'blind', 'young')]
ENGLISH, DEAF = WORDS[0], Word('Deaf')
OF = {one.text.lower(): one for one in (*WORDS, DEAF)}


class At:
  """A word in brackets where it stands, and its neighbours."""

  def __init__(self, marked):
    self.start, self.end = marked.index('['), marked.index(']') - 1
    self.text = marked.replace('[', '').replace(']', '')
    self.low = self.text[self.start : self.end].lower()
    self.before = last_word(self.text, self.start)
    self.after = next_word(self.text, self.end)[0]


READ = {
  'is_said': lambda a: (a.text, a.start, a.before, a.after.lower()),
  'is_predicate': lambda a: (a.text, a.start),
  'is_counted': lambda a: (a.text, a.start, a.before),
  'are_people': lambda a: (a.text, a.start, a.end, a.before),
  'is_child': lambda a: (a.text, a.start, a.before),
  'is_offspring': lambda a: (a.text, a.start),
  'is_person': lambda a: (a.text, a.end, a.before, a.after, ENGLISH),
  'before_people': lambda a: (a.text, a.end),
  # A noun of many does not follow "a"; who is British is one who sleeps.
  'is_no_noun': lambda a: (a.low, a.before),
  # "girl" is one of the axis's own; poor drivers are bad at it.
  'fits': lambda a: (
    *(a.text, a.start, a.low, OF[a.low], a.text.split()[-1], {'girl'}),
  ),
}


@pytest.mark.parametrize('sense', READ)
def test_senses_of_marked_words(sense):
  with open(SHEET, encoding='utf-8', newline='') as file:
    rows = [row for row in csv.DictReader(file) if row['sense'] == sense]
  assert len(rows) >= 8
  for row in rows:
    found = getattr(senses, sense)(*READ[sense](At(row['marked'])))
    found = found if isinstance(found, str) else ('no', 'yes')[bool(found)]
    assert found == row['wanted'], row['marked']


def test_words_that_describe_and_tongues():
  at = At('The [black] zany men met.')
  assert senses.before_people(at.text, at.end, {'zany'}) == 'men'
  at = At('My [Deaf] slept.')
  assert senses.is_person(at.text, at.end, at.before, at.after, DEAF)


@pytest.mark.parametrize('word', ['He', 'slept', 'Anna', 'ran', 'So'])
def test_a_sentence_ends_at_its_mark(word):
  text = 'He slept.\nAnna ran! So'
  (whole,) = (one for one in ('He slept', 'Anna ran', 'So') if word in one)
  assert cues.sentence(text, text.index(word)) == whole
