"""Intervals and p values: resampling of examples and of seeds.

An interval speaks of two sources of chance at once: which examples were drawn
for the test set, and which seeds were drawn for the training. `draws` are
values that the data do not speak against; an interval is two of their
quantiles, and a p value is a share of the same draws (`difference`), so that
an interval holds 0 if and only if p > 1 − level.

*Examples.* Rows have random weights, the same for all seeds of a resample
(resampling.py).

*Seeds.* With s > 1, the variance of a mean over seeds has a part that the
seeds share (the rows) and a part that each seed has for itself. The second is
S²/s, S² the variance between the seeds' values, with s − 1 degrees of freedom;
the first is the variance of the resampled means less what the second has in
it. A draw is a Behrens-Fisher draw: a deviation of the shared part plus
S/sqrt(s) times Student's t of s − 1 degrees of freedom. For a measure of
bounded range the sum is taken on the logit scale (log for a range with one
end), so that it stays in range.

*Gaps.* A gap such as max_g r_g − min_g r_g, Σ_g |r_g − r| or the mean of two
of them is a seminorm f of the vector r of group rates. Resampled gaps lie
above the truth (|x + noise| does), so their percentiles never contain "no
gap", not even for a fair model. But |f(r̂) − f(r)| ≤ f(r̂ − r), and the
resamples tell the distribution of the right side: f(r̂) ± c with c the
`level` quantile of f(r* − r̂) covers at least at that level, and for two
groups it is the usual interval of a difference, folded at 0. The mean of
f(r* − r̂) is the gap that groups without a difference would show by chance.

tests/coverage.py has the coverage and the level of all of this.
"""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from fairjax.config import Config
from fairjax.metrics.inference.estimates import (
  VAGUE,
  Estimate,
  estimate,
  noted,
  unless_vague,
)
from fairjax.metrics.inference.resampling import SEEDS, SIGNS, quantile
from fairjax.metrics.inference.sample import RowSample as RowSample

MEASURES = 64  # measures at a time whose intervals are made

Numbers = np.ndarray | np.floating

REALS = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)
SHARES = (0.0, 1.0)
TOLERANCE = 1e-6  # what rounding in float32 may leave of no difference
DEFAULTS = RowSample()


def options_of(config: Config) -> RowSample:
  """Those of the config's measures."""
  own = config.measures
  return RowSample(own.confidence_level, own.resamples, config.seed)


class Ends(NamedTuple):
  """Low and high ends of the intervals of many measures."""

  low: np.ndarray
  high: np.ndarray


@functools.lru_cache(maxsize=8)
def student(
  free: int, resamples: int, seed: int
) -> Float[np.ndarray, ' resample']:
  """Student's t in random order, one draw from each of equally likely parts.

  Quantiles of such draws have no error of simulation, which with one degree
  of freedom would be large.
  """
  import scipy.special

  rng = np.random.default_rng([seed, SEEDS, free])
  parts = (rng.permutation(resamples) + 0.5) / resamples
  return np.asarray(scipy.special.stdtrit(free, parts))


class Parts(NamedTuple):
  """Where the variance of a mean over seeds comes from."""

  defined: np.ndarray  # seeds in which the measure is
  mean: np.ndarray  # over seeds
  noise: np.ndarray  # [resample, …], resampled means less the mean
  shared: np.ndarray  # variance of the mean by what all seeds share
  own: np.ndarray  # variance of the mean by what each seed has for itself


@np.errstate(invalid='ignore')  # infinite values have no noise
def parts(
  values: Float[np.ndarray, 's *rest'],
  draws: Float[np.ndarray, 'resample s *rest'],
) -> Parts:
  """Splits the variance of means over seeds; undefined seeds are left out.

  What resampling the rows says of how seeds differ by chance of the rows is
  Σ_s Var(x_s − x̄) = Σ_s Var(x_s) − count · Var(x̄).
  """
  known = ~np.isnan(values)
  count = known.sum(0)
  some, free = np.maximum(count, 1), np.maximum(count - 1, 1)
  mean = np.where(known, values, 0).sum(0) / some
  noise = draws - values.astype(draws.dtype)
  if not known.all():
    noise = np.where(known, noise, 0)
  of_mean = (noise.sum(1) / some).astype(draws.dtype)
  variance = of_mean.var(0, dtype=np.float64)
  noise -= noise.mean(0, dtype=np.float64).astype(noise.dtype)
  alone = np.einsum('rs...,rs...->...', noise, noise) / len(noise)
  by_rows = np.maximum(alone - count * variance, 0) / free / some
  own = np.where(known, values - mean, 0)
  own = (own * own).sum(0) / free / some
  # Seeds that agree have no spread, which would hold their part of the rows'.
  spread = own > 1e-24 * (mean * mean + variance)
  shared = np.maximum(variance - np.where(spread, by_rows, 0), 0)
  undefined = np.where(count > 0, 0, np.float32(np.nan))
  return Parts(count, mean + undefined, of_mean + undefined, shared, own)


