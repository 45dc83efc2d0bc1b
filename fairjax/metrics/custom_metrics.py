"""A user's own measures: of everyone, of each group, and the gap between them.

A measure is a function of labels and decisions, as scikit-learn has them; where
its second parameter is called y_score, y_prob or y_proba it gets the scores.
Intervals are of rows drawn with replacement inside each group (Efron 1979), or
of clusters drawn for all groups at once, since one that has rows of two groups
moves both; the deviations of few clusters are widened to Student's t as those
of rates are (inference/clustered_rates.py). The function is called once for
each draw, so there are at most MOST of them.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from fairjax.core.errors import UserError
from fairjax.metrics import measures
from fairjax.metrics.assess import decide
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import Groups
from fairjax.metrics.inference import (
  clustered_rates,
  extremes,
  intervals,
  row_weights,
)
from fairjax.metrics.inference.estimates import Estimates, estimate
from fairjax.metrics.inference.sample import RowSample

MOST = 500  # draws of each interval
SCORES = ('y_score', 'y_prob', 'y_proba')
STREAM = 0x201  # of the draws
Metric = Callable[..., Any]  # of labels and decisions, to a number
UNDEFINED = 'undefined for these rows'


def add(
  one: dict[str, Any],
  functions: Mapping[str, Metric],
  labels: np.ndarray,
  scores: np.ndarray,
  groups: Groups,
  options: Mapping[str, Any],
) -> list[str]:
  """Puts a user's measures beside those of an assessment; their names."""
  sample = options['options']
  decisions, _ = decide(labels, scores, options['threshold'], sample.weight)
  taken = {*one['quality'], *map(measures.bare, one['fairness'])}
  taken |= {key for each in one['groups'].values() for key in each}
  for name, function in functions.items():
    if not callable(function) or name in taken:
      why = 'measured already' if callable(function) else 'no function'
      raise UserError(
        f'metrics has {name!r}, which is {why}; give names of your own, each '
        'with a function of labels and decisions'
      )
  of = labels, scores, decisions, groups, sample, options['min_group']
  everyone, by_group, fairness = measured(functions, Case(*of))
  one['quality'] |= everyone
  one['fairness'] |= fairness
  for name, each in zip(groups.names, by_group):
    one['groups'][name] |= each
  return [*everyone, *fairness]


def measured(
  functions: Mapping[str, Metric], case: Case
) -> tuple[Estimates, list[Estimates], Estimates]:
  """(of everyone, a dict a group, fairness): NAME, and NAME_difference.

  Groups of fewer than `min_group` rows are in no difference, as in no gap.
  """
  groups, options, large = case.groups, case.options, case.large()
  everyone: Estimates = {}
  by_group: list[Estimates] = [{} for _ in groups.names]
  fairness: Estimates = {}
  for name, function in functions.items():
    given = case.scores if _asks(function)[0] else case.decisions
    values, noise = _of_groups((name, function), case, given)
    for g, one in enumerate([*by_group, everyone]):
      draws = None if noise is None else values[:, g] + noise[:, :, g]
      one[name] = intervals.of_mean(values[:, g], draws, options, UNDEFINED)
    for kind in groups.kinds:
      own = [g for g in groups.at(kind) if g in large]
      gap = groups.key(kind, f'{name}_difference')
      if len(own) < 2:
        note = f'fewer than two groups of {case.min_group} rows'
        fairness[gap] = estimate(np.full(len(values), np.nan), note=note)
        continue
      apart = None if noise is None else noise[:, :, own]
      fairness[gap] = extremes.gap_of(values[:, own], apart, options, np.inf)
  return everyone, by_group, fairness


def _asks(function: Metric) -> tuple[bool, bool]:
  """Whether it asks for scores, and takes weights."""
  try:
    taken = inspect.signature(function).parameters
  except (TypeError, ValueError):  # what is built in says nothing of itself
    return False, False
  any_name = any(one.kind == one.VAR_KEYWORD for one in taken.values())
  scores = any(name in SCORES for name in list(taken)[1:2])
  return scores, any_name or 'sample_weight' in taken


def _of_groups(
  named: tuple[str, Metric], case: Case, given: np.ndarray
) -> tuple[Float[np.ndarray, 's g'], np.ndarray | None]:
  """Values, and the deviations of every draw [draw, s, g]."""
  (name, function), options = named, case.options
  weight, masks = options.weight, case.groups.masks
  if weight is not None and not _asks(function)[1]:
    raise UserError(
      f'metrics[{name!r}] takes no sample_weight, and rows are weighted; give '
      'it a parameter of that name, as the metrics of scikit-learn have'
    )

  def value(rows: np.ndarray, s: int, of: str) -> float:
    try:
      own = {} if weight is None else {'sample_weight': weight[rows]}
      return float(function(case.labels[rows], given[s][rows], **own))
    except Exception as error:
      raise UserError(
        f'metrics[{name!r}] ended on {of}: {type(error).__name__}: {error}; '
        'it is called with the labels and the decisions of some rows, and '
        'must return a number'
      ) from error

  count = min(options.resamples, MOST)
  names, values = case.groups.names, np.full((len(given), len(masks)), np.nan)
  noise = np.zeros((count, *values.shape))
  for g, mask in enumerate(masks):
    rows = np.flatnonzero(mask)
    if not len(rows):
      continue
    of = f'group {names[g]!r}' if g < len(names) else 'all rows'
    values[:, g] = [value(rows, s, of) for s in range(len(given))]
    drawn, wider = _drawn(rows, options._replace(resamples=count), g)
    for draw, own in enumerate(drawn):
      for s in range(len(given)):
        # Undefined where the function cannot do with these rows.
        noise[draw, s, g] = np.nan
        with np.errstate(all='ignore'), contextlib.suppress(UserError):
          if len(own):
            apart = value(own, s, of) - values[s, g]
            noise[draw, s, g] = apart * wider[draw]
  return values, noise if count else None


def _drawn(
  rows: Integer[np.ndarray, ' m'], options: RowSample, g: int
) -> tuple[Iterator[np.ndarray], np.ndarray]:
  """Rows of each draw, and how much wider than it deviations are."""
  count = options.resamples
  if options.cluster is None:
    rng = np.random.default_rng([options.seed, STREAM, g])
    m = len(rows)
    each = (rows[rng.integers(0, m, m)] for _ in range(count))
    return each, np.ones(count)
  code = options.units(0)
  m, own = int(code.max()) + 1, code[rows]
  rng = np.random.default_rng([options.seed, STREAM])  # the same of all groups
  even = np.full(m, 1 / m)
  each = (np.repeat(rows, rng.multinomial(m, even)[own]) for _ in range(count))
  size = np.bincount(own)
  number = max(int(np.count_nonzero(size)), 2)
  wider = clustered_rates.heavy(row_weights.equal_clusters(size), options)
  return each, wider * (number / (number - 1)) ** 0.5
