"""The audit as a function of tables, for notebooks: `fairjax.audit`."""

import dataclasses
import inspect
import os
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairjax import stages
from fairjax.config import Audit, Config, Data, Measures
from fairjax.core import escape, knobs
from fairjax.core.errors import UserError, is_listed, need
from fairjax.data.tables import audit_table, inputs, readers
from fairjax.recipes.audit import recipe as recipe
from fairjax.report import assessments, first_screen, page
from fairjax.results import Results, write
from fairjax.train.progress import Log

if TYPE_CHECKING:
  import matplotlib.figure


@dataclasses.dataclass(repr=False)
class Audited:
  """What `fairjax.audit` found: result['flips'] is {value, low, high, …}."""

  results: Results
  config: Config
  table: pd.DataFrame
  measured: Mapping[str, Any]

  def __getitem__(self, measure: str) -> dict:
    return assessments.measure_of(self._measured, measure)

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
  def groups(self) -> pd.DataFrame:
    """The measures of each group, a row a group."""
    return assessments.groups_of(self.results.sets[self._set])

  @property
  def by_group(self) -> pd.DataFrame:
    """The same with intervals: a row for each group and measure."""
    return assessments.by_group_of(self.results.sets[self._set])

  @property
  def warnings(self) -> list[str]:
    return self.results.sets[self._set]['warnings']

  @property
  def gate(self) -> str:
    """Whether `fail_if` 'failed', 'passed' or is 'undecided'; '' without."""
    return self.results.facts.get('gate', '')

  def plot(self, measure: str = 'selection_rate') -> 'matplotlib.figure.Figure':
    """One measure of every group, with intervals."""
    return assessments.plot_of(self.results.sets[self._set], measure)

  def to_frame(self) -> pd.DataFrame:
    """One row a number: contender, group ('' is everyone), measure, value."""
    return self.results.to_frame().drop(columns='set')

  def words(self, swap: str = '') -> pd.DataFrame:
    """The words of a swap, those that carry its flips first."""
    every = self.measured[self.results.focus].words
    name = swap if isinstance(swap, str) and swap else next(iter(every), swap)
    need(
      isinstance(swap, str) and name in every,
      *('swap', swap, f'words are known of {", ".join(every) or "no swap"}'),
    )
    return pd.DataFrame(every[name])

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
    return '\n'.join([*lines, escape.lines_of(everyone)])

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
  data: Any = None,
  *,
  text: str = 'text',
  label: str = 'label',
  groups: str | Sequence[str] = (),
  controls: str | Sequence[str] = (),
  reference: str = '',
  intersections: bool = True,
  cluster: str = '',
  swaps: str | Sequence[str] = ('auto',),
  edited: str | os.PathLike = '',
  training: str | os.PathLike = '',
  against: Any = None,
  classes: str | Sequence[str] = (),
  threshold: float | str = 0.5,
  pos_label: int = 1,
  labels: str = '',
  costs: str = '',
  equalize: str = '',
  fail_if: str = '',
  on_bad: str = 'error',
  batch_size: int = 64,
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
      A column of the data by name; None finds it.
    data: a table (of pandas, polars, pyarrow or Hugging Face), a mapping of
      columns, a list of records, or a file, with a text, a label and group
      columns; what is not there is not needed, and less is measured. Without
      it, `model` is a table or file that holds the predictions too.
    text: the column of the text.
    label: that of the label; '' for none.
    groups: columns whose groups are compared ('age:18/30' cuts bands,
      'terms:FILE' finds words).
    controls: columns held equal.
    reference: a group's name, 'largest', or '' for everyone else.
    intersections: also compare combinations of columns.
    cluster: the column of what rows hang together by (a template, a writer);
      '' takes equal texts, 'none' every row by itself.
    swaps: edits whose decisions are counted: 'auto' (of the axes that the
      groups name, else of gender), an axis, 'neutral', a file of
      word groups, 'column:NAME'.
    edited: a file of predictions of edited texts (to_score.csv, which `save`
      writes), where the model is predictions only.
    training: a file of training rows, whose influence on the gap is ranked.
    against: a second model or predictions, compared row by row.
    classes: of a model whose labels may hold together, those that are
      audited, side by side; all of them without it.
    threshold: a row is positive from this score on, or 'eer'.
    pos_label: the class (0 or 1, of the labels in order) that is positive.
    labels: which name is which class, as 'ok=0,toxic=1'.
    costs: of errors, as 'fp=1,fn=5'.
    equalize: also choose thresholds of groups, on half of the rows, that meet
      'equal_opportunity', 'equal_fpr' or 'demographic_parity'.
    fail_if: a gate, as 'eqodd<0.8 or excess_flips>0.02'; see `gate`.
    on_bad: 'error' or 'drop' at rows without a text or label.
    batch_size: texts that a function is given at a time.
    min_group: rows behind a rate below which it is in no gap.
    confidence_level: of the intervals.
    n_resamples: bootstrap resamples.
    random_state: seed of resamples and edits.

  >>> rows = pd.DataFrame({'text': ['She won.', 'He won.'] * 30})
  >>> result = audit(lambda texts: [0.9] * len(texts), rows, n_resamples=100)
  >>> result['flips']['value']
  0.0
  """
  try:
    if data is None:
      model, data = None, model
    config = _config(locals())
    knobs.check(config, Config)
    rows = audit_table.of_frame(_frame(data, config, label), config)
    results, measured = recipe.audit(config, model, rows, None, against)
  except UserError as error:
    raise UserError(in_python(str(error))) from error
  results.notes = [in_python(words) for words in results.notes]
  return Audited(results, config, rows.table, measured)


def _config(given: Mapping[str, Any]) -> Config:
  """The arguments of `audit` as the command's config has them."""
  names = lambda one: tuple(one) if is_listed(one) else (one,)
  path = lambda one: os.fspath(one) if isinstance(one, os.PathLike) else one
  seed = given['random_state']
  inputs.seed(seed)
  inputs.cut(given['threshold'])
  return Config(
    recipe='audit',
    seeds=1,
    seed=int(seed),
    data=Data(
      name='file',
      text=given['text'],
      label='label' if _no_label(given['label']) else given['label'],
      labels=given['labels'],
      on_bad=given['on_bad'],
    ),
    measures=Measures(
      threshold=str(given['threshold']),
      resamples=given['n_resamples'],
      confidence_level=given['confidence_level'],
      min_group=given['min_group'],
      pos_label=given['pos_label'],
    ),
    audit=Audit(
      **{key: names(given[key]) for key in ('groups', 'controls', 'swaps')},
      reference=given['reference'],
      intersections=given['intersections'],
      cluster=given['cluster'],
      classes=names(given['classes']),
      costs=given['costs'],
      edited=path(given['edited']),
      training=path(given['training']),
      equalize=given['equalize'],
      fail_if=given['fail_if'],
      batch=given['batch_size'],
    ),
  )


