"""What the library's functions return: indexed, looped over, plotted, shown.

result['dp'], 'dp' in result, a loop over the names of measures, .by_group,
.warnings and .plot(); printed, the first screen of its page, and in a notebook
the page.
"""

import dataclasses
import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairjax.core import escape
from fairjax.core.errors import UserError, need, same_index, shown
from fairjax.data.tables import answers, inputs
from fairjax.metrics import measures
from fairjax.metrics.group_thresholds import CRITERIA, Thresholds
from fairjax.report import tables
from fairjax.results import Results, write

if TYPE_CHECKING:
  import matplotlib.figure


SET = 'data'  # the name of the only test set of a result


@dataclasses.dataclass(repr=False)
class ResultView:
  """Results as the library gives them; what else a function found is beside."""

  results: Results

  def __getitem__(self, measure: str) -> dict:
    return measure_of(self._measured, measure)

  def __contains__(self, measure: object) -> bool:
    return measure in self._measured

  def __iter__(self) -> Iterator[str]:
    return iter(self._measured)

  def __len__(self) -> int:
    return len(self._measured)

  def keys(self) -> list[str]:
    """The names of what was measured."""
    return [*self]

  @property
  def _measured(self) -> dict[str, dict]:
    return self.results.measured(self.results.focus, self._set)

  @property
  def _set(self) -> str:
    return next(iter(self.results.sets))

  @property
  def _rates(self) -> dict[str, dict]:
    return self.results.sets[self._set].get('groups', {})

  @property
  def by_group(self) -> pd.DataFrame:
    """The value of each measure, a row a group, as fairlearn's MetricFrame has
    it; `to_frame` has the intervals."""
    value = lambda v: v['value'] if isinstance(v, Mapping) else v
    each = self._rates.items()
    values = {g: {k: value(v) for k, v in one.items()} for g, one in each}
    return pd.DataFrame(values).T

  groups = by_group

  @property
  def warnings(self) -> list[str]:
    return self.results.sets[self._set]['warnings']

  def plot(self, measure: str = 'selection_rate') -> 'matplotlib.figure.Figure':
    """One measure of every group, with intervals."""
    from fairjax.report.pictures import plots

    by = self._rates
    if not by:
      raise UserError('no groups were compared, so there is nothing to plot')
    first = next(iter(by.values())).items()
    measure_of({k: {} for k, v in first if isinstance(v, Mapping)}, measure)
    rates = {group: each[measure] for group, each in by.items()}
    return plots.forest(rates, measure, zero=None)

  @property
  def gate(self) -> str:
    """Whether `fail_if` 'failed', 'passed' or is 'not decided'; '' without."""
    return self.results.facts.get('gate', '')

  def to_frame(self) -> pd.DataFrame:
    """One row a number: contender, group ('' is everyone), measure, value."""
    return self.results.to_frame().drop(columns='set')

  def __repr__(self) -> str:
    from fairjax.report import words  # `import fairjax` needs no page

    lines = words.lines(self.results)
    frame = self.to_frame()
    everyone = frame[frame['group'] == ''].drop(columns='group')
    return '\n'.join([*lines, escape.lines_of(everyone)])

  def _repr_html_(self) -> str:
    """The page itself, in a frame of its own."""
    import tempfile

    from fairjax.report import page

    with tempfile.TemporaryDirectory() as folder:
      write(folder, self.results)
      whole = escape.entities(page.report(folder))
    return (
      f'<iframe srcdoc="{whole}" width="100%" height="720" '
      'sandbox="allow-downloads" style="border: 1px solid #ccc"></iframe>'
    )


@dataclasses.dataclass(repr=False)
class Comparison:
  """What `compare` tested: result['dp'] is {difference, p, test, …}."""

  tests: list[dict]

  def __getitem__(self, measure: str) -> dict:
    known = {test['measure']: test for test in reversed(self.tests)}
    return measure_of(known, measure)

  def to_frame(self) -> pd.DataFrame:
    """One row a test: measure, difference, its interval, p, the test."""
    rest = 'p', 'p_at_floor', 'test'
    rows = [tables.test_row(t, ['measure'], rest) for t in self.tests]
    return pd.DataFrame(rows)

  def plot(self) -> 'matplotlib.figure.Figure':
    """The differences with their intervals."""
    from fairjax.report.pictures import plots

    values: dict[str, dict] = {}
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
  before: ResultView  # decisions by one threshold
  after: ResultView  # decisions by those of the groups
  comparison: Comparison  # after less before, on the same rows
  warnings: list[str]  # of the scores

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

  def predict(
    self,
    y_score: Sequence,
    groups: Any = None,
    *,
    sensitive_features: Any = None,
  ) -> np.ndarray:
    """1 where a row is decided positive."""
    groups = inputs.groups_of(groups, sensitive_features)
    same_index(y_score=y_score, groups=groups)
    asked = answers.Asked(('0', '1'), says='y_score has', stacked=False)
    own = inputs.by_place(groups, 'groups')
    scores = answers.of_values(y_score, len(own), asked).scores[0]
    need(scores.shape[1] == 2, 'y_score', y_score, 'a number a row is needed')
    return self.rule.decide(scores[:, 1], own)

  def to_frame(self) -> pd.DataFrame:
    """Accuracy and the criterion, before, after, and the difference."""
    rows = []
    for name in ('accuracy', CRITERIA[self.rule.criterion]):
      sides = {'before': self.before[name], 'after': self.after[name]}
      row = {'measure': name, **{k: v['value'] for k, v in sides.items()}}
      rows.append(row | tables.test_row(self.comparison[name], (), ['p']))
    return pd.DataFrame(rows).rename(columns={'value': 'difference'})

  def __repr__(self) -> str:
    return '\n'.join([self._limits, escape.lines_of(self.to_frame())])

  def _repr_html_(self) -> str:
    table = escape.table_of(self.to_frame())
    return f'<pre>{escape.entities(self._limits)}</pre>{table}'

  @property
  def _limits(self) -> str:
    each = (f'{g} {t:.3g}' for g, t in self.thresholds.items())
    lines = [*self.warnings, f'thresholds: {", ".join(each)}']
    return '\n'.join(map(escape.printable, lines))


class NoMeasure(UserError, KeyError):
  """A measure that was not measured; also a KeyError, as of a dictionary."""


def measure_of(known: Mapping[str, dict], name: str) -> dict:
  """The estimate of that name, or what it may have been meant to be."""
  if isinstance(name, str) and name in known:
    return known[name]
  # What others call so may be a gap, where ours is 1 less the gap: ask.
  text = str(name).removesuffix('_difference')
  near = measures.meant(text, known) or difflib.get_close_matches(
    text, known, n=3
  )
  hint = f'did you mean {", ".join(map(repr, near))}?' if near else ''
  raise NoMeasure(
    f'{shown(name)} was not measured; '
    + (hint or f'there are {", ".join(map(repr, known))}')
  )
