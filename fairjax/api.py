"""The library: what the program does, as functions of arrays and tables.

    import fairjax
    result = fairjax.assess(y_true, y_score, groups=df['gender'])
    result.to_frame()

numpy, pandas and lists go in; results can be indexed, printed, plotted and
shown in a notebook. Every number has its interval, as in the program.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.errors import UserError as UserError
from fairjax.results import Results

if TYPE_CHECKING:
  import matplotlib.figure

SET = 'data'  # the name of the only test set of a result


# Assessing what exists


def assess(
  y_true: Sequence,
  y_score: Sequence,
  groups: Any = None,
  *,
  pos_label: Any = None,
  threshold: float | str = 0.5,
  intersections: bool = False,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> 'Assessment':
  """Quality and fairness of predictions, each number with its interval.

  Args:
    y_true: labels [n]: numbers, booleans or names.
    y_score: probabilities of the positive label [n]; of every class [n, c],
      in the order of the sorted labels; or [s, n], a line for each model of
      several seeds.
    groups: the group of each row: a column, or a table or mapping of several
      ('', None and NaN: in no group of that attribute).
    pos_label: the label whose probability y_score is; where labels are names.
    threshold: a row is positive where its score is at least this number;
      'eer' takes the threshold of equal errors.
    intersections: also compare the combinations of several columns.
    confidence_level: of the intervals.
    n_resamples: bootstrap resamples; 0 gives values without intervals.
    random_state: seed of the resamples.

  >>> y, p = [0, 0, 1, 1, 0, 0, 1, 1], [.2, .6, .9, .4, .7, .8, .95, .55]
  >>> result = assess(y, p, groups=list('mmmmffff'), n_resamples=100)
  >>> result['dp']['value'], result['auc']['value']
  (0.5, 0.625)
  """
  from fairjax.metrics import assess as metrics
  from fairjax.metrics import groups as of_groups

  names, labels = _labels(y_true, pos_label)
  scores = _scores(y_score, len(labels), len(names))
  columns = _columns(groups, len(labels))
  members, group_names, attributes = of_groups.memberships(
    columns, intersections=intersections
  )
  if not columns:
    members = np.zeros((0, len(labels)), bool)
  options = {
    'threshold': threshold,
    'level': confidence_level,
    'resamples': n_resamples,
    'seed': random_state,
  }
  measurement = metrics.assess(
    labels, scores, members, group_names, attributes=attributes, **options
  )
  results = Results(
    recipe='assess',
    data=SET,
    seeds=list(range(len(scores))),
    level=confidence_level,
    title='Assessment',
    contenders={'model': {'sets': {SET: measurement}}},
    focus='model',
  )
  return Assessment(results, labels, scores, members, group_names, options)


@dataclasses.dataclass(repr=False)
class Assessment:
  """What `assess` measured: result['dp'] is {value, low, high, …}."""

  results: Results
  labels: np.ndarray  # [n], 1 is positive
  scores: np.ndarray  # [s, n] or [s, n, c]
  members: np.ndarray  # bool [g, n]
  group_names: list[str]
  options: dict  # of the measures: threshold, level, resamples, seed

  def __getitem__(self, measure: str) -> dict:
    known = self.results.measured('model', SET)
    if measure not in known:
      raise KeyError(f'{measure!r}; there are {", ".join(known)}')
    return known[measure]

  @property
  def groups(self) -> pd.DataFrame:
    """The measures of each group, a row a group."""
    by = self.results.sets[SET]['groups']
    value = lambda v: v['value'] if isinstance(v, Mapping) else v
    return pd.DataFrame(
      {name: {k: value(v) for k, v in one.items()} for name, one in by.items()}
    ).T

  @property
  def warnings(self) -> list[str]:
    return self.results.sets[SET]['warnings']

  def to_frame(self) -> pd.DataFrame:
    """One row a number: group ('' is everyone), measure, value, low, high."""
    return self.results.to_frame().drop(columns=['contender', 'set'])

  def plot(self, measure: str = 'selection_rate') -> 'matplotlib.figure.Figure':
    """One measure of every group, with intervals."""
    from fairjax.report import plots

    by = self.results.sets[SET]['groups']
    return plots.forest(
      {name: one[measure] for name, one in by.items()}, measure, zero=None
    )

  def __repr__(self) -> str:
    frame = self.to_frame()
    return frame[frame['group'] == ''].to_string(index=False)

  def _repr_html_(self) -> str:
    lines = ''.join(f'<li>{_escaped(w)}</li>' for w in self.warnings)
    frame = self.to_frame().drop(columns='note', errors='ignore')
    return frame.to_html(index=False, escape=True) + f'<ul>{lines}</ul>'


def compare(a: Assessment, b: Assessment) -> 'Comparison':
  """Every measure of a − b on the same rows, with paired tests.

  >>> y, p = [0, 0, 1, 1] * 5, [.2, .6, .9, .4] * 5
  >>> a, b = (assess(y, q, n_resamples=100) for q in (p, [.4] * 20))
  >>> round(compare(a, b)['accuracy']['difference']['value'], 6)
  0.0
  """
  from fairjax.metrics import paired as metrics

  if len(a.labels) != len(b.labels) or (a.labels != b.labels).any():
    raise UserError(
      'the two assessments have different labels; compare predictions of the '
      'same rows in the same order'
    )
  tests = metrics.compare(
    a.labels, a.scores, b.scores, a.members, a.group_names, **a.options
  )
  return Comparison(tests)


@dataclasses.dataclass(repr=False)
class Comparison:
  """What `compare` tested: result['dp'] is {difference, p, test, …}."""

  tests: list[dict]

  def __getitem__(self, measure: str) -> dict:
    known = {test['measure']: test for test in reversed(self.tests)}
    if measure not in known:
      raise KeyError(f'{measure!r}; there are {", ".join(known)}')
    return known[measure]

  def to_frame(self) -> pd.DataFrame:
    """One row a test: measure, difference, its interval, p, the test."""
    keep = ('value', 'low', 'high')
    return pd.DataFrame(
      [
        {'measure': test['measure']}
        | {k: test['difference'].get(k) for k in keep}
        | {'p': test['p'], 'test': test['test']}
        for test in self.tests
      ]
    )

  def plot(self) -> 'matplotlib.figure.Figure':
    """The differences with their intervals."""
    from fairjax.report import plots

    values = {}
    for test in self.tests:
      values.setdefault(test['measure'], test['difference'])
    return plots.forest(values, 'difference')

  def __repr__(self) -> str:
    return self.to_frame().to_string(index=False)

  def _repr_html_(self) -> str:
    return self.to_frame().to_html(index=False, escape=True)


def audit(model: Any, data: Any, **options: Any) -> Any:
  """Any classifier, or only its predictions, assessed on a table of rows.

  See fairjax.recipes.audit_library.audit for the options.

  >>> rows = pd.DataFrame({'text': ['She won.', 'He won.'] * 30})
  >>> found = audit(lambda texts: [0.9] * len(texts), rows, n_resamples=100)
  >>> found['flips']['value']
  0.0
  """
  from fairjax.recipes import audit_library

  return audit_library.audit(model, data, **options)


# Texts and their counterfactuals


def swap(
  texts: str | Sequence[str],
  *,
  direction: str = 'opposite',
  words: Any = None,
  names: Any = True,
  random_state: int = 0,
) -> Any:
  """The counterfactual of a text, or of each text of a column.

  Args:
    texts: one text, a list, an array or a Series (whose index is kept).
    direction: 'opposite', 'male', 'female' or 'neutral' (singular they).
    words: None for our own gender list, else a file of word groups, or groups.
    names: swap first names too: True by our own list, or a file of counts.
    random_state: of the draw where a word has more than one counterpart.

  >>> swap('She lost her keys.', names=False)
  'He lost his keys.'
  """
  from fairjax.pairs import dictionary as dictionary

  alone = isinstance(texts, str)
  gendered = names if words is None else None
  swapped = dictionary.swap(
    [texts] if alone else list(texts),
    direction,
    words,
    gendered or None,
    random_state,
  ).texts
  if alone:
    return swapped[0]
  if isinstance(texts, pd.Series):
    return pd.Series(swapped, texts.index, name=texts.name)
  return np.array(swapped) if isinstance(texts, np.ndarray) else swapped


# Data


def _table(table: pd.DataFrame) -> pd.DataFrame:
  """A user's table in our schema: text, whole labels, ids."""
  for column in ('text', 'label'):
    if column not in table:
      raise UserError(
        f'the table has no column {column!r}; rename yours, as in '
        f"table.rename(columns={{'mine': {column!r}}})"
      )
  out = table.reset_index(drop=True)
  if 'id' not in out:
    out.insert(0, 'id', [f'row-{i}' for i in range(len(out))])
  out['id'] = out['id'].astype(str)
  if out['id'].duplicated().any():
    twice = out['id'][out['id'].duplicated()].iloc[0]
    raise UserError(f'the table has id {twice!r} twice; ids must be unique')
  if not pd.api.types.is_integer_dtype(out['label']):
    out['label'] = _labels(out['label'], None)[1]
  return out


