"""Measures of counterfactual texts against counts by hand and scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as sk

from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import counterfactual, rewrites
from fairjax.pairs.swapping import swap_eval

HOW = RowSample(0.95, 500, 0)
draw = np.random.default_rng(0)


def values(sums):
  return {
    k: v.tolist() for k, v in counterfactual.drawn(sums, HOW).values.items()
  }


def test_rates_are_those_of_either_version():
  label = draw.integers(0, 2, 60)
  first, second = draw.random((2, 3, 60))
  result = values(counterfactual.rates(label, first, second))
  for s in range(3):
    for name, value in (('tprd', 1), ('fprd', 0)):
      one, two = (
        sk.recall_score(np.ones(len(x)), x)
        for x in (each[s][label == value] >= 0.5 for each in (first, second))
      )
      assert result[name][s] == pytest.approx(one - two)


def slow_group_gaps(label, shows, own, twin):
  """TPRD and FPRD of groups, and of their content, text by text."""
  out = {}
  for name, value in (('tprd', 1), ('fprd', 0)):
    rate = {}
    for group in (1, 0):
      texts = plain = both = 0
      for y, a, score, other in zip(label, shows, own, twin):
        if y == value and a == group:
          texts += 1
          plain += score >= 0.5
          both += int(score >= 0.5) + int(other >= 0.5)
      rate[group] = plain / texts, both / (2 * texts)
    out[f'group_{name}'] = rate[1][0] - rate[0][0]
    out[f'content_{name}'] = rate[1][1] - rate[0][1]
  return out


def test_group_rates_are_the_papers_and_part_into_content_and_wording():
  rng = np.random.default_rng(3)
  label, shows = rng.integers(0, 2, (2, 90))
  own, twin = rng.random((2, 2, 90))
  own[:, shows == 1] += 0.3  # the groups differ
  groups = counterfactual.group_rates(label, shows, own, twin)
  found = values(groups) | values(counterfactual.content(groups))
  for s in range(2):
    slow = slow_group_gaps(label, shows, own[s], twin[s])
    assert {k: v[s] for k, v in found.items()} == pytest.approx(slow)
  # Twins that are decided alike: all of the gap is content.
  alike = counterfactual.group_rates(label, shows, own, own)
  left = values(counterfactual.content(alike))
  assert left['content_tprd'] == pytest.approx(found['group_tprd'])
  # Texts that twins make alike: none is, and all of it is the wording's.
  first = np.where(shows == 1, 1.0, 0.0)[None]
  worded = counterfactual.group_rates(label, shows, first, 1 - first)
  assert values(worded) == {'group_tprd': [1.0], 'group_fprd': [1.0]}
  assert values(counterfactual.content(worded))['content_tprd'] == [0.0]
  twins = values(counterfactual.rates(label, first * 0 + 1, first * 0))
  assert twins == {'tprd': [1.0], 'fprd': [1.0]}


def test_a_gap_of_groups_is_not_seen_in_twins():
  """Other occupations: the papers' TPRD is 1 and that of twins 0."""
  shows = np.repeat([1, 0], 30)
  label = np.tile([1, 0, 1], 20)
  score = np.where(shows == 1, 0.9, 0.1)[None]  # decided by what else they say
  groups = counterfactual.group_rates(label, shows, score, score)
  assert values(groups) == {'group_tprd': [1.0], 'group_fprd': [1.0]}
  twins = counterfactual.rates(label, score, score)
  assert values(twins) == {'tprd': [0.0], 'fprd': [0.0]}
  one = counterfactual.drawn(counterfactual.sizes(groups), HOW)
  one = counterfactual.estimates(one, HOW)['group_tprd_size']
  assert one['value'] == 1 and 0.6 < one['low'] < 1


def test_quality_is_scikit_learn_s():
  label, score = draw.integers(0, 2, 80), draw.random((2, 80))
  result = values(counterfactual.quality(label, score))
  for s in range(2):
    decision = score[s] >= 0.5
    assert result['accuracy'][s] == sk.accuracy_score(label, decision)
    assert result['f1'][s] == pytest.approx(sk.f1_score(label, decision))


def test_transfer_is_the_share_of_the_other_attribute():
  sums = counterfactual.transfer(
    np.array([1, 1, 0, 0]), np.array([0.1, 0.9, 0.8, 0.5])
  )
  assert values(sums) == {'transfer_accuracy': [0.75]}
  # Of attribute 1 none is another, of 0 both are.
  sums = counterfactual.transfer(
    np.array([1, 1, 1, 0, 0]), np.array([0.6, 0.9, 0.5, 0.8, 0.5])
  )
  assert values(sums) == {'transfer_accuracy': [0.4]}


