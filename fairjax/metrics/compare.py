"""Is one run better than another on the same rows, or is it chance?

*Permutation test over examples* (measures of counts). If the two runs were
alike, each row's decisions could be exchanged between them. Rows that agree in
groups, label and all decisions are interchangeable, so the number of exchanged
rows of a cell is binomial, and a draw costs the same for any number of rows.
p = (1 + draws at least as far from 0) / (1 + draws).

*Bootstrap test over examples and seeds* (AUC): p is the share of resampled
differences at least as far from the observed one as that is from 0.

*t-test over seeds*: of the s values of either run, independent with equal
variances as in Zhang et al. (2020), or paired where seed k of both runs shares
what seeds decide. It is undefined, and says so, where no seed differs from
another.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Integer

from fairjax.errors import UserError
from fairjax.metrics import (
  counts,
  groups,
  intervals,
  measures,
  quality,
  rankings,
)
from fairjax.metrics.assess import binary, check, decide
from fairjax.metrics.intervals import How, estimate

EQUAL = 1e-12  # what rounding may leave of no difference


def compare(
  labels: Integer[np.ndarray, ' n'],
  ours: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  theirs: Float[np.ndarray, 'z m'] | Float[np.ndarray, 'z m k'],
  members: Bool[np.ndarray, 'g n'] | None = None,
  group_names: Sequence[str] = (),
  *,
  threshold: str | float = '0.5',
  level: float = 0.95,
  resamples: int = 10000,
  seed: int = 0,
) -> list[dict]:
  """Differences ours − theirs of the main measures, each with a paired test.

  Args are those of `assess`; the groups are of one attribute. Both runs have
  the same rows and the same number of seeds.

  Returns:
    For each measure {'measure', 'difference': Estimate, 'p', 'test', 'n'}; a
    second line for each where there are seeds for a t-test.
  """
  if ours.shape != theirs.shape:
    raise UserError(
      f'the runs have probabilities of shapes {ours.shape} and {theirs.shape}; '
      'a paired test needs the same rows and as many seeds'
    )
  if members is None:
    members = np.zeros((0, len(labels)), bool)
  both = binary(np.concatenate([ours, theirs]))
  check(labels, both, members, group_names, [''] * len(members))
  how = How(level, resamples, seed)
  decisions = np.concatenate(
    [decide(labels, binary(one), threshold)[0] for one in (ours, theirs)]
  )
  masks = np.concatenate([members, np.ones((1, len(labels)), bool)])
  out = _count_tests(labels, both, decisions, masks, how)
  if both.ndim == 2:
    out.append(_auc_test(labels, both, masks, how))
  if len(ours) > 1:
    out += [
      {'measure': one['measure'], **over_seeds(*one['values'], level=level)}
      for one in out
    ]
  return [
    {key: value for key, value in one.items() if key != 'values'} for one in out
  ]


def _count_tests(labels, scores, decisions, masks, how) -> list[dict]:
  classes = scores.shape[-1] if scores.ndim == 3 else 2
  table = counts.tabulate(labels, decisions, masks, classes, how.seed)
  observed = _measures(table.groups.sum(0)[None], table.confusion.sum(0)[None])
  drawn = intervals.draw(table.items, how.resamples, how.seed)
  resampled = _measures(*_totals(drawn, table.groups, table.confusion))
  swapped = _measures(*_exchanged(table, how))
  out = []
  for name, value in observed.items():
    ours, theirs = np.split(value[0].astype(np.float64), 2)
    values = ours - theirs
    draws = _difference(resampled[name])
    found = intervals.of_mean(
      values, draws, how, 'undefined in one of the runs'
    )
    null = _difference(swapped[name]).mean(1)
    out.append(
      {
        'measure': name,
        'difference': found,
        'p': _share(null, values.mean()),
        'test': 'paired permutation over examples',
        'n': len(labels),
        'values': (ours, theirs),
      }
    )
  return out


def _difference(both: np.ndarray) -> np.ndarray:
  """[b, 2s] to ours − theirs [b, s]."""
  ours, theirs = np.split(both, 2, axis=1)
  return ours - theirs


def _share(null: np.ndarray, value: float) -> float | None:
  """The p value; rounding in float32 does not make a draw less extreme."""
  if not np.isfinite(value):
    return None
  far = np.abs(null[np.isfinite(null)]) >= abs(value) - 1e-6
  return float((1 + far.sum()) / (1 + len(far)))


def _totals(drawn: np.ndarray, *tables: np.ndarray) -> list[np.ndarray]:
  return [
    np.asarray(intervals.resampled(drawn, intervals.pad(one))) for one in tables
  ]


def _exchanged(table: counts.Table, how: How) -> list[np.ndarray]:
  """Totals after exchanging rows between the two halves of the seeds."""
  rng = np.random.default_rng([how.seed, intervals.SWAPS])
  size, m = table.items.size, len(table.items.size)
  drawn = np.zeros((how.resamples, intervals.padded(m)), np.float32)
  if table.items.cells:
    drawn[:, :m] = rng.binomial(size, 0.5, (how.resamples, m)) / size
  else:
    drawn[:, :m] = rng.integers(0, 2, (how.resamples, m))
  out = []
  for one in (table.groups, table.confusion):
    ours, theirs = np.split(one, 2, axis=1)
    (moved,) = _totals(drawn, theirs - ours)
    ours, theirs = ours.sum(0), theirs.sum(0)
    out.append(np.concatenate([ours + moved, theirs - moved], 1))
  return out


def _measures(of_groups: np.ndarray, confusion: np.ndarray) -> dict:
  """Measures [b, s] from counts [b, s, k, g+1, 4] and [b, s, c, c]."""
  found = quality.from_confusion(confusion.astype(np.float32))
  out = {name: np.asarray(one) for name, one in found.items()}
  if of_groups.shape[3] > 2:
    parts = groups.reduce(groups.rates(of_groups.astype(np.float32)))
    parts = {key: np.asarray(one) for key, one in parts.items()}
    for name, (chosen, kind, one_minus) in measures.gaps().items():
      if measures.MEASURES[name].better:
        columns = [groups.NAMES.index(rate) for rate in chosen]
        # Of many classes the worst counts; one class is itself.
        gap = parts[kind][..., columns].mean(-1)
        gap = np.where(np.isnan(gap), -np.inf, gap).max(-1)
        gap = np.where(np.isfinite(gap), gap, np.nan)
        out[name] = 1 - gap if one_minus else gap
  return out


def _auc_test(labels, scores, masks, how) -> dict:
  items = intervals.blocks(len(labels), how.seed)
  count = min(how.resamples, intervals.RANKS)
  drawn = intervals.draw(items, count, how.seed)
  suites = rankings.suites(labels, scores, masks[-1:], items, drawn, how)
  ours, theirs = np.split(suites.values[:, -1, 0], 2)
  a, b = np.split(suites.draws[:, :, -1, 0], 2, axis=1)
  values, draws = ours - theirs, a - b
  mean = intervals.seed_mean(
    draws, intervals.seed_draws(len(values), count, how.seed)
  )
  return {
    'measure': 'auc',
    'difference': intervals.of_mean(
      values, draws, how, 'undefined in one of the runs'
    ),
    'p': _share(mean - values.mean(), values.mean()),
    'test': 'paired bootstrap over examples and seeds',
    'n': len(labels),
    'values': (ours, theirs),
  }


def over_seeds(
  ours: Float[np.ndarray, ' s'],
  theirs: Float[np.ndarray, ' z'],
  *,
  paired: bool = False,
  level: float = 0.95,
) -> dict:
  """Two-sided t-test of the values of a measure over the seeds of two runs."""
  import scipy.stats

  name = ('paired' if paired else 'independent') + ' t-test over seeds'
  n = len(ours) if paired else len(ours) + len(theirs)
  gap = float(np.mean(ours) - np.mean(theirs))
  seeds = list(ours - theirs) if len(ours) == len(theirs) else [gap]
  out = {'p': None, 'test': name, 'n': n}
  if min(len(ours), len(theirs)) < 2 or not np.isfinite(gap):
    note = 'a t-test needs two seeds of each run in which it is defined'
    return {'difference': estimate(seeds, note=note), **out}
  parts = [ours - theirs] if paired else [ours, theirs]
  spread = np.concatenate([one - one.mean() for one in parts])
  if np.abs(spread).max() < EQUAL * max(np.abs(ours).max(), 1):
    note = 'the seeds do not differ'
    if paired and abs(gap) > EQUAL:
      note = 'every seed differs by the same amount, so that no t is defined'
    return {'difference': estimate(seeds, note=note), **out}
  # In our own words: scipy's functions warn where one run is constant.
  free = n - len(parts)
  error = np.sqrt((spread @ spread) / free * sum(1 / len(o) for o in parts))
  half = scipy.stats.t.ppf((1 + level) / 2, free) * error
  return {
    'difference': estimate(seeds, gap - half, gap + half),
    **out,
    'p': float(2 * scipy.stats.t.sf(abs(gap) / error, free)),
  }
