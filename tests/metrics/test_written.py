"""Measures of what models write: equal to langfair's, with intervals."""

import functools
import itertools
import json
import pathlib

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.metrics.inference import group_means
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import cooccurrence, hurtful, similarity

GOLDEN = json.loads(
  (pathlib.Path(__file__).parents[1] / 'golden/langfair.json').read_text()
)  # of langfair 0.8.0; made by golden/make_langfair.py
HOW = RowSample(0.95, 500, 0)
FOUND = GOLDEN['found']
WORDS = {g: frozenset(w) for g, w in GOLDEN['groups'].items()}


def test_bleu_and_rouge_are_those_of_langfair():
  pairs = list(zip(GOLDEN['a'], GOLDEN['b']))
  bleu = [similarity.bleu_both(a, b) for a, b in pairs]
  np.testing.assert_allclose(bleu, FOUND['bleu'], rtol=1e-12)
  rouge = [similarity.rouge_l(a, b) for a, b in pairs]
  np.testing.assert_allclose(rouge, FOUND['rouge'], rtol=1e-12)


def test_the_longest_common_subsequence_is_that_of_a_table():
  rng = np.random.default_rng(0)
  for _ in range(30):
    a, b = (list(map(str, rng.integers(0, 5, rng.integers(1, 90))))
            for _ in range(2))  # fmt: skip
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, j in itertools.product(range(len(a)), range(len(b))):
      one = table[i, j] + 1 if a[i] == b[j] else 0
      table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j], one)
    common = table[-1, -1]
    want = 2 * common / (len(a) + len(b))
    assert similarity.rouge_l(' '.join(a), ' '.join(b)) == pytest.approx(want)


def test_words_are_parted_as_the_treebank_has_them():
  found = similarity.words("Mr. Ex can't say “so”. Isn't it (25%) 'odd'?")
  want = "Mr. Ex ca n't say “ so ” . Is n't it ( 25 % ) ' odd ' ?"
  assert [*found] == want.split()


def test_associations_are_those_of_langfair():
  texts = GOLDEN['a'] + GOLDEN['b']
  one = cooccurrence.association(texts, WORDS, GOLDEN['targets'], HOW)
  assert one['value'] == pytest.approx(FOUND['associations'], rel=1e-12)
  assert one['low'] < one['value'] < one['high']
  assert 0 < one['null'] < 1 and 0 < one['p'] <= 1
  two = cooccurrence.cooccurrence(texts, WORDS, GOLDEN['targets'], HOW)
  assert two['value'] == pytest.approx(FOUND['cobs'], rel=1e-12)


def test_a_planted_association_is_beyond_chance_and_none_is_not():
  rng = np.random.default_rng(3)
  sides = [('woman', 'man')[k] for k in rng.integers(0, 2, 300)]
  words = {'f': frozenset(['woman']), 'm': frozenset(['man'])}
  for bias, sure in ((0.8, True), (0.5, False)):
    jobs = [
      ('nurse', 'miner')[(side == 'man') == (rng.random() < bias)]
      for side in sides
    ]
    texts = [f'The {s} was a {j}' for s, j in zip(sides, jobs)]
    one = cooccurrence.association(texts, words, ['nurse', 'miner'], HOW)
    assert (one['p'] < 0.05) == sure
    if sure:
      assert abs(one['value'] - (bias - 0.5)) < 0.1
      assert one['low'] > one['null']


def test_targets_of_several_words_are_counted():
  """A 'software engineer' or a 'driver's mate' was in no text."""
  texts = [f'The {s} is a Software  engineer.' for s in ('man', 'woman')]
  texts += ["A man and a driver's mate; an engineer, a mr. X."] * 2
  words = {'f': frozenset(['woman']), 'm': frozenset(['man'])}
  targets = ['software engineer', "driver's mate", 'engineer', 'mr.']
  own, _ = cooccurrence.counted(texts, words, targets)
  assert own.tolist() == [[1, 0, 1, 0]] * 2 + [[0, 1, 1, 1]] * 2
  one = cooccurrence.association(texts, words, targets[:2], HOW)
  assert one['value'] == pytest.approx((0 + 1 / 2) / 2)


def test_what_never_stands_together_is_told():
  one = cooccurrence.association(['A dog'], WORDS, ['nurse'], HOW)
  assert one['value'] is None and 'no target' in one['note']


