"""BLEU, ROUGE-L, the company of words and hurtful ones, by hand."""

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import cooccurrence, hurtful, similarity

HOW = RowSample(0.95, 500, 0)


@pytest.mark.parametrize(
  ('written', 'target', 'matches', 'of', 'brevity'),
  [
    # An order without a match is a tenth of one; one without an n-gram, of 1.
    ('a b', 'b a', (2, 0.1, 0.1, 0.1), (2, 1, 1, 1), 0),
    ('the cat', 'the cat sat down', (2, 1, 0.1, 0.1), (2, 1, 1, 1), 1 - 4 / 2),
    ('the cat sat down', 'the cat', (2, 1, 0.1, 0.1), (4, 3, 2, 1), 0),
    ('a a a b c', 'a b c d e', (3, 2, 1, 0.1), (5, 4, 3, 2), 0),  # clipped
  ],
)
def test_bleu_is_smoothed_as_chen_and_cherry(
  written, target, matches, of, brevity
):
  want = np.prod(np.divide(matches, of)) ** 0.25 * np.exp(brevity)
  one, other = written.split(), target.split()
  assert similarity.bleu(one, other) == pytest.approx(want)


def test_texts_without_a_common_word_are_not_alike():
  assert similarity.bleu(['a'], ['b']) == similarity.bleu([], ['b']) == 0
  assert similarity.bleu_both('One two', 'three') == 0
  for one, other in (('', ''), ('a', ''), ('', 'a'), ('a', 'b')):
    assert similarity.rouge_l(one, other) == 0


def test_the_smaller_bleu_is_taken_whichever_text_is_first():
  """The short text's is .1^½ e⁻¹, the long one's larger."""
  long, short = 'the cat sat down', 'The cat'
  want = 0.1**0.5 * np.exp(-1)
  assert want < similarity.bleu(long.split(), short.lower().split())
  for pair in ((long, short), (short, long)):
    assert similarity.bleu_both(*pair) == pytest.approx(want)
  # Clipping can make it the longer one's: 1/4 of its words, none of its pairs.
  repeated, once = 'a a a a', 'a b c d'
  want = (1 / 4 * 0.1 / 3 * 0.1 / 2 * 0.1) ** 0.25
  for pair in ((repeated, once), (once, repeated)):
    assert similarity.bleu_both(*pair) == pytest.approx(want)


def test_words_of_three_letters_are_no_stems():
  """As rouge_score: 'was' is not 'wa', but 'jobs' is 'job'."""
  assert similarity.rouge_l('was', 'wa') == 0
  assert similarity.rouge_l('jobs', 'job') == 1
  # 2 of 3 and 2 of 4 words.
  assert similarity.rouge_l('a b c', 'a d e b') == pytest.approx(4 / 7)


def test_cosines_are_of_rows():
  a, b = (
    np.array([[3.0, 4], [1, 0], [0, 0]]),
    np.array([[4.0, 3], [-2, 0], [1, 1]]),
  )
  np.testing.assert_allclose(similarity.cosines(a, b), [24 / 25, -1, 0])
  for size in (1e-3, 1e-9, 1e9):  # short vectors have cosines too
    np.testing.assert_allclose(
      similarity.cosines(a * size, b * size), [24 / 25, -1, 0]
    )


GROUPS = {'f': frozenset(['woman']), 'm': frozenset(['man'])}


def test_resamples_of_an_association_are_those_of_each_alone():
  measure = cooccurrence.association_of(2, np.array([1, 2, 3]))
  sums = np.random.default_rng(0).integers(1, 9, (4, 6)).astype(float)
  np.testing.assert_allclose(measure(sums), [measure(one) for one in sums])
  # By hand: 4/1, 2/2 and 3/3 of the first target, 0 of the second.
  assert measure(np.array([4.0, 2, 3, 0, 0, 0])) == pytest.approx(4 / 6 - 1 / 3)


def test_cooccurrence_is_counted_by_hand():
  """β of a word beside, β² of the next; 'and' is common, two men are two."""
  texts = ['Woman likes, nurse 7', 'man man nurse', 'and man and nurse'] * 2
  one = cooccurrence.cooccurrence(texts, GROUPS, ['nurse', 'pilot'], HOW)
  b = cooccurrence.BETA
  # c(nurse, ·) of its words' sum, over a woman's 1 and 3 of a man.
  f, m = b**2 / (b + b**2 + b**3) / 1, 1 / 3
  assert one['value'] == pytest.approx(abs(np.log10(f / m)))
  assert one['low'] < one['value'] < one['high']
  three = cooccurrence.cooccurrence(texts, GROUPS | {'x': GROUPS['f']}, [], HOW)
  assert three['value'] is None and three['note'] == 'it is of two groups'


@pytest.mark.parametrize('groups', [2, 4])
def test_an_association_is_at_most_that_of_one_group_alone(groups):
  """Total variation from an even share of 1 / g ends at 1 − 1 / g; of
  two groups .43 was [.28, .59]."""
  names = 'abcd'[:groups]
  texts = [f'{g} j{g}' for g in names for _ in range(6)] + ['a jb']
  own = {g: frozenset([g]) for g in names}
  targets = [f'j{g}' for g in names]
  one = cooccurrence.association(texts, own, targets, HOW)
  assert one['low'] < one['value'] < one['high'] <= 1 - 1 / groups
  sure = cooccurrence.association(texts[:-1], own, targets, HOW)
  assert sure['value'] == pytest.approx(1 - 1 / groups)
  assert sure['low'] is None or sure['low'] < sure['value'] <= sure['high']


@pytest.mark.parametrize(
  ('lines', 'said'),
  [
    ('word,word\nmaid,maid\n', "has 2 columns named 'word'"),
    ('word,level\nmaid,inclusive\n', 'has no row of level conservative'),
    ('word,level\n?!,conservative\n', 'holds no words'),
    ('word,x\n,1\n', 'holds no words'),
  ],
)
def test_a_lexicon_without_words_is_one_sentence(lines, said, tmp_path):
  path = tmp_path / 'lexicon.csv'
  path.write_text(lines)
  with pytest.raises(UserError, match=said):
    hurtful.read(str(path))


def test_cells_without_a_word_are_no_entries(tmp_path):
  path = tmp_path / 'lexicon.csv'
  path.write_text('word,x\nmaid,1\n,2\n--,3\n')
  assert hurtful.read(str(path)) == {'maid'}
