"""What the healthy data diet's paper claims, as rows of a page of verdicts."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax.data.tables import score_table as table
from fairjax.metrics.inference import clusters, intervals
from fairjax.report import findings, tables, verdict
from fairjax.scores import rank_overlap
from fairjax.stages import Experiment

# Largest share of the AUC of `none` that a chosen diet may cost.
BUDGET = 0.03


def verdicts(e: Experiment, scores: pd.DataFrame, ours: str) -> list[dict]:
  """The paper's claims of a diet, as far as the contenders speak of them."""
  total, share = (e.contenders[ours]['facts'][k] for k in ('total', 'of CDA'))
  out = [at_most_half(ours, total, round(total / share))]
  if 'none' in e.contenders:
    sets = e.contenders['none']['sets']
    aucs = {n: one['quality'].get('auc', {}) for n, one in sets.items()}
    out = costs_little(e.tests, ours, aucs, BUDGET) + out
  if e.config.seeds > 1 and table.seed_columns(scores, 'ge'):
    # Probes of other seeds would choose the same rows by GE.
    out += seeds_agree(rank_overlap.seeds(scores, 'ge'), e.how.level)
  return out


def costs_little(
  tests: Sequence[Mapping], ours: str, aucs: Mapping, budget: float
) -> list[dict]:
  """`ours` loses at most the share `budget` of the AUC of no mitigation.

  `aucs` are {set: its Estimate}.
  """
  return [
    verdict.claim(
      f'{ours} keeps {tables.percent(1 - budget)} of the AUC of none on '
      f'{t["set"]}',
      findings.scaled(t['difference'], 1 / aucs[t['set']]['value']),
      -budget,
      t['test'],
      what='change as a share of the AUC of none',
    )
    for t in verdict.over_examples(tests, ours, 'none')
    if t['measure'] == 'auc' and tables.defined(aucs[t['set']])
  ]


def at_most_half(ours: str, rows: int, cda: int) -> dict:
  """`ours` is trained on at most half as many rows as CDA."""
  share = rows / cda
  return {
    'claim': f'{ours} takes at most half the rows of cda',
    'verdict': verdict.HOLDS if share <= 0.5 else verdict.FAILS,
    'what': f'{rows:,} of {cda:,} rows, a share of',
    'effect': {'value': share, 'low': None, 'high': None},
    'side': 'at most',
    'bound': 0.5,
    'test': verdict.COUNT,
    'p': None,
  }


def over_range(
  claim: str, values: Sequence[float], bound: float, test: str, what: str
) -> dict:
  """A claim of the least of several shares, which have no chance in them."""
  effect = {'value': min(values), 'low': min(values), 'high': max(values)}
  return verdict.claim(claim, effect, bound, test, what=what)


def seeds_agree(rows: Sequence[Mapping], level: float) -> list[dict]:
  """One seed chooses as the mean does: over 60 % at 10 %, 80 % from 30 % on.

  `rows` are those of `overlap.seeds`; the interval is Student's, over seeds, or
  where ties make one share of all, that of `_by_ties`.
  """
  out = []
  for fraction, bound in ((0.1, 0.6), (0.3, 0.8), (0.4, 0.8), (0.5, 0.8)):
    these = [r for r in rows if math.isclose(r['fraction'], fraction)]
    if not these:
      continue
    effect = over_seeds([r['fair'] for r in these], level)
    test = verdict.OVER_SEEDS
    by_ties = effect['low'] is None and _by_ties(these, level)
    if by_ties:
      effect, test = effect | by_ties, 'interval over rows'
    out.append(
      verdict.claim(
        f'GE of one seed chooses over {bound:.0%} of the rows that the mean '
        f'over seeds does, at {fraction:.0%}',
        effect,
        bound,
        test,
        what='share in common',
      )
    )
  return out


def _by_ties(rows: Sequence[Mapping], level: float) -> dict | None:
  """The interval of a share that seeds agree on, where ties make it.

  Of a share q of the rows, all π that have a score are chosen, and others by
  lot: f(π) = (π + (q - π)² / (1 - π)) / q is in common, which grows with π. So
  the ends are those of π, of which the rows at hand are a sample.
  """
  one = rows[0]
  scored, of, q = float(one['above']), float(one['rows']), one['chance']
  share = lambda p: (p + (q - p) ** 2 / (1 - p)) / q if p < q else 1.0
  if len(rows) < 2 or not math.isclose(share(scored / of), one['fair']):
    return None
  low, high = map(share, clusters.jeffreys(scored, of, level))
  return {'low': low, 'high': high, 'note': 'the seeds agree'}


def over_seeds(values: Sequence[float], level: float) -> dict:
  """The mean of a few shares with Student's interval, kept in [0, 1]."""
  mean, n = float(np.mean(values)), len(values)
  out = {'value': mean, 'low': None, 'high': None, 'seeds': list(values)}
  if n < 2:
    return out | {'note': 'an interval over seeds needs two of them'}
  error = np.std(values, ddof=1) / n**0.5
  if np.ptp(values) == 0:
    return out | {'note': 'the seeds agree, so they tell nothing of a spread'}
  reach = float(clusters.reach(error, n - 1, level))
  middle = 2 * mean - 1  # a share as a difference, from -1 to 1
  low, high = intervals.within(middle, 2 * reach, 1.0, middle)
  return out | {'low': (low + 1) / 2, 'high': (high + 1) / 2}
