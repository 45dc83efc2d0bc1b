"""Each group beside a reference: differences of rates, conditional gaps, costs.

A gap (assess.py) is one number for all groups. Here every group has its own:
r_g − r_ref with its interval and test, the reference a named group, the
largest, or the rest (everyone else). *Given control columns* the rates of a
group are standardised: r_g = Σ_k w_k r_gk over the levels k of the controls,
with w_k the share of all rows behind the rate (of all negatives for a false
positive rate) that are of level k. Then groups that differ in the controls
alone do not differ in r_g (conditional statistical parity, Kamiran et al.
2013; direct standardisation). Levels in which some group has no row are left
out, and counted. A *cost* is c_fp · false positives + c_fn · false negatives a
row, with the user's c.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from fairjax.core.errors import UserError
from fairjax.metrics import counts
from fairjax.metrics.counts import Case, Place, Rates
from fairjax.metrics.groups import NAMES, Groups, denominators
from fairjax.metrics.inference import (
  estimates,
  extremes,
  intervals,
  significance,
  tails,
)
from fairjax.metrics.inference.estimates import Estimates, Row, estimate
from fairjax.metrics.inference.sample import RowSample

SHOWN = ('selection_rate', 'fpr', 'fnr')
REST = 'the rest'


def reference_of(
  groups: Groups,
  asked: str,
  weight: Float[np.ndarray, ' n'] | None = None,
) -> int | None:
  """The index of the reference group; None is the rest."""
  if asked in ('', 'rest'):
    return None
  if asked == 'largest':
    members = groups.members
    sizes = members.sum(1) if weight is None else members @ weight
    return int(sizes.argmax())
  names = [*groups.names]
  if asked not in names:
    raise UserError(
      f'audit.reference is {asked!r}, and no such group is in the data; the '
      f'groups are {", ".join(names[:12])}{", …" if len(names) > 12 else ""}, '
      "or say 'largest' or 'rest'"
    )
  return names.index(asked)


def differences(case: Case, reference: str) -> list[Row]:
  """A row a group and rate: its value, the reference's, the difference, p."""
  labels, _, decisions, groups, options, min_group = case
  shown = SHOWN if labels is not None else ('selection_rate',)
  base = reference_of(groups, reference, options.weight)
  members, names = groups.members, groups.names
  own = [g for g in range(len(members)) if g != base]
  masks = [members[g] for g in own]
  others = [~members[g] if base is None else members[base] for g in own]
  _, rates = counts.decided(labels, decisions, [*masks, *others], options)
  out = []
  for i, g in enumerate(own):
    for name in shown:
      r = NAMES.index(name)
      at, beside = (0, i, r), (0, len(own) + i, r)
      one = _difference(rates, at, beside, options)
      alone = not rates.clustered and len(decisions) == 1
      if one.get('p_at_floor') and alone:
        apart = not (masks[i] & others[i]).any()
        one |= _exact(rates, at, beside, one['p']) if apart else {}
      few = min(rates.rows[at], rates.rows[beside]) < min_group
      out.append(
        {
          'group': names[g],
          'rate': name,
          'value': counts.rate(rates, at),
          'reference': REST if base is None else names[base],
          'of reference': counts.rate(rates, beside),
          **one,
          'few': bool(few),
        }
      )
  correct(out)
  return out


def impact_ratios(case: Case) -> list[Row]:
  """Each group's selection rate over the highest one's (29 CFR 1607.4 D).

  The highest is chosen from the same rows, so the intervals hold together:
  each at 1 − α / g, of the drawn ratios.
  """
  _, _, decisions, groups, options, min_group = case
  _, rates = counts.decided(None, decisions, groups.members, options)
  r = NAMES.index('selection_rate')
  own = rates.values[:, 0, :-1, r]
  enough = rates.rows[0, :-1, r] >= min_group
  best = int(np.where(enough, np.nan_to_num(own.mean(0)), -1.0).argmax())
  level = 1 - (1 - options.level) / max(int(enough.sum()), 1)
  together = options._replace(level=level)
  out = []
  for g, (name, member) in enumerate(groups.each):
    value = own[:, g] / np.where(own[:, best] > 0, own[:, best], np.nan)
    ratio = None
    if g != best and enough[g] and rates.draws is not None:
      drawn = rates.draws[:, :, 0, :, r]
      ratio = drawn[..., g] / drawn[..., best]
    out.append(
      {
        'group': name,
        'rows': int(member.sum()),
        'selected': float((decisions * member).sum(1).mean()),
        'rate': counts.rate(rates, (0, g, r)),
        'ratio': intervals.of_mean(value, ratio, together),
        'few': not enough[g],
        'highest': g == best and bool(enough[g]),
      }
    )
  return out


