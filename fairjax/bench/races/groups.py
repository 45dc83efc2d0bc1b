"""Rates of many rows in groups of one column, against two `bincount`s."""

import numpy as np

from fairjax.bench import race
from fairjax.metrics import counts, groups
from fairjax.metrics.inference import intervals

HOW = intervals.RowSample(0.95, 0, 0)


def run(args: list[str]) -> dict:
  """Equalised odds and demographic parity, from the rows to the gap."""
  chosen = race.options(
    *('groups', __doc__, args), rows=1_000_000, groups=50, seed=0
  )
  labels, decisions, group = make(chosen.rows, chosen.groups, chosen.seed)
  masks = [*(np.arange(chosen.groups)[:, None] == group)]
  masks += [np.ones(len(labels), bool)]

  def ours():
    table = counts.tabulate(labels, decisions[None], masks, 2, HOW, code=group)
    result = counts.rates(table, None, HOW).values[0, 0]
    names = ('selection_rate', 'fpr', 'tpr')
    rates = (result[:-1, groups.NAMES.index(rate)] for rate in names)
    dp, fpr, tpr = map(np.ptp, rates)
    return dp, max(fpr, tpr)

  def bincounts():
    cell, size = 2 * group + labels, 2 * chosen.groups
    rows = np.bincount(cell, minlength=size).reshape(-1, 2)
    one = np.bincount(cell, decisions, minlength=size).reshape(-1, 2)
    selected = one.sum(1) / rows.sum(1)
    return np.ptp(selected), np.ptp(one / rows, axis=0).max()

  race.same(ours(), bincounts(), 'the measures', 1e-6)
  sides = {'fairjax': ours, 'bincounts': bincounts}
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  return race.report('groups', times, chosen, unit='rows/s', items=chosen.rows)


def make(n: int, g: int, seed: int) -> tuple[np.ndarray, ...]:
  """Labels, decisions, groups: scores that favour every fifth group."""
  rng = np.random.default_rng([seed, 0xBE])
  group = rng.integers(0, g, n)
  labels = (rng.random(n) < 0.2).astype(np.int64)
  z = rng.standard_normal(n) + 1.2 * labels - 0.8 + 0.2 * (group % 5 == 0)
  return labels, (z >= 0).astype(np.int64), group
