"""What `fairjax.assess` returns: measures of predictions, and their page."""

import dataclasses
import os
import pathlib

import numpy as np
import pandas as pd

from fairjax.config import Config, Measures
from fairjax.core import artefacts, escape
from fairjax.metrics.groups import Groups
from fairjax.report.result_views import SET, ResultView


@dataclasses.dataclass(repr=False)
class Assessment(ResultView):
  """What `assess` measured: result['dp'] is {value, low, high, …}."""

  labels: np.ndarray  # [n], 1 is positive
  scores: np.ndarray  # [s, n] or [s, n, c]
  compared: Groups
  options: dict  # of the measures: threshold, options, cluster, weight

  def to_frame(self) -> pd.DataFrame:
    """One row a number: group ('' is everyone), measure, value, low, high."""
    return self.results.to_frame().drop(columns=['contender', 'set'])

  def save(self, folder: str | os.PathLike) -> pathlib.Path:
    """Writes the page, its documents and predictions; returns the page."""
    from fairjax import stages

    given = self.options['options']
    config = Config(
      recipe='assess',
      seeds=len(self.scores),
      seed=given.seed,
      measures=Measures(
        threshold=str(self.options['threshold']),
        resamples=given.resamples,
        confidence_level=given.level,
        min_group=self.options['min_group'],
      ),
    )

    def keep(folder: pathlib.Path) -> None:
      chances = self.scores
      if chances.ndim == 2:
        chances = np.stack([1 - chances, chances], -1)
      rows = stages.prediction_table(SET, self._rows(), chances)
      artefacts.write_table(folder / 'predictions.parquet', rows)

    return stages.leave(folder, config, self.results, keep)

  def _rows(self) -> pd.DataFrame:
    """A row's place, its label, and its group of the first attribute."""
    group = self.compared.by_row()
    ids = [f'row-{i}' for i in range(len(group))]
    return pd.DataFrame({'id': ids, 'label': self.labels, 'group': group})

  def __repr__(self) -> str:
    frame = self.to_frame()
    return escape.lines_of(frame[frame['group'] == ''])

  def _repr_html_(self) -> str:
    lines = ''.join(f'<li>{escape.html(w)}</li>' for w in self.warnings)
    frame = self.to_frame().drop(columns='note', errors='ignore')
    return f'{escape.table_of(frame)}<ul>{lines}</ul>'
