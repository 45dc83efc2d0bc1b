"""Errors of a largest value and of a range, against loops and true values."""

import numpy as np
import pytest

from fairjax.metrics.inference import extremes


def drawn(theta, sets=60, resamples=50, seed=0):
  """Estimates of `theta` in sets [g, 1, sets], and the noise of resamples."""
  rng = np.random.default_rng(seed)
  centre = theta[:, None, None] + 0.1 * rng.normal(size=(len(theta), 1, sets))
  return 0.1 * rng.normal(size=(len(theta), resamples, sets)), centre


def may_be_largest(noise, centre):
  """By a loop over groups, of one set: noise [g][b], centre [g]."""
  known = [g for g in range(len(centre)) if centre[g] == centre[g]]
  best = max(known, key=lambda g: centre[g])
  size = lambda g: np.mean(noise[g] ** 2) ** 0.5
  return [
    g
    for g in known
    if centre[best] - centre[g]
    <= extremes.SURE * (size(g) ** 2 + size(best) ** 2) ** 0.5
  ]


@pytest.mark.parametrize(
  'theta', [(0.0, 50.0, 100.0), (0.5, 0.5, 0.5, 0.5), (0.1, 0.7, 0.75)]
)
def test_bounds_are_those_of_loops(theta):
  noise, centre = drawn(np.array(theta))
  noise[0, :, 3] = centre[0, :, 3] = np.nan  # a group without rows
  noise[1:, :, 4] = centre[1:, :, 4] = np.nan  # one group alone
  least, most = extremes.of_range(noise, centre)
  largest = extremes.of_largest(noise, centre)
  for k in range(noise.shape[2]):
    e, v = noise[:, :, k], centre[:, 0, k]
    top = may_be_largest(e, v)
    low = may_be_largest(e, -v)
    np.testing.assert_allclose(largest[:, k], np.abs(e[top]).max(0))
    if k == 4:
      assert np.isnan(least[:, k]).all() and np.isnan(most[:, k]).all()
      continue
    np.testing.assert_allclose(least[:, k], e[top].min(0) - e[low].max(0))
    np.testing.assert_allclose(most[:, k], e[top].max(0) - e[low].min(0))


def test_an_error_is_within_the_bounds_of_its_own_noise():
  """Where the truly largest and least are among those that may be it."""
  rng = np.random.default_rng(1)
  for theta in rng.random((200, 4)):
    noise = 0.1 * rng.normal(size=(4, 1))
    v = theta[:, None] + noise
    whole = np.repeat(noise[..., None], 1, 2)
    least, most = (end[0, 0] for end in extremes.of_range(whole, v[..., None]))
    sure = [
      extremes.near(whole, sign * v[..., None])[:, 0, 0] for sign in (1, -1)
    ]
    if not (sure[0][theta.argmax()] and sure[1][theta.argmin()]):
      continue
    error = np.ptp(v) - np.ptp(theta)
    assert least - 1e-12 <= error <= most + 1e-12
    size = extremes.of_largest(whole, v[..., None])[0, 0]
    assert abs(v.max() - theta.max()) <= size + 1e-12


def test_groups_that_are_alike_have_the_range_of_the_noise():
  noise, _ = drawn(np.zeros(5))
  centre = np.zeros((5, 1, noise.shape[2]))
  ends = extremes.of_range(noise, centre)
  apart = extremes.gap(np.moveaxis(noise, 0, -1))
  np.testing.assert_allclose(extremes.size(ends), apart)


def covered(theta, sets=1000, resamples=200):
  """The share of sets whose interval holds the true range, of normal means."""
  rng = np.random.default_rng(2)
  v = theta[:, None, None] + rng.normal(size=(len(theta), 1, sets))
  noise = rng.normal(size=(len(theta), resamples, sets))
  size = extremes.size(extremes.of_range(noise, v))
  error = np.abs(np.ptp(v[:, 0], axis=0) - np.ptp(theta))
  return (error <= np.quantile(size, 0.95, axis=0)).mean()


def test_as_many_groups_count_as_intervals_need(monkeypatch):
  """Of 2 to 8 groups, evenly apart or but for one alike; groups that are all
  alike are decided by the gaps of noise instead."""
  worlds = [
    world
    for g in (2, 3, 5, 8)
    for gap in (1, 2, 4, 10)
    for world in (np.linspace(0, gap, g), np.r_[np.zeros(g - 1), gap])
  ]
  shares = np.array([covered(world) for world in worlds])
  assert shares.mean() >= 0.945 and shares.min() >= 0.91, shares
  monkeypatch.setattr(extremes, 'SURE', 0.5)
  assert min(covered(world) for world in worlds[-8:]) < 0.9
