"""LEACE, INLP and SentenceDebias: what is left, and that it is the least."""

import numpy as np
import pytest
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from fairjax.core.errors import UserError
from fairjax.methods import inlp, leace, sentence


def concept(n=1200, d=12, classes=3, seed=0):
  """Features that know the class in several correlated directions."""
  rng = np.random.default_rng(seed)
  z = rng.integers(0, classes, n)
  mix = rng.normal(size=(d, d))
  x = rng.normal(size=(n, d)) @ mix
  return x + rng.normal(size=(classes, d))[z] * 1.5 + 3, z


@pytest.mark.parametrize('classes', [2, 3])
def test_after_leace_no_linear_classifier_beats_a_constant(classes):
  x, z = concept(classes=classes)
  eraser = leace.fit(x, z)
  left = eraser(x)
  one_hot = (z[:, None] == np.arange(classes)).astype(float)
  cross = (left - left.mean(0)).T @ (one_hot - one_hot.mean(0))
  assert np.abs(cross / len(x)).max() < 1e-10
  assert eraser.rank == classes - 1
  before = LogisticRegression(max_iter=500).fit(x, z).score(x, z)
  model = LogisticRegression(max_iter=500, C=1e6).fit(left, z)
  constant = np.bincount(z).max() / len(z)
  assert before > constant + 0.2
  # The best linear one is the constant: its log loss, no direction at all.
  assert np.abs(model.coef_).max() < 0.02
  share = np.bincount(z) / len(z)
  loss = -np.log(model.predict_proba(left)[np.arange(len(z)), z]).mean()
  assert loss == pytest.approx(-(share * np.log(share)).sum(), abs=1e-5)
  # Means stay, and rows of other data lose it but for sampling noise.
  np.testing.assert_allclose(left.mean(0), x.mean(0), atol=1e-9)
  half = leace.fit(x[:600], z[:600])
  held = LogisticRegression(max_iter=500).fit(half(x[:600]), z[:600])
  assert held.score(half(x[600:]), z[600:]) < constant + 0.06


def test_leace_changes_the_least():
  """KKT: (A − I) Σ must lie in the span of the constraint A Σ_XZ = 0."""
  x, z = concept()
  eraser = leace.fit(x, z)
  a = eraser.matrix.T  # acts on columns
  centred = x - x.mean(0)
  sigma = centred.T @ centred / len(x)
  one_hot = (z[:, None] == np.arange(3)).astype(float)
  cross = centred.T @ (one_hot - one_hot.mean(0)) / len(x)
  null = np.linalg.svd(cross.T)[2][2:]  # rank 2
  assert np.abs((a - np.eye(len(a))) @ sigma @ null.T).max() < 1e-9
  # And no other map with the property is nearer, e.g. the orthogonal one.
  basis = np.linalg.svd(cross, full_matrices=False)[0][:, :2]
  flat = centred - centred @ basis @ basis.T
  assert ((eraser(x) - x) ** 2).sum() < ((flat - centred) ** 2).sum()


def test_leace_of_features_that_span_less():
  x, z = concept()
  x = np.concatenate([x, x[:, :3]], axis=1)  # singular covariance
  left = leace.fit(x, z)(x)
  assert LogisticRegression(max_iter=500).fit(left, z).score(left, z) < 0.4


def test_inlp_is_an_exact_projection_of_as_many_rounds_as_help():
  x, z = concept(classes=2)
  eraser = inlp.fit(x, z)
  matrix = eraser.matrix
  np.testing.assert_allclose(matrix @ matrix, matrix, atol=1e-12)
  np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
  assert np.linalg.matrix_rank(matrix) == 12 - eraser.rank
  assert 1 <= eraser.rank < 10
  facts = eraser.facts
  assert len(facts['gains']) == facts['rounds'] + 1
  assert facts['gains'][0] > 0.1 > 0.03 > facts['gains'][-1]
  left = eraser(x)
  assert LogisticRegression().fit(left, z).score(left, z) < 0.62
  seven = inlp.fit(x, z, rounds=7, choose=False)
  assert seven.rank == seven.facts['rounds'] == 7
  # In another unit, of classes of other names, it is the same.
  again = inlp.fit(1e-3 * x + 7, z + 3)
  np.testing.assert_allclose(again.matrix, matrix, atol=1e-6)
  few = np.r_[0:3, 10:40]
  assert inlp.fit(x[few], np.repeat([0, 1], [3, 30])).facts['rows'] == 33
  with pytest.raises(UserError, match='each class at least, and one has 2'):
    inlp.fit(x[few], np.repeat([0, 1], [2, 31]))


