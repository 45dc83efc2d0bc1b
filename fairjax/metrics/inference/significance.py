"""P values of many tests, adjusted for their number and printed.

Among twenty tests of what is not so, one has p < .05. Two remedies, by name:

  holm  some false finding at all has a chance of at most α where adjusted
        p ≤ α (Holm 1979), however the tests depend on each other
  bh    of the findings with adjusted p ≤ α at most the share α is false on
        average (Benjamini and Hochberg 1995), for tests that are independent
        or positively dependent
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairjax.core.errors import UserError
from fairjax.metrics import measures
from fairjax.metrics.inference import tails
from fairjax.metrics.inference.estimates import Estimate

METHODS = ('holm', 'bh')
SURE = 0.05  # adjusted p up to which a difference is called more than chance
ROUNDING = 1e-9  # what products and quotients may add to an adjusted p
LEAST = 0.0001  # p values below it are printed as below it


def adjusted(
  p: Sequence[float | None], method: str = 'holm'
) -> list[float | None]:
  """Adjusted p values; tests without one (None) are not counted."""
  if method not in METHODS:
    raise UserError(
      f'{method!r} adjusts no p values; it must be one of {", ".join(METHODS)}'
    )
  known = [i for i, one in enumerate(p) if one is not None]
  values = np.array([p[i] for i in known], np.float64)
  order, m = np.argsort(values, kind='stable'), len(values)
  rank = np.arange(1, m + 1)
  if method == 'holm':
    steps = np.maximum.accumulate(values[order] * (m + 1 - rank))
  else:
    steps = np.minimum.accumulate((values[order] * m / rank)[::-1])[::-1]
  out: list[float | None] = [None] * len(p)
  for i, step in zip(order, np.minimum(steps, 1)):
    out[known[i]] = float(step)
  return out


def wider(level: float, tests: int, seeds: int = 0) -> float:
  """How much wider each of several intervals is that hold together.

  Bonferroni's; Student's of `seeds` − 1 where seeds alone made them.
  """
  tail, free = (1 - level) / 2, seeds - 1.0 if seeds > 1 else np.inf
  far, near = tails.t_ppf(1 - np.array([tail / tests, tail]), free)
  return float(far / near)


def is_significant(p: float | None, alpha: float = SURE) -> bool:
  """Adjusted p ≤ α, as both papers reject, however it is rounded.

  Benjamini and Hochberg reject where p₍ᵢ₎ ≤ i/m α: three p of exactly .05 are
  three findings, though .05 · 3 / 3 is .05000000000000001.
  """
  return p is not None and p <= alpha * (1 + ROUNDING)


def with_adjusted(tests: Sequence[Estimate]) -> list[Estimate]:
  """Tests with 'p_adjusted', and in 'adjusted' by what and for how many."""
  p = adjusted([test['p'] for test in tests])
  count = sum(one is not None for one in p)
  note = f'holm, {count} test{"s" * (count != 1)}'
  return [
    {**test, 'p_adjusted': one, 'adjusted': note} for test, one in zip(tests, p)
  ]


def of_gaps(fairness: Mapping[str, Estimate]) -> dict[str, Any]:
  """{name: p} of the parities of all attributes, adjusted by Holm for them all.

  Whatever calls a gap more than chance does so by these: the first sentence,
  its light, the paragraph below, and the list of differences.
  """
  p: dict[str, float] = {}
  gaps = measures.parities().values()
  for key, one in fairness.items():
    bare = key.rpartition('/')[2]
    # Of many classes the first screen speaks of the worst one's rate alone.
    among = bare in gaps and ('class' not in one or bare == 'eqopp1')
    if among and one.get('p') is not None:
      p[key] = one['p']
  return dict(zip(p, adjusted(list(p.values()))))


def gated(
  rows: Sequence[Estimate], fairness: Mapping[str, Estimate], prefix: str
) -> None:
  """A group's difference is no surer than the gap that it is part of.

  Its adjusted p is at least that of its rate's gap (`of_gaps`), which is of
  the largest of all such differences.
  """
  p = of_gaps(fairness)
  for row in rows:
    gap = p.get(prefix + measures.parities().get(row['rate'], ''))
    if gap is not None and row.get('adjusted') is not None:
      row['adjusted'] = max(row['adjusted'], gap)


def p_words(p: float, at_floor: bool = False) -> str:
  """'p = 0.032', or 'p ≤ 0.001' where no smaller one could have come out."""
  if p < 0.9 * LEAST:  # a floor of 10,000 resamples is 1/10,001
    return f'p < {LEAST:.4f}'
  return f'p {"≤" if at_floor else "="} {p:.2g}'


def p_text(test: Mapping[str, Any]) -> str:
  """A p value in print: '0.032', '< 0.0001', and '≤ 0.001' at its floor."""
  p = test['p']
  if p is None:
    return '–'
  if p < 0.9 * LEAST:
    return f'< {LEAST:.4f}'
  return f'≤ {p:.1g}' if test.get('p_at_floor') else f'{p:.2g}'
