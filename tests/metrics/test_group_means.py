"""Draws of groups' means against their variances cluster by cluster."""

import numpy as np
import pytest

from fairjax.metrics.inference import clustered_rates, group_means
from fairjax.metrics.inference.intervals import IntervalOptions

HOW = IntervalOptions(0.95, 20_000, 0)


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
  means, draws = group_means.drawn(values, members, cluster, HOW)
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


def test_a_difference_of_rows_alone_is_of_a_cluster_each():
  """Twelve pairs, all .2 or .4 apart; rows of neither group change nothing."""
  low = np.linspace(0, 0.55, 12)
  high = low + np.tile([0.2, 0.4], 6)
  values = np.concatenate([high, low, [0.9, 0.1]])
  one, other = np.arange(26) < 12, (np.arange(26) // 12) == 1
  free = group_means.difference(values, one, other, None, HOW)
  assert free['value'] == pytest.approx(0.3)
  assert free == group_means.difference(values, one, other, np.arange(26), HOW)
  pairs = np.arange(26) % 12
  paired = group_means.difference(values, one, other, pairs, HOW)
  assert paired['value'] == pytest.approx(0.3)
  assert paired['p'] < 0.01 < free['p'] < 0.05
  nobody = group_means.difference(values, one & other, other, None, HOW)
  assert nobody['value'] is None
