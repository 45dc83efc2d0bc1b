"""Votes to a dictionary: modes, reciprocity, ties, names, the file."""

import numpy as np
import pandas as pd
import pytest

from fairjax.core.errors import UserError
from fairjax.pairs import flow_words
from fairjax.pairs.swapping import dictionary, word_lists


def votes_of(rows):
  word, side, candidate = (np.array(c, object) for c in zip(*rows))
  return flow_words.tally(flow_words.ballots(word, side.astype(int), candidate))


ROWS = [
  *[('queen', -1, 'king')] * 3,
  ('queen', -1, 'prince'),
  ('queen', -1, 'queen'),  # stays: votes for nobody
  *[('king', 1, 'queen')] * 2,
  ('king', 1, 'duchess'),
  ('king', 1, 'duchess'),  # a tie, broken by alphabet
  ('nun', -1, 'priest'),
  ('priest', 1, 'nun'),
  ('prince', 1, 'queen'),
  ('dove', -1, ''),
]


def test_pairs_are_modes_of_each_other_and_ties_break_by_alphabet():
  pairs = flow_words.mutual(votes_of(ROWS))
  # The king's tie falls to the duchess, so the queen has no partner.
  assert list(zip(pairs['first'], pairs['second'])) == [('nun', 'priest')]
  more = [*ROWS, ('king', 1, 'queen')]
  pairs = flow_words.mutual(votes_of(more))
  assert list(zip(pairs['first'], pairs['second'])) == [
    ('queen', 'king'),
    ('nun', 'priest'),
  ]
  assert pairs['votes'].tolist() == [6, 2]


def test_a_word_of_both_sides_has_no_partner():
  rows = [('a', -1, 'b'), ('b', 1, 'a'), ('b', -1, 'c'), ('c', 1, 'b')]
  assert len(flow_words.mutual(votes_of(rows))) == 0


def slow_paper(rows, logit):
  """The join of the reference, row by row."""
  one = [(w, c, x) for (w, s, c), x in zip(rows, logit) if s < 0]
  two = [(w, c) for w, s, c in rows if s > 0]
  shown = {w for w, _ in two}, {w for w, _, _ in one}
  one = [r for r in one if r[0] not in shown[0]]
  two = {(w, c) for w, c in two if w not in shown[1]}
  kept = {(w, c, x) for w, c, x in one if (c, w) in two}
  out = []
  for at in (0, 1):
    for source in sorted({row[at] for row in kept}):
      counts = {}
      for row in kept:
        if row[at] == source:
          counts[row[1 - at]] = counts.get(row[1 - at], 0) + 1
      out.append((source, min(counts, key=lambda m: (-counts[m], m))))
  return out


def test_the_paper_s_join_against_itself_row_by_row():
  draw = np.random.default_rng(0)
  first, second = list('abcdef'), list('uvwxyzf')
  rows = [(draw.choice(first), -1, draw.choice(second)) for _ in range(150)]
  rows += [(draw.choice(second), 1, draw.choice(first)) for _ in range(150)]
  logit = draw.integers(0, 9, 300)  # equal logits are one vote
  word, side, candidate = (np.array(c, object) for c in zip(*rows))
  entries = flow_words.paper(
    flow_words.ballots(word, side.astype(int), candidate, logit=logit)
  )
  assert entries == slow_paper(rows, logit)
  assert len(entries) > 6
  pairs = flow_words.directed(entries, set(first))
  held = flow_words.two_way(pairs)
  assert all((a, b) in entries and (b, a) in entries for a, b in held.values)
  # Every entry is there once, from the word that it turns.
  turns = [
    (b, a) if turn == 'second' else (a, b)
    for a, b, turn in pairs[['first', 'second', 'from']].values
  ]
  back = [(b, a) for a, b in held.values]
  assert sorted(turns + back) == sorted(entries) and len(held) < len(pairs)


def test_one_way_pairs_turn_their_own_word_alone(tmp_path):
  """A word may be the target of several, and becomes one of them."""
  entries = [('she', 'he'), ('he', 'she'), ('mum', 'dad'), ('mother', 'dad')]
  entries += [('dad', 'mother'), ('bloke', 'she')]
  pairs = flow_words.directed(entries, {'she', 'mum', 'mother'})
  path = tmp_path / 'dictionary.csv'
  for sides in (('female', 'male'), ()):
    flow_words.write(path, pairs, 'about', sides)
    swap = lambda text: dictionary.swap([text], words=path).texts[0]
    said = swap('She is a mum and a mother, he a dad and a bloke.')
    assert said == 'He is a dad and a dad, she a mother and a she.'
  lines = path.read_text().splitlines()
  assert lines[1:3] == ['first,second,from', 'mother,dad,']
  assert {'mum,dad,first', 'she,bloke,second'} < set(lines)
  read = word_lists.read(path)
  assert read.rows == (('mother', 'dad'), ('she', 'he'))
  assert (read.to_male, read.to_female) == ({'bloke': 'she'}, {'mum': 'dad'})


