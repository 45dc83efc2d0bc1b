"""The mean of independent estimates, from their intervals.

Of θ̂ₖ with intervals [lₖ, uₖ], made of different rows, the mean of K has

    L = θ̂ − √Σ(θ̂ₖ − lₖ)² / K,    U = θ̂ + √Σ(uₖ − θ̂ₖ)² / K

(the method of variance estimates recovery; Zou and Donner 2008): each bound
gives the error of its own side, so skewed intervals make a skewed one. p is the
normal one whose interval reaches 0 where this does.
"""

import math
from collections.abc import Mapping, Sequence

from scipy import special

from fairjax.metrics.inference.estimates import estimate


def mean(parts: Sequence[Mapping]) -> dict:
  """The estimate of the mean of estimates, and of each seed's mean."""
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
  reach = lambda side: (
    math.sqrt(sum((one[side] - one['value']) ** 2 for one in parts)) / count
  )
  known = all(
    one.get(side) is not None for one in parts for side in ('low', 'high')
  )
  low = whole - reach('low') if known else None
  high = whole + reach('high') if known else None
  return estimate([whole], low, high, note) | {'seeds': values}


def p_of(one: Mapping, level: float) -> float | None:
  """Of a difference with an interval at `level`: below 1 − level without 0."""
  if one.get('low') is None:
    return None
  value = one['value']
  half = value - one['low'] if value > 0 else one['high'] - value
  if not half:
    return 1.0 if not value else 0.0
  z = abs(value) / half * special.ndtri(0.5 + level / 2)
  return float(2 * special.ndtr(-z))
