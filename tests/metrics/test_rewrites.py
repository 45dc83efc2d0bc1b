"""Measures of rewritten texts, against slow twins and sacrebleu."""

import numpy as np
import pytest

from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import rewrites

HOW = RowSample(0.95, 500, 0)
SOURCES = ['the cat sat on the mat', 'he saw her dog .', 'a b c d e f', 'x y']
TARGETS = ['the dog sat on the mat', 'she saw her dog .', 'a b c d e f', 'x z']
WRITTEN = ['the dog sat on a mat', 'she saw his dog .', 'a b c d e f', 'x y']


def rows():
  each = zip(SOURCES, TARGETS, WRITTEN)
  return np.array(
    [rewrites.counts(*(t.split() for t in texts)) for texts in each], float
  )


def test_bleu_is_that_of_sacrebleu():
  sacrebleu = pytest.importorskip('sacrebleu')
  theirs = sacrebleu.corpus_bleu(
    WRITTEN, [TARGETS], smooth_method='none', tokenize='none'
  ).score
  ours = rewrites.measures(rows().sum(0, keepdims=True))['bleu4'][0]
  assert 100 * ours == pytest.approx(theirs, abs=1e-9)


def test_changed_words_are_counted_by_place():
  result = {
    name: value[0]
    for name, value in rewrites.measures(rows().sum(0, keepdims=True)).items()
  }
  assert result['exact'] == 1 / 4
  assert result['changed_exact'] == 0  # the exact text had nothing to change
  # Ours: cat→dog, the→a; he→she, her→his. Theirs: cat→dog; he→she; y→z.
  assert result['changed_precision'] == 2 / 4
  assert result['changed_recall'] == 2 / 3
  assert result['word_accuracy'] == pytest.approx(1 - 3 / 19)
  none = [[0] * 10, [3, 2, 1, 0, 4, 3, 2, 1, 4, 4]]  # one order of one, missed
  assert not rewrites.bleu(np.array(none, float)).any()


def test_insertions_and_deletions_have_places_too():
  edits = rewrites.edits('a b c'.split(), 'a x b'.split())
  assert edits == {(1, 1): ('x',), (2, 0): ()}
  assert rewrites.edits('a b'.split(), 'a c d'.split()) == {(1, 0): ('c', 'd')}


def test_estimates_hold_their_values_and_a_share_of_one_has_width():
  result = rewrites.estimates(rows(), rewrites.measures, HOW)
  for one in result.values():
    assert one['low'] <= one['value'] <= one['high']
  perfect = rows()[[2, 2, 2]]
  exact = rewrites.exact(perfect, HOW)
  assert exact['value'] == 1 and exact['low'] < 0.9


def test_the_text_with_all_right_has_as_many_changes_as_any():
  missed = rewrites.counts('a b c'.split(), 'x y z'.split(), 'a b c'.split())
  for row in (missed, [missed[k] for k in (0, 2, 1, *range(3, len(missed)))]):
    right, wrong = rewrites.edges(np.array([row], float))
    assert right[1:4].tolist() == [3, 3, 3] and wrong[3] == 0