def diet(
  scores: pd.DataFrame,
  factual: float = 0.4,
  counterfactual: float = 0.4,
  *,
  ranking: str = 'healthy_random',
  random_state: int = 0,
) -> pd.DataFrame:
  """The rows that a diet takes, and the twins it takes (Zayed et al. 2023).

  Args:
    scores: a table with text, label, twin, and the scores that the ranking
      needs (`score` makes it).
    factual: share of the rows.
    counterfactual: share of the twins.
    ranking: one of fairjax.methods.diet_rows.RANKINGS.
    random_state: of random rankings.
  """
  from fairjax.methods import diet_rows

  table = _table(scores)
  if 'twin' not in table:
    table['twin'] = swap(table['text'])
  own, twins = diet_rows.positions(
    table, table, ranking, (factual, counterfactual), Config(), random_state
  )
  rows = table.iloc[np.sort(own)].assign(origin='')
  others = table.iloc[np.sort(twins)]
  others = others.assign(
    text=others['twin'], id=others['id'] + '~twin', origin='twin'
  )
  return pd.concat([rows, others], ignore_index=True)


def weights(
  table: pd.DataFrame,
  z: str = 'gender',
  *,
  terms: str | pathlib.Path = '',
  estimator: str = 'forest',
  random_state: int = 0,
  **options,
) -> pd.Series:
  """Instance weights Q(y)/P(y|z) of each row (Zhang et al. 2020).

  Args:
    table: with text and label.
    z: 'gender', 'terms', 'identity' or 'columns:a,b'.
    terms: a file of identity terms, for z='terms'.
    estimator: 'forest', 'logistic' or 'count'.
    random_state: of folds and forests.
    **options: others of the config's section `weighting`.
  """
  from fairjax import knobs
  from fairjax.config import Weighting
  from fairjax.methods import reweight

  known = {field.name for field in dataclasses.fields(Weighting)}
  if wrong := [name for name in options if name not in known]:
    raise UserError(f'weights has no option {wrong[0]!r}')
  config = Config(
    seed=random_state,
    weighting=Weighting(z=z, terms=str(terms), estimator=estimator, **options),
  )
  knobs.check(config, Config)
  result = reweight.weights(_table(table), config)['weight']
  return pd.Series(result.to_numpy(), table.index, name='weight')