def correct(rows: Sequence[Row]) -> None:
  """The p of rows, adjusted for all of them that have rows enough."""
  tested = [row for row in rows if not row['few']]
  for row, p in zip(tested, significance.adjusted([r['p'] for r in tested])):
    row['adjusted'] = p


def _difference(
  rates: Rates, at: Place, beside: Place, options: RowSample
) -> Row:
  values = rates.values[:, *at] - rates.values[:, *beside]
  if np.isnan(values).any() or rates.draws is None:
    note = 'no row to count' if np.isnan(values).any() else ''
    return {'difference': estimate(values, note=note), 'p': None}
  one, other = (rates.draws[:, :, *where] for where in (at, beside))
  centred: Callable[..., np.ndarray] = lambda a, b: (
    (a - a.mean(0)) - (b - b.mean(0)) + values
  )
  null = None
  if not rates.clustered:
    # Errors as they are where the two are equal: of 30 rows beside 400 the
    # own variance of the few is too small as often as it decides.
    alike = (
      x * pooled(rates, at, beside, w) for x, w in ((one, at), (other, beside))
    )
    null = intervals.difference_noise([(values, centred(*alike))], options)
  return intervals.paired(values, centred(one, other), options, 1.0, null)


def pooled(rates: Rates, at: Place, beside: Place, own: Place) -> float:
  """The spread at the rate of both together over that at one's own."""
  n = {w: float(rates.rows[w]) for w in (at, beside)}
  hits = {w: float(rates.values[:, *w].mean()) * n[w] for w in n}
  share = (sum(hits.values()) + 1) / (sum(n.values()) + 2)
  alone = (hits[own] + 0.5) / (n[own] + 1)
  grown = (n[own] + 2) / max(n[own] - 1, 1)  # as of gaps (counts.py)
  return float((share * (1 - share) / (alone * (1 - alone)) * grown) ** 0.5)


def _exact(rates: Rates, at: Place, beside: Place, floor: float) -> Row:
  """The p where no resample is as far off: Fisher's, exact, of the counts.

  A share of B resamples is never below 1 / (B + 1), and of many tests none
  would be left after a correction for their number.
  """
  rows = [int(rates.rows[one]) for one in (at, beside)]
  hits = [
    round(float(rates.values[(0, *one)]) * n)
    for one, n in zip((at, beside), rows)
  ]
  table = [[k, n - k] for k, n in zip(hits, rows)]
  p = tails.fisher(table)
  return {'p': p, 'p_at_floor': False} if p < floor else {}


def conditional(
  case: Case, levels: Groups
) -> tuple[Estimates, list[Row], list[str]]:
  """Measures given the controls, gaps within each level, and what was left out.

  Groups of one attribute, two or more, without overlap.
  """
  labels, _, decisions, groups, options, _ = case
  cells = groups.members[:, None] & levels.members
  shape, cells = cells.shape[:2], cells.reshape(-1, cells.shape[2])
  table, rates = counts.decided(labels, decisions, cells, options)
  values = rates.values[:, 0, :-1].reshape(len(decisions), *shape, -1)
  total = denominators(table.groups.sum(0, dtype=np.float64)).min(0)
  total = total[0, :-1].reshape(*shape, -1)
  draws = None
  if rates.draws is not None:
    draws = rates.draws[:, :, 0, :-1].reshape(
      -1, len(decisions), *shape, values.shape[-1]
    )
  rate_names = ['selection_rate'] + ['fpr', 'tpr'] * (labels is not None)
  complete, ranges = {}, {}
  for name in rate_names:
    r = NAMES.index(name)
    full = (total[..., r] > 0).all(0)
    complete[name] = full
    share = np.where(full, total[..., r].sum(0), 0).astype(float)
    if not full.any():
      continue
    share /= share.sum()
    own = np.where(share > 0, values[..., r] * share, 0).sum(-1)  # s, g
    noise = None
    if draws is not None:
      noise = np.where(share > 0, draws[..., r] * share, 0).sum(-1) - own
    ranges[name] = (own, noise)
  fair = {'conditional_dp': _gap(ranges, ['selection_rate'], options, values)}
  if labels is not None:
    fair['conditional_eqodd'] = _gap(ranges, ['fpr', 'tpr'], options, values)
  partial = []
  for k, level in enumerate(levels.names):
    lost = [name for name in rate_names if not complete[name][k]]
    if 'selection_rate' in lost:
      partial.append(level)
    elif lost:  # no row of a label
      partial.append(f'{level} (of {" and ".join(lost)})')
  rows = cells.sum(1).reshape(shape)
  given = levels.names, rate_names, options
  return fair, _within(values, rows, total > 0, draws, *given), partial


