"""Worlds with a known truth: how often intervals hold it, and tests reject."""

import numpy as np
from scipy.stats import norm

from fairjax.metrics.assess import assess
from fairjax.metrics.inference.intervals import IntervalOptions
from fairjax.metrics.paired import compare

draws = lambda *own: IntervalOptions(0.95, *own)


def squash(z):
  return 1 / (1 + np.exp(-z))


def held(estimate, truth):
  return estimate['low'] - 1e-9 <= truth <= estimate['high'] + 1e-9


def rate(rng, n=100, p=0.04):
  """Accuracy of n rows of which a share p is wrong; truths by measure."""
  labels = (rng.random(n) < 0.5).astype(int)
  wrong = rng.random(n) < p
  scores = np.where(wrong, 1 - labels, labels) * 0.8 + 0.1
  truth = {('quality', m): 1 - p for m in ('accuracy', 'tpr', 'tnr', 'mcc')}
  truth['quality', 'fpr'] = truth['quality', 'fnr'] = p
  truth['quality', 'f1'] = 1 - p
  truth['quality', 'balanced_accuracy'] = 1 - p
  truth['quality', 'mcc'] = 1 - 2 * p
  return (labels, scores[None]), truth


def ranking(rng, positives=50, negatives=150, auc=0.99):
  """Binormal scores in two groups, both alike, so every AUC is the same."""
  labels = np.repeat([1, 0], [positives, negatives])
  gap = norm.ppf(auc) * 2**0.5
  scores = squash(rng.normal(size=len(labels)) + gap * labels)
  group = rng.integers(0, 2, len(labels))
  members = np.stack([group == 0, group == 1])
  truth = {
    ('quality', 'auc'): auc,
    ('a', 'auc'): auc,
    ('a', 'bpsn_auc'): auc,
    ('a', 'bnsp_auc'): auc,
    ('a', 'positive_aeg'): 0.0,
  }
  return (labels, scores[None], members, ['a', 'b']), truth


def seeded(rng, seeds=5, n=2000, effect=0.3, share=0.3):
  """Each seed errs in its own share of the rows, of mean `share`."""
  labels = rng.integers(0, 2, n)
  at = norm.ppf(share) * (1 + effect**2) ** 0.5
  p = norm.cdf(at + effect * rng.normal(size=(seeds, 1)))
  wrong = rng.random((seeds, n)) < p
  scores = np.where(wrong, 1 - labels, labels) * 0.8 + 0.1
  truth = {('quality', 'accuracy'): 1 - share}
  truth['quality', 'balanced_accuracy'] = 1 - share
  truth['quality', 'mcc'] = 1 - 2 * share
  truth['quality', 'auc'] = 1 - share
  return (labels, scores), truth


def coverage(world, sets, seed=0, resamples=1000, **options):
  """How often the interval of each measure holds the truth."""
  rng, hits = np.random.default_rng(seed), {}
  for _ in range(sets):
    data, truth = world(rng, **options)
    found = assess(*data, options=draws(resamples), min_group=1)
    for (room, name), value in truth.items():
      one = found.get(room, found['groups'].get(room))[name]
      if one['value'] is not None:
        hits.setdefault(f'{room} {name}', []).append(held(one, value))
  return {name: float(np.mean(hit)) for name, hit in hits.items()}


def alike(rng, seeds=5, n=400, effect=0.2, groups=2, own=0.7):
  """Two runs of one method: seeds shift the scores of groups and all rows."""
  labels, group = rng.integers(0, 2, n), rng.integers(0, groups, n)
  base = rng.normal(size=n) + 1.4 * labels - 0.7
  draw = lambda: squash(
    base
    + own * rng.normal(size=(seeds, n))
    + 2 * effect * rng.normal(size=(seeds, 1))
    + 2 * effect * rng.normal(size=(seeds, groups))[:, group]
  )
  members = np.arange(groups)[:, None] == group
  names = [str(g) for g in range(groups)]
  return labels, draw(), draw(), members, names


def level(world, sets, seed=0, resamples=1000, below=0.05, **options):
  """How often p < .05: of the leading test, permutation and t-test."""
  rng, small = np.random.default_rng(seed), {}
  for _ in range(sets):
    for one in compare(*world(rng, **options), options=draws(resamples)):
      kind = 't-test' if 't-test' in one['test'] else 'leading'
      if one['p'] is not None:
        small.setdefault((kind, one['measure']), []).append(one['p'] < below)
      if 'permutation' in one:
        p = one['permutation']['p']
        small.setdefault(('permutation', one['measure']), []).append(p < below)
      low, high = one['difference']['low'], one['difference']['high']
      if one['p'] is not None:
        assert (low <= 0 <= high) == (one['p'] > below), one
  return {name: float(np.mean(hit)) for name, hit in small.items()}


def apart(rng, n=400, groups=2, shift=0.6, seeds=1):
  """A run that treats groups alike, and one that favours the first."""
  labels, group = rng.integers(0, 2, n), rng.integers(0, groups, n)
  base = rng.normal(size=n) + 1.4 * labels - 0.7
  draw = lambda by: squash(
    base + 0.5 * rng.normal(size=(seeds, n)) + by * (group == 0)
  )
  members = np.arange(groups)[:, None] == group
  return (
    labels,
    draw(0.0),
    draw(shift),
    members,
    [str(g) for g in range(groups)],
  )


def between(sets, seed=0, resamples=500, large=200_000, **options):
  """How often a difference of gaps is in its interval: {measure: (of the gaps

  that sets of this size show, of the gaps of the true rates)}.
  """
  rng, ends, truth = np.random.default_rng(seed), {}, {}
  for one in compare(*apart(rng, **options | {'n': large}), options=draws(2)):
    truth[one['measure']] = one['difference']['value']
  for _ in range(sets):
    for one in compare(*apart(rng, **options), options=draws(resamples)):
      d = one['difference']
      if d['low'] is not None and 't-test' not in one['test']:
        ends.setdefault(one['measure'], []).append(
          (d['low'], d['value'], d['high'])
        )
  out = {}
  for name, rows in ends.items():
    low, value, high = np.array(rows, float).T
    shown = lambda at: float(np.mean((low <= at) & (at <= high)))
    out[name] = (shown(value.mean()), shown(truth[name]))
  return out