def test_a_score_at_the_threshold_is_positive():
  label, half = np.array([1, 1, 0, 0]), np.full((1, 4), 0.5)
  for one, other, gap in ((half, half, 0), (half, half - 0.01, 1)):
    got = values(counterfactual.rates(label, one, other))
    assert got == {'tprd': [gap], 'fprd': [gap]}
    shows = np.array([1, 0, 1, 0])
    mixed = np.where(shows == 1, one, other)
    got = values(counterfactual.group_rates(label, shows, mixed, mixed))
    assert got == {'group_tprd': [gap], 'group_fprd': [gap]}
  assert values(counterfactual.quality(label, half))['accuracy'] == [0.5]
  assert values(counterfactual.quality(label, half, 0.6))['f1'] == [0]


def test_perplexities_weigh_texts_or_tokens():
  """Golden fact 29: mean losses 2 and 4 of 10 and 2 tokens."""
  sums = counterfactual.perplexity(np.array([-20.0, -8.0]), np.array([10, 2]))
  result = values(sums)
  assert result['perplexity_per_text'][0] == pytest.approx(20.0855, abs=1e-4)
  token = result['perplexity_token_weighted'][0]
  assert token == pytest.approx(10.3123, abs=1e-4)
  # A text without a token is none.
  sums = counterfactual.perplexity(
    np.array([-20.0, 0, -8]), np.array([10, 0, 2])
  )
  assert values(sums) == {k: pytest.approx(v) for k, v in result.items()}


def test_distance_is_levenshtein_s_of_words():
  """Of 1,200 words three are put in, two taken out and four replaced."""
  sums = counterfactual.changes(
    ['he left', 'it rains', 'a b c'], ['she left', 'it rains', 'a x y c']
  )
  assert values(sums) == {'changed': [2 / 3], 'distance': [3 / 7]}
  old = [f'w{k}' for k in range(1200)]
  new = [*old[:100], *'xyz', *old[100:500], *old[502:900], *'abcd', *old[904:]]
  for one, two in ((old, new), (new, old)):
    sums = counterfactual.changes([' '.join(one)], [' '.join(two)])
    assert values(sums)['distance'] == [(3 + 2 + 4) / len(one)]


def test_texts_that_all_change_are_not_sure_of_one():
  """Of 10 texts 1 [.7, 1], as far as Jeffreys's half a text of none."""
  for new, value in (('she left', 1), ('he left', 0)):
    sums = counterfactual.changes(['he left'] * 10, [new] * 10)
    one = counterfactual.estimates(counterfactual.drawn(sums, HOW), HOW)
    one = one['changed']
    assert value == one['value'] == one['high' if value else 'low']
    assert 0.1 < one['high'] - one['low'] < 0.3


def test_means_are_of_columns_by_name():
  columns = {'a': np.array([0, 0.5, 1, 1]), 'b': np.array([0, 1, 0, 0])}
  assert values(counterfactual.means(columns)) == {'a': [0.625], 'b': [0.25]}


def test_known_twins_are_counted_by_hand():
  counts = np.array([[2, 2, 2, 1, 1], [3, 2, 1, 0, 1]])
  assert values(counterfactual.gold(counts)) == {
    'exact': [0.5],
    'changed_precision': [0.6],
    'changed_recall': [0.75],
  }


def test_the_same_texts_are_no_difference_and_others_are():
  label = np.repeat([0, 1], 100)
  score = draw.random((2, 200))
  one = counterfactual.drawn(counterfactual.rates(label, score, 1 - score), HOW)
  for test in counterfactual.tests(one, one, HOW):
    assert test['difference']['value'] == 0 and test['p'] == 1
    # They agree on these rows, and may not on others.
    assert test['difference']['low'] is None and test['difference']['note']
  fair = counterfactual.drawn(counterfactual.rates(label, score, score), HOW)
  good = np.where(label == 1, 0.9, 0.1)[None].repeat(2, 0)
  bad = counterfactual.drawn(counterfactual.rates(label, good, 1 - good), HOW)
  for test in counterfactual.tests(bad, fair, HOW):
    assert test['p'] < 0.01
  estimates = counterfactual.estimates(bad, HOW)
  assert estimates['tprd']['value'] == 1 and estimates['fprd']['value'] == -1
  assert estimates['tprd']['high'] == 1 and estimates['fprd']['low'] == -1


