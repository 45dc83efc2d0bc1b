"""Group measures of many rows, against `bincount`s and scikit-learn."""

import argparse

import numpy as np

from fairjax.bench import race
from fairjax.metrics import counts, groups, quality
from fairjax.metrics.inference import intervals

HOW = intervals.RowSample(0.95, 0, 0)


def run(args: list[str]) -> dict:
  """Races one of the measures; see --help."""
  known = {'rows': 1_000_000, 'groups': 50, 'seed': 0}
  known['what'] = (*RACES,)
  chosen = race.options('groups', __doc__, args, **known)
  data = make(chosen.rows, chosen.groups, chosen.seed)
  make_sides, unit = RACES[chosen.what]
  sides, done = make_sides(data, chosen)
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  per_item = {k: [t / done[k] for t in one] for k, one in times.items()}
  return race.report(f'groups {chosen.what}', per_item, chosen, unit=unit)


def make(n: int, g: int, seed: int) -> tuple:
  """Labels, scores, groups: a score that favours every fifth group."""
  rng = np.random.default_rng([seed, 0xBE])
  group = rng.integers(0, g, n)
  labels = (rng.random(n) < 0.2).astype(np.int64)
  z = rng.standard_normal(n) + 1.2 * labels - 0.8 + 0.2 * (group % 5 == 0)
  scores = (1 / (1 + np.exp(-z))).astype(np.float32)
  return labels, scores, group


def _members(group: np.ndarray, g: int) -> np.ndarray:
  return np.arange(g)[:, None] == group


def rates(data: tuple, chosen: argparse.Namespace) -> tuple:
  """Equalised odds and demographic parity, from the rows to the gap."""
  labels, scores, group = data
  decisions = (scores >= 0.5).astype(np.int64)
  masks = [*_members(group, chosen.groups), np.ones(len(labels), bool)]

  def ours():
    table = counts.tabulate(labels, decisions[None], masks, 2, HOW, code=group)
    result = counts.rates(table, None, HOW).values[0, 0]
    columns = [
      result[:-1, groups.NAMES.index(rate)]
      for rate in ('selection_rate', 'fpr', 'tpr')
    ]
    dp, fpr, tpr = (np.ptp(column) for column in columns)
    return dp, max(fpr, tpr)

  def bincounts():
    cell = 2 * group + labels
    rows = np.bincount(cell, minlength=2 * chosen.groups).reshape(-1, 2)
    one = np.bincount(cell, decisions, minlength=2 * chosen.groups)
    one = one.reshape(-1, 2)
    selected = one.sum(1) / rows.sum(1)
    return np.ptp(selected), np.ptp(one / rows, axis=0).max()

  sides = {'fairjax': ours, 'bincounts': bincounts}
  _agree(sides)
  return sides, dict.fromkeys(sides, len(labels))


def auc(data: tuple, chosen: argparse.Namespace) -> tuple:
  """Overall, and each group's subgroup, BPSN and BNSP AUC."""
  labels, scores, group = data
  masks = [*_members(group, chosen.groups), np.ones(len(labels), bool)]

  def ours():
    rows = quality.rows_of(masks)
    result = quality.ranks(labels, quality.in_order(scores), rows)
    names = [quality.MEASURES.index(n) for n in ('auc', 'bpsn_auc', 'bnsp_auc')]
    return np.append(result[:-1, names].ravel(), result[-1, 0])

  sides = {'fairjax': ours}
  if not race.missing('sklearn'):
    from sklearn.metrics import roc_auc_score

    def sklearn():
      out = []
      for k in range(chosen.groups):
        own, positive = group == k, labels > 0
        for rows in (own, own != positive, own == positive):
          out.append(roc_auc_score(labels[rows], scores[rows]))
      return np.array([*out, roc_auc_score(labels, scores)])

    sides['scikit-learn'] = sklearn
  _agree(sides)
  return sides, dict.fromkeys(sides, len(labels))


def _agree(sides: dict) -> None:
  first, *others = sides
  for name in others:
    race.same(sides[first](), sides[name](), f'the measures ({name})', 1e-6)


RACES = {  # sides and what each does in a round; the unit of that
  'rates': (rates, 'rows/s'),
  'auc': (auc, 'rows/s'),
}
