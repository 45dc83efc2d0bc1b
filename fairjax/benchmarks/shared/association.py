"""Statistics of WEAT and SEAT: effect size, exact permutation, intervals.

benchmarks/weat.py has the equations and the papers.
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from fairjax.core.errors import UserError
from fairjax.metrics.inference import clusters, resampling
from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.inference.sample import RowSample

TABLE = 40  # most targets whose splits are all counted
SAMPLES = 100_000
GRID = 2.0**40  # steps of the largest |s|


def association(
  targets: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
  """s of each target: encodings [n, d], [a, d], [b, d] → [n]."""

  def unit(x):
    x = np.asarray(x, np.float64)
    norm = np.linalg.norm(x, axis=-1, keepdims=True)
    if not norm.all():
      raise UserError(
        'a text has an encoding of length 0, so it has no cosine; choose '
        'another encoding with --config.benchmarks.encodings'
      )
    return x / norm

  targets = unit(targets)
  return targets @ unit(first).mean(0) - targets @ unit(second).mean(0)


def effect_size(x: np.ndarray, y: np.ndarray) -> float:
  """d; NaN where all s are equal."""
  spread = np.concatenate([x, y]).std(ddof=1)
  scale = np.abs(np.concatenate([x, y])).max()
  if not spread > 1e-12 * max(scale, 1e-300):  # equal but for rounding
    return float('nan')
  return float((x.mean() - y.mean()) / spread)


class P(NamedTuple):
  """Of a permutation of the lists: as published, and in both directions."""

  one_sided: float
  two_sided: float
  exact: bool
  splits: int  # how many there are


def permutation(
  x: np.ndarray, y: np.ndarray, samples: int = SAMPLES, seed: int = 0
) -> P:
  """The p of the observed split; exact where all splits can be counted."""
  s = np.concatenate([x, y]).astype(np.float64)
  n, total = len(x), len(s)
  splits = comb(total, n)
  # Centred, so that far sums on either side are one threshold apart.
  s = s - s.mean()
  scale = np.abs(s).max()
  grid = np.rint(s / scale * GRID).astype(np.int64) if scale else s.astype(int)
  observed, slack = int(grid[:n].sum()), total  # rounding of two sums
  # mean_X − mean_Y rises with Σ_X; under centring it is 0 at Σ_X = n/N Σ.
  middle = grid.sum() * n / total
  far = abs(observed - middle)
  if total <= TABLE:
    up = _at_least(grid, n, observed - slack)
    high = _at_least(grid, n, int(np.ceil(middle + far)) - slack)
    low = splits - _at_least(grid, n, int(np.floor(middle - far)) + slack + 1)
    two = splits if far <= slack else high + low  # in the middle: all
    return P(up / splits, min(two / splits, 1.0), True, splits)
  rng = np.random.default_rng([seed, 0xA7])
  ups = fars = 1  # the data are one of the splits
  batch = max((1 << 22) // total, 1)  # 2^22 numbers in memory
  for start in range(0, samples - 1, batch):
    rows = min(batch, samples - 1 - start)
    order = rng.random((rows, total)).argpartition(n - 1, axis=1)[:, :n]
    sums = grid[order].sum(1)
    ups += int((sums >= observed - slack).sum())
    fars += int((np.abs(sums - middle) >= far - slack).sum())
  return P(ups / samples, fars / samples, False, splits)


def _at_least(values: np.ndarray, size: int, threshold: int) -> int:
  """How many subsets of `size` have a sum ≥ threshold (integers)."""
  half = len(values) // 2  # meet in the middle: 2^(n/2) sums, not 2^n
  left, right = _subsets(values[:half]), _subsets(values[half:])
  count = 0
  for k, sums in enumerate(left):
    if not 0 <= size - k < len(right):
      continue
    other = right[size - k]
    count += int(
      (len(other) - np.searchsorted(other, threshold - sums, 'left')).sum()
    )
  return count


def _subsets(values: np.ndarray) -> list[np.ndarray]:
  """The sorted sums of all subsets, by the size of the subset."""
  sums = np.zeros(1, np.int64)
  size = np.zeros(1, np.int64)
  for value in values:
    sums = np.concatenate([sums, sums + value])
    size = np.concatenate([size, size + 1])
  return [np.sort(sums[size == k]) for k in range(len(values) + 1)]


def interval(
  x: np.ndarray,
  y: np.ndarray,
  options: RowSample,
  x_words: Sequence | None = None,
  y_words: Sequence | None = None,
) -> dict:
  """d with the jackknife interval over words, on the scale of atanh(r)."""
  d = effect_size(x, y)
  if not np.isfinite(d):
    return of_value(None, note='all targets have the same s')
  words = [
    np.arange(len(side)) if own is None else np.asarray(own)
    for side, own in ((x, x_words), (y, y_words))
  ]
  if not _enough(words):
    return of_value(d, note='fewer than three words in a list')
  centre = _z(x, y)
  if not np.isfinite(centre):
    return of_value(d, note='the lists are apart without overlap')
  variance, count = _jackknife(lambda i, j: _z(x[i], y[j]), words)
  reach = float(clusters.reach(variance**0.5, count - 2, options.level))
  scale = _largest(len(x), len(y))
  low, high = scale * np.tanh(centre - reach), scale * np.tanh(centre + reach)
  return of_value(d, low, high)


def _enough(words: Sequence[np.ndarray]) -> bool:
  return min(len(np.unique(own)) for own in words) >= 3


def _jackknife(
  value: Callable, words: Sequence[np.ndarray]
) -> tuple[float, int]:
  """The variance of value(rows of x, rows of y) where each word of either list
  is left out in turn, and the number of words."""
  variance, count = 0.0, 0
  for i, own in enumerate(words):
    keep, without = [slice(None)] * 2, []
    for word in np.unique(own):
      keep[i] = own != word
      without.append(value(*keep))
    m, each = len(without), np.array(without)
    variance += (m - 1) / m * ((each - each.mean()) ** 2).sum()
    count += m
  return variance, count


def _largest(nx: int, ny: int) -> float:
  """The largest d that lists of these lengths can have."""
  total = nx + ny
  return (total * (total - 1) / (nx * ny)) ** 0.5


def _z(x: np.ndarray, y: np.ndarray) -> float:
  d = effect_size(x, y)
  with np.errstate(divide='ignore', invalid='ignore'):
    return float(np.arctanh(np.clip(d / _largest(len(x), len(y)), -1, 1)))


def floor(
  x: np.ndarray, y: np.ndarray, options: RowSample, x_words=None, y_words=None
) -> tuple[float, float]:
  """Between which values d lies where whole words are dealt to the lists."""
  s = np.concatenate([x, y])
  names = [f'x{w}' for w in (range(len(x)) if x_words is None else x_words)]
  names += [f'y{w}' for w in (range(len(y)) if y_words is None else y_words)]
  _, word = np.unique(names, return_inverse=True)
  sums, counts = np.bincount(word, s), np.bincount(word)
  first = len(set(names[: len(x)]))
  rng = np.random.default_rng([options.seed, 0xA8])
  order = rng.random((1000, len(sums))).argsort(1)
  left, right = order[:, :first], order[:, first:]
  gap = sums[left].sum(1) / counts[left].sum(1)
  gap -= sums[right].sum(1) / counts[right].sum(1)
  spread = s.std(ddof=1)
  if not spread > 0:
    return 0.0, 0.0
  tail = (1 - options.level) / 2
  low, high = resampling.quantile(gap / spread, (tail, 1 - tail))
  return float(low), float(high)


def by_word(s: np.ndarray, words: Sequence[str]) -> np.ndarray:
  """The mean s of each word's sentences."""
  _, word = np.unique(np.asarray(words), return_inverse=True)
  return np.bincount(word, s) / np.bincount(word)


def difference(
  s_one: tuple[np.ndarray, np.ndarray],
  s_other: tuple[np.ndarray, np.ndarray],
  options: RowSample,
  words: tuple[Sequence, Sequence] | None = None,
) -> tuple[dict, float | None]:
  """d of one model less d of another on the same words.

  The jackknife over the words of either list, each left out of both models,
  and Student's t of the number of words less two.
  """
  gap = lambda i, j: (
    effect_size(s_one[0][i], s_one[1][j])
    - effect_size(s_other[0][i], s_other[1][j])
  )
  every = slice(None)
  value = gap(every, every)
  own = [np.asarray(w) for w in words or (range(len(s)) for s in s_one)]
  if not _enough(own):
    return of_value(value, note='fewer than three words in a list'), None
  variance, count = _jackknife(gap, own)
  if not (np.isfinite(value) and np.isfinite(variance)):
    return of_value(None, note='all targets of a model have the same s'), None
  if variance < 1e-18:
    return of_value(value, note='the models do not differ'), 1.0
  return clusters.student(value, variance**0.5, float(count - 2), options)