def test_the_size_of_a_gap_is_its_distance_from_0_and_a_share():
  rng = np.random.default_rng(0)
  label = rng.integers(0, 2, 60)
  first, second = rng.uniform(size=(2, 2, 60))
  first[:, label == 1] -= 0.4
  how = RowSample(0.95, 200, 0)
  signs = set()
  for both in ((first, second), (second, first)):
    gaps = counterfactual.rates(label, *both)
    plain = counterfactual.drawn(gaps, how)
    one = counterfactual.drawn(counterfactual.sizes(gaps), how)
    for name in ('tprd', 'fprd'):
      sign = np.sign(plain.values[name])
      signs |= {*sign}
      size = f'{name}_size'
      np.testing.assert_allclose(one.values[size], abs(plain.values[name]))
      np.testing.assert_allclose(one.draws[size], sign * plain.draws[name])
    for estimate in counterfactual.estimates(one, how).values():
      assert 0 <= estimate['low'] <= estimate['value'] <= estimate['high'] <= 1
  assert signs == {-1, 1}


def test_texts_that_all_agree_are_no_proof():
  """20 of 20 was 1.000 [1, 1]."""
  how = RowSample(0.95, 2000, 0)
  for right in (0, 1):
    label = np.ones(20, int)
    score = np.full((1, 20), float(right))
    drawn = counterfactual.drawn(counterfactual.quality(label, score), how)
    one = counterfactual.estimates(drawn, how)['accuracy']
    exact = 0.025 ** (1 / 20)
    assert one['value'] == right
    reach = one['high'] - one['low']
    assert reach == pytest.approx(1 - exact, abs=0.03)


def test_recall_of_withheld_words_is_counted_by_hand():
  unlisted = {'actress', 'nun'}
  pairs = [
    ('the actress saw her nun', 'the actor saw his monk'),
    ('an actress left', 'an actor left'),
    ('she left', 'he left'),
  ]
  ours = ['the actor saw his nun', 'an actress left', 'he left']
  counts = swap_eval.text_counts(pairs, ours, lambda word: word in unlisted)
  assert values(counterfactual.recall(counts)) == {'unlisted_recall': [1 / 3]}


def test_bleu_against_the_source_is_that_of_rewrites():
  old = ['the king saw a big red dog here', 'she ran far away from it today']
  new = ['the queen saw a big red dog here', 'he ran far away from him today']
  both = np.array(
    [rewrites.counts(a.split(), a.split(), b.split()) for a, b in zip(old, new)]
  )
  (value,) = values(counterfactual.source_bleu(old, new))['source_bleu']
  assert value == pytest.approx(
    rewrites.measures(1.0 * both.sum(0)[None])['bleu4'][0]
  )
  # By hand: 12 of 15 words, 8 of 13 pairs, 6 of 11 and 4 of 9 runs.
  hand = (12 / 15 * 8 / 13 * 6 / 11 * 4 / 9) ** 0.25
  assert value == pytest.approx(hand)
  # A source of 8 words of which 4 are kept, and nothing else: e^(1 − 8/4).
  short = counterfactual.source_bleu(old[:1], ['the king saw a'])
  (value,) = values(short)['source_bleu']
  assert value == pytest.approx(np.exp(-1))
  one = counterfactual.drawn(counterfactual.source_bleu(old, old), HOW)
  one = counterfactual.estimates(one, HOW)['source_bleu']
  assert one['value'] == 1 and one['low'] < 1 == one['high']


def test_a_row_at_either_end_has_the_end_of_its_measures_alone():
  """Of `edges` alone each measure is at the high end of its range, or low."""
  rng = np.random.default_rng(5)
  label, shows = rng.integers(0, 2, (2, 40))
  own, twin = rng.random((2, 1, 40))
  texts = ['a b c d e f', 'g h i j k l m']
  counts = rng.integers(0, 5, (6, 5))
  groups = counterfactual.group_rates(label, shows, own, twin)
  for sums, ends in (
    (counterfactual.rates(label, own, twin), (-1, 1)),
    (groups, (-1, 1)),
    (counterfactual.content(groups), (-1, 1)),
    (counterfactual.quality(label, own), (0, 1)),
    (counterfactual.transfer(label, own[0]), (0, 1)),
    (counterfactual.source_bleu(texts, texts), (0, 1)),
    (counterfactual.means({'a': own[0], 'b': twin[0]}), (0, 1)),
    (counterfactual.recall(counts), (0, 1)),
    (counterfactual.gold(counts), (0, 1)),
  ):
    for row, end in zip(sums.edges, (ends[1], ends[0])):
      for name, value in sums.compute(np.asarray([row], float)).items():
        assert value[0] == pytest.approx(end), (name, end)
