"""The audit as a function of tables, for notebooks: `fairjax.audit`."""

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fairjax import stages
from fairjax.config import Audit, Config, Data, Measures
from fairjax.core import escape, knobs
from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table, readers
from fairjax.recipes.audit import recipe as recipe
from fairjax.report import first_screen, page
from fairjax.results import Results, write
from fairjax.train.progress import Log


@dataclasses.dataclass(repr=False)
class Audited:
  """What `fairjax.audit` found: result['flips'] is {value, low, high, …}."""

  results: Results
  config: Config
  table: pd.DataFrame
  measured: Mapping[str, Any]

  def __getitem__(self, measure: str) -> dict:
    estimates = self.results.measured(self.results.focus, self._set)
    if measure not in estimates:
      raise KeyError(f'{measure!r}; there are {", ".join(estimates)}')
    return estimates[measure]

  @property
  def _set(self) -> str:
    return next(iter(self.results.sets))

  def to_frame(self) -> pd.DataFrame:
    """One row a number: contender, group ('' is everyone), measure, value."""
    return self.results.to_frame().drop(columns='set')

  def words(self, swap: str = '') -> pd.DataFrame:
    """The words of a swap, those that carry its flips first."""
    every = self.measured[self.results.focus].words
    return pd.DataFrame(every[swap or next(iter(every))])

  def slices(self) -> pd.DataFrame:
    """Where it is wrong more often than elsewhere, the surest first."""
    return pd.DataFrame(self.measured[self.results.focus].slices)

  def save(self, folder: str | os.PathLike) -> pathlib.Path:
    """Writes the page, its documents and predictions; returns the page."""
    folder = pathlib.Path(folder)
    with Log(folder) as log:
      stages.keep_config(self.config, folder)
      recipe.keep(self.config, folder, self.table, self.measured)
      log.line(f'the report is {folder / "report.html"}')
    page.publish(folder, self.results)
    return folder / 'report.html'

  def __repr__(self) -> str:
    one = self.results.sets[self._set]
    gap = first_screen.headline(one)
    lines = first_screen.answer(self.results, self._set, one, gap)
    frame = self.to_frame()
    everyone = frame[frame['group'] == ''].drop(columns='group')
    return '\n'.join([*lines, everyone.to_string(index=False)])

  def _repr_html_(self) -> str:
    """The page itself, in a frame of its own."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
      write(folder, self.results)
      whole = escape.entities(page.report(folder))
    return (
      f'<iframe srcdoc="{whole}" width="100%" height="720" '
      'sandbox="allow-downloads" '
      'style="border: 1px solid #ccc"></iframe>'
    )


def audit(
  model: Any,
  data: pd.DataFrame | str | os.PathLike,
  *,
  text: str = 'text',
  label: str = 'label',
  groups: Sequence[str] = (),
  controls: Sequence[str] = (),
  reference: str = '',
  intersections: bool = True,
  cluster: str = '',
  swaps: Sequence[str] = ('gender',),
  against: Any = None,
  classes: Sequence[str] = (),
  threshold: float | str = 0.5,
  pos_label: int = 1,
  labels: str = '',
  costs: str = '',
  min_group: int = 10,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> Audited:
  """Any classifier, or only its predictions, assessed on labelled rows.

  Args:
    model: a function of a list of texts to probabilities, a model with
      `predict_proba`, a classifier of `fairjax.load`, a Hugging Face folder,
      a file or table of predictions, or an array of them.
    data: a table (or its file) with a text, a label and group columns; what
      is not there is not needed, and less is measured.
    text: the column of the text.
    label: that of the label; '' for none.
    groups: columns whose groups are compared ('age:18/30' cuts bands,
      'terms:FILE' finds words).
    controls: columns held equal.
    reference: a group's name, 'largest', or '' for everyone else.
    intersections: also compare combinations of columns.
    cluster: the column of what rows hang together by (a template, a writer);
      '' takes equal texts, 'none' every row by itself.
    swaps: edits whose decisions are counted: 'gender', 'neutral', a file of
      word groups, 'column:NAME'.
    against: a second model or predictions, compared row by row.
    classes: of a model whose labels may hold together, those that are
      audited, side by side; all of them without it.
    threshold: a row is positive from this score on, or 'eer'.
    pos_label: the class (0 or 1, of the labels in order) that is positive.
    labels: which name is which class, as 'ok=0,toxic=1'.
    costs: of errors, as 'fp=1,fn=5'.
    min_group: rows behind a rate below which it is in no gap.
    confidence_level: of the intervals.
    n_resamples: bootstrap resamples.
    random_state: seed of resamples and edits.

  >>> rows = pd.DataFrame({'text': ['She won.', 'He won.'] * 30})
  >>> result = audit(lambda texts: [0.9] * len(texts), rows, n_resamples=100)
  >>> result['flips']['value']
  0.0
  """
  config = Config(
    recipe='audit',
    seeds=1,
    seed=random_state,
    data=Data(name='file', text=text, label=label or 'label', labels=labels),
    measures=Measures(
      threshold=str(threshold),
      resamples=n_resamples,
      confidence_level=confidence_level,
      min_group=min_group,
      pos_label=pos_label,
    ),
    audit=Audit(
      groups=tuple(groups),
      controls=tuple(controls),
      reference=reference,
      intersections=intersections,
      cluster=cluster,
      swaps=tuple(swaps),
      classes=tuple(classes),
      costs=costs,
    ),
  )
  knobs.check(config, Config)
  rows = audit_table.of_frame(_frame(data, config, label), config)
  results, measured = recipe.audit(config, model, rows, None, against)
  return Audited(results, config, rows.table, measured)


def _frame(
  data: pd.DataFrame | str | os.PathLike, config: Config, label: str
) -> pd.DataFrame:
  """The data as a table, without a label where none is asked for."""
  if isinstance(data, str | os.PathLike):
    config.data.path = os.fspath(data)
    frame = readers.read(config.data.path)
  elif isinstance(data, pd.DataFrame):
    frame = data.copy()
  else:
    raise UserError(
      f'data is {type(data).__name__}; a pandas table or a file is needed'
    )
  return frame if label else frame.drop(columns='label', errors='ignore')
