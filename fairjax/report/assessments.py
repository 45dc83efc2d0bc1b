"""Results of `assess` and `compare`: printed, indexed, plotted.

An assessment has the face of all results (faces.py).
"""

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairjax.core import escape
from fairjax.core.errors import is_listed, need
from fairjax.metrics.group_thresholds import CRITERIA, Thresholds
from fairjax.report.faces import Face, measure_of

if TYPE_CHECKING:
  import matplotlib.figure

SET = 'data'  # the name of the only test set of a result


@dataclasses.dataclass(repr=False)
class Assessment(Face):
  """What `assess` measured: result['dp'] is {value, low, high, …}."""

  labels: np.ndarray  # [n], 1 is positive
  scores: np.ndarray  # [s, n] or [s, n, c]
  members: np.ndarray  # bool [g, n]
  group_names: list[str]
  attributes: list[str]  # that each group is of
  options: dict  # of the measures: threshold, level, resamples, seed

  def to_frame(self) -> pd.DataFrame:
    """One row a number: group ('' is everyone), measure, value, low, high."""
    return self.results.to_frame().drop(columns=['contender', 'set'])

  def __repr__(self) -> str:
    frame = self.to_frame()
    return escape.lines_of(frame[frame['group'] == ''])

  def _repr_html_(self) -> str:
    lines = ''.join(f'<li>{escape.html(w)}</li>' for w in self.warnings)
    frame = self.to_frame().drop(columns='note', errors='ignore')
    return f'{escape.table_of(frame)}<ul>{lines}</ul>'


@dataclasses.dataclass(repr=False)
class Comparison:
  """What `compare` tested: result['dp'] is {difference, p, test, …}."""

  tests: list[dict]

  def __getitem__(self, measure: str) -> dict:
    known = {test['measure']: test for test in reversed(self.tests)}
    return measure_of(known, measure)

  def to_frame(self) -> pd.DataFrame:
    """One row a test: measure, difference, its interval, p, the test."""
    keep = ('value', 'low', 'high')
    return pd.DataFrame(
      [
        {'measure': test['measure']}
        | {k: test['difference'].get(k) for k in keep}
        | {k: test.get(k) for k in ('p', 'p_at_floor', 'test')}
        for test in self.tests
      ]
    )

  def plot(self) -> 'matplotlib.figure.Figure':
    """The differences with their intervals."""
    from fairjax.report.pictures import plots

    values = {}
    for test in self.tests:
      values.setdefault(test['measure'], test['difference'])
    return plots.forest(values, 'difference')

  def __repr__(self) -> str:
    return escape.lines_of(self.to_frame())

  def _repr_html_(self) -> str:
    return escape.table_of(self.to_frame())


@dataclasses.dataclass(repr=False)
class Equalized:
  """What `thresholds` found, judged on rows that it was not chosen on."""

  rule: Thresholds
  before: Assessment  # decisions by one threshold
  after: Assessment  # decisions by those of the groups
  comparison: Comparison  # after less before, on the same rows

  @property
  def thresholds(self) -> dict[str, float]:
    """{group: the score from which on it is decided positive}."""
    return dict(self.rule.thresholds)

  @property
  def price(self) -> dict:
    """The change of accuracy, with its interval and p."""
    return self.comparison['accuracy']

  def save(self, path: str | os.PathLike) -> None:
    """Writes a small json, which `Classifier.predict` takes."""
    self.rule.save(path)

  def predict(self, y_score: Sequence, groups: Sequence) -> np.ndarray:
    """1 where a row is decided positive."""
    need(is_listed(groups), 'groups', groups, 'a group a score is needed')
    try:
      scores = np.asarray(y_score, float)
      right = scores.ndim == 1 and ((scores >= 0) & (scores <= 1)).all()
    except (TypeError, ValueError, OverflowError):
      right = False
    wanted = 'a probability from 0 to 1 for each row is needed'
    need(right, 'y_score', y_score, wanted)
    return self.rule.decide(scores, list(groups))

  def to_frame(self) -> pd.DataFrame:
    """Accuracy and the criterion, before, after, and the difference."""
    rows = []
    for name in ('accuracy', CRITERIA[self.rule.criterion]):
      test = self.comparison[name]
      one = {'measure': name}
      for side in ('before', 'after'):
        one[side] = getattr(self, side)[name]['value']
      rows.append(
        one
        | {k: test['difference'][k] for k in ('value', 'low', 'high')}
        | {'p': test['p']}
      )
    return pd.DataFrame(rows).rename(columns={'value': 'difference'})

  def __repr__(self) -> str:
    return f'thresholds: {self._limits}\n{escape.lines_of(self.to_frame())}'

  def _repr_html_(self) -> str:
    table = escape.table_of(self.to_frame())
    return f'<p>thresholds: {escape.entities(self._limits)}</p>{table}'

  @property
  def _limits(self) -> str:
    each = (f'{g} {t:.3g}' for g, t in self.thresholds.items())
    return escape.printable(', '.join(each))
