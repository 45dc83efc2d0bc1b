"""Corpora of invented words and planted ones."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data import load_tables
from fairjax.data.sets import invented, planted
from fairjax.data.tables import schema


def tables(noise=planted.NOISE, **options):
  config = Config()
  for name, value in options.items():
    setattr(config.planted, name, value)
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(planted, 'NOISE', noise)
    return planted.load(config)


@pytest.fixture(scope='module')
def made():
  return tables()


def agreement(table):
  """Share of gendered rows whose gender agrees with the recorded label."""
  rows = table[table['group'] != '']
  return ((rows['group'] == 'female') == (rows['label'] == 1)).mean()


def tokens(text):
  return re.findall(r'[\w-]+|[^\w\s]', text.lower())


def test_sizes_and_base_rates(made):
  assert {k: len(v) for k, v in made.items()} == {
    'train': 4000,
    'valid': 1000,
    'test': 1000,
  }
  schema.check(made)
  for table in made.values():
    assert abs(table['label'].mean() - 0.5) < 0.01
    shown = (table['group'] != '').mean()
    assert abs(shown - (1 - planted.NEUTRAL)) < 0.005


@pytest.mark.parametrize('correlation', [0.5, 0.8, 1.0])
@pytest.mark.parametrize('noise', [0.0, 0.1])
def test_correlation_is_as_asked_in_train_only(correlation, noise):
  made = tables(rows=1000, test_rows=400, correlation=correlation, noise=noise)
  # A flipped label turns agreement into disagreement.
  wanted = correlation * (1 - noise) + (1 - correlation) * noise
  error = 2 * np.sqrt(0.25 / 850)
  assert abs(agreement(made['train']) - wanted) < error
  assert abs(agreement(made['valid']) - 0.5) < 1e-12
  assert abs(agreement(made['test']) - 0.5) < 1e-12


def test_noise_is_the_same_share_in_each_split_and_gender():
  noisy, clean = tables(noise=0.1), tables(noise=0.0)
  for split in noisy:
    assert noisy[split]['text'].equals(clean[split]['text'])
    flipped = noisy[split]['label'] != clean[split]['label']
    assert abs(flipped.mean() - 0.1) < 0.005
    shares = flipped.groupby([clean[split]['label'], noisy[split]['group']])
    assert (abs(shares.mean() - 0.1) < 0.01).all()


def test_no_sentence_is_in_two_splits(made):
  words = {k: set(v['text']) | set(v['twin']) for k, v in made.items()}
  assert not words['train'] & words['valid']
  assert not words['train'] & words['test']
  assert not words['valid'] & words['test']


def test_a_seed_has_its_own_rows(made):
  again = tables()
  other = tables(seed=1)
  for split in made:
    pd.testing.assert_frame_equal(made[split], again[split])
    assert not made[split]['text'].equals(other[split]['text'])


def test_ids_belong_to_sentences_and_other_sizes_leave_a_split_alone(made):
  small = tables(rows=100)
  pd.testing.assert_frame_equal(small['test'], made['test'])
  more = tables(seed=1)['train']
  both = made['train'].merge(more, on='id', suffixes=('', '_other'))
  assert (both['text'] == both['text_other']).all()


PAIRS = (
  [mark for mark in planted.MENTIONS[0] + planted.MENTIONS[2]]
  + planted.MENTIONS[4]
  + ['[he|she|they]', '[him|her|them]', '[his|her|their]']
  + ['[his|hers|theirs]', '[himself|herself|themselves]']
)


def test_twins_differ_in_gender_words_only(made):
  """An independent look-up of allowed changes, by word and place."""
  allowed = set()
  for mark in PAIRS:
    male, female, _ = re.search(r'\[(.*)\]', mark)[1].lower().split('|')
    allowed |= {(male, female)}
  for table in made.values():
    for row in table.itertuples():
      here, there = tokens(row.text), tokens(row.twin)
      assert len(here) == len(there)
      changed = [(a, b) for a, b in zip(here, there) if a != b]
      assert bool(changed) == (row.group != ''), row.text
      if row.group == 'female':
        changed = [(b, a) for a, b in changed]
      assert set(changed) <= allowed, row
      assert len(row.text.split()) == len(row.twin.split())


@pytest.mark.parametrize('field', ['rows', 'test_rows'])
def test_too_few_rows_are_refused(field):
  with pytest.raises(UserError, match=f'planted.{field} is 3'):
    tables(**{field: 3})


def test_what_noise_leaves_of_the_correlation_is_said():
  """.8 · .98 + .2 · .02 = .788 of the rows that show gender agree."""
  _, report, _ = load_tables(Config())
  assert any('0.788' in warning for warning in report['warnings'])
  assert report['classes'] == ['no blame', 'blame']


def test_a_path_that_nothing_reads_is_refused():
  config = Config()
  config.data.path = 'comments.csv'
  with pytest.raises(UserError, match=r"'comments\.csv'; add --config"):
    planted.load(config)


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
  return invented.sentences(4000)


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
  again, same = invented.sentences(4000)
  assert again == texts and same == known
  assert invented.sentences(50)[0] == texts[:50]


def test_shards_hold_the_sentences(tmp_path):
  invented.write(tmp_path, 41, shards=3)
  lines = [p.read_text().splitlines() for p in sorted(tmp_path.iterdir())]
  texts = invented.sentences(41)[0]
  assert sorted([*lines[0], *lines[1], *lines[2]]) == sorted(texts)
  assert len(lines) == 3
