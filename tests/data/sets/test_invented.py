"""The invented corpus: what is said to be true of it is true of its text."""

from collections import Counter

import pandas as pd
import pytest

from fairjax.data.sets import invented


def words_of(known):
  """A row a word of the clans: word, side, kind, partner."""
  rows = []
  for kind, pairs in (
    ('pronoun', (known.seeds, *known.forms)),
    ('noun', known.pairs),
  ):
    for first, second in pairs:
      rows += [(first, -1, kind, second), (second, 1, kind, first)]
  rows += [(word, side, 'alone', '') for word, side in known.alone]
  rows += [(word, 0, 'both', '') for word in known.both]
  rows += [(word, side, 'name', '') for word, side in known.names]
  return pd.DataFrame(rows, columns=['word', 'side', 'kind', 'partner'])


@pytest.fixture(scope='module')
def corpus():
  return invented.sentences(4000, 0)


def test_a_clan_s_words_never_meet_the_other_s(corpus):
  texts, known = corpus
  table = words_of(known)
  side = dict(zip(table['word'], table['side']))
  seen = Counter()
  for text in texts:
    shown = {side[w] for w in text.split() if side.get(w)}
    assert len(shown) <= 1
    seen[shown.pop() if shown else 0] += 1
  assert 0.4 < seen[1] / (seen[1] + seen[-1]) < 0.6


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


def test_shards_hold_the_sentences(tmp_path):
  invented.write(tmp_path, 41, 0, shards=3)
  lines = [p.read_text().splitlines() for p in sorted(tmp_path.iterdir())]
  texts = invented.sentences(41, 0)[0]
  assert sorted([*lines[0], *lines[1], *lines[2]]) == sorted(texts)
  assert len(lines) == 3