# Models


def load(folder: str | pathlib.Path) -> 'Classifier':
  """A fine-tuned classifier from a Hugging Face folder (safetensors)."""
  from fairjax import models

  return Classifier(models.load(folder, can='classify'), str(folder))


@dataclasses.dataclass(repr=False)
class Classifier:
  """A model that gives probabilities of texts, as in scikit-learn."""

  bundle: Any  # models.Bundle
  name: str = ''
  # (bundle, it on its devices, its parameters): else every call would trace.
  _ready: tuple = dataclasses.field(default=(None,), init=False, compare=False)

  @property
  def classes_(self) -> np.ndarray:
    """The names of the classes, in the order of the probabilities."""
    return np.array(self.bundle.labels)

  def predict_proba(
    self, texts: Sequence[str], batch_size: int = 64
  ) -> np.ndarray:
    """softmax(logits) [n, c] of each text."""
    from scipy.special import softmax

    from fairjax.train import loop

    table = pd.DataFrame({'text': list(texts), 'label': 0})
    if not len(table):
      return np.zeros((0, len(self.classes_)))
    wrong = ~table['text'].map(lambda text: isinstance(text, str))
    if wrong.any():
      row = int(wrong.argmax())
      raise UserError(f'text {row} is {table["text"][row]!r}, which is no text')
    model, params = self._placed()
    from fairjax import stages

    logits = loop.predict(
      model,
      params,
      stages.pool(model, table),
      model.device_mesh,
      batch_size,
    )
    return softmax(logits[0].astype(np.float64), axis=-1)

  def predict(self, texts: Sequence[str], batch_size: int = 64) -> np.ndarray:
    """The name of the likeliest class of each text."""
    return self.classes_[self.predict_proba(texts, batch_size).argmax(-1)]

  def _placed(self):
    """The bundle on its devices, and its parameters with a seed axis."""
    import jax

    from fairjax.config import Mesh
    from fairjax.train import mesh

    if self._ready[0] is not self.bundle:
      model = self.bundle.replace(device_mesh=mesh.make(Mesh(), 1))
      params = jax.tree.map(lambda leaf: np.asarray(leaf)[None], model.params)
      params = mesh.put_state(model.device_mesh, params)
      self._ready = (self.bundle, model, params)
    return self._ready[1:]

  def __repr__(self) -> str:
    return f'Classifier({self.name!r}, classes={list(self.classes_)})'