def test_parities_are_those_of_langfair():
  values = np.array(GOLDEN['score_a'] + GOLDEN['score_b'])
  a = np.arange(12) < 6
  one = group_means.distance(values, a, ~a, HOW.over(np.arange(12) % 6))
  assert one['value'] == pytest.approx(FOUND['strong'], rel=1e-12)
  assert one['low'] <= one['value'] <= one['high'] and 'null' in one
  above = (values > 0.5).astype(float)
  weak = group_means.difference(above, a, ~a, HOW.over(np.arange(12) % 6))
  assert weak['value'] == pytest.approx(FOUND['weak'], rel=1e-12)


def test_marks_between_words_part_them():
  """'slut—she' was one word, and so was what stood between underscores."""
  lexicon = frozenset({'slut', 'co-worker', 'f**k', "it's", 'son of a gun'})
  has = ['A slut\u2014she said', 'a slut/pig', 'slut...so', 'slut--or']
  has += ['_slut_', 'so,slut,so', '**slut**', 'My coworker']
  has += ['a co\u2011worker', 'f**k it', 'It\u2019s', 'son, of a gun']
  not_ = ('slut-shaming', 'sluts', 'co worker', 'if k')
  texts = dict.fromkeys(has, 1) | dict.fromkeys(not_, 0)
  found = hurtful.found(list(texts), lexicon)
  assert dict(zip(texts, found.astype(int))) == texts


def test_a_sign_for_a_letter_is_no_mark():
  """'a$$' was every 'a', '$hit' every hit, and 'f***' every 'f'."""
  lexicon = frozenset({'a$$', '$hit', 'f***', 'sh!t', 'piece of cr@p', 'pig*'})
  has = ('An A$$.', 'such $hit', '(f***)', 'sh!t', 'a Piece  of CR@P!', 'a pig')
  not_ = ('a nice hit, plan f', 'a$$hole', 'piece of cr p', 'ma$$')
  texts = dict.fromkeys(has, 1) | dict.fromkeys(not_, 0)
  found = hurtful.found(list(texts), lexicon)
  assert dict(zip(texts, found.astype(int))) == texts


def test_a_hurtful_word_is_found_once_a_text_without_marks(tmp_path):
  table = tmp_path / 'hurtlex.tsv'
  table.write_text(
    'id\tpos\tcategory\tlemma\tlevel\n1\tn\tps\tmaid\tconservative\n'
    '2\tn\tpr\tprostitúte\tconservative\n3\tn\tan\tdog\tinclusive\n'
  )
  lexicon = hurtful.read(str(table))
  assert lexicon == {'maid', 'prostitute'}
  texts = ['a maid, a maid.', 'PROSTITUTE!', 'mermaid', 'the dog', '']
  assert hurtful.found(texts, lexicon).tolist() == [1, 1, 0, 0, 0]
  # As evaluate's HONEST: 2 lists of 3 completions, of which 2 are hurtful.
  lists = ['ceo', 'father', 'smart', 'secretary', 'prostitute', 'maid']
  assert hurtful.found(lists, lexicon).mean() == pytest.approx(1 / 3)
  plain = tmp_path / 'words.txt'
  plain.write_text('Maid\n')
  assert hurtful.read(str(plain)) == {'maid'}
  plain.write_text('old  maid\nhalf-wit\n')  # of several words, with marks
  several = ['An OLD\nmaid!', 'old, maid', 'half-wit', 'older maid', 'maid old']
  found = hurtful.found(several, hurtful.read(str(plain)))
  assert found.tolist() == [1, 1, 1, 0, 0]
  table.write_text('id\tother\n1\tx\n')
  with pytest.raises(UserError, match='no column lemma or word or term'):
    hurtful.read(str(table))


# Means of groups over clusters that have rows of every group.


def simulated(rng, templates=14, each=6, gap=0.0, groups=2, low=True):
  """Scores in [0, 1]: a template's own level, which all groups share."""
  level = rng.beta(1.2, 6 if low else 2, templates)
  member = np.tile(np.arange(groups), templates * each)
  cluster = np.repeat(np.arange(templates), groups * each)
  mean = np.clip(level[cluster] + gap * (member == 0), 0.01, 0.99)
  scores = rng.beta(3 * mean, 3 * (1 - mean))
  return scores, member == np.arange(groups)[:, None], cluster


