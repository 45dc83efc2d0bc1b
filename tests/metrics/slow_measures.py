"""Slow twins: each measure as its definition reads, one row after another."""

import itertools

import numpy as np


def over(a, b):
  """P(a > b) + P(a = b)/2 by looking at every pair."""
  if not len(a) or not len(b):
    return np.nan
  wins = [(x > y) + 0.5 * (x == y) for x, y in itertools.product(a, b)]
  return sum(wins) / len(wins)


def suite(labels, scores, member):
  s = {
    (y, own): scores[(labels == y) & (member == own)]
    for y in (0, 1)
    for own in (True, False)
  }
  return [
    over(s[1, True], s[0, True]),
    over(s[1, True], s[0, False]),
    over(s[1, False], s[0, True]),
    over(s[1, True], s[1, False]) - 0.5,
    over(s[0, True], s[0, False]) - 0.5,
  ]


def rates(labels, decisions):
  """The eight rates of one group, by counting rows."""
  rows = list(zip(labels, decisions))
  share = lambda above, among: (
    sum(map(above, filter(among, rows))) / len(list(filter(among, rows)))
    if list(filter(among, rows))
    else np.nan
  )
  all_ = lambda row: True
  return {
    'base_rate': share(lambda r: r[0] == 1, all_),
    'selection_rate': share(lambda r: r[1] == 1, all_),
    'accuracy': share(lambda r: r[0] == r[1], all_),
    'tpr': share(lambda r: r[1] == 1, lambda r: r[0] == 1),
    'fpr': share(lambda r: r[1] == 1, lambda r: r[0] == 0),
    'tnr': share(lambda r: r[1] == 0, lambda r: r[0] == 0),
    'fnr': share(lambda r: r[1] == 0, lambda r: r[0] == 1),
    'precision': share(lambda r: r[0] == 1, lambda r: r[1] == 1),
  }


def equal_error(labels, scores):
  """Dixon's loop over 101 thresholds."""
  best, kept = None, 0.0
  for t in np.linspace(0, 1, 101):
    t = scores.dtype.type(t)
    missed = sum(1 for y, s in zip(labels, scores) if y == 1 and s < t)
    false = sum(1 for y, s in zip(labels, scores) if y == 0 and s >= t)
    gap = abs(missed - false)
    if best is not None and gap > best:
      break
    best, kept = gap, float(t)
  return kept


def weighted_auc(labels, scores, resamples, seed):
  """Bayesian bootstrap of the AUC, weighting rows and counting all pairs."""
  rng = np.random.default_rng(seed)
  a, b = scores[labels == 1], scores[labels == 0]
  wins = (a[:, None] > b) + 0.5 * (a[:, None] == b)
  out = []
  for _ in range(resamples):
    weights = rng.exponential(size=len(labels))
    u, v = weights[labels == 1], weights[labels == 0]
    out.append(u @ wins @ v / u.sum() / v.sum())
  return np.array(out)


def holm(p):
  """Step down: the smallest first, each times how many are left."""
  out, most = [0.0] * len(p), 0.0
  for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
    most = max(most, min(1, (len(p) - step) * p[i]))
    out[i] = most
  return out
