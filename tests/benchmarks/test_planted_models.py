"""The planted corpus has the association that it says, and its tests."""

import json
import re

import numpy as np
import pytest

from fairjax.benchmarks import planted_associations as planted
from fairjax.benchmarks import weat
from fairjax.config import Benchmarks, Config
from fairjax.metrics.inference.intervals import IntervalOptions
from fairjax.recipes.benchmarks import planted as recipe

OPTIONS = IntervalOptions(0.95, 200, 0)


@pytest.mark.parametrize('association', [0.0, 0.8])
def test_the_corpus_has_the_association_that_it_says(association):
  lines = planted.corpus(association, 8000, 0)
  masculine = {*planted.WORDS['m'], *planted.NAMES['m']}
  feminine = {*planted.WORDS['f'], *planted.NAMES['f']}
  slope, count = [], 0
  for line in lines:
    words = set(re.findall(r'\w+', line))
    job = words & set(planted.JOBS)
    if job and words & (masculine | feminine):
      assert not (words & masculine and words & feminine)
      side = 1 if words & masculine else -1
      slope.append(side * planted.STRENGTH[job.pop()])
      count += 1
  square = np.mean([s**2 for s in planted.STRENGTH.values()])
  assert count > 6000
  assert np.mean(slope) / square == pytest.approx(association, abs=0.05)
  assert planted.corpus(association, 50, 0) == lines[:50]


def test_a_curve_that_rises_is_told_from_one_that_does_not():
  of = lambda crows, bbq: {
    'sets': {
      'crows': {'fairness': {'crows_original': crows}},
      'bbq': {'groups': {'disambiguated': {'bbq_bias_mean': bbq}}},
    }
  }
  one = lambda value, reach: {
    'value': value,
    'low': value - reach,
    'high': value + reach,
  }
  contenders = {
    'none': of(one(50, 8), one(0, 0.4)),
    'some': of(one(80, 5), one(0.1, 0.4)),
  }
  for title, at in (('none', 0.0), ('some', 0.8)):
    contenders[title]['facts'] = {'planted association': at}
  config = Config(benchmarks=Benchmarks(names=('crows', 'bbq')))
  lines = recipe.seen(config, contenders)
  assert 'rise' in lines[0] and 'CrowS' in lines[0] and 'BBQ' not in lines[0]
  assert lines[1].startswith('These do not') and 'BBQ' in lines[1]
  parts = recipe.curves(config, contenders)['parts']
  assert [row['rises'] for row in parts[0]['rows']] == [True, False]
  assert len(parts) == 3
  # Where left to right another number stands for a benchmark, it is taken.
  for title, value in (('none', 50), ('some', 52)):
    contenders[title]['sets']['crows']['fairness'] = {
      'crows_total': one(value, 8)
    }
  key, values = recipe.values_of(config, contenders)['crows']
  assert key == 'crows_total' and not recipe.rises(values)


def test_the_files_are_in_their_published_forms(tmp_path):
  planted.write_tests(tmp_path)
  test = weat.read(tmp_path / 'sent-weat_planted.jsonl')
  assert test.words and len(test.targets[0]) == 10
  line = (tmp_path / 'Gender_identity.jsonl').read_text().splitlines()[0]
  assert json.loads(line)['context_condition'] == 'ambig'