@pytest.mark.parametrize('how', ['mean', 'sample', 'shift'])
def test_only_the_factor_moves_to_the_other_side(how):
  draw = np.random.default_rng(0)
  side = np.array([-1, 1, 0] * 10)
  z = draw.normal(size=(30, 5)) + side[:, None]
  new = flow_words.moved(z, side, how, 1.0, 2)
  np.testing.assert_array_equal(new[:, 2:], z[:, 2:])
  np.testing.assert_array_equal(new[side == 0], z[side == 0])
  mean = {s: z[side == s, :2].mean(0) for s in (-1, 1)}
  for s in (-1, 1):
    rows = new[side == s, :2]
    if how == 'mean':
      np.testing.assert_allclose(rows, np.tile(mean[-s], (10, 1)))
    elif how == 'shift':
      np.testing.assert_allclose(rows.mean(0), mean[-s])
      np.testing.assert_allclose(np.std(rows, 0), np.std(z[side == s, :2], 0))
    else:
      others = z[side == -s, :2].tolist()
      assert all(row in others for row in rows.tolist())


@pytest.mark.parametrize(
  'first, second, sides',
  [
    ('she', 'he', ('female', 'male')),
    ('he his', 'she her', ('male', 'female')),
    ('woman', 'man', ('female', 'male')),
    ('sie', 'er', ('female', 'male')),
    ('il', 'elle', ('male', 'female')),
    ('young', 'old', ()),
    ('she', 'old', ()),
  ],
)
def test_the_seeds_say_which_side_is_which(first, second, sides):
  assert word_lists.sides_of(first.split(), second.split()) == sides


@pytest.mark.parametrize('sides', [('female', 'male'), ('male', 'female')])
def test_a_dictionary_of_gender_swaps_pronouns_by_rules(tmp_path, sides):
  """Hall Maudslay's substitution: her is his or him, whatever the votes."""
  words = [('she', 'he'), ('her', 'his'), ('girl', 'boy')]
  if sides == ('male', 'female'):
    words = [(b, a) for a, b in words]
  path = tmp_path / 'dictionary.csv'
  pairs = pd.DataFrame(words, columns=['first', 'second'])
  flow_words.write(path, pairs, 'about', sides)
  assert word_lists.read(path).sides == ('male', 'female')
  text = 'He saw her with his dog, and the girl was his; I saw him.'
  twin = 'She saw him with her dog, and the boy was hers; I saw her.'
  assert dictionary.swap([text], words=path).texts[0] == twin
  assert dictionary.swap([twin], words=path).texts[0] == text
  # It turns the words that it holds: neither a title nor a name of ours.
  rest = 'The lady and the gentleman met Sir John.'
  assert dictionary.swap([rest], words=path).texts[0] == rest


def test_the_rules_of_english_leave_another_language_alone(tmp_path):
  path = tmp_path / 'dictionary.csv'
  pairs = pd.DataFrame([('sie', 'er')], columns=['first', 'second'])
  flow_words.write(path, pairs, sides=('female', 'male'))
  text = 'Er ging hin und her.'
  assert dictionary.swap([text], words=path).texts[0] == 'Sie ging hin und her.'


def test_names_are_left_to_a_swap_that_knows_persons(tmp_path):
  words = [('she', 'he'), ('rose', 'will'), ('grace', 'mark'), ('may', 'june')]
  pairs = pd.DataFrame(words, columns=['first', 'second'])
  kept, left = flow_words.without_names(
    pairs, {'rose', 'will', 'grace', 'mark'}
  )
  assert left == 2 and list(kept['first']) == ['she', 'may']
  path = tmp_path / 'dictionary.csv'
  flow_words.write(path, kept, sides=('female', 'male'))
  called = {'Mark': 'Grace', 'Will': 'Rose'}
  swap = lambda text: dictionary.swap([text], words=path, names=called).texts[0]
  assert swap('I will mark the rose.') == 'I will mark the rose.'
  assert swap('Then he met Mark Smith.') == 'Then she met Grace Smith.'


def test_the_file_is_a_word_list_that_a_swap_reads(tmp_path):
  pairs = flow_words.mutual(votes_of([*ROWS, ('king', 1, 'queen')]))
  path = tmp_path / 'dictionary.csv'
  flow_words.write(path, pairs, 'from she and he\nby votes')
  assert word_lists.read(path).rows == (('queen', 'king'), ('nun', 'priest'))
  text = dictionary.swap(['The Queen saw a priest.'], words=path).texts[0]
  assert text == 'The King saw a nun.'
  with pytest.raises(UserError, match='no two words vote'):
    flow_words.write(path, pairs[:0])
