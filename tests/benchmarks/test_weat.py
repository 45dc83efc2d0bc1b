"""WEAT and SEAT against enumeration, published counts and simulation."""

import itertools
import json
from math import comb

import numpy as np
import pytest
from scipy import stats

from fairjax.benchmarks import weat
from fairjax.benchmarks.shared import association
from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 500, 0)


def enumerated(x, y):
  """One- and two-sided p by going through every split."""
  s = np.concatenate([x, y])
  n, observed = len(x), np.mean(x) - np.mean(y)
  values = []
  for chosen in itertools.combinations(range(len(s)), n):
    inside = np.isin(np.arange(len(s)), chosen)
    values.append(s[inside].mean() - s[~inside].mean())
  values = np.array(values)
  return (
    (values >= observed - 1e-9).mean(),
    (np.abs(values) >= abs(observed) - 1e-9).mean(),
  )


def test_golden_fact_one():
  x = np.array([[1, 0], [0.8, 0.6]])
  y = np.array([[0, 1], [0.6, 0.8]])
  s = association.association(
    np.concatenate([x, y]), np.array([[1, 0]]), np.array([[0, 1]])
  )
  np.testing.assert_allclose(s, [1, 0.2, -1, -0.2], atol=1e-12)
  assert association.effect_size(s[:2], s[2:]) == pytest.approx(
    1.4411534, abs=1e-7
  )
  p = association.permutation(s[:2], s[2:])
  assert p.one_sided == pytest.approx(1 / 6) and p.exact and p.splits == 6


@pytest.mark.parametrize('sizes', [(4, 4), (3, 5), (6, 2), (2, 2), (5, 5)])
def test_p_is_the_share_of_all_splits_with_ties(sizes):
  rng = np.random.default_rng(sum(sizes))
  for digits in (1, 6):  # with one digit there are many ties
    x, y = (rng.normal(size=n).round(digits) for n in sizes)
    p = association.permutation(x, y)
    one, two = enumerated(x, y)
    assert p.one_sided == pytest.approx(one, abs=1e-12)
    assert p.two_sided == pytest.approx(two, abs=1e-12)
    assert p.splits == comb(sum(sizes), sizes[0])


def test_twelve_a_list_is_exact_and_agrees_with_sampling(monkeypatch):
  rng = np.random.default_rng(1)
  x, y = rng.normal(0.4, 1, 12), rng.normal(0, 1, 12)
  exact = association.permutation(x, y)
  assert exact.exact and exact.splits == 2704156
  monkeypatch.setattr(association, 'TABLE', 10)
  sampled = association.permutation(x, y, samples=20_000)
  assert not sampled.exact
  assert sampled.one_sided == pytest.approx(exact.one_sided, abs=0.015)
  assert sampled.two_sided == pytest.approx(exact.two_sided, abs=0.015)


def test_equal_values_have_p_one_and_no_effect():
  x = np.full(4, 0.3)
  p = association.permutation(x, x)
  assert p.one_sided == p.two_sided == 1
  assert association.interval(x, x, OPTIONS)['value'] is None


def coverage(n, gap, draw, rounds):
  """Share of intervals that hold the d of the whole population."""
  rng = np.random.default_rng(3)
  wide = draw(rng, 10**6)
  spread = np.concatenate([wide + gap, wide]).std()
  hits = 0
  for _ in range(rounds):
    found = association.interval(draw(rng, n) + gap, draw(rng, n), OPTIONS)
    hits += found['low'] <= gap / spread <= found['high']
  return hits / rounds


@pytest.mark.parametrize('gap', [0.0, 1.0])
@pytest.mark.parametrize('n', [8, 25])
def test_intervals_cover(n, gap):
  draw = lambda rng, n: rng.normal(size=n)
  assert 0.91 <= coverage(n, gap, draw, 300) <= 0.99


