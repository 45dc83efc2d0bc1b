"""Slices, and words that flip, of rows that belong together."""

import numpy as np
import pytest
from scipy import stats

from fairjax.metrics import slices
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import flips
from fairjax.metrics.texts.flips import EditScores

HOW = RowSample(0.95, 0, 0)


def written(rng, writers=40, rows=20, rho=0.2, share=0.2):
  """Errors that writers make at rates of their own, of intra-class rho."""
  code = np.repeat(np.arange(writers), rows)
  a, b = (s * (1 - rho) / rho for s in (share, 1 - share))
  rate = rng.beta(a, b, writers)
  return code, (rng.random(len(code)) < rate[code]).astype(float)


def test_the_score_is_that_of_a_loop():
  rng = np.random.default_rng(0)
  code, bad = written(rng, 12, 9)
  inside = rng.random(len(bad)) < 0.3
  apart, own = bad - bad.mean(), inside - inside.mean()
  sums = [(apart * own)[code == c].sum() for c in range(12)]
  part = np.sum(sums) ** 2 / np.sum(np.square(sums)) / 12
  t = np.sign(np.sum(sums)) * np.sqrt(10 * part / (1 - part))
  more, two = clusters.excess(bad, inside, code)
  assert more == pytest.approx(stats.t.sf(t, 10))
  less, _ = clusters.excess(bad, ~inside, code)
  assert less == pytest.approx(1 - more)
  assert two == pytest.approx(2 * min(more, less))


def test_two_writers_say_nothing_of_a_difference():
  bad, code = np.repeat([1.0, 0.0], 50), np.repeat([0, 1], 50)
  assert clusters.excess(bad, code == 0, code) == (1, 1)
  many = np.arange(100) // 5
  assert clusters.excess(bad, code == 0, many)[0] < 1e-6


def test_one_bad_writer_is_no_bad_slice():
  """Of rows alone 30 of 100 sets without any had a sure slice."""
  rng = np.random.default_rng(1)
  found = {'rows': 0, 'clusters': 0}
  for _ in range(100):
    code, wrong = written(rng)
    kinds = rng.integers(0, 2, (4, 40))[:, code]
    conditions = of_columns({f'k{k}': own for k, own in enumerate(kinds)})
    for name, cluster in (('rows', None), ('clusters', code)):
      first, *_ = slices.worst(wrong, conditions, cluster=cluster)
      found[name] += first['adjusted'] <= 0.05
  assert found['rows'] > 25 and found['clusters'] <= 8


def test_a_slice_that_most_writers_are_worse_in_is_found():
  rng = np.random.default_rng(2)
  code, wrong = written(rng, rho=0.05)
  late = rng.random(len(wrong)) < 0.3
  wrong = np.where(late, rng.random(len(wrong)) < 0.5, wrong)
  one = of_columns({'when': np.where(late, 'late', 'early')})
  first, *_ = slices.worst(wrong, one, cluster=code)
  (alone, *_), (each, *_) = (
    slices.worst(wrong, one, cluster=cluster)
    for cluster in (None, np.arange(len(wrong)))
  )
  assert first['slice'] == 'when: late' and first['adjusted'] < 1e-3
  assert alone['p'] <= first['p'] and each['p'] < 1e-6


def edit_of(flip, under=None):
  """One seed whose decisions flip as told; 0.2 is decided 0."""
  n = len(flip)
  of = lambda x: np.where(x, 0.8, 0.2)[None].astype(float)
  known = np.ones(n, bool)
  controlled = known if under is not None else ~known
  after = of(flip if under is None else under)
  edit = EditScores(known, of(flip), controlled, after, np.zeros(n, int))
  return np.full((1, n), 0.2), edit


def test_the_rows_of_a_cluster_speak_once_for_a_word():
  rng = np.random.default_rng(3)
  flip, under = rng.random((2, 40)) < [[0.5], [0.2]]
  words = [['he → she']] * 40
  once = flips.by_word(words, *edit_of(flip, under), 0.5, HOW)
  copies = [np.repeat(x, 5) for x in (flip, under)]
  scores, edit = edit_of(*copies)
  code = np.repeat(np.arange(40), 5)
  many = flips.by_word(words * 5, scores, edit, 0.5, HOW.over(code))
  naive = flips.by_word(words * 5, scores, edit, 0.5, HOW)
  assert many[0]['p'] == once[0]['p'] > 1e3 * naive[0]['p']
  assert many[0]['flips'] == once[0]['flips']


def test_without_a_control_a_word_of_one_writer_carries_nothing():
  rng = np.random.default_rng(4)
  code, flip = written(rng, 20, 15, rho=0.3)
  flip[code == 0] = 1
  words = [['x → y'] if k == 0 else ['he → she'] for k in code]
  scores, edit = edit_of(flip > 0)
  p = lambda cluster: {
    one['word']: one['p']
    for one in flips.by_word(words, scores, edit, 0.5, HOW.over(cluster))
  }
  assert p(None)['x → y'] < 1e-6 and p(code)['x → y'] > 0.05
