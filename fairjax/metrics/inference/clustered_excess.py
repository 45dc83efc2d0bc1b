"""Whether some rows are more often bad than the others, over clusters.

With r = bad − its mean over all rows and z = [row is inside], the score of the
difference is T = Σ r z. Clusters c add u_c = Σ_{i in c} r_i (z_i − mean z), of
sum T; without a difference they are of either sign, and S = T²/Σ u_c² is as
large as G R² of G independent rows. So t² = (G − 2) S/(G − S) is Student's of
G − 2 degrees of freedom: what one cluster shows by itself is no evidence
(t about 1), however many rows it has.
"""

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.metrics.inference import tails


def student(
  bad: Float[np.ndarray, ' n'],
  inside: Bool[np.ndarray, ' n'],
  cluster: Integer[np.ndarray, ' n'],
) -> tuple[float, int]:
  """(t, its degrees of freedom); `cluster` are codes from 0 without gaps."""
  count = int(cluster.max(initial=-1)) + 1
  apart = bad - bad.mean()
  sums = np.bincount(cluster[inside], apart[inside], count)
  sums -= inside.mean() * np.bincount(cluster, apart, count)
  total, squares = float(sums.sum()), float((sums**2).sum())
  free = count - 2
  if free < 1 or not squares:
    return 0.0, free
  part = min(total**2 / squares / count, 1 - 1e-12)
  return float(np.sign(total) * np.sqrt(free * part / (1 - part))), free


def p_more(bad, inside, cluster) -> float:
  """One-sided: the rows inside are more often bad."""
  t, free = student(bad, inside, cluster)
  return float(tails.t_sf(t, free)) if free > 0 else 1.0


def p_apart(bad, inside, cluster) -> float:
  """Two-sided."""
  t, free = student(bad, inside, cluster)
  return float(2 * tails.t_sf(abs(t), free)) if free > 0 else 1.0