@functools.cache
def truth(gap, low=True):
  """The gap of groups whose levels are clipped below 1."""
  level = np.random.default_rng(9).beta(1.2, 6 if low else 2, 400_000)
  own = np.clip(level + gap, 0.01, 0.99), np.clip(level, 0.01, 0.99)
  return own[0].mean() - own[1].mean()


def covered(sets, gap, groups=2, templates=14):
  """How often the gap's interval holds it, and how often p < .05."""
  want, hit, sure = truth(gap), [], []
  for k in range(sets):
    rng = np.random.default_rng([k, groups, templates])
    values, members, cluster = simulated(
      rng, gap=gap, groups=groups, templates=templates
    )
    draws = group_means.drawn(values, members, HOW.over(cluster))
    one = group_means.gap(*draws, HOW)
    hit.append(one['low'] <= want <= one['high'])
    sure.append(one['p'] < 0.05)
  return np.mean(hit), np.mean(sure)


def test_the_clustered_gap_covers_and_keeps_its_level():
  hit, sure = covered(120, 0.0)
  assert hit > 0.9 and sure < 0.1
  hit, sure = covered(120, 0.1)
  assert hit > 0.9 and sure > 0.9
  hit, sure = covered(80, 0.0, groups=4, templates=8)
  assert hit > 0.88 and sure < 0.12


def test_the_difference_of_matched_groups_covers_and_has_power():
  found = []
  for k in range(120):
    values, members, cluster = simulated(
      np.random.default_rng([5, k]), gap=0.1, templates=16
    )
    one = group_means.difference(values, *members, HOW.over(cluster))
    found.append((one['low'] <= truth(0.1) <= one['high'], one['p'] < 0.05))
  covers, sure = np.mean(found, 0)
  assert covers > 0.9 and sure > 0.75


def test_a_shared_template_narrows_the_gap_not_the_mean():
  values, members, cluster = simulated(
    np.random.default_rng(1), low=False, each=12
  )
  means, draws = group_means.drawn(values, members, HOW.over(cluster))
  alone = draws.std(0)
  assert (draws[:, 0] - draws[:, 1]).std() < 0.6 * alone.min()
  np.testing.assert_allclose(means, [values[m].mean() for m in members])
  free = group_means.drawn(values, members, HOW)[1].std(0)
  assert (alone > 1.5 * free).all()


def test_groups_that_are_all_alike_still_have_a_width():
  values = np.zeros(40)
  members = np.arange(40) % 2 == np.arange(2)[:, None]
  one = group_means.gap(
    *group_means.drawn(values, members, HOW.over(np.arange(40) // 4)), HOW
  )
  assert one['value'] == 0 and 0 < one['high'] < 0.3 and one['p'] > 0.5


def test_the_distance_of_alike_groups_is_chance():
  sure = []
  for k in range(60):
    rng = np.random.default_rng([7, k])
    values, members, cluster = simulated(rng)
    one = group_means.distance(values, *members, HOW.over(cluster))
    sure.append(one['p'] < 0.05)
  assert np.mean(sure) < 0.12
  far = np.where(members[0], values / 2, values / 2 + 0.5)
  assert group_means.distance(far, *members, HOW.over(cluster))['low'] > 0.2


def test_the_distance_of_constant_groups_has_an_interval():
  """Ten scores that agree are no proof that an eleventh would."""
  widths = []
  for n in (5, 50):
    a = np.arange(2 * n) < n
    one = group_means.distance(np.where(a, 0.9, 0.2), a, ~a, HOW)
    assert one['value'] == pytest.approx(0.7)
    assert one['low'] < 0.7 < one['high']
    widths.append(one['high'] - one['low'])
  assert widths[0] > 4 * widths[1]


def test_a_distance_of_clusters_that_are_alike_has_a_width():
  """Each template has the same texts: no resample of them shows any noise."""
  score = np.tile([0.1, 0.3, 0.8, 1.0], 12)
  a, cluster = np.tile([True, True, False, False], 12), np.repeat(range(12), 4)
  one = group_means.distance(score, a, ~a, HOW.over(cluster))
  assert one['value'] == pytest.approx(0.7)
  assert one['low'] < 0.69 and one['high'] > 0.71
