"""fairjax.perturb and fairjax.fairscore: persons of a column, in Python."""

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax.core import announce
from fairjax.recipes.benchmarks import library as benchmarks
from fairjax.recipes.perturbation import perturbing


def faith(texts):
  """A classifier that dislikes Muslims."""
  return [0.9 if 'Muslim' in text else 0.1 for text in texts]


def rows():
  who = ('Muslims', 'Jews', 'Hindus', 'Trains')
  return [f'{who[k % 4]} are nice, {k} times.' for k in range(80)]


def test_a_persons_axis_is_perturbed_and_the_column_keeps_its_kind():
  text = 'An Asian nurse met an 11-year-old boy.'
  turned = fairjax.perturb(text, axis='race', attribute='white')
  assert turned == 'A white nurse met an 11-year-old boy.'
  turned = fairjax.perturb(text, axis='age', attribute='senior')
  assert turned == 'An Asian nurse met a 79-year-old man.'
  column = pd.Series(['Muslims pray.', 'It rains.'], index=[7, 3], name='t')
  found = fairjax.perturb(column, axis='religion', random_state=1)
  assert found.index.tolist() == [7, 3] and found.name == 't'
  assert found[3] == 'It rains.' and not found[7].startswith('Muslims')
  assert isinstance(fairjax.perturb(np.array([text])), np.ndarray)
  # A draw is of the seed and the text.
  assert fairjax.perturb(column, axis='religion', random_state=1).equals(found)


def test_texts_too_long_for_a_perturber_are_told(monkeypatch):
  plain, said = perturbing.perturbed, []
  over = lambda config, texts: plain(config, texts).assign(too_long=True)
  monkeypatch.setattr(perturbing, 'perturbed', over)
  monkeypatch.setattr(announce, 'note', said.append)
  fairjax.perturb(['He ran.', 'She ran.'])
  assert said[0].startswith('2 texts of 2 have parts that are too long')
  found = fairjax.fairscore(faith, rows(), axis='religion', n_resamples=100)
  assert found['too_long'] == len(rows())


def test_the_fairscore_is_a_loop_over_texts_that_can_be_turned():
  found = fairjax.fairscore(faith, rows(), axis='religion', n_resamples=100)
  pairs = found['pairs']
  assert (found['offered'], found['texts'], len(pairs)) == (60, 80, 60)
  flip = [
    (faith([a])[0] >= 0.5) != (faith([b])[0] >= 0.5)
    for a, b in zip(pairs['text'], pairs['perturbed'])
  ]
  assert found['fairscore']['value'] == pytest.approx(np.mean(flip))
  assert 1 / 3 <= np.mean(flip) < 1
  assert found['floor']['value'] == 0.0
  table = found['by_attribute']
  own = pairs['attribute'] == 'muslim'
  one = table[table['attribute'] == 'muslim'].iloc[0]
  assert one['value'] == 1.0 and one['rows'] == own.sum()
  # Batches change nothing; a text that occurs again is no new evidence.
  again = fairjax.fairscore(
    faith, rows(), axis='religion', n_resamples=100, batch_size=7
  )
  assert again['fairscore'] == found['fairscore']
  twice = fairjax.fairscore(faith, rows() * 2, axis='religion', n_resamples=100)
  width = lambda one: one['fairscore']['high'] - one['fairscore']['low']
  assert width(twice) == pytest.approx(width(found), rel=0.2)
  spaced = [*rows(), *(f' {text} ' for text in rows())]
  asked = {'axis': 'religion', 'n_resamples': 1000}
  once, twice = (fairjax.fairscore(faith, t, **asked) for t in (rows(), spaced))
  assert width(twice) == pytest.approx(width(once), rel=0.15)
  with pytest.warns(UserWarning, match='9 resamples are too few'):
    fairjax.fairscore(faith, rows(), axis='religion', n_resamples=9)


def test_a_benchmark_is_a_line_for_each_part_and_measure():
  one = {
    'fairness': {'crows_original': {'value': 60.0, 'low': 50.0, 'p': 0.04}},
    'groups': {'age': {'rows': 3, 'crows_original': {'value': 50.0}}},
    'warnings': ['w'],
  }
  found = benchmarks.frame_of(one)
  assert found['part'].tolist() == ['all', 'age']
  assert found['value'].tolist() == [60.0, 50.0]
  assert found.attrs['warnings'] == ['w'] and found['p'][0] == 0.04
