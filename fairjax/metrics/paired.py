"""Paired tests: is one run better than another on the same rows?

*The leading test* of every measure is over examples and seeds, as its interval
is: both are of the same draws of the error of the mean difference (the paired
bootstrap of resampling.py, with a part for the seeds), so an interval holds 0
if and only if p is above 1 − level. It asks whether the *methods* differ, of
which the seeds at hand are a sample. Chance
widens the smaller of two gaps more (the 'null' of an assessment says how much),
so its interval reaches as far as the true gaps may lie: of a model without a
gap beside one with, in .95 of sets (tests/coverage.py).

*Permutation test over examples* (measures of counts), in the field
'permutation' of the leading test: do *these models* differ? If they were alike,
each row's decisions could be exchanged between the runs. Rows that agree in
groups, label and all decisions are interchangeable, so the number of exchanged
rows of a cell is binomial, and a draw costs the same for any number of rows.
p = (1 + draws at least as far from 0) / (1 + draws). Seeds that differ by more
than chance make it small for two runs of one and the same method.

*t-test over seeds* of the s values of either run on these very rows: paired
where seed k of both runs shares what seeds decide (initialisation, order), as
here by construction, or independent with equal variances as in Zhang et al.
(2020). It is undefined, and says so, where no seed differs from another.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from fairjax.core.errors import UserError
from fairjax.metrics import counts, groups, measures, quality, rankings
from fairjax.metrics.assess import MIN_GROUP, binary, check, decide
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import Groups, of_columns
from fairjax.metrics.inference import (
  clustered_rates,
  clusters,
  intervals,
  resampling,
)
from fairjax.metrics.inference.estimates import Row, estimate, unless_vague
from fairjax.metrics.inference.intervals import DEFAULTS, RowSample
from fairjax.metrics.inference.ratios import Values

# Of an error that reaches as far as the range ±w, the ends are √2 w apart.
WIDEST = 2**0.5
# With either run's values, and the width of the range of a difference.
Tested = tuple[Row, tuple[np.ndarray, np.ndarray], float]
EQUAL = 1e-12  # what rounding may leave of no difference
ALIKE = 'the two are alike in every row, so that no interval is defined'


def compare(
  labels: Integer[np.ndarray, ' n'],
  ours: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  theirs: Float[np.ndarray, 'z m'] | Float[np.ndarray, 'z m k'],
  groups: Groups | None = None,
  *,
  threshold: str | float | tuple[str | float, str | float] = '0.5',
  options: RowSample = DEFAULTS,
  min_group: int = MIN_GROUP,
  paired: bool = True,
) -> list[Row]:
  """Differences ours − theirs of the main measures, each with its test.

  Args are those of `assess` (a pair of thresholds: each run's own). Both runs
  have the same rows and the same number of seeds; `paired` says that seed k of
  both decides the same things, which runs of one config but for the method
  have.

  Returns:
    For each measure {'measure', 'difference': estimate, 'p', 'p_at_floor':
    whether p is the least there can be, so that it is a bound, 'test', 'n',
    'permutation': {'p', 'p_at_floor', 'test'} for measures of counts}; a
    second line for each, without 'permutation', where there are seeds for a
    t-test.
  """
  if ours.shape != theirs.shape:
    raise UserError(
      f'the runs have probabilities of shapes {ours.shape} and {theirs.shape}; '
      'a paired test needs the same rows and as many seeds'
    )
  groups = groups or of_columns({}, len(labels))
  both = binary(np.concatenate([ours, theirs]))
  check(labels, both, groups)
  limits = threshold if isinstance(threshold, tuple) else (threshold,) * 2
  decisions = np.concatenate(
    [
      decide(labels, binary(one), limit, options.weight)[0]
      for one, limit in zip((ours, theirs), limits)
    ]
  )
  case = Case(labels, both, decisions, groups, options, min_group)
  tested: dict[str, Tested] = {}
  for kind in groups.kinds or ['']:
    for one in _count_tests(case.of(kind), paired):
      name = one[0]['measure']
      if measures.is_gap(name):
        one[0]['measure'] = groups.key(kind, name)
      tested.setdefault(one[0]['measure'], one)
  out = [*tested.values()]
  if both.ndim == 2:
    out.append(_auc_test(case, paired))
  rows = [one | {'n': len(labels)} for one, *_ in out]
  if len(ours) > 1:
    how: dict[str, Any] = {'paired': paired, 'level': options.level}
    rows += [
      {'measure': one['measure'], **over_seeds(*values, **how, width=width)}
      for one, values, width in out
    ]
  return rows


def of_draws(
  name: str,
  values: tuple[Float[np.ndarray, ' s'], Float[np.ndarray, ' s']],
  draws: tuple[Float[np.ndarray, 'r s'], Float[np.ndarray, 'r s']],
  options: RowSample,
  sizes: bool = False,
) -> Row:
  """The paired test of ours − theirs of a measure, from draws made alike.

  Of `sizes` draws are of the signed numbers, each on the side of its value.
  """
  both, each = np.concatenate(values), np.concatenate(draws, 1)
  gaps = np.abs(each) if sizes else None
  beyond = _beyond(both, np.abs(each - both) if sizes else None, options)
  return _leading(name, both, each, options, 1, True, None, beyond, gaps)[0]


def _leading(
  name: str,
  both: np.ndarray,
  draws: np.ndarray,
  options: RowSample,
  count: int,
  paired: bool,
  alike: np.ndarray | None = None,
  beyond: tuple[float, float] = (0.0, 0.0),
  gaps: np.ndarray | None = None,
) -> Tested:
  """The test of a measure [2s] over examples and seeds.

  `alike` are draws of two runs that have the same rates, and `beyond` is how
  far below and above a difference of gaps that of the true ones may lie.
  `gaps` are draws of gaps or sizes, whichever side of 0 a draw is on.
  """
  both = both.astype(np.float64)
  ours, theirs = np.split(both, 2)
  values = ours - theirs
  known, (_, width) = ~np.isnan(values), measures.apart(name, count)
  out: dict[str, Any] = dict.fromkeys(('low', 'high', 'p'))
  out['p_at_floor'] = False
  if known.any() and len(draws):
    noise = _noise(both, draws, options, paired)
    null = None
    if alike is not None:
      null = _noise(both, alike, options, paired)
    value = values[known].mean()
    out = intervals.difference(value, noise, options, width, null)._asdict()
    if out['p'] is not None:
      if gaps is not None:
        noise = _noise(both, gaps, options, paired)
        out |= _of_either_side(gaps, noise, options, out)
      below, above = beyond
      low, high = max(value - below, -width), min(value + above, width)
      # The end beside 0 stays where p says that 0 is outside.
      held = out['p'] > 1 - options.level
      if held or value < 0:
        out['low'] = min(out['low'], low)
      if held or value > 0:
        out['high'] = max(out['high'], high)
  note = '' if known.all() else 'undefined in one of the runs'
  if paired and known.any() and _alike(values[known], draws):
    # Rows that agree do not say how often others would not.
    out |= {'low': None, 'high': None, 'p': 1.0}
    note = note or ALIKE
  ends = out.pop('low'), out.pop('high')
  test = 'paired bootstrap over examples'
  row = {
    'measure': name,
    'difference': unless_vague(values, *ends, WIDEST * width, note),
    **out,
    'test': test + (' and seeds' if len(values) > 1 else ''),
  }
  return row, (ours, theirs), width


def _of_either_side(
  gaps: np.ndarray, noise: np.ndarray, options: RowSample, one: Row
) -> Row:
  """The same where the sides of gaps may be others than those shown.

  Two gaps |a| and |b| are equal where a = b or a = −b, so that both are to be
  refuted: p is the larger of the two (an intersection-union test, Berger 1982).
  Where a gap changes its side a draw of the gaps themselves crosses 0, as often
  as a + b does. By the first alone two models with gaps of .02 to either side
  were apart in .82 of sets of 1,000 rows.
  """
  a, b = np.split(gaps, 2, axis=1)
  drawn = noise + np.nanmean(a - b)
  drawn = drawn[np.isfinite(drawn)]
  crossed = int(min((drawn <= 0).sum(), (drawn >= 0).sum()))
  p = min(2 * (1 + crossed) / (1 + len(drawn)), 1.0)
  if not crossed or p <= one['p']:
    return {}
  out = {'p': p, 'p_at_floor': False}
  if p <= 1 - options.level:
    return out
  tail = (1 - options.level) / 2
  low, high = resampling.quantile(drawn, (tail, 1 - tail))
  return out | {
    'low': float(min(one['low'], low, 0)),
    'high': float(max(one['high'], high, 0)),
  }


def _alike(values: np.ndarray, draws: np.ndarray) -> bool:
  """Whether the two runs have the same number in every draw of the rows."""
  a, b = np.split(draws, 2, axis=1)
  apart = np.abs(np.nan_to_num(a - b))
  same = max(apart.max(initial=0.0), np.abs(values).max()) < EQUAL
  return bool(len(draws) and same)


@np.errstate(over='ignore', invalid='ignore')  # as intervals.parts
def _noise(
  both: np.ndarray, draws: np.ndarray, options: RowSample, paired: bool
) -> np.ndarray:
  """Draws of the error of the mean difference, centred."""
  ours, theirs = np.split(both, 2)
  a, b = np.split(draws, 2, axis=1)
  # What resampling does to one side only, to gaps near 0, is no error here.
  if paired:
    sides = [(ours - theirs, a - b)]
  else:
    sides = [(ours, a), (theirs, b)]
  centred = [
    (values, draw - draw.mean(0) + values.astype(np.float32))
    for values, draw in sides
  ]
  return intervals.difference_noise(centred, options)


def _count_tests(case: Case, paired: bool) -> list[Tested]:
  table, options = case.table(), case.options
  large = counts.large_enough(table.rows, case.min_group)
  values = _measures(
    groups.rates(table.groups.sum(0, dtype=np.float64)[None]),
    quality.from_confusion(table.confusion.sum(0, dtype=np.float64)[None]),
    large,
  )
  resamples = counts.draw(table, options, runs=2)
  if resamples is None:  # none are asked for: values alone
    draws = exchanges = {name: value[:0] for name, value in values.items()}
    alike = apart = {}
  else:
    draws = _measures(*resamples, large)
    alike = _measures(_same_rates(table, resamples.rates), {}, large)
    apart = _measures(_noise_of_rates(table, resamples.rates), {}, large)
    of_groups, confusion = exchanged(table, options)
    exchanges = _measures(
      groups.rates(of_groups.astype(np.float32)),
      quality.from_confusion(confusion.astype(np.float32)),
      large,
    )
  out = []
  for name, value in values.items():
    one, each, width = _leading(
      name,
      value[0],
      draws[name],
      options,
      len(case.groups.names),
      paired,
      alike.get(name),
      _beyond(value[0], apart.get(name), options, name),
      draws[name] if name in alike else None,
    )
    ours, theirs = np.split(exchanges[name], 2, axis=1)
    one['permutation'] = {
      **intervals.p_of_draws(
        (ours - theirs).mean(1), np.subtract(*each).mean()
      ),
      'test': 'paired permutation over examples',
    }
    out.append((one, each, width))
  return out


def _same_rates(
  table: counts.Table, rates: Float[np.ndarray, 'b s k g1 rate']
) -> Float[np.ndarray, 'b s k g1 rate']:
  """Draws as if the rates of both runs were those of their mean.

  The error of a gap is smaller near 0 than elsewhere, so a test of two gaps
  being equal needs errors as they are where they are equal.
  """
  values = groups.rates(table.groups.sum(0, dtype=np.float32))
  ours, theirs = np.split(np.asarray(values), 2)
  apart = (ours - theirs) / 2
  return np.asarray(rates - np.concatenate([apart, -apart]))


def _noise_of_rates(
  table: counts.Table, rates: Float[np.ndarray, 'b s k g1 rate']
) -> Float[np.ndarray, 'b s k g1 rate']:
  """The errors of rates alone, whose gaps are what chance shows."""
  if table.items.clusters:
    rates = clustered_rates.straight(rates, table.groups, table.unit)
  return np.asarray(rates - groups.rates(table.groups.sum(0, dtype=np.float32)))


def _beyond(
  both: np.ndarray, apart: np.ndarray | None, options: RowSample, name: str = ''
) -> tuple[float, float]:
  """How far below and above the shown difference that of true gaps may lie.

  A gap that does not differ from 0 shows more than it is: it may be 0, and the
  other as large as its own interval says. Else errors of the two add up as in
  Zou and Donner (2008).
  """
  if apart is None or not len(apart):
    return 0.0, 0.0
  turned = name and measures.gaps()[name][2]
  if turned:
    both, apart = 1 - both, 1 - apart
  gaps, noise = np.split(both, 2), np.split(apart, 2, axis=1)
  reach = [float(intervals.radius(g, e, options)) for g, e in zip(gaps, noise)]
  shown = [float(np.mean(g)) for g in gaps]

  def of(more: int, less: int) -> float:
    # From its own reach on, a gap is ever less likely to be 0.
    none = min(shown[less], max(2 * reach[less] - shown[less], 0.0))
    return max(reach[more] + none, math.hypot(reach[more], reach[less]))

  out = of(1, 0), of(0, 1)
  if not all(map(math.isfinite, out)):
    return 0.0, 0.0
  return out[::-1] if turned else out


def exchanged(table: counts.Table, options: RowSample) -> list[np.ndarray]:
  """Totals after exchanging rows between the two halves of the seeds."""
  rng = np.random.default_rng([options.seed, resampling.SWAPS])
  size, m = table.items.size, len(table.items.size)
  share = np.zeros((options.resamples, resampling.padded(m)), np.float32)
  if table.items.cells:
    share[:, :m] = rng.binomial(size, 0.5, (options.resamples, m)) / size
  else:
    share[:, :m] = rng.integers(0, 2, (options.resamples, m))
  out = []
  for one in (table.groups, table.confusion):
    ours, theirs = np.split(one, 2, axis=1)
    totals = resampling.resampled(share, resampling.pad(theirs - ours))
    ours, theirs = ours.sum(0), theirs.sum(0)
    out.append(np.concatenate([ours + totals, theirs - totals], 1))
  return out


def _measures(
  rates: np.ndarray, of_everyone: Values, large: np.ndarray
) -> Values:
  """Measures [b, s] from rates [b, s, k, g+1, rate] and those of everyone."""
  # What labels alone say is the same of both.
  out = {k: v for k, v in of_everyone.items() if k != 'majority'}
  if rates.shape[3] > 2:
    parts = groups.reduce(np.where(large, rates, np.nan))
    for name, (chosen, kind, one_minus) in measures.gaps().items():
      if measures.MEASURES[name].better:
        columns = [groups.NAMES.index(rate) for rate in chosen]
        # Of many classes the worst counts; one class is itself.
        gap = parts[kind][..., columns].mean(-1)
        gap = np.where(np.isnan(gap), -np.inf, gap).max(-1)
        gap = np.where(np.isfinite(gap), gap, np.nan)
        out[name] = 1 - gap if one_minus else gap
  return out


def _auc_test(case: Case, paired: bool) -> Tested:
  options = case.options
  of = case.labels, case.scores, case.groups.masks[-1:]
  drawn = resampling.weights(len(case.labels), options)
  suites = rankings.suites(*of, *drawn, options, runs=2)
  values = suites.values[:, -1, 0]
  draws = values[None][:0]
  if suites.draws is not None:
    draws = suites.draws[:, :, -1, 0]
  return _leading('auc', values, draws, options, 1, paired)


def over_seeds(
  ours: Float[np.ndarray, ' s'],
  theirs: Float[np.ndarray, ' z'],
  *,
  paired: bool = True,
  level: float = 0.95,
  width: float = np.inf,
) -> Row:
  """Two-sided t-test of the values of a measure over the seeds of two runs.

  `paired` where seed k of both runs decides the same things: tests of
  independent seeds are then far too shy. The interval stays within ±`width`
  (intervals.ends), and holds 0 if and only if p is above 1 − level.
  """
  name = ('paired' if paired else 'independent') + ' t-test over seeds'
  n = len(ours) if paired else len(ours) + len(theirs)
  gap = float(np.mean(ours) - np.mean(theirs))
  seeds = list(ours - theirs) if len(ours) == len(theirs) else [gap]
  out = {'p': None, 'p_at_floor': False, 'test': name, 'n': n}
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
  half = float(clusters.reach(error, free, level))
  ends = intervals.ends(gap, half, half, width)
  return {
    'difference': unless_vague(seeds, *ends, WIDEST * width),
    **out,
    'p': float(clusters.two_sided(gap / error, free)),
  }
