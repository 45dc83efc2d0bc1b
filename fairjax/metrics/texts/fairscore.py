"""Fairscore: how often a prediction changes when a text is perturbed.

Of the rows that can be perturbed (Qian et al. 2022, arXiv:2205.12586), in
percent there and as shares here:

  different        ŷ(x) ≠ ŷ(x′): the fairscore, smaller is fairer
  both_correct     ŷ(x) = ŷ(x′) = y
  neither_correct  ŷ(x) ≠ y and ŷ(x′) ≠ y

Any rewrite changes some predictions. What a neutral one changes on the same
rows (a name of the same group, a synonym) is the floor, and `excess` is the
fairscore less that floor, row by row. Two models are compared by the exact
test of McNemar (1947) on the rows that one of them flips and the other not.

Intervals are over rows and seeds, with Jeffreys's half a row of either kind,
so that no flip in twenty rows is no proof of none.
"""

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.metrics.inference import clusters, intervals, ratios
from fairjax.metrics.inference.estimates import Estimate, Estimates, estimate
from fairjax.metrics.inference.sample import RowSample

MEASURES = ('different', 'both_correct', 'neither_correct')


def changed(
  one: Float[np.ndarray, 's n c'],
  two: Float[np.ndarray, 's n c'],
  tolerance: float = 0.0,
) -> Bool[np.ndarray, 's n']:
  """Where two predictions (chances of classes) differ.

  By the class; with a tolerance above 0 the classes are grades, and the mean
  grade Σ k p_k must move by more than it (a regression's changed prediction).
  """
  if not tolerance:
    return np.asarray(one.argmax(-1) != two.argmax(-1))
  grades = np.arange(one.shape[-1])
  return np.abs(one @ grades - two @ grades) > tolerance


def outcomes(
  labels: Integer[np.ndarray, ' n'],
  original: Integer[np.ndarray, 's n'],
  perturbed: Integer[np.ndarray, 's n'],
) -> dict[str, Bool[np.ndarray, 's n']]:
  """What holds of each row under each seed."""
  return {
    'different': original != perturbed,
    'both_correct': (original == labels) & (perturbed == labels),
    'neither_correct': (original != labels) & (perturbed != labels),
  }


def share(events: Bool[np.ndarray, 's n'], how: RowSample) -> Estimate:
  """The share of rows with an event, over rows (or clusters) and seeds."""
  if not events.shape[1]:
    return estimate([np.nan] * len(events), note='no row can be perturbed')
  values, draws = _drawn(events, how, intervals.SHARES)
  return intervals.of_mean(values, draws, how, bounds=intervals.SHARES)


def _drawn(
  rows: Bool[np.ndarray, 's n'] | Float[np.ndarray, 's n'],
  how: RowSample,
  bounds: tuple[float, float],
) -> tuple[Float[np.ndarray, ' s'], Float[np.ndarray, 'resample s'] | None]:
  """The mean of each seed's rows, and draws with half a row at either end."""
  columns = np.stack([np.ones(rows.shape), rows], -1)
  share = lambda sums: {'': sums[..., 1] / sums[..., 0]}
  ends = np.array([1.0, bounds[1]]), np.array([1.0, bounds[0]])
  values, draws = ratios.drawn(columns, share, how, ends, bounds)
  return values[''], draws.get('')


def excess(
  flips: Bool[np.ndarray, 's n'], floor: Bool[np.ndarray, 's n'], how: RowSample
) -> Estimate:
  """The share of flips less that of `floor`, a neutral rewrite of each row."""
  rows = flips.astype(np.float64) - floor
  if not rows.shape[1]:
    return estimate([np.nan] * len(rows), note='no row has a neutral rewrite')
  values, draws = _drawn(rows, how, (-1.0, 1.0))
  return intervals.of_mean(values, draws, how)


def mcnemar(
  ours: Bool[np.ndarray, ' n'],
  theirs: Bool[np.ndarray, ' n'],
  cluster: Integer[np.ndarray, ' n'] | None = None,
) -> dict[str, float | int]:
  """Rows that one has and the other not, and the exact two-sided p.

  Under the hypothesis that both are alike the rows on which they differ are
  coin tosses: p = P(|B - m/2| ≥ |b - m/2|), B ~ Binomial(m, ½). Rows of one
  cluster are one toss, which falls to the one who has more of them.
  """
  gap = ours.astype(np.int64) - theirs
  b, c = int((gap > 0).sum()), int((gap < 0).sum())
  if cluster is not None:
    gap = np.bincount(np.unique(cluster, return_inverse=True)[1], gap)
  ahead, differ = int((gap > 0).sum()), int((gap != 0).sum())
  p = clusters.binomial(ahead, differ)
  return {'only_ours': b, 'only_theirs': c, 'p': 1.0 if p is None else p}


def compare(
  ours: Bool[np.ndarray, 's n'], theirs: Bool[np.ndarray, 's n'], how: RowSample
) -> Estimate:
  """The difference of two fairscores on the same rows, and its test.

  Of one seed it is McNemar's. Of several, interval and p are over rows and
  seeds, and the exact test of the seed whose p is the median stands beside.
  """
  tests = sorted(
    (mcnemar(a, b, how.cluster) for a, b in zip(ours, theirs)),
    key=lambda test: test['p'],
  )
  exact = tests[len(tests) // 2]
  out = {'n': ours.shape[1], 'only_ours': exact['only_ours']}
  out['only_theirs'] = exact['only_theirs']
  name = 'McNemar, exact' + ('' if how.cluster is None else ', of clusters')
  rows = ours.astype(np.float64) - theirs
  if len(ours) < 2 or not how.resamples or not rows.shape[1]:
    value = excess(ours, theirs, how)
    return out | {
      'difference': intervals.reaching_null(value, exact['p'], how),
      'p': exact['p'],
      'p_at_floor': False,
      'test': name,
    }
  values, draws = _drawn(rows, how, (-1.0, 1.0))
  assert draws is not None  # there are resamples
  return out | {
    **intervals.paired(values, draws, how, 1.0),
    'test': 'paired bootstrap over rows and seeds',
    'permutation': {
      'p': exact['p'],
      'p_at_floor': False,
      'test': f'{name}, of the median seed',
    },
  }


def fairscore(
  labels: Integer[np.ndarray, ' n'],
  original: Integer[np.ndarray, 's n'],
  perturbed: Integer[np.ndarray, 's n'],
  how: RowSample,
) -> Estimates:
  """The three shares, each with its interval."""
  each = outcomes(labels, original, perturbed).items()
  return {name: share(events, how) for name, events in each}
