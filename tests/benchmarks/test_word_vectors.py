"""Word vectors of texts: a planted association is seen, a removed one not."""

import importlib.util

import numpy as np
import pytest

from fairjax import config as c
from fairjax import data
from fairjax.benchmarks.shared import word_vectors
from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample

needs_gensim = pytest.mark.skipif(
  importlib.util.find_spec('gensim') is None,
  reason="gensim is not here: pip install 'fairjax[vectors]'",
)


def texts_of(swapped: bool) -> list[str]:
  """Sentences in which women nurse and men engineer, or either does either."""
  rng = np.random.default_rng(0)
  test = word_vectors.TESTS[0]
  lines = []
  for _ in range(3000):
    side = rng.integers(2)
    job = rng.choice(test.targets[side])
    who = rng.integers(2) if swapped else side
    person = rng.choice(test.attributes[who], 3)
    lines.append(f'{person[0]} was a {job} and {person[1]} saw {person[2]}')
  return lines


@needs_gensim
def test_a_planted_association_is_seen_and_a_removed_one_is_not():
  options = RowSample(0.95, 200, 0)
  effects, of = [], []
  for swapped in (False, True):
    spaces = [word_vectors.fit(texts_of(swapped), 20, seed) for seed in (0, 1)]
    rows, notes = word_vectors.rows(spaces, options)
    assert [row['part'] for row in rows] == ['work']
    assert 'career is left out' in ' '.join(notes)
    effects.append(rows[0])
    of.append(spaces)
  assert effects[0]['value']['value'] > 1.5 and effects[0]['p'] < 0.01
  assert abs(effects[1]['value']['value']) < 0.8 and effects[1]['p'] > 0.05
  # Of one set of texts less the other, by the same words of both.
  words = word_vectors.common([*of[0], *of[1]])
  (gap,) = word_vectors.differences(of[1], of[0], options, words)
  one, other = (effect['value']['value'] for effect in effects)
  assert gap['difference']['value'] == pytest.approx(other - one, abs=1e-6)
  assert gap['difference']['high'] < 0 and gap['p'] < 0.01
  assert gap['items'] == effects[0]['items'] and gap['part'] == 'work'


@needs_gensim
def test_the_planted_texts_have_words_of_a_test():
  """Of no test of ours had they three words a list: MBCDA's had no WEAT."""
  config = c.Config(data=c.Data(name='planted'), planted=c.Planted(rows=4000))
  train = data.load_tables(config)[0]['train']
  sources, twins = (train[name].tolist() for name in ('text', 'twin'))
  options, effects = RowSample(0.95, 200, 0), []
  for texts in (sources, sources + twins):
    spaces = [word_vectors.fit(texts, 50, seed) for seed in (0, 1)]
    (row,), _ = word_vectors.rows(spaces, options)
    assert row['part'] == 'unpleasant' and row['items'] >= 20
    effects.append(row['value']['value'])
  assert effects[0] > 0.2 and effects[1] < 0  # women and blame, as planted


@needs_gensim
def test_the_same_seed_gives_the_same_vectors_and_another_one_others():
  texts = texts_of(False)[:300]
  one, two, three = (word_vectors.fit(texts, 8, seed) for seed in (0, 0, 1))
  assert np.array_equal(one.table, two.table)
  assert not np.array_equal(one.table, three.table)


@needs_gensim
def test_texts_without_a_repeated_word_are_refused():
  with pytest.raises(UserError, match='no word occurs 5 times in 1 texts'):
    word_vectors.fit(['a b c'], 8)
