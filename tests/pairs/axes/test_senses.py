"""Whether a word is said of people: what English says of each neighbour."""

import csv
import pathlib

import pytest

from fairjax.data.axes.table import Word
from fairjax.pairs import cues
from fairjax.pairs.axes import senses
from fairjax.pairs.swapping.neighbours import last_word, next_word

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