def test_inlp_leaves_what_is_not_there():
  rng = np.random.default_rng(0)
  x, z = rng.normal(size=(800, 10)), rng.integers(0, 2, 800)
  assert inlp.fit(x, z).rank == 0
  for n in [2, 3, 5] * 40:
    gain = rng.normal(1, 0.5, n)
    p = stats.ttest_1samp(gain, 0, alternative='greater').pvalue
    assert inlp.helps(gain) == (p < 0.05)
  for gain in ([0.5], [1.0, 1.0], [0.0], [-1.0, -1.0]):
    assert inlp.helps(np.array(gain)) == (gain[0] > 0)


def test_sentence_direction_is_that_of_a_pca():
  rng = np.random.default_rng(1)
  direction = rng.normal(size=9)
  base = rng.normal(size=(300, 1, 9))
  twins = base + 0.5 * np.array([1, -1])[:, None] * direction
  twins = twins + 0.05 * rng.normal(size=twins.shape)
  eraser = sentence.fit(twins)
  unit = twins / np.linalg.norm(twins, axis=-1, keepdims=True)
  centred = (unit - unit.mean(1, keepdims=True)).reshape(-1, 9)
  v = PCA(1).fit(centred).components_[0]
  np.testing.assert_allclose(
    eraser.matrix, np.eye(9) - np.outer(v, v), atol=1e-9
  )
  gap = eraser(twins[:, 0] - twins[:, 1])
  assert np.abs(gap).mean() < 0.2 * np.abs(direction).mean()


def test_bad_input_is_one_sentence():
  x = np.ones((4, 3))
  for fit in (leace.fit, inlp.fit):
    with pytest.raises(UserError, match='one class only'):
      fit(x, np.zeros(4, int))
  with pytest.raises(UserError, match='same encoding'):
    sentence.fit(np.ones((2, 2, 3)))


def rare(n=560, d=60, seed=0, gap=3.0):
  """Three classes, of which two are one row in ten each, told by a direction.

  The largest class is right for four in five, so that the share of right ones
  hardly rises where a classifier of equal classes tells nine in ten.
  """
  rng = np.random.default_rng(seed)
  z = rng.choice(3, n, p=[0.8, 0.1, 0.1])
  x = rng.normal(size=(n, d))
  x[:, 0] += gap * (z == 1)
  x[:, 1] += gap * (z == 2)
  return x, z


def balanced(model, x, z):
  return np.mean([(model.predict(x[z == k]) == k).mean() for k in np.unique(z)])


def test_inlp_takes_out_what_a_rare_class_is_told_by():
  """0 directions were taken out where an SVM without an intercept was no
  better than the largest class."""
  x, z = rare()
  eraser = inlp.fit(x, z)
  assert eraser.rank >= 2 and eraser.facts['gains'][0] > 0.4
  new, label = rare(n=2000, seed=1)
  half = slice(0, 1000), slice(1000, None)
  fitted = lambda x: LogisticRegression(
    class_weight='balanced', max_iter=500
  ).fit(x[half[0]], label[half[0]])
  told = lambda x: balanced(fitted(x), x[half[1]], label[half[1]])
  assert told(new) > 0.85
  assert told(eraser(new)) < 0.6


def test_inlp_stops_by_a_proper_score_at_its_level():
  """Where there is nothing to tell, a direction is taken out of few."""
  rng, taken = np.random.default_rng(3), []
  for seed in range(60):
    x = rng.normal(size=(200, 5))
    z = rng.choice(3, 200, p=[0.7, 0.2, 0.1])
    taken.append(inlp.fit(x, z, seed=seed).rank > 0)
  assert np.mean(taken) < 0.15  # of a level of 5 %


def test_what_leace_leaves_of_new_rows_is_the_sampling_error_of_the_means():
  """The docstring's δ, of classes that stand at a distance of 2."""
  d, n, rng = 40, 80, np.random.default_rng(5)
  squares = 2.0**2, 4 * d / n
  apart = np.sqrt(np.prod(squares) / np.sum(squares))

  def rows(count):
    z = np.arange(count) % 2
    return rng.normal(size=(count, d)) + 2.0 * z[:, None] / np.sqrt(d), z

  told = []
  for _ in range(12):
    eraser = leace.fit(*rows(n))
    train, test = rows(6000), rows(2000)
    model = LogisticRegression().fit(eraser(train[0]), train[1])
    told.append(model.score(eraser(test[0]), test[1]))
  assert np.mean(told) == pytest.approx(stats.norm.cdf(apart / 2), abs=0.03)
