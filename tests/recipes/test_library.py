"""fairjax.perturb and fairjax.fairscore: persons of a column, in Python."""

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax.core import announce
from fairjax.core.errors import UserError
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


@pytest.mark.parametrize(
  ('call', 'said'),
  [
    (lambda: fairjax.perturb('x', axis='foo'), 'perturbed by gender, race'),
    (
      lambda: fairjax.perturb('x', axis='race', attribute='muslim'),
      'which is of religion',
    ),
    (lambda: fairjax.perturb([3]), 'text 0 is 3, which is no text'),
    (lambda: fairjax.perturb([]), 'there are no texts'),
    (lambda: fairjax.perturb('x', by='model'), 'give both or neither'),
    (lambda: fairjax.perturb('x', random_state=-1), 'random_state is -1'),
    (
      lambda: fairjax.fairscore(faith, ['It rains.'], axis='orientation'),
      'somebody whose sexual orientation our rules can turn',
    ),
    (lambda: fairjax.fairscore(3, rows()), 'model is int'),
    (
      lambda: fairjax.fairscore(lambda t: [0.5], rows(), axis='religion'),
      'returns shape',
    ),
    (lambda: fairjax.benchmark('x', 'foo'), 'the benchmarks are weat, crows'),
    (lambda: fairjax.benchmark('x', 'crows'), 'name their folder with data='),
    (
      lambda: fairjax.benchmark('x', 'crows', '.', limit=-1),
      'limit is -1; at least 0',
    ),
    (
      lambda: fairjax.benchmark('x', 'crows', '.', axis='age'),
      "crows shows the axes that it has as parts; leave axis out, or take 't",
    ),
    (lambda: fairjax.benchmark('x', 'twins', ['a'], axis=3), 'axis is 3'),
    (lambda: fairjax.benchmark('x', 'crows', ['a']), "data is .'a'.; name"),
    (lambda: fairjax.benchmark('x', 'twins'), 'own texts; give a column'),
    (
      lambda: fairjax.benchmark('x', 'twins', ['He ran.'], axis='religion'),
      'no text has a word of religion that can be turned.*another axis',
    ),
  ],
)
def test_a_mistake_is_one_sentence_in_the_words_of_the_call(call, said):
  with pytest.raises(UserError, match=said) as caught:
    call()
  assert '--config' not in str(caught.value)


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
