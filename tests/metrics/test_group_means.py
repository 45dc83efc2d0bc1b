"""Draws of groups' means against their variances cluster by cluster."""

import numpy as np
import pytest

from fairjax.metrics.inference import clustered_rates, group_means
from fairjax.metrics.inference.sample import RowSample

HOW = RowSample(0.95, 20_000, 0)


def linearised(values, member, cluster):
  """The mean, each cluster's part of it, and the variance of rows alone.

  Half a row at 0 and half a row at 1 are among the rows.
  """
  own = [(v, c) for v, m, c in zip(values, member, cluster) if m]
  n = len(own) + 1
  centre = (sum(v for v, _ in own) + 0.5) / n
  parts = {}
  for v, c in own:
    parts[c] = parts.get(c, 0) + (v - centre) / n
  shift, count = sum(parts.values()) / len(parts), len(parts)
  parts = {
    c: (part - shift) * (count / (count - 1)) ** 0.5
    for c, part in parts.items()
  }
  rows = sum((v - centre) ** 2 for v, _ in own)
  rows += 0.5 * centre**2 + 0.5 * (1 - centre) ** 2
  return sum(v for v, _ in own) / len(own), parts, rows / n**2


def test_draws_vary_as_clusters_do_and_at_least_as_rows():
  """Three groups: of unlike clusters, of fewer clusters, of alike ones."""
  rng = np.random.default_rng(4)
  cluster = np.repeat(np.arange(6), 6)
  members = np.arange(36) % 3 == np.arange(3)[:, None]
  members[1, cluster > 3] = False
  values = np.clip(cluster / 6 + rng.random(36) / 3, 0, 1)
  values[members[2]] = np.tile([0.2, 0.9], 6)  # rows vary, clusters do not
  means, draws = group_means.drawn(values, members, HOW.over(cluster))
  number = np.array([6, 4, 6])
  normal = (draws - means) / clustered_rates.heavy(number, HOW)
  found = [linearised(values, member, cluster) for member in members]
  np.testing.assert_allclose(means, [one[0] for one in found])
  cover = np.cov(normal.T)
  for i, (_, own, rows) in enumerate(found):
    alone = max(sum(part**2 for part in own.values()), rows)
    assert cover[i, i] == pytest.approx(alone, rel=0.06)
    for j in range(i):
      other = found[j][1]
      both = sum(own[c] * other[c] for c in own if c in other)
      scale = np.sqrt(cover[i, i] * cover[j, j])
      assert cover[i, j] == pytest.approx(both, abs=0.04 * scale)
  assert sum(part**2 for part in found[2][1].values()) < found[2][2]


def test_clusters_of_unlike_sizes_vary_by_their_rows():
  """Of one to nine rows, nearly all alike within a cluster."""
  cluster = np.repeat(np.arange(6), [1, 9, 3, 7, 2, 6])
  members = np.stack([np.ones(28, bool), np.arange(28) % 3 > 0])
  values = np.array([0.9, 0.8, 0.3, 0.6, 0.1, 0.2])[cluster]
  values = values + 0.01 * (np.arange(28) % 2)
  means, draws = group_means.drawn(values, members, HOW.over(cluster))
  size = [np.bincount(cluster[one]) for one in members]
  number = np.array([round(x.sum() ** 2 / (x**2).sum(), 1) for x in size])
  assert number.tolist() == [4.4, 4.0]
  normal = (draws - means) / clustered_rates.heavy(number, HOW)
  for spread, one in zip(normal.std(0), members):
    mean, own, rows = linearised(values, one, cluster)
    alone = sum(part**2 for part in own.values())
    assert alone > 2 * rows
    assert spread == pytest.approx(alone**0.5, rel=0.03)
    assert mean == pytest.approx(values[one].mean())


@pytest.mark.parametrize('bounds', [(-1.0, 3.0), (10.0, 10.5)])
def test_a_range_changes_nothing_but_the_scale(bounds):
  """Of values a + (b − a) v in [a, b] all numbers are a + (b − a) times."""
  rng = np.random.default_rng(1)
  cluster = np.repeat(np.arange(8), 3)
  members = np.arange(24) % 3 == np.arange(3)[:, None]
  values = rng.random(24)
  low, width = bounds[0], bounds[1] - bounds[0]
  few = HOW._replace(resamples=200, cluster=cluster)
  plain = group_means.drawn(values, members, few)
  other = group_means.drawn(low + width * values, members, few, bounds)
  for one, scaled in zip(plain, other):
    np.testing.assert_allclose(scaled, low + width * one)
  for some in (values, members[0].astype(float)):  # all of one at either end
    sides = members[0], members[1]
    one = group_means.difference(some, *sides, few)
    two = group_means.difference(low + width * some, *sides, few, bounds)
    assert two['p'] == pytest.approx(one['p'])
    for key in ('value', 'low', 'high'):
      assert two[key] == pytest.approx(width * one[key])
  assert (one['value'], one['high']) == (1, 1) and 0 < one['low'] < 0.9


def test_a_difference_of_rows_alone_is_of_a_cluster_each():
  """Twelve pairs, all .2 or .4 apart; rows of neither group change nothing."""
  low = np.linspace(0, 0.55, 12)
  high = low + np.tile([0.2, 0.4], 6)
  values = np.concatenate([high, low, [0.9, 0.1]])
  one, other = np.arange(26) < 12, (np.arange(26) // 12) == 1
  free = group_means.difference(values, one, other, HOW)
  assert free['value'] == pytest.approx(0.3)
  assert free == group_means.difference(
    values, one, other, HOW.over(np.arange(26))
  )
  pairs = np.arange(26) % 12
  paired = group_means.difference(values, one, other, HOW.over(pairs))
  assert paired['value'] == pytest.approx(0.3)
  assert paired['p'] < 0.01 < free['p'] < 0.05
  nobody = group_means.difference(values, one & other, other, HOW)
  assert nobody['value'] is None and nobody['note'] == 'no rows'