def test_sentences_of_a_word_are_one_draw():
  # Words whose sentences agree: shuffling sentences finds what words do not.
  rng = np.random.default_rng(4)
  rejected, inside = {'p': 0, 'p_published': 0}, 0
  texts = [f'This is w{i}. {j}' for i in range(8) for j in range(6)]
  words = [f'w{i}' for i in range(8) for _ in range(6)]
  test = weat.Test('t', (texts, texts), (['a'], ['b']), words * 2)
  for _ in range(60):
    s = np.repeat(rng.normal(size=16), 6) + 0.1 * rng.normal(size=96)
    row = weat.row(test, s, OPTIONS, samples=300)
    inside += row['floor_low'] <= row['value']['value'] <= row['floor_high']
    for name in rejected:
      rejected[name] += row[name] < 0.05
  assert rejected['p'] <= 8 < rejected['p_published']
  assert inside >= 52


def written(tmp_path, name='weat1.jsonl', **lists):
  tree = {
    part: {'category': part, 'examples': lists.get(part, ['a', 'b'])}
    for part in weat.PARTS
  }
  path = tmp_path / name
  path.write_text(json.dumps(tree))
  return path


def test_bad_files_are_one_sentence(tmp_path):
  good = dict(targ1=['x', 'z'], targ2=['v', 'w'])
  with pytest.raises(UserError, match=r'attr1.examples is \[\]'):
    weat.read(written(tmp_path, **good, attr1=[]))
  with pytest.raises(UserError, match="'a' among both targets"):
    weat.read(written(tmp_path))
  test = weat.read(written(tmp_path, **good, attr1=['a', 'a', 'c']))
  assert test.attributes[0] == ['a', 'c'] and 'twice' in test.notes[0]


def test_sentences_show_their_words(shared):
  folder = shared / 'bias_eval' / 'seat'
  seen = 0
  for path in sorted(folder.glob('sent-*.jsonl')):
    test = weat.read(path)
    plain = weat.read(path.with_name(path.name.removeprefix('sent-')))
    if test.words is None:
      continue
    seen += 1
    n = len(test.targets[0])
    assert set(test.words[:n]) <= set(plain.targets[0]), path.name
    assert set(test.words[n:]) <= set(plain.targets[1]), path.name
  assert seen == 15


def test_the_word_that_a_sentence_shows():
  """The longest that stands there whole, in any of its forms."""
  test = weat.Test('t', (
    ['man', 'policeman', 'city', 'bus'], ['Woman', 'boss']
  ), ([], []))  # fmt: skip
  x = ['A man.', 'The policemen met.', 'Cities grow.', 'Two buses.', 'MEN!']
  found = weat.words_of(x, ['Those are women.', 'A boss.'], test)
  assert found == [
    *('man', 'policeman', 'city', 'bus', 'man'),
    *('Woman', 'boss'),
  ]
  several = test._replace(targets=(['Sisters', 'city', 'men'], ['aunts']))
  x = ['One sister.', 'A CITY.', 'Men.']
  assert weat.words_of(x, ['An aunt.', 'Aunts'], several) == [
    *('Sisters', 'city', 'men'),
    *('aunts', 'aunts'),
  ]
  longer = test._replace(targets=(['mother', 'mother in law'], ['Son']))
  found = weat.words_of(['A mother in law.', 'Mothers'], ['Sons'], longer)
  assert found == ['mother in law', 'mother', 'Son']
  for none in ('A cit.', 'A citie.', 'An aun.', 'A sisterly act.'):
    assert weat.words_of([none], [], several) is None, none
  assert weat.words_of(['A manly act.'], [], test) is None
  assert weat.words_of(['A woman.'], [], test) is None  # of the other targets


def test_a_test_of_what_a_model_scores():
  test = weat.Test('t', (['p', 'q'], ['r', 's', 'u']), ([], []))
  ids = {'t:X:q', 't:Y:r', 't:Y:s', 't:X:r'}
  assert weat.scored(test, ids).targets == (['q'], ['r', 's'])
  own = weat.scored(test._replace(words=['P', 'Q', 'R', 'S', 'U']), ids)
  assert own.words == ['Q', 'R', 'S']


