"""Warnings about degenerate measurements."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from fairjax.core.errors import count
from fairjax.metrics.counts import Case
from fairjax.metrics.inference import clusters, row_weights
from fairjax.metrics.inference.estimates import Estimate
from fairjax.metrics.inference.sample import RowSample

SMALL = 'Few rows'  # how the line of small groups opens
FEW = 30  # rows below which a group's rate says little
NAMED = 3  # of such groups
CONSTANT = 'constant predictor'  # as notes of what it makes meaningless begin
NOISY = 'the model answers the same text differently'
VOID = (CONSTANT, NOISY, clusters.THIN)
FLOOR = 0.95  # a perfect predictor's DP below which that is worth saying


def constant(decisions: Integer[np.ndarray, 's n']) -> list[int]:
  """The seeds whose decisions are all the same."""
  return [s for s, row in enumerate(decisions) if (row == row[0]).all()]


def note_of_constant(decisions: Integer[np.ndarray, 's n']) -> str:
  """What stands beside measures that mean nothing; '' where they do."""
  seeds = constant(decisions)
  if not seeds:
    return ''
  if len(seeds) == len(decisions):
    return CONSTANT + (' in every seed' if len(seeds) > 1 else '')
  return f'{CONSTANT} in {count(len(seeds), "seed")} of {len(decisions)}'


def of_constant(decisions: Integer[np.ndarray, 's n']) -> list[str]:
  """A sentence for each seed that decides the same for every row."""
  names = [f'Seed {s}' for s in range(len(decisions))]
  names = names if len(names) > 1 else ['The model']
  return [
    f'{names[s]} decides {decisions[s, 0]} for every row: a constant predictor '
    'treats all groups alike, so its fairness measures mean nothing.'
    for s in constant(decisions)
  ]


def of_reversed(auc: Mapping[str, Any]) -> list[str]:
  """A sentence where scores sort the wrong way round, for sure."""
  if auc.get('high') is None or auc['high'] >= 0.5:
    return []
  return [
    f'Worse than chance: the AUC is {auc["value"]:.3f} [{auc["low"]:.3f}, '
    f'{auc["high"]:.3f}]. Are labels or scores reversed? Say which label is '
    'positive, and of which label the score is the probability.'
  ]


def of_chosen(rows: str) -> list[str]:
  """What intervals are of where rows ('' of none) choose the threshold."""
  if not rows:
    return []
  return [
    f'The threshold is chosen on {rows} and then held fixed: intervals are of '
    'decisions at this threshold, not of those that other rows would choose.'
  ]


def of_resamples(options: RowSample) -> list[str]:
  """A sentence where no share of so few draws is as small as 1 − level."""
  level, count = options.level, options.resamples
  least = math.ceil(1 / (1 - level) - 1 - 1e-6)
  if not count or count >= least:
    return []
  return [
    f'{count} resamples are too few for an interval of level {level:g}: those '
    'of differences reach to the ends of their range, gaps down to 0, and '
    f'others no farther than their farthest draw. Draw {least:,} or more.'
  ]


def sentences(case: Case, fairness: Mapping[str, Estimate]) -> list[str]:
  """One sentence for each degeneracy; none for a healthy set."""
  labels, scores, decisions, groups, sample, min_group = case
  weight, out = sample.weight, []
  if (labels == labels[0]).all():
    out.append(
      f'All {len(labels)} rows have label {labels[0]}: AUC and the rates of '
      'the other label are undefined.'
    )
  out += of_constant(decisions)
  for s, one in enumerate(scores.reshape(len(scores), -1)):
    if scores.ndim == 2 and (one == one[0]).all():
      who = 'The model' if len(scores) == 1 else f'Seed {s}'
      out.append(f'{who} gives every row the same probability.')
  classes = np.unique(labels)
  small = []
  for name, member in groups.each:
    own = row_weights.taken(weight, member)
    if few := _few(labels[member], classes, min_group, own):
      out_of_all = row_weights.rows(own, member[member]) < min_group
      small.append((f'{name!r} ({few})', out_of_all))
  if small:
    by = '' if weight is None else ' by weight'
    named = '; '.join(line for line, _ in small[:NAMED])
    if rest := small[NAMED:]:
      out_of = sum(gone for _, gone in rest)
      named += f'; and {count(len(rest), "more group")}, {out_of} in no gap'
    out.append(f'{SMALL}{by}, so wide intervals: {named}.')
  for kind in groups.kinds:
    if len(groups.at(kind)) < 2:
      out.append(f'There is only one group of {kind}: gaps need two.')
  for name, each in fairness.items():
    floor = each['value']
    if name.endswith('dp_floor') and floor is not None and floor < FLOOR:
      by = ' by ' * ('/' in name) + name.rpartition('/')[0]
      out.append(
        f'The groups differ in their share of positive labels: even a perfect '
        f'predictor has a demographic parity{by} of {floor:.3f} here.'
      )
  return out


def _few(
  labels: np.ndarray,
  classes: np.ndarray,
  min_group: int,
  weight: Float[np.ndarray, ' n'] | None,
) -> str:
  """What a group has too few rows of, and what it is left out of."""
  if not len(labels):
    return 'no rows; in no gap'
  total = row_weights.rows(weight, np.ones(len(labels), bool))
  if total < min_group:
    return f'{_shown(total)}, fewer than {min_group}; in no gap'
  counts = {c: row_weights.rows(weight, labels == c) for c in classes}
  few = {c: rows for c, rows in counts.items() if rows < FEW}
  named = ', '.join(f'{_shown(n)} of label {c}' for c, n in few.items())
  if any(rows < min_group for rows in few.values()):
    named += f', fewer than {min_group}; in no gap of it'
  return named


def _shown(number: float) -> str:
  return f'{number:.1f}'.removesuffix('.0')
