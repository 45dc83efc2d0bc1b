"""Removing a gender direction: the identities of Bolukbasi et al."""

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.methods import project


def test_the_subspace_is_a_pca_around_the_pairs_means():
  rng = np.random.default_rng(1)
  vectors, pairs = rng.normal(size=(12, 7)), np.arange(12).reshape(6, 2)
  rows = vectors[pairs]
  rows = (rows - rows.mean(1, keepdims=True)).reshape(12, 7)
  values, axes = np.linalg.eigh(rows.T @ rows)
  best = axes[:, np.argsort(values)[::-1][:3]]
  basis = project.subspace(vectors, pairs, 3)
  np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
  np.testing.assert_allclose(np.abs(np.diag(basis @ best)), 1)


@pytest.mark.parametrize('k', [1, 2])
def test_identities_of_the_two_steps(k):
  rng = np.random.default_rng(2)
  vectors = project.unit(rng.normal(size=(20, 8)))
  pairs = np.arange(8).reshape(4, 2)
  basis = project.subspace(vectors, pairs, k)
  neutral = project.neutralise(vectors, basis, np.arange(8))
  np.testing.assert_allclose(neutral[8:] @ basis.T, 0, atol=1e-12)
  np.testing.assert_allclose(np.linalg.norm(neutral, axis=1), 1)
  assert (neutral[:8] == vectors[:8]).all()
  out = project.equalise(neutral, basis, pairs)
  np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1)
  assert (out[8:] == neutral[8:]).all()
  a, b = out[pairs[:, 0]], out[pairs[:, 1]]
  # Equally far from every neutral word, and mirrored in the subspace.
  np.testing.assert_allclose(a @ out[8:].T, b @ out[8:].T, atol=1e-12)
  np.testing.assert_allclose(a @ basis.T, -b @ basis.T, atol=1e-12)
  # The word that leaned one way still does.
  lean = (vectors[pairs[:, 0]] - vectors[pairs[:, 1]]) @ basis.T
  assert ((a @ basis.T * lean).sum(1) > 0).all()
  # Doing it twice changes nothing.
  again = project.equalise(
    project.neutralise(out, basis, np.arange(8)), basis, pairs
  )
  np.testing.assert_allclose(again, out, atol=1e-12)


def test_one_dimension_is_the_papers_formula():
  rng = np.random.default_rng(4)
  vectors = project.unit(rng.normal(size=(4, 5)))
  g = project.unit(rng.normal(size=(1, 5)))
  out = project.equalise(vectors, g, np.array([[0, 1]]))
  a, b = vectors[:2]
  v = (a + b) / 2
  v = v - (v @ g[0]) * g[0]
  z = np.sqrt(1 - v @ v) * np.sign((a - b) @ g[0])
  np.testing.assert_allclose(out[:2], [z * g[0] + v, -z * g[0] + v])


def test_a_pair_is_its_first_two_words():
  words = ['he', 'she', 'actor', 'actress', 'guild']
  vectors = np.random.default_rng(5).normal(size=(5, 6))
  pairs = [('he', 'she')], [('actor', 'actress', 'guild')]
  out = project.remove_gender(words, vectors, *pairs)
  basis = project.subspace(project.unit(vectors), np.array([[0, 1]]))
  np.testing.assert_allclose(out[4] @ basis.T, 0, atol=1e-12)
  assert {'he', 'she'} <= {*project.needs()} and 'they' not in project.needs()


def test_real_vectors(shared):
  path = shared / 'glove' / 'glove.6B.50d.5k.txt'
  lines = [line.split(' ') for line in path.read_text().splitlines()]
  words = [line[0] for line in lines]
  vectors = np.array([line[1:] for line in lines], np.float64)
  out = project.remove_gender(words, vectors)
  place = {w: i for i, w in enumerate(words)}
  basis = project.subspace(
    project.unit(vectors), project.known(place, project.DEFINING, 'defining')
  )
  she, he = out[place['she']], out[place['he']]
  jobs = ['doctor', 'teacher', 'engineer', 'lawyer', 'house', 'the', 'player']
  for job in jobs:
    before = project.unit(vectors)[place[job]]
    after = out[place[job]]
    assert abs(basis[0] @ after) < 1e-12
    assert abs((she - he) @ after) < 1e-12
    assert after @ before > 0.8  # little else changed
  gap = (
    project.unit(vectors)[place['she']] - project.unit(vectors)[place['he']]
  ) @ basis[0]
  assert np.sign((she - he) @ basis[0]) == np.sign(gap)
  assert out.shape == vectors.shape
  np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1)


def test_vectors_without_any_pair_are_a_sentence():
  with pytest.raises(UserError, match='none of the 11 defining word pairs'):
    project.remove_gender(['She', 'He'], np.eye(2))
