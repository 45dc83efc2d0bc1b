"""P values of many tests, adjusted for their number and printed.

Among twenty tests of what is not so, one has p < .05. Two remedies, by name:

  holm  some false finding at all has a chance of at most α where adjusted
        p ≤ α (Holm 1979), however the tests depend on each other
  bh    of the findings with adjusted p ≤ α at most the share α is false on
        average (Benjamini and Hochberg 1995), for tests that are independent
        or positively dependent
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fairjax.core.errors import UserError

METHODS = ('holm', 'bh')
SURE = 0.05  # adjusted p below which a difference is called more than chance


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


def with_adjusted(tests: Sequence[Mapping], method: str = 'holm') -> list[dict]:
  """Tests with 'p_adjusted', and in 'adjusted' by what and for how many."""
  p = adjusted([test['p'] for test in tests], method)
  count = sum(one is not None for one in p)
  note = f'{method}, {count} test{"s" * (count != 1)}'
  return [
    {**test, 'p_adjusted': one, 'adjusted': note} for test, one in zip(tests, p)
  ]


def p_text(test: Mapping) -> str:
  """A p value in print: '0.032', '< 0.0001', and '≤ 0.001' at its floor."""
  p = test['p']
  if p is None:
    return '–'
  if test.get('p_at_floor'):
    return f'≤ {p:.1g}'
  return '< 0.0001' if p < 0.0001 else f'{p:.2g}'