def shrunken(part: Parts) -> Float[np.ndarray, 'resample *rest']:
  """The deviations of the mean over seeds that all seeds share."""
  variance = part.noise.var(0)
  share = np.divide(
    part.shared, variance, out=np.ones_like(variance), where=variance > 0
  )
  return part.noise * np.sqrt(np.where(part.defined > 1, share.clip(0, 1), 1))


def seed_noise(
  part: Parts, options: RowSample, run: int = 0
) -> Float[np.ndarray, 'resample *rest']:
  """Deviations of the mean by the choice of seeds: S/sqrt(s) times t."""
  out = np.zeros_like(part.noise)
  for count in np.unique(part.defined[part.defined > 1]):
    t = student(int(count) - 1, len(out), options.seed + run)
    rows = part.defined == count
    out[:, rows] = t[:, None] * np.sqrt(part.own[rows])
  return out


def percentiles(
  values: Float[np.ndarray, 's *rest'],
  draws: Float[np.ndarray, 'resample s *rest'],
  options: RowSample,
  bounds: tuple[float, float] = REALS,
) -> Ends:
  """Intervals of measures that resamples do not pull to one side.

  Each holds its value: that of a rate of 0 reaches down to 0. Where no draw
  and no seed differs there is none (NaN): such rows do not say how far others
  would be off, and an interval of no width would say that none are.
  """
  rest = values.shape[1:]
  values = values.reshape(len(values), -1)
  draws = draws.reshape(*draws.shape[:2], -1)
  size = values.shape[1]
  block = -(-size // -(-size // MEASURES)) if size else 1
  ends = [np.empty(size), np.empty(size)]
  for first in range(0, size, block):
    # Blocks of one shape: the last one starts anew where it is too short.
    at = np.arange(first, first + block) % size
    for all_, own in zip(
      ends, _ends(values[:, at], draws[:, :, at], options, bounds)
    ):
      all_[at] = own
  return Ends(*(end.reshape(rest)[()] for end in ends))


def _ends(
  values: Float[np.ndarray, 's m'],
  draws: Float[np.ndarray, 'resample s m'],
  options: RowSample,
  bounds: tuple[float, float],
) -> Ends:
  """Of as many measures as memory has room for."""
  shares = ((1 - options.level) / 2, (1 + options.level) / 2)
  if len(values) == 1:
    mean, ends = values[0], quantile(draws[:, 0], shares)
  else:
    part = parts(values, draws)
    mean, noise = part.mean, shrunken(part)
    line = link(np.clip(mean + noise, *inside(bounds)), bounds)
    middle = np.clip(mean, *inside(bounds))
    line += seed_noise(part, options) * slope(middle, bounds)
    ends = [unlink(end, bounds) for end in quantile(line, shares)]
  low, high = np.fmin(ends[0], mean), np.fmax(ends[1], mean)
  if len(values) > 1:
    vague = high - low > VAGUE * (bounds[1] - bounds[0])
    low[vague] = high[vague] = np.nan
  for m in np.flatnonzero(high - low < TOLERANCE):
    if _still(values[:, m]) and _still(
      chance(draws[:, :, m], 1), draws[:, :, m]
    ):
      low[m] = high[m] = np.nan
  return Ends(low, high)


def _still(values: np.ndarray, parts: np.ndarray | None = None) -> bool:
  """Whether numbers differ by rounding alone, beside the parts they are of."""
  size = np.nanmax(np.abs(values if parts is None else parts))
  return bool(np.nanmax(values) - np.nanmin(values) <= TOLERANCE * size)


def inside(bounds: tuple[float, float]) -> tuple[float, float]:
  width = bounds[1] - bounds[0]
  least = 1e-9 * width if math.isfinite(width) else 1e-300
  return bounds[0] + least, bounds[1] - least


def link(x: Numbers, bounds: tuple[float, float]) -> Numbers:
  """From the range of a measure to the whole line: logit, log or identity."""
  low, high = bounds
  if math.isinf(low):
    return x
  return np.log(x - low) - (0 if math.isinf(high) else np.log(high - x))


def slope(x: Numbers, bounds: tuple[float, float]) -> Numbers:
  low, high = bounds
  if math.isinf(low):
    return np.ones_like(x)
  return 1 / (x - low) + (0 if math.isinf(high) else 1 / (high - x))


def unlink(y: Numbers, bounds: tuple[float, float]) -> Numbers:
  low, high = bounds
  if math.isinf(low):
    return y
  if math.isinf(high):
    return low + np.exp(y)
  return low + (high - low) * (1 + np.tanh(y / 2)) / 2


def radius(
  values: Float[np.ndarray, 's *rest'],
  noise: Float[np.ndarray, 'resample s *rest'],
  options: RowSample,
) -> Float[np.ndarray, '*rest']:
  """Half the width of the intervals of gaps f, averaged over seeds.

  `noise` is f(r* − r̂) of each resample and seed, `values` is f(r̂). The noise
  of the examples gets a random sign and is added to that of the seeds.
  """
  # A gap's own part is the spread of its values, so `noise` is no deviation.
  examples = chance(noise, 1) * _signs(len(noise), options.seed).reshape(
    -1, *[1] * (noise.ndim - 2)
  )
  known = ~np.isnan(values)
  count = known.sum(0)
  if (count > 1).any():
    mean = np.where(known, values, 0).sum(0) / np.maximum(count, 1)
    own = np.where(known, values - mean, 0)
    own = (own * own).sum(0) / np.maximum(count - 1, 1) / np.maximum(count, 1)
    part = Parts(count, mean, examples, own, own)
    examples = examples + seed_noise(part, options)
  (half,) = quantile(np.abs(examples), (options.level,))
  return np.asarray(half)


def seeds_alike(
  values: Float[np.ndarray, 's *rest'], resamples: int, seed: int
) -> Float[np.ndarray, 'resample s *rest'] | None:
  """What the choice of seeds adds to rates of groups that are alike.

  Each seed's own deviation from the mean over seeds, its sign a coin. Added to
  the noise of the rows, the gap of the sum is what chance shows; None for one
  seed.
  """
  count = len(values)
  if count < 2:
    return None
  with np.errstate(invalid='ignore'):
    apart = values - chance(values, 0)
  rng = np.random.default_rng([seed, SIGNS, 1])
  sign = rng.choice(np.array([-1, 1], np.float32), (resamples, count))
  apart = (apart * (count / (count - 1)) ** 0.5).astype(np.float32)
  sign = sign.reshape(*sign.shape, *[1] * (apart.ndim - 1))
  return np.asarray(sign * apart)


def alike(
  values: Float[np.ndarray, 's *rest'],
  noise: Float[np.ndarray, 'resample s *rest'],
  options: RowSample,
) -> Float[np.ndarray, 'resample s *rest']:
  """What numbers of groups that are alike are apart by, rows and seeds."""
  own = seeds_alike(values, len(noise), options.seed)
  return noise if own is None else noise + own


def of_gap(
  values: Float[np.ndarray, ' s'],
  noise: Float[np.ndarray, 'resample s'] | None,
  options: RowSample,
  largest: float = 1.0,
  alike: Float[np.ndarray, 'resample s'] | None = None,
  tested: bool = True,
) -> Estimate:
  """Estimate of a gap, with what chance shows ('null') and the p of no gap.

  `noise` is f(r* − r̂), `alike` the same with what seeds add (`seeds_alike`);
  a mean of it is as large as `p` of the gaps of groups that are alike. The
  interval ends above 0 if and only if p < 1 − level (as in `difference`).
  """
  if noise is None or np.isnan(values).all():
    return estimate(values)
  value = float(np.nanmean(values))
  half = float(radius(values, noise, options))
  if not tested:  # a least or a largest rate
    low, high = max(value - half, 0.0), min(value + half, largest)
    return unless_vague(values, low, high, VAGUE * largest)
  null = chance(noise if alike is None else alike, 1)
  null = null[np.isfinite(null)]
  if not len(null):
    return estimate(values)
  size = _sizes(null)
  near = _exceeded(size, options.level)
  low = 0.0
  if value > near:
    low = max((value - near) / (1 + (half - near) / value), 0.0)
  beyond = int((size >= value).sum())
  high = min(value + half, largest)
  return {
    **unless_vague(values, low, high, VAGUE * largest),
    'null': float(null.mean()),
    'p': _tail(value, size) if not beyond else (1 + beyond) / (1 + len(size)),
    'p_at_floor': not beyond,
  }


def _tail(value: float, size: Float[np.ndarray, ' resample']) -> float:
  """A bound of p where no draw is as far off as the value.

  1/(1 + draws), or the normal's tail where that of the draws is no heavier
  than normal: the share .001 of them lies as far out as a normal of the
  largest scale that the body has.
  """
  from scipy import special

  least = 1 / (1 + len(size))
  if len(size) < 1000 or math.isinf(value):
    return least
  shares = np.array([0.05, 0.01, 0.002])
  at = size[(shares * len(size)).astype(int)]
  scales = at / -special.ndtri(shares / 2)
  # Scales that grow outwards are those of a heavier tail.
  if not scales[0] > 0 or scales[-1] > 1.15 * scales[0]:
    return least
  tail = 2 * special.ndtr(-value / (1.1 * scales.max()))
  return float(min(max(tail, 1e-300), least))


def chance(noise: np.ndarray, axis: int) -> np.ndarray:
  """Mean over an axis of what is defined; NaN where nothing is."""
  if noise.shape[axis] == 1:
    return np.asarray(noise.take(0, axis))
  known = ~np.isnan(noise)
  total = np.where(known, noise, 0).sum(axis)
  with np.errstate(invalid='ignore'):
    return np.asarray(total / known.sum(axis))


@functools.lru_cache(maxsize=4)
def _signs(resamples: int, seed: int) -> Float[np.ndarray, ' resample']:
  rng = np.random.default_rng([seed, SIGNS])
  return rng.choice(np.array([-1, 1], np.float32), resamples)


def of_mean(
  values: Float[np.ndarray, ' s'],
  draws: Float[np.ndarray, 'resample s'] | None,
  options: RowSample,
  note: str = '',
  bounds: tuple[float, float] = REALS,
) -> Estimate:
  """Estimate of one measure; `note` says why it is undefined, where it is."""
  if draws is None or not len(draws):  # none can be drawn of one cluster
    return noted(values, None, None, note)
  ends = percentiles(values, draws, options, bounds)
  return noted(values, float(ends.low), float(ends.high), note)


def of_size(
  values: Float[np.ndarray, ' s'],
  draws: Float[np.ndarray, 'resample s'] | None,
  options: RowSample,
  note: str = '',
  bounds: tuple[float, float] = REALS,
) -> Estimate:
  """Estimate of a size |x|, from draws of x on its own side of 0.

  Percentiles of |x*| never reach down to 0. The interval is that of the signed
  difference, folded at 0; over several seeds the mean of |x*_s − x_s| says how
  large a mean of sizes is where no seed has one.
  """
  known = ~np.isnan(values)
  if draws is None or not known.any():
    return noted(values, None, None, note)
  noise = difference_noise([(values, draws)], options)
  null = chance(np.abs(draws - values), 1)
  value = float(values[known].mean())
  one = difference(value, noise, options, bounds[1], null)
  low = None if one.low is None else max(one.low, 0.0)
  return noted(values, low, one.high, note)


def difference_noise(
  sides: Sequence[tuple[np.ndarray, np.ndarray]], options: RowSample
) -> Float[np.ndarray, ' resample']:
  """Draws of the error of a mean difference, by examples and seeds.

  `sides` are values [s] and draws [resample, s] of the differences of paired
  seeds, or of either run where seeds are independent.
  """
  split = [parts(values, draws) for values, draws in sides]
  if len(split) == 1:
    return np.asarray(shrunken(split[0]) + seed_noise(split[0], options))
  a, b = split
  rows = a.noise - b.noise
  alone = sum(np.maximum(p.noise.var() - p.shared, 0) for p in split)
  both = rows.var()
  share = max(1 - alone / both, 0) if both else 1
  apart = seed_noise(a, options) - seed_noise(b, options, 1)
  return np.asarray(rows * share**0.5 + apart)


class Difference(NamedTuple):
  """The interval of a difference, and the p value of there being none."""

  low: float | None
  high: float | None
  p: float | None
  p_at_floor: bool  # no draw is as far off: p is at most this (`_tail`)


def difference(
  value: float,
  noise: Float[np.ndarray, ' resample'],
  options: RowSample,
  width: float,
  null: Float[np.ndarray, ' resample'] | None = None,
) -> Difference:
  """Inference on a difference `value` from draws of its error.

  p is (1 + errors at least as large as the value) / (1 + draws), of the errors
  `null` that there would be without a difference (where errors are the same
  everywhere, `noise` itself). Let c be the size of error that as many draws
  exceed as p ≤ 1 − level allows: c₁ where the value is, c₀ at no difference.
  The interval is that of all θ within c of the value, c going from c₀ to c₁
  as θ goes from 0 to the value. So it leaves 0 out if and only if
  p ≤ 1 − level. It never leaves ±`width`, the range (`within`).
  """
  size, at_null = _sizes(noise), _sizes(noise if null is None else null)
  if not np.isfinite(value) or not len(size) or not len(at_null):
    return Difference(None, None, None, False)
  beyond = int((at_null >= abs(value)).sum())
  p = (1 + beyond) / (1 + len(at_null))
  far, near = (_exceeded(one, options.level) for one in (size, at_null))
  if not beyond:
    p = _tail(abs(value), at_null)
  return Difference(*ends(value, far, near, width), p, not beyond)


def ends(
  value: float, far: float, near: float, width: float
) -> tuple[float, float]:
  """Those of a difference whose error reaches `far` at the value, `near` at 0.

  0 is between them if and only if |value| ≤ near.
  """
  size = abs(value)
  outer = within(size, far, width, size)[1]
  if size > near:
    inner = (size - near) / (1 + (far - near) / size)
  else:
    inner = within(size, near, width)[0]
  return (inner, outer) if value >= 0 else (-outer, -inner)


def p_of_draws(null: Float[np.ndarray, ' resample'], value: float) -> Estimate:
  """(1 + draws as far from 0) / (1 + draws); the least possible is marked."""
  size = _sizes(null)
  if not np.isfinite(value) or not len(size):
    return {'p': None, 'p_at_floor': False}
  far = int((size >= abs(value)).sum())
  return {'p': (1 + far) / (1 + len(size)), 'p_at_floor': not far}


def paired(
  values: Float[np.ndarray, ' s'],
  draws: Float[np.ndarray, 'resample s'],
  options: RowSample,
  width: float,
  null: Float[np.ndarray, ' resample'] | None = None,
) -> Estimate:
  """A mean of paired differences, one a seed, as tests in results.json are."""
  noise = difference_noise([(values, draws)], options)
  one = difference(float(values.mean()), noise, options, width, null)
  return {
    'difference': estimate(values, one.low, one.high),
    'p': one.p,
    'p_at_floor': one.p_at_floor,
  }


def reaching_null(
  value: Estimate, p: float | None, options: RowSample
) -> Estimate:
  """A difference whose interval holds 0 where an exact test does not refute 0.

  Resampled intervals of few rows that differ are too narrow: 3 of 80 that one
  model alone has right exclude 0, though p = .25.
  """
  if p is None or value['low'] is None or p <= 1 - options.level:
    return value
  return {**value, 'low': min(value['low'], 0), 'high': max(value['high'], 0)}


def _sizes(noise: np.ndarray) -> np.ndarray:
  """Sizes of errors, largest first; rounding makes none less than the value."""
  size = np.sort(np.abs(noise[np.isfinite(noise)]))[::-1]
  return size.astype(np.float64) + TOLERANCE


def _exceeded(size: np.ndarray, level: float) -> float:
  allowed = int((1 - level) * (1 + len(size)) + 1e-9)
  return float(size[allowed - 1]) if allowed else math.inf


def within(
  value: float, c: float, width: float, at: float = 0.0
) -> tuple[float, float]:
  """The ends of all θ with |value − θ| ≤ c sqrt((1 − (θ/w)²) / (1 − (at/w)²)).

  c is the reach where the difference is `at`. The ends are value ± c but for
  differences that are not small, and do not leave the range w = `width`; of at
  = 0, 0 is between them if and only if |value| ≤ c (Wilson's idea).
  """
  if math.isinf(width):
    return value - c, value + c
  room = 1 - (at / width) ** 2
  if math.isinf(c) or room <= 0:
    return -width, width
  x, k = value / width, (c / width) ** 2 / room
  reach = math.sqrt(k * max(1 + k - x * x, 0))
  return width * (x - reach) / (1 + k), width * (x + reach) / (1 + k)