# The knobs that have another name as arguments.
ARGUMENTS = {
  'measures.resamples': 'n_resamples',
  'audit.model': 'model',
  'audit.scores': 'model',  # a column of the data
  'audit.batch': 'batch_size',
  'seed': 'random_state',
}
# A flag with its value, or a knob's name in the middle of a sentence.
FLAG = re.compile(
  r'--config\.([a-z_]+(?:\.[a-z_]+)?)(=(\'[^\']*\'|"[^"]*"|[^\s;)?]*[^\s;)?,.]))?'
)
KNOB = re.compile(r'\b((?:audit|data|measures)\.[a-z_]+)\b(?!\.)')


def in_python(words: str) -> str:
  """A sentence with arguments where the command would have flags.

  >>> in_python('drop such rows with --config.data.on_bad=drop')
  "drop such rows with on_bad='drop'"
  """
  own = inspect.signature(audit).parameters

  def argument(knob: str) -> str:
    name = ARGUMENTS.get(knob, knob.rpartition('.')[2])
    return name if name in own else ''

  def flag(match: re.Match) -> str:
    name, value = argument(match[1]), match[3]
    if not name:
      return f'the command and its flag {match[0]}'
    if value is None:
      return f'{name}=…'
    plain = value.strip('\'"')
    return f'{name}={plain!r}'

  words = FLAG.sub(flag, words)
  return KNOB.sub(lambda match: argument(match[1]) or match[1], words)


def _frame(data: Any, config: Config, label: str) -> pd.DataFrame:
  """The data as a table, without a label where none is asked for."""
  if isinstance(data, str | os.PathLike):
    config.data.path = os.fspath(data)
    frame = readers.read(config.data.path)
  elif (found := readers.as_frame(data)) is not None:
    frame = found.copy()
  else:
    raise UserError(
      f'data is {type(data).__name__}; give a table, a mapping of columns, a '
      'list of records, or a file'
    )
  if not _no_label(label):
    return frame
  return frame.drop(columns='label', errors='ignore')


def _no_label(label: Any) -> bool:
  return label is None or (isinstance(label, str) and not label)
