"""The planted corpus has the association that it says, and its tests."""

import json
import re

import numpy as np
import pytest

from fairjax.benchmarks import planted_associations as planted
from fairjax.benchmarks import weat


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


def test_the_files_are_in_their_published_forms(tmp_path):
  planted.write_tests(tmp_path)
  test = weat.read(tmp_path / 'sent-weat_planted.jsonl')
  assert test.words and len(test.targets[0]) == 10
  line = (tmp_path / 'Gender_identity.jsonl').read_text().splitlines()[0]
  assert json.loads(line)['context_condition'] == 'ambig'
