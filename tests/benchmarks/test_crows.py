"""CrowS-Pairs: flags, places and scores of pairs of every kind, by hand."""

import types

import numpy as np
import pandas as pd
import pytest

from fairjax.benchmarks import crows
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 100, 0)
IDS = {w: k for k, w in enumerate('( ) he she is a an kind nurse the'.split())}


def ragged(*texts):
  flat = [IDS[w] for text in texts for w in text.split()]
  sizes = [len(text.split()) for text in texts]
  return Ragged(np.array(flat, np.int32), np.cumsum([0, *sizes]))


def test_each_metric_has_its_own_columns():
  """A judge that knows each token: log p is minus its id."""
  pairs = [('( he is a nurse )', '( she is an nurse )'), ('( he )', '( she )')]
  judge = types.SimpleNamespace(
    kind='mask',
    encode=lambda texts: ragged(*texts),
    log_p=lambda texts, chosen: np.where(chosen, -1.0 * texts.flat, np.nan),
    unmasked=lambda texts: (np.array([-7.0, -8, -1, -2]), np.arange(4.0)),
  )
  items = pd.DataFrame(pairs, columns=['more', 'less']).assign(id=['x', 'y'])
  found = crows.score(judge, items, None)
  # he 2, she 3, is 4, a 5, an 6, nurse 8; of the second pair all differ
  np.testing.assert_array_equal(
    found.set_index('id').T.to_dict('split')['data'],
    [
      *([-12, 0], [-12, 0], [-3.5, -2], [-4.5, -3]),
      *([-7, -1], [-8, -2], [0, 2], [1, 3]),
    ],
  )
  # As in metric.py, sums of no token are equal, so the pair is neutral.
  assert found.attrs['notes'] == [
    'original counts 1 pair as neutral whose sentences share no token, as the '
    "authors' code does"
  ]
  told = crows.estimate(
    items.assign(stereo=True, bias_type='age'), found, OPTIONS
  )
  assert found.attrs['notes'][0] in told['warnings']
  one = told['fairness']['crows_original']
  assert (one['items'], one['note']) == (2, 'no item decides')
  judge.unmasked = lambda texts: None
  assert crows.score(judge, items[:1], None).attrs['notes'] == []
  metrics = ('original', 'bias_bench', 'aul', 'aula')
  sides = [
    f'{metric}_{side}' for metric in metrics for side in ('more', 'less')
  ]
  assert list(found) == ['id', *sides]


def test_pairs_that_one_metric_skips_count_by_the_others():
  """A hit, a miss, a neutral pair, and one that bias_bench skips."""
  items = pd.DataFrame({'id': [*'abcd'], 'stereo': True})
  items['bias_type'] = ['age', 'age', 'race', 'race']
  scores = pd.DataFrame({'id': items['id']})
  for metric, more in (
    ('original', [-1, -3, -2, -1.0]),
    ('bias_bench', [-1, -3, -2, np.nan]),
    ('aula', [-1.0, -1, -1, -1]),
  ):
    scores[f'{metric}_more'], scores[f'{metric}_less'] = more, -2.0
  found = crows.estimate(items, scores, OPTIONS)
  one, groups = found['fairness'], found['groups']
  assert one['crows_original']['value'] == pytest.approx(50)
  assert one['crows_original']['null'] == 50 * 3 / 4  # the neutral decides none
  assert one['crows_bias_bench']['value'] == pytest.approx(100 / 3)
  assert one['crows_bias_bench']['items'] == 3
  assert one['crows_aula']['value'] == 100
  assert groups['stereo']['crows_original']['value'] == pytest.approx(200 / 3)
  assert 'antistereo' not in groups
  assert [w for w in found['warnings'] if 'skips' in w] == [
    'bias_bench skips 1 pairs in which one sentence only inserts words'
  ]
  compared = crows.values(items, scores).groupby(['metric', 'part'])['value']
  assert compared.mean().to_dict() == {
    ('crows_original', 'all'): 50,
    ('crows_original', 'age'): 50,
    ('crows_original', 'race'): 50,
    ('crows_bias_bench', 'all'): pytest.approx(100 / 3),
    ('crows_bias_bench', 'age'): 50,
    ('crows_bias_bench', 'race'): 0,
    **{('crows_aula', part): 100 for part in ('all', 'age', 'race')},
  }


def test_left_to_right_a_lone_token_has_no_score():
  """Nothing stands before the first token, so its log p is NaN."""
  pairs = [('he is a nurse', 'she is a'), ('he', 'she is'), ('he', 'she')]

  def log_p(texts, chosen=None):
    logs = -1.0 * texts.flat
    logs[texts.offsets[:-1]] = np.nan
    return logs

  judge = types.SimpleNamespace(
    kind='write', encode=lambda texts: ragged(*texts), log_p=log_p
  )
  items = pd.DataFrame(pairs, columns=['more', 'less']).assign(id=[*'xyz'])
  found = crows.score(judge, items, None)
  # is 4, a 5, nurse 8
  nan = np.nan
  np.testing.assert_array_equal(
    found.set_index('id').T.to_dict('split')['data'],
    [[-17, nan, nan], [-9, -4, nan], [-5.667, nan, nan], [-4.5, -4, nan]],
  )
  assert list(found) == [
    *('id', 'total_more', 'total_less', 'bias_bench_more', 'bias_bench_less')
  ]
  assert 'notes' not in found.attrs
  told = crows.estimate(
    items.assign(stereo=False, bias_type='age'), found, OPTIONS
  )
  why = 'skips 2 pairs of which a sentence has no token after its first'
  assert told['warnings'] == [f'total {why}', f'bias_bench {why}']
  assert told['fairness']['crows_total']['value'] == 0
  assert told['groups']['antistereo']['crows_total']['items'] == 1


def test_the_pairs_that_are_flagged_are_told(tmp_path):
  rows = [
    ('He left.', 'She left.'),
    ('Men work.', 'men work'),
    ('A b.', 'A c.'),
    ('The men saw us.', 'us saw The men.'),
  ]
  frame = pd.DataFrame(rows, columns=['sent_more', 'sent_less'])
  frame['stereo_antistereo'], frame['bias_type'] = 'stereo', 'gender'
  frame.to_csv(tmp_path / 'crows_pairs.csv', index=False)
  config = types.SimpleNamespace(
    benchmarks=types.SimpleNamespace(data=str(tmp_path))
  )
  _, *told = crows.items(config).attrs['notes']
  assert told == [
    'flagged pairs: 1, differ in case or punctuation only (‘Men work.’)',
    'flagged pairs: 1, the same words in another order (‘The men saw us.’)',
  ]
