"""One reported number: its value, interval, seeds, and what there is to say.

An estimate is {'value', 'low', 'high', 'seeds'}: the mean over seeds, the ends
of its interval and the value of each seed, None where undefined. It may have
'note' (why it is undefined, or doubtful), 'class' (the worst class of many)
and 'null' (what chance alone gives a gap: its mean for groups that do not
differ, were they as large as these).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import special

from fairjax.core import errors
from fairjax.metrics.inference import tails

Estimate = dict[str, Any]
Estimates = dict[str, Estimate]  # by the names of measures
Row = dict[str, Any]  # of a table: words, numbers and estimates
Function = Callable[[np.ndarray], np.ndarray]  # of totals [..., k], as a rule
STILL = 'no draw of rows differs: no interval'
FEW = ' are too few for an interval'
VAGUE = 0.98  # share of its range from which on an interval says nothing


def estimate(
  seeds: Iterable[float | None],
  low: float | None = None,
  high: float | None = None,
  note: str = '',
) -> Estimate:
  """An estimate whose value is the mean over the seeds where it is defined."""
  each = [_number(v) for v in seeds]
  known = [v for v in each if v is not None]
  out: Estimate = {
    'value': sum(known) / len(known) if known else None,
    'low': _number(low) if known else None,
    'high': _number(high) if known else None,
    'seeds': each,
  }
  if note:
    out['note'] = note
  return out


def of_value(
  value: float | None,
  low: float | None = None,
  high: float | None = None,
  note: str = '',
) -> Estimate:
  """An estimate that no seeds stand behind, as of a benchmark's items."""
  known = [] if value is None else [value]
  return {**estimate(known, low, high, note), 'seeds': []}


def _number(value: float | None) -> float | None:
  if value is None or not math.isfinite(value):
    return None
  return float(value)


def noted(
  values: Float[np.ndarray, ' s'],
  low: float | None,
  high: float | None,
  note: str,
) -> Estimate:
  """An estimate with `note` only where it is undefined."""
  if np.isnan(values).any():
    return estimate(values, low, high, note)
  if low is None or not math.isnan(low):
    return estimate(values, low, high)
  agree = len(values) < 2 or np.ptp(values) == 0
  return estimate(values, note=STILL if agree else too_few(values))


def too_few(values: Sequence[float] | Float[np.ndarray, ' s']) -> str:
  """Why an interval of shares would be the whole range: seeds, or rows.

  Seeds, where theirs alone, t s/√n on either side, is half of that or more.

  >>> [too_few(seeds).removesuffix(FEW) for seeds in ([0.2, 0.9], [0.5, 0.51])]
  ['2 seeds', 'the rows']
  """
  n = len(values)
  alone = n > 1 and tails.t_ppf(0.975, n - 1) * np.std(values, ddof=1) / n**0.5
  return (errors.count(n, 'seed') if alone >= VAGUE / 4 else 'the rows') + FEW


def unless_vague(
  values: Sequence[float] | Float[np.ndarray, ' s'],
  low: float | None,
  high: float | None,
  most: float,
  note: str = '',
) -> Estimate:
  """An Estimate without ends where those of several seeds are `most` apart."""
  if len(values) > 1 and low is not None and high is not None:
    if high - low > most:
      return estimate(values, note=note or too_few(values))
  return estimate(values, low, high, note)


def too_wide(value: Mapping[str, Any]) -> str:
  """Why an interval says nothing that is all of [0, 1], or ±½ of an AEG."""
  low, high = value.get('low'), value.get('high')
  if low is None or high is None or high - low <= VAGUE:
    return ''
  if not ((0 <= low and high <= 1) or max(-low, high) <= 0.5):
    return ''
  return too_few([v for v in value.get('seeds', ()) if v is not None])


def in_table(value: Mapping[str, Any]) -> dict[str, Any]:
  """Its columns in a table, as a page says it: no ends that say nothing."""
  out = {key: value.get(key) for key in ('value', 'low', 'high', 'note')}
  if why := too_wide(value):
    out |= {'low': None, 'high': None, 'note': why}
  return out


def of_ratio(
  values: Float[np.ndarray, ' s'], half: float | None, null: float | None = None
) -> Estimate:
  """Estimate of a ratio min/max, with the radius of its logarithm."""
  if half is None:
    return estimate(values)
  if not np.nanmin(values) > 0:
    return estimate(values, 0.0, None, 'a group has rate 0: no upper end')
  value = np.nanmean(values)
  low, high = value * np.exp(-half), value * np.exp(half)
  out = unless_vague(values, low, min(high, 1.0), VAGUE)
  return out if null is None else {**out, 'null': _number(null)}


def complement(one: Estimate) -> Estimate:
  """The estimate of 1 − x."""
  turn: Callable[..., float | None] = lambda v: None if v is None else 1 - v
  out = {
    **one,
    'value': turn(one['value']),
    'low': turn(one['high']),
    'high': turn(one['low']),
    'seeds': [turn(v) for v in one['seeds']],
  }
  return {**out, 'null': turn(one['null'])} if 'null' in one else out


def of_share(k: int, n: int, level: float) -> Estimate:
  """k of n with the interval of Wilson (1927)."""
  if not n:
    return estimate([math.nan], note='there is none')
  return estimate([k / n], *tails.wilson(k, n, level))


def mean(parts: Sequence[Mapping[str, Any]]) -> Estimate:
  """The mean of independent estimates, and of each seed's.

  Of θ̂ₖ with intervals [lₖ, uₖ], made of different rows, the mean of K has

      L = θ̂ − √Σ(θ̂ₖ − lₖ)² / K,    U = θ̂ + √Σ(uₖ − θ̂ₖ)² / K

  (the method of variance estimates recovery; Zou and Donner 2008): each bound
  gives the error of its own side, so skewed intervals make a skewed one.
  """
  count = len(parts)
  if any(one.get('value') is None for one in parts) or not count:
    return estimate([], note='undefined in one of the parts')
  seeds = [of for one in parts if (of := one.get('seeds'))]
  whole = sum(one['value'] for one in parts) / count
  same = len(seeds) == count and len({len(one) for one in seeds}) == 1
  values = [
    None if None in of else sum(of) / count
    for of in (zip(*seeds) if same else [(whole * count,)])
  ]
  note = 'undefined in a seed of one of the parts' if None in values else ''
  reach: Callable[[str], float] = lambda side: (
    math.sqrt(sum((one[side] - one['value']) ** 2 for one in parts)) / count
  )
  known = all(one.get(k) is not None for one in parts for k in ('low', 'high'))
  low = whole - reach('low') if known else None
  high = whole + reach('high') if known else None
  return estimate([whole], low, high, note) | {'seeds': values}


def p_of(one: Mapping[str, Any], level: float) -> float | None:
  """The normal p whose interval reaches 0 where this one, at `level`, does."""
  if one.get('low') is None:
    return None
  value = one['value']
  half = value - one['low'] if value > 0 else one['high'] - value
  if not half:
    return 1.0 if not value else 0.0
  z = abs(value) / half * special.ndtri(0.5 + level / 2)
  return float(2 * special.ndtr(-z))
