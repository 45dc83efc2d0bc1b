"""Where is it worst: error rates of slices of one or two conditions.

A condition is a named set of rows (a group, a term, a band of length or of a
column). Every condition and every pair of them with enough rows is held
against the rows outside: Fisher's exact test of the errors (a row counts as
wrong where most seeds are), adjusted by Benjamini and Hochberg for all slices
that were looked at. Among the slices shown as worse at most 5 % are, on
average, no worse.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float

from fairjax.metrics import significance

LEAST = 30  # rows of a slice
MOST = 200  # conditions that are paired


def worst(
  wrong: Float[np.ndarray, ' n'],
  conditions: Mapping[str, Mapping[str, Bool[np.ndarray, ' n']]],
  least: int = LEAST,
) -> list[dict]:
  """A row a slice, the worst first: rows, error rate, that outside, p.

  Args:
    wrong: share of the seeds that are wrong of each row.
    conditions: {attribute: {value: its rows}}; a pair takes two attributes.
    least: rows that a slice, and what is outside, must have.
  """
  from scipy import stats

  bad = wrong >= 0.5
  n, total = len(bad), int(bad.sum())
  single = [
    (attribute, f'{attribute} {value}'.strip(), mask)
    for attribute, values in conditions.items()
    for value, mask in values.items()
    if least <= mask.sum() <= n - least
  ][:MOST]
  chosen = [((name,), mask) for _, name, mask in single]
  for i, (kind, name, mask) in enumerate(single):
    for other, second, more in single[i + 1 :]:
      if other != kind:
        both = mask & more
        size = int(both.sum())
        # Two conditions that hold the same rows are one.
        if least <= size < min(mask.sum(), more.sum()):
          chosen.append(((name, second), both))
  if not chosen:
    return []
  size = np.array([mask.sum() for _, mask in chosen])
  inside = np.array([bad[mask].sum() for _, mask in chosen])
  # P(at least so many wrong rows in a slice of this size), one-sided.
  p = stats.hypergeom.sf(inside - 1, n, total, size)
  adjusted = significance.adjusted(list(map(float, p)), 'bh')
  rows = [
    {
      'slice': ' and '.join(names),
      'rows': int(size[k]),
      'error rate': float(wrong[mask].mean()),
      'outside': float(wrong[~mask].mean()),
      'p': float(p[k]),
      'adjusted': adjusted[k],
    }
    for k, (names, mask) in enumerate(chosen)
  ]
  return sorted(rows, key=lambda r: (r['adjusted'], -r['error rate']))