def _gap(
  ranges: Mapping[str, tuple[np.ndarray, np.ndarray | None]],
  rates: Sequence[str],
  options: RowSample,
  values: np.ndarray,
) -> estimates.Estimate:
  if any(r not in ranges for r in rates):
    note = 'no level of the controls has rows of every group'
    return estimate(np.full(len(values), np.nan), note=note)
  each = [ranges[r] for r in rates]
  value = np.mean([np.ptp(own, -1) for own, _ in each], 0)
  bound = alike = None
  known = [(own, noise) for own, noise in each if noise is not None]
  if known:
    ends = [
      extremes.of_range(*extremes.groups_first(noise, own))
      for own, noise in known
    ]
    bound = extremes.size((*np.mean(ends, 0),))
    apart = [intervals.alike(own, noise, options) for own, noise in known]
    alike = np.mean(np.ptp(apart, -1), 0)
  return estimates.complement(
    intervals.of_gap(value, bound, options, 1.0, alike)
  )


def _within(
  values: np.ndarray,
  rows: np.ndarray,
  here: np.ndarray,
  draws: np.ndarray | None,
  level_names: Sequence[str],
  rate_names: Sequence[str],
  options: RowSample,
) -> list[Row]:
  """The gap between the groups inside each level."""
  out = []
  for k, level in enumerate(level_names):
    one: Row = {'level': level, 'rows': int(rows[:, k].sum())}
    for name in rate_names:
      r = NAMES.index(name)
      known = here[:, k, r]
      if known.sum() < 2:
        note = 'fewer than two groups have rows here'
        one[name] = estimate(np.full(len(values), np.nan), note=note)
        continue
      own = values[:, known, k, r]
      noise = None if draws is None else draws[:, :, known, k, r] - own
      one[name] = extremes.gap_of(own, noise, options)
    out.append(one)
  return out


def costs(
  case: Case, price: tuple[float, float]
) -> tuple[Estimates, list[Estimates], Estimates]:
  """(of everyone, of each group, cost_gap) of `price` = (c_fp, c_fn)."""
  options, members = case.options, case.groups.members
  _, rates = counts.decided(case.labels, case.decisions, members, options)
  at = NAMES.index

  def cost(x: Float[np.ndarray, '... rate']) -> np.ndarray:
    base = x[..., at('base_rate')]
    wrong = np.nan_to_num(x[..., at('fpr')]) * (1 - base) * price[0]
    return np.asarray(
      wrong + np.nan_to_num(x[..., at('fnr')]) * base * price[1]
    )

  values = cost(rates.values[:, 0])  # s, g+1
  draws = None if rates.draws is None else cost(rates.draws[:, :, 0])
  top = (0.0, float(max(price)))
  each = [
    intervals.of_mean(
      values[:, g],
      None if draws is None else draws[:, :, g],
      options,
      '' if g == len(members) or members[g].any() else 'no rows',
      top,
    )
    for g in range(len(members) + 1)
  ]
  fair, large = {}, case.large()
  if len(large) > 1:
    own = values[:, large]
    noise = None if draws is None else draws[:, :, large] - own
    fair['cost_gap'] = extremes.gap_of(own, noise, options, top[1])
  return {'cost': each[-1]}, [{'cost': one} for one in each[:-1]], fair
