"""Error rates of slices of one or two conditions: where is it worst?

A condition is a named set of rows (a group, a term, a band of length or of a
column). Every condition and every pair of them with enough rows is held
against the rows outside: Fisher's exact test, one-sided, of the errors (a row
counts as wrong where most seeds are), adjusted by Benjamini and Hochberg for
all slices that were looked at. Of the slices with an adjusted p of at most 5 %
no more than 5 % are, on average, no worse than what is outside. Where rows
belong together p is the larger of Fisher's and Student's over clusters
(clusters.excess): one bad writer is no bad slice. Of slices that
are alike, of 8 to 200 writers, p is at most .05 in .00 to .057 of 1,500 sets,
that of Fisher alone in up to .28.
"""

import itertools

import numpy as np
from jaxtyping import Float, Integer

from fairjax.metrics.groups import Groups
from fairjax.metrics.inference import clusters, significance, tails
from fairjax.metrics.inference.estimates import Row

LEAST = 30  # rows of a slice
MOST = 150  # conditions that are paired, the first of them
BLOCK = 1 << 16  # rows counted at once


def worst(
  wrong: Float[np.ndarray, ' n'],
  conditions: Groups,
  least: int = LEAST,
  cluster: Integer[np.ndarray, ' n'] | None = None,
) -> list[Row]:
  """A row a slice, the surest first: rows, error rate, that outside, p.

  Args:
    wrong: share of the seeds that are wrong of each row.
    conditions: a pair takes those of two attributes.
    least: rows that a slice, and what is outside, must have.
    cluster: rows of equal numbers are not independent.
  """
  n, rows = len(wrong), conditions.members.sum(1)
  enough = (least <= rows) & (rows <= n - least)
  single = conditions.taken(np.flatnonzero(enough))
  if not single.names:
    return []
  bad = (wrong >= 0.5).astype(np.float64)
  masks, titles = single.members, single.titles
  kinds = np.array(single.attributes[:MOST])
  counts = _counted(masks[:MOST], kinds, bad, wrong)
  a, b = np.triu_indices(len(kinds))
  size = counts[0]
  own = np.diag(size)
  keep = (size[a, b] >= least) & (
    (a == b)
    # Two conditions that hold the same rows are one.
    | ((kinds[a] != kinds[b]) & (size[a, b] < np.minimum(own[a], own[b])))
  )
  a, b = a[keep], b[keep]
  alone = [(m.sum(), bad[m].sum(), wrong[m].sum()) for m in masks[MOST:]]
  size, inside, total = np.concatenate(
    [[one[a, b] for one in counts], np.reshape(alone, (-1, 3)).T], 1
  )
  # P(at least so many wrong rows in a slice of this size).
  found, drawn = inside.astype(np.int64), size.astype(np.int64)
  p = tails.hypergeometric_sf(found - 1, n, int(bad.sum()), drawn)
  others = range(len(kinds), len(masks))
  pairs = [*zip(a, b), *zip(others, others)]
  p = _over_clusters(p, masks, pairs, bad, cluster)
  adjusted = significance.adjusted(list(map(float, p)), 'bh')
  rows = [
    {
      'slice': ' and '.join(titles[g] for g in dict.fromkeys(pair)),
      'rows': int(size[k]),
      'error rate': float(total[k] / size[k]),
      'outside': float((wrong.sum() - total[k]) / (n - size[k])),
      'p': float(p[k]),
      'adjusted': adjusted[k],
    }
    for k, pair in enumerate(pairs)
  ]
  return sorted(rows, key=lambda r: (r['adjusted'], -r['error rate']))


def _over_clusters(
  p: np.ndarray,
  masks: np.ndarray,
  pairs: list[tuple[int, int]],
  bad: np.ndarray,
  cluster: np.ndarray | None,
) -> np.ndarray:
  """The larger of each p and that over clusters, where p may be sure at all."""
  if cluster is None:
    return p
  code, p = np.unique(cluster, return_inverse=True)[1], np.array(p, np.float64)
  for k in np.flatnonzero(p <= significance.SURE):
    inside = np.logical_and(*(masks[g] for g in pairs[k]))
    p[k] = max(p[k], clusters.excess(bad, inside, code)[0])
  return p


def _counted(
  masks: np.ndarray, kinds: np.ndarray, bad: np.ndarray, wrong: np.ndarray
) -> tuple[np.ndarray, ...]:
  """Rows, wrong rows and sum of wrong of every mask and pair of attributes."""
  k = len(masks)
  out = np.zeros((3, k, k))
  for i, mask in enumerate(masks):
    out[:, i, i] = mask.sum(), bad[mask].sum(), wrong[mask].sum()
  of = [np.flatnonzero(kinds == kind) for kind in dict.fromkeys(kinds)]
  pairs = list(itertools.combinations(of, 2))
  for low in range(0, len(bad), BLOCK) if pairs else ():
    part = slice(low, low + BLOCK)
    block = masks[:, part].astype(np.float32)
    weights = (None, bad[part], wrong[part])
    for at, weight in enumerate(weights):
      left = block if weight is None else block * weight.astype(np.float32)
      for a, b in pairs:
        both = left[a] @ block[b].T
        out[at][np.ix_(a, b)] += both
        out[at][np.ix_(b, a)] += both.T
  return out[0], out[1], out[2]
