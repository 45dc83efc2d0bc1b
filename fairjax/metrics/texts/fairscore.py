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

from fairjax.metrics.inference import clusters, intervals, resampling
from fairjax.metrics.inference.estimates import estimate
from fairjax.metrics.inference.intervals import IntervalOptions

EDGES = 0xFA1  # stream of the half rows

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
    return one.argmax(-1) != two.argmax(-1)
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


def share(
  events: Bool[np.ndarray, 's n'],
  how: IntervalOptions,
  clusters: Integer[np.ndarray, ' n'] | None = None,
) -> dict:
  """The share of rows with an event, over rows (or clusters) and seeds."""
  if not events.shape[1]:
    return estimate([np.nan] * len(events), note='no row can be perturbed')
  values = events.mean(1, dtype=np.float64)
  draws = _draws(events.astype(np.float64), how, clusters)
  if draws is None:
    return intervals.of_mean(values, None, how)
  (yes, no), total = _halves(events, how, clusters), draws[-1]
  halves = (draws[:-1].T + yes[:, None]) / (total + yes + no)[:, None]
  return intervals.of_mean(values, halves, how, bounds=intervals.SHARES)


def _halves(
  rows: np.ndarray, how: IntervalOptions, cluster: np.ndarray | None
) -> Float[np.ndarray, '2 resample']:
  """Draws of half a row of either kind; of half a cluster, where rows hang
  together: all of it may be copies of one text (ratios.py)."""
  n, size = rows.shape[1], 1.0
  if cluster is not None:
    size = n / (resampling.blocks(n, how.seed, cluster).clusters or n)
  rng = np.random.default_rng([how.seed, EDGES])
  return size * rng.gamma(0.5, size=(2, how.resamples))


def _draws(
  rows: Float[np.ndarray, 's n'],
  how: IntervalOptions,
  clusters: Integer[np.ndarray, ' n'] | None,
) -> Float[np.ndarray, 't resample'] | None:
  """Resampled sums of each seed's rows, and last of the rows themselves."""
  if not how.resamples:
    return None
  n = rows.shape[1]
  items = resampling.blocks(n, how.seed, clusters)
  item = items.item
  sums = [np.bincount(item, each, len(items.size)) for each in rows]
  sums.append(np.bincount(item, minlength=len(items.size)).astype(np.float64))
  weights = resampling.draw(items, how.resamples, how.seed)
  totals = resampling.resampled(weights, resampling.pad(np.stack(sums, 1)))
  return np.asarray(totals, np.float64).T


def excess(
  flips: Bool[np.ndarray, 's n'],
  floor: Bool[np.ndarray, 's n'],
  how: IntervalOptions,
  clusters: Integer[np.ndarray, ' n'] | None = None,
) -> dict:
  """The share of flips less that of `floor`, a neutral rewrite of each row."""
  rows = flips.astype(np.float64) - floor
  if not rows.shape[1]:
    return estimate([np.nan] * len(rows), note='no row has a neutral rewrite')
  draws = _draws(rows, how, clusters)
  values = rows.mean(1)
  if draws is None:
    return intervals.of_mean(values, None, how)
  halves = _halves(rows, how, clusters)
  return intervals.of_mean(values, _with_halves(draws, halves), how)


def _with_halves(
  draws: Float[np.ndarray, 't resample'],
  halves: Float[np.ndarray, '2 resample'],
) -> Float[np.ndarray, 'resample s']:
  """Differences drawn with half a row more of either side's events."""
  more, less = halves
  total = draws[-1] + more + less
  return (draws[:-1].T + (more - less)[:, None]) / total[:, None]


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
  p = clusters.binomial(ahead, differ) if differ else 1.0
  return {'only_ours': b, 'only_theirs': c, 'p': float(p)}


def compare(
  ours: Bool[np.ndarray, 's n'],
  theirs: Bool[np.ndarray, 's n'],
  how: IntervalOptions,
  cluster: Integer[np.ndarray, ' n'] | None = None,
) -> dict:
  """The difference of two fairscores on the same rows, and its test.

  Of one seed it is McNemar's. Of several, interval and p are over rows and
  seeds, and the exact test of the seed whose p is the median stands beside.
  """
  tests = sorted(
    (mcnemar(a, b, cluster) for a, b in zip(ours, theirs)),
    key=lambda test: test['p'],
  )
  exact = tests[len(tests) // 2]
  out = {'n': ours.shape[1], 'only_ours': exact['only_ours']}
  out['only_theirs'] = exact['only_theirs']
  name = 'McNemar, exact' + (', of clusters' if cluster is not None else '')
  rows = ours.astype(np.float64) - theirs
  if len(ours) < 2 or not how.resamples or not rows.shape[1]:
    value = excess(ours, theirs, how, cluster)
    return out | {
      'difference': intervals.reaching_null(value, exact['p'], how),
      'p': exact['p'],
      'p_at_floor': False,
      'test': name,
    }
  draws, values = _draws(rows, how, cluster), rows.mean(1)
  halves = _halves(rows, how, cluster)
  return out | {
    **intervals.paired(values, _with_halves(draws, halves), how, 1.0),
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
  how: IntervalOptions,
  clusters: Integer[np.ndarray, ' n'] | None = None,
) -> dict[str, dict]:
  """The three shares, each with its interval."""
  each = outcomes(labels, original, perturbed)
  return {name: share(each[name], how, clusters) for name in MEASURES}