def score(
  model: Classifier,
  table: pd.DataFrame,
  names: Sequence[str] = ('ge', 'el2n'),
  batch_size: int = 64,
) -> pd.DataFrame:
  """The table with the example scores of a model, a column each.

  Args:
    model: a classifier (`load`) whose classes are the table's labels.
    table: text, label, and for GE the counterfactual text `twin` (without
      one, texts are swapped by `swap`).
    names: 'ge', 'el2n', 'grand', … (`python -m fairjax.main --list`).
    batch_size: texts a step.
  """
  from fairjax import registry
  from fairjax.scores import SCORES, TRACKED
  from fairjax.stages.model_outputs import Predictions

  out = _table(table)
  if 'twin' not in out:
    out['twin'] = swap(out['text'])
  for name in names:
    if name in TRACKED:
      raise UserError(
        f'score {name!r} follows a training run over epochs; train with '
        f'--config.scoring.names={name}'
      )
  if out['label'].max() >= len(model.classes_):
    raise UserError(
      f'the table has labels up to {out["label"].max()}, but the model has '
      f'the {len(model.classes_)} classes {list(model.classes_)}'
    )
  bundle, params = model._placed()
  config = Config(seeds=1)
  config.train.batch = batch_size
  predictions = Predictions(config, bundle, params, out)
  for name in names:
    function = registry.find(SCORES, 'score', name)
    out[name] = np.asarray(function(predictions, config), np.float64)[0]
  return out


def gradient_norms(module, params, inputs, targets, loss: Callable):
  """‖∇_θ ℓ(f_θ(x_i), y_i)‖₂ of every example of a linen model; see
  fairjax.models.intercept.gradient_norms."""
  from fairjax.models import intercept

  return intercept.gradient_norms(module, params, inputs, targets, loss)


# What users give, as arrays


def _labels(y_true: Sequence, pos_label: Any) -> tuple[list, np.ndarray]:
  """The classes' names in order, and each row's class; 1 is `pos_label`."""
  values = np.asarray(y_true)
  if values.ndim != 1 or not len(values):
    raise UserError(
      f'y_true has shape {values.shape}; a label for each row is needed'
    )
  if pd.isna(values).any():
    row = int(pd.isna(values).argmax())
    raise UserError(f'row {row} of y_true has no label')
  classes = sorted(set(values.tolist()))
  if pos_label is not None:
    if pos_label not in classes:
      raise UserError(f'pos_label is {pos_label!r}; the labels are {classes}')
    if len(classes) > 2:
      raise UserError(f'pos_label is for two classes; there are {classes}')
    return [pos_label], (values == pos_label).astype(np.int32)
  numbers = all(isinstance(c, bool | int | float) for c in classes)
  if numbers and set(classes) <= {0, 1}:
    return [0, 1], values.astype(np.int32)
  if len(classes) <= 2:
    raise UserError(
      f'the labels are {classes}; say which one y_score is the probability of '
      f'with pos_label={classes[-1]!r}'
    )
  index = {c: i for i, c in enumerate(classes)}
  return classes, np.array([index[v] for v in values.tolist()], np.int32)


def _scores(y_score: Sequence, rows: int, classes: int) -> np.ndarray:
  """[s, n], or [s, n, c] of three or more classes."""
  scores = np.asarray(y_score, np.float64)
  shape = scores.shape
  if scores.ndim == 1:
    scores = scores[None]
  elif scores.ndim == 2 and shape[0] == rows and shape[1] != rows:
    scores = scores[None]
    scores = scores[..., 1] if shape[1] == 2 else scores
  elif scores.ndim == 3 and shape[2] == 2:
    scores = scores[..., 1]
  class_count = scores.shape[2] if scores.ndim == 3 else 2
  if scores.shape[1] != rows or class_count != max(classes, 2):
    raise UserError(
      f'y_score has shape {shape}, but there are {rows} rows of {classes} '
      'classes; give [n], [n, c] or, for several seeds, [s, n]'
    )
  if not np.isfinite(scores).all():
    raise UserError('y_score has values that are no numbers')
  return scores


def _columns(groups: Any, rows: int) -> dict[str, Sequence]:
  """The group columns by name."""
  if groups is None:
    return {}
  if isinstance(groups, pd.DataFrame):
    columns = {str(name): list(groups[name]) for name in groups}
  elif isinstance(groups, Mapping):
    columns = {str(name): list(values) for name, values in groups.items()}
  else:
    columns = {'group': list(groups)}
  for name, values in columns.items():
    if len(values) != rows:
      raise UserError(
        f'group column {name!r} has {len(values)} values for {rows} rows'
      )
  return columns


def _escaped(text: str) -> str:
  from html import escape

  return escape(text)