@pytest.mark.parametrize(
  ('x', 'y', 'words'),
  [
    (['a', 'b'], ['b', 'c'], "has 'b' among both targets"),
    (['a'], ['b', 'c'], 'needs two targets in either list'),
    (['a', 'b'], ['c'], 'needs two targets in either list'),
  ],
)
def test_targets_that_make_no_test(tmp_path, x, y, words):
  lists = {'targ1': x, 'targ2': y, 'attr1': ['g'], 'attr2': ['h']}
  tree = {k: {'category': k, 'examples': v} for k, v in lists.items()}
  path = tmp_path / 'weat1.jsonl'
  path.write_text(json.dumps(tree))
  with pytest.raises(UserError, match=words):
    weat.read(path)


def slow_interval(x, y, x_words, y_words):
  """The jackknife over words by scipy: d = c r, and Student's t of atanh(r)."""

  def z(x, y):
    return np.arctanh(
      stats.pearsonr([1] * len(x) + [0] * len(y), [*x, *y]).statistic
    )

  c, variance = (len(x) + len(y)) / np.sqrt(len(x) * len(y)), 0
  c *= np.sqrt(1 - 1 / (len(x) + len(y)))
  for words, of in (
    (x_words, lambda keep: z(x[keep], y)),
    (y_words, lambda keep: z(x, y[keep])),
  ):
    kinds = sorted(set(words))
    each = [of(np.array([w != one for w in words])) for one in kinds]
    variance += (len(kinds) - 1) * np.var(each)
  free = len({*x_words}) + len({*y_words}) - 2
  half = stats.t.ppf(0.975, free) * np.sqrt(variance)
  return c * np.tanh(z(x, y) + np.array([0, -half, half]))


def test_a_test_of_sentences_is_of_its_words():
  """Four words of X and three of Y, of one to three sentences each."""
  x_words, y_words = [*'ppqqqrs'], [*'tuuvv']
  x = np.array([0.3, 0.5, 0.1, 0.2, 0.6, 0.4, 0.7])
  y = np.array([0.2, -0.1, 0.15, 0.0, 0.3])
  test = weat.Test('t', (x_words, y_words), (['a'], ['b']), x_words + y_words)
  row = weat.row(test, np.concatenate([x, y]), OPTIONS)
  value = [row['value'][key] for key in ('value', 'low', 'high')]
  assert value == pytest.approx(slow_interval(x, y, x_words, y_words))
  assert row['units'] == 7 and row['items'] == 12
  # p: whole words are dealt, by their means; published: sentences.
  means = [
    [np.mean([v for v, w in zip(s, words) if w == one]) for one in kinds]
    for s, words, kinds in ((x, x_words, 'pqrs'), (y, y_words, 'tuv'))
  ]
  assert row['p'] == pytest.approx(enumerated(*means)[1])
  assert row['p_published'] == pytest.approx(enumerated(x, y)[0])
  # The floor: d of all 35 ways to deal seven words into four and three.
  sums = [
    (v, w) for s, ws in ((x, x_words), (y, y_words)) for v, w in zip(s, ws)
  ]
  spread, dealt = np.std([v for v, _ in sums], ddof=1), []
  for chosen in itertools.combinations('pqrstuv', 4):
    inside = [v for v, w in sums if w in chosen]
    outside = [v for v, w in sums if w not in chosen]
    dealt.append((np.mean(inside) - np.mean(outside)) / spread)
  # Between the two furthest deals and those next to them, as 35 are few.
  least, *_, most = (ends := sorted(dealt))
  assert least - 1e-9 <= row['floor_low'] <= ends[2]
  assert ends[-3] <= row['floor_high'] <= most + 1e-9
  alone = weat.row(test._replace(words=None), np.concatenate([x, y]), OPTIONS)
  assert alone['units'] == 12 and alone['p'] != row['p']
