"""How rows were sampled, and how sure numbers of them are to be."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer, Num

from fairjax.metrics.inference import row_weights


class RowSample(NamedTuple):
  """What every interval and p is made by, beside the values of the rows.

  Whoever measures rows is handed one, so that nothing can be measured without
  the clusters and the weights of its rows.
  """

  level: float = 0.95
  resamples: int = 10000  # 0 gives values without intervals
  seed: int = 0
  # Rows of equal codes are not independent, and are drawn together.
  cluster: Integer[np.ndarray, ' n'] | None = None
  # How many rows of the population each stands for (row_weights.py).
  weight: Float[np.ndarray, ' n'] | None = None

  def of(
    self, rows: Integer[np.ndarray, ' m'] | Bool[np.ndarray, ' n'] | slice
  ) -> 'RowSample':
    """The sample that some of the rows are."""
    own = (row_weights.taken(x, rows) for x in (self.cluster, self.weight))
    return self._replace(**dict(zip(('cluster', 'weight'), own)))

  def over(self, cluster: Integer[np.ndarray, ' n'] | None) -> 'RowSample':
    """The sample whose rows belong together so; of a thin one none is drawn."""
    sample = self._replace(cluster=cluster)
    return sample._replace(resamples=0) if sample.thin else sample

  @property
  def thin(self) -> bool:
    """Whether its clusters tell less than two equal ones: no interval does."""
    cluster = () if self.cluster is None else self.cluster
    size = np.unique(cluster, return_counts=True)[1]
    return bool(0 < row_weights.equal_clusters(size) < 2)

  def rows(self, chosen: Bool[np.ndarray, ' n']) -> float:
    """How many rows of a mask there are, effectively."""
    return row_weights.rows(self.weight, chosen)

  def mean(self, values: Num[np.ndarray, '*s n']) -> Float[Any, '*s']:
    """The mean over rows; NaN where they weigh nothing."""
    return row_weights.mean(values, self.weight)

  def units(self, n: int) -> Integer[np.ndarray, ' n']:
    """The cluster of each of n rows as codes from 0 without gaps."""
    if self.cluster is None:
      return np.arange(n)
    return np.unique(self.cluster, return_inverse=True)[1]
