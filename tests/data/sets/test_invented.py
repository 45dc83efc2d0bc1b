"""The invented corpus: what is said to be true of it is true of its text."""

from collections import Counter

import pytest

from fairjax.data.sets import invented


@pytest.fixture(scope='module')
def corpus():
  return invented.sentences(4000, 0)


def test_words_are_distinct_and_kinds_do_not_mix(corpus):
  _, known = corpus
  table = invented.table(known)
  assert table['word'].is_unique
  assert (table['kind'] == 'noun').sum() == 2 * invented.ROLES
  paired = table[table['partner'] != '']
  of = dict(zip(paired['word'], paired['partner']))
  assert all(of[of[word]] == word for word in of)


def test_a_clan_s_words_never_meet_the_other_s(corpus):
  texts, known = corpus
  table = invented.table(known)
  side = dict(zip(table['word'], table['side']))
  seen = Counter()
  for text in texts:
    shown = {side[w] for w in text.split() if side.get(w)}
    assert len(shown) <= 1
    seen[shown.pop() if shown else 0] += 1
  assert 0.4 < seen[1] / (seen[1] + seen[-1]) < 0.6


def test_frequencies_fall_and_every_word_is_there(corpus):
  texts, known = corpus
  counts = Counter(w for text in texts for w in text.split())
  assert all(counts[w] for w in invented.table(known)['word'])
  nouns = sorted((counts[a] + counts[b] for a, b in known.pairs), reverse=True)
  assert nouns[0] > 5 * nouns[-1]


def test_acts_and_things_tell_the_role_and_never_the_clan(corpus):
  texts, known = corpus
  roles = {w: k for k, pair in enumerate(known.pairs) for w in pair}
  beside = {}
  for text in texts:
    tokens = text.split()
    for word in set(tokens) & set(roles):
      for other in tokens:
        beside.setdefault(other, set()).add(word)
  acts = [w for w, near in beside.items() if {roles[n] for n in near} == {0}]
  assert sum(len(beside[w]) == 2 for w in acts) >= 4  # both clans


def test_a_seed_makes_one_corpus_and_more_text_goes_on(corpus):
  texts, known = corpus
  again, same = invented.sentences(4000, 0)
  assert again == texts and same == known
  assert invented.sentences(50, 0)[0] == texts[:50]
  assert invented.gold(1)[0] != known


def test_marks_of_a_dictionary():
  known = [('a', 'b'), ('c', 'd'), ('e', 'f')]
  counts = {'a': 6, 'b': 2, 'c': 1, 'd': 1}
  marks = invented.marks([('a', 'b'), ('c', 'x')], known, counts)
  assert marks == {
    'entries': 2,
    'precision': 0.5,
    'recall': pytest.approx(1 / 3),
    'coverage': 0.8,
  }


def test_shards_hold_the_sentences(tmp_path):
  invented.write(tmp_path, 41, 0, shards=3)
  lines = [p.read_text().splitlines() for p in sorted(tmp_path.iterdir())]
  texts = invented.sentences(41, 0)[0]
  assert sorted([*lines[0], *lines[1], *lines[2]]) == sorted(texts)
  assert len(lines) == 3
