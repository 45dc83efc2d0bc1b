"""Texts as they would be said of each group: versions, contrasts, words."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairjax.benchmarks import twins
from fairjax.config import Method
from fairjax.data.axes import table
from fairjax.metrics.inference.sample import RowSample


def test_twins_are_a_male_and_a_female_version():
  found = twins.versions(
    ['He slept.', 'The table is old.', 'My sister left.'],
    ['a', 'b', 'c'],
    Method(),
  )
  assert list(found['source']) == ['a', 'a', 'c', 'c']
  assert found.attrs['none'] == 1 and found.attrs['several'] == 0
  male, female = (found[found['value'] == v] for v in ('male', 'female'))
  assert list(male['text']) == ['He slept.', 'My brother left.']
  assert list(female['text']) == ['She slept.', 'My sister left.']


def test_a_text_of_one_group_has_a_version_for_each():
  texts = [
    'The Muslim nurse slept.',
    'He sang.',
    'Muslims and Jews sang.',
    'A Muslim went to the mosque.',  # what is a religion's own stays
  ]
  found = twins.versions(texts, list('abcd'), Method(axis='religion'))
  values = table.load('religion').values
  assert list(found['source']) == ['a'] * len(values)
  assert list(found['value']) == list(values)
  assert list(found['text'])[:5] == [
    f'The {v.title()} nurse slept.' for v in values[:5]
  ]
  assert found.attrs['several'] == 1 and found.attrs['none'] == 2


def test_groups_are_contrasted_with_the_mean_of_the_others():
  items = pd.DataFrame(
    {
      'id': list('abcdefgh'),
      'source': list('xxxyyyzz'),
      'value': ['p', 'q', 'r', 'p', 'q', 'r', 'p', 'q'],
    }
  )
  items.attrs['values'] = ['p', 'q', 'r']
  logs = [-1.0, -2.0, -6.0, -2.5, -2.0, -8.0, -1.0, np.nan]
  scores = pd.DataFrame({'id': items['id'], 'log_p': logs})
  s = twins.contrasted(items, scores)
  # The text z has one version that is known, and so no contrast.
  wanted = [3.0, 1.5, -4.5, 2.5, 3.25, -5.75]
  assert list(s['s']) == pytest.approx(wanted)
  one = twins.estimate(items, scores, RowSample(0.95, 200, 0))
  of = lambda part: one['groups'][part]['twins_log_odds']['value']
  assert [of(v) for v in 'pqr'] == pytest.approx([2.75, 2.375, -5.125])
  gap = one['fairness']['twins_gap']
  assert gap['value'] == pytest.approx(2.75 + 5.125)
  assert gap['low'] <= gap['value'] <= gap['high'] and gap['items'] == 2
  both = twins.values(items, scores)
  assert list(both['part']) == ['p', 'q', 'r'] * 2


def test_a_gap_of_alike_groups_is_no_more_than_chance():
  rng = np.random.default_rng(0)
  p = []
  for _ in range(60):
    rows = [(t, v) for t in range(20) for v in 'pqr']
    items = pd.DataFrame(rows, columns=['source', 'value'])
    items['id'] = list(map(str, items.index))
    items.attrs['values'] = ['p', 'q', 'r']
    logs = rng.normal(size=20).repeat(3) * 5 + rng.normal(size=60)
    scores = pd.DataFrame({'id': items['id'], 'log_p': logs})
    one = twins.estimate(items, scores, RowSample(0.95, 200, 0))
    p.append(one['fairness']['twins_gap']['p'])
  assert np.mean(np.array(p) < 0.05) < 0.12  # 3 standard errors of .05


def test_words_that_lean_are_told_from_those_that_do_not():
  rng = np.random.default_rng(0)
  rows = [
    (text, word, value)
    for text in range(30)
    for word, value in (
      ('engineer', 0.4 + 0.3 * rng.normal()),
      ('table', 0.3 * rng.normal()),
      ('rare', 1.0),
    )
    if word != 'rare' or text < 3
  ]
  each = pd.DataFrame(rows, columns=['source', 'word', 'log_odds'])
  sums = twins.word_sums(each.assign(value='male'))
  table = twins.word_table(sums, 0.95).set_index('word')
  assert 'rare' not in table.index
  values = each['log_odds'][each['word'] == 'engineer']
  assert table.loc['engineer', 'p'] == pytest.approx(
    stats.ttest_1samp(values, 0).pvalue
  )
  assert table.loc['engineer', 'p_fdr'] < 0.01 < table.loc['table', 'p_fdr']
  assert table.loc['engineer', 'low'] > 0


@pytest.mark.parametrize('t, lean', [(0.999, 0), (1, 3), (1.001, 3)])
def test_words_at_the_level_lean(t, lean):
  """Three words of p = .05, by Benjamini and Hochberg .05 each; one of 1."""
  items = pd.DataFrame({'source': [*'aabb'], 'value': ['f', 'm'] * 2})
  items['id'] = [*'wxyz']
  items.attrs['values'] = ['f', 'm']
  scores = items[['id']].assign(log_p=[-1.0, -2, -3, -3.5])
  mean = t * float(stats.t.ppf(0.975, 9))
  scores.attrs['words'] = [
    {'value': 'f', 'word': word, 'texts': 10, 'mean': mean, 'spread': 10**0.5}
    for word in 'pqr'
  ]
  found = twins.estimate(items, scores, RowSample(0.95, 100, 0))
  assert found['warnings'] == [
    f'3 words stand in 8 texts or more; {lean} lean to a side at a false '
    'discovery rate of 5 %'
  ]
  scores.attrs['words'] = []
  none = twins.estimate(items, scores, RowSample(0.95, 100, 0))
  assert none['warnings'][0].startswith('0 words stand in 8 texts or more; 0 ')


def test_by_word_sums_the_pieces_of_a_word(nets):
  judge = nets['gpt2'].judge
  for kinds in (('man', 'woman'), ('man', 'woman', 'nurse')):
    shown = [f'The {kind} was unathletic.' for kind in kinds]
    items = pd.DataFrame({'source': 'a', 'value': kinds, 'text': shown})
    texts = judge.encode(shown)
    logs = judge.log_p(texts)
    each = twins.by_word(judge, texts, logs, items)
    halves = np.split(logs.astype(float), texts.offsets[1:-1])
    pieces = len(judge.tokenizer.encode(' unathletic').ids)
    slow = [half[-1 - pieces : -1].sum() for half in halves]
    for k, kind in enumerate(kinds):
      own = each[each['value'] == kind].set_index('word')['log_odds']
      assert list(own.index) == ['the', 'was', 'unathletic']
      others = np.mean(slow[:k] + slow[k + 1 :])
      assert own['unathletic'] == pytest.approx(slow[k] - others, abs=1e-5)


def test_a_word_of_which_a_piece_differs_is_not_shared(nets):
  judge = nets['gpt2'].judge
  items = pd.DataFrame(
    {
      'source': 'a',
      'value': ['x', 'y'],
      'text': ['The unlazy man slept.', 'The lazy man slept.'],
    }
  )
  texts = judge.encode(list(items['text']))
  each = twins.by_word(judge, texts, judge.log_p(texts), items)
  assert set(each['word']) == {'the', 'man', 'slept'}
