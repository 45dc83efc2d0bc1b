"""The library: what the program does, as functions of arrays and tables.

    import fairjax
    result = fairjax.assess(y_true, y_score, groups=df['gender'])
    result.to_frame()

numpy, pandas and lists go in; results can be indexed, printed, plotted and
shown in a notebook. Every number has its interval, as in the program.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, TypeVar, Unpack

import numpy as np
import pandas as pd

from fairjax.config import Config, doors
from fairjax.core import announce
from fairjax.core.errors import UserError as UserError
from fairjax.core.errors import need, same_index
from fairjax.data.tables import inputs
from fairjax.report.result_views import SET, ResultView
from fairjax.report.result_views import Comparison as Comparison
from fairjax.report.result_views import Equalized as Equalized
from fairjax.results import Results
from fairjax.stages.assessed import Assessment as Assessment
from fairjax.stages.classifier import Classifier as Classifier
from fairjax.stages.classifier import load as load

# Assessing what exists


Texts = TypeVar('Texts')  # one text, or a column of them as it came
# What a pipeline may be told where its labels are others.
_LABELS = {'data.labels': 'its names in y_true'}


@doors.door(_LABELS)
def assess(
  y_true: Any,
  y_score: Any,
  groups: Any = None,
  *,
  sensitive_features: Any = None,
  pos_label: Any = None,
  threshold: float | str = 0.5,
  intersections: bool = False,
  cluster: Any = None,
  sample_weight: Any = None,
  metrics: Mapping[str, Callable[..., Any]] | None = None,
  min_group: int = 10,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> Assessment:
  """Quality and fairness of predictions, each number with its interval.

  Args:
    {arguments}

  >>> y, p = [0, 0, 1, 1, 0, 0, 1, 1], [.2, .6, .9, .4, .7, .8, .95, .55]
  >>> groups = list('mmmmffff')
  >>> result = assess(y * 10, p * 10, groups=groups * 10, n_resamples=100)
  >>> result['dp']['value'], result['auc']['value']
  (0.5, 0.625)
  """
  from fairjax.metrics import assess as measures
  from fairjax.metrics import custom_metrics
  from fairjax.metrics.groups import of_columns
  from fairjax.metrics.inference import clusters, intervals, row_weights

  groups = inputs.groups_of(groups, sensitive_features)
  inputs.options(
    threshold, confidence_level, n_resamples, random_state, min_group
  )
  need(
    isinstance(intersections, bool | np.bool_),
    *('intersections', intersections, 'True or False is needed'),
  )
  need(
    metrics is None or isinstance(metrics, Mapping),
    *('metrics', metrics, '{name: function} is needed'),
  )
  same_index(
    y_true=y_true,
    y_score=y_score,
    groups=groups,
    cluster=cluster,
    sample_weight=sample_weight,
  )
  names, labels, scores, notes = inputs.predicted(y_true, y_score, pos_label)
  columns, remarks = inputs.columns(groups, len(labels))
  remarks += notes
  compared = of_columns(columns, len(labels), intersections=intersections)
  sample = intervals.RowSample(
    *(confidence_level, n_resamples, random_state),
    weight=row_weights.given(_listed(sample_weight), len(labels)),
  ).over(clusters.given(cluster, len(labels)))
  options: dict[str, Any] = {
    **{'threshold': threshold, 'options': sample, 'min_group': min_group},
  }
  compared.check_weight(sample.weight)
  of = labels, scores, compared
  measurement = measures.assess(*of, **options)
  theirs = metrics and custom_metrics.add(
    measurement, dict(metrics), *of, options
  )
  of_clusters = clusters.words(sample.cluster)
  of_weights = row_weights.words(sample.weight)
  remarks += [one for one in (of_clusters, of_weights) if one]
  measurement['warnings'] += [
    f'{words[0].upper()}{words[1:]}.' for words in remarks
  ]
  results = Results(
    recipe='assess',
    data=SET,
    seeds=list(range(len(scores))),
    level=confidence_level,
    own_measures=theirs or [],
    classes=names,
    title='Assessment',
    contenders={'model': {'sets': {SET: measurement}}},
    focus='model',
  )
  return Assessment(results, *of, options)


def _listed(values: Any) -> Any:
  """A column by its places; anything else as it is."""
  from fairjax.data.tables import readers

  found = None if isinstance(values, str) else readers.as_values(values)
  return values if found is None else found


def compare(a: Assessment, b: Assessment) -> Comparison:
  """Every measure of a − b on the same rows, with paired tests.

  Each side keeps its own threshold; both must have the same groups. Where
  groups of several attributes are compared, a gap is named ATTRIBUTE/NAME.

  >>> y, p = [0, 0, 1, 1] * 5, [.2, .6, .9, .4] * 5
  >>> a, b = (assess(y, q, n_resamples=100) for q in (p, [.4] * 20))
  >>> round(compare(a, b)['accuracy']['difference']['value'], 6)
  0.0
  """
  from fairjax.metrics import paired
  from fairjax.metrics.inference import clusters
  from fairjax.metrics.measures import is_gap

  for name, one in (('a', a), ('b', b)):
    if isinstance(one, ResultView) and not isinstance(one, Assessment):
      raise UserError(
        f'{name} is a result of `audit`; compare in one call of it, as in '
        'audit(model, table, against=other)'
      )
    need(
      isinstance(one, Assessment),
      *(name, one, 'a result of `assess` is needed'),
    )
  samples = [one.options['options'] for one in (a, b)]
  weights = [np.nan_to_num(np.asarray(one.weight, float)) for one in samples]
  least = [one.options['min_group'] for one in (a, b)]
  rows = 'compare predictions of the same rows in the same order'
  columns = 'give both the same columns of groups'
  ours, theirs = a.compared, b.compared
  for kept, remedy, *sides in (
    ('have different labels', rows, a.labels, b.labels),
    ('compare different groups', columns, ours.names, theirs.names),
    ('compare different groups', columns, ours.members, theirs.members),
    ('have different weights', 'give both the same sample_weight', *weights),
    ('have different min_group', 'give both the same', *least),
  ):
    if not np.array_equal(*sides):
      raise UserError(f'the two assessments {kept}; {remedy}')
  if not a.options['options'].resamples:
    raise UserError(
      'a comparison is made of resamples, and there are none: n_resamples is '
      '0, or one cluster has most of the rows'
    )
  options = {k: v for k, v in a.options.items() if k != 'threshold'}
  options['threshold'] = a.options['threshold'], b.options['threshold']
  both = clusters.connected(*(one.cluster for one in samples))
  options['options'] = samples[0].over(both)
  tests = paired.compare(a.labels, a.scores, b.scores, ours, **options)
  return Comparison(sorted(tests, key=lambda t: not is_gap(t['measure'])))


@doors.door(_LABELS)
def thresholds(
  y_true: Any,
  y_score: Sequence[Any],
  groups: Any = None,
  *,
  sensitive_features: Any = None,
  criterion: str = 'equal_opportunity',
  decide_by: Any = None,
  pos_label: Any = None,
  threshold: float | str = 0.5,
  holdout: float = 0.5,
  cluster: Any = None,
  sample_weight: Any = None,
  min_group: int = 10,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> Equalized:
  """A threshold for each group that makes a rate equal, and what it costs.

  They are chosen on a part of the rows and judged on the others.

  Args:
    {arguments}

  >>> y, p = [0, 1] * 100, [.1, .3, .6, .9] * 50
  >>> found = thresholds(y, p, ['a', 'a', 'b', 'b'] * 50, n_resamples=100)
  >>> found.thresholds
  {'a': 0.2, 'b': 0.75}
  >>> found.before['eqopp1']['value'], found.after['eqopp1']['value']
  (0.0, 1.0)
  """
  from fairjax.metrics import group_thresholds, warn
  from fairjax.metrics.assess import decide

  need(
    inputs.number(holdout) and 0 < holdout < 1,
    *('holdout', holdout, 'a share between 0 and 1 is needed'),
  )
  group_thresholds.known(criterion)
  groups = inputs.groups_of(groups, sensitive_features)
  inputs.options(
    threshold, confidence_level, n_resamples, random_state, min_group
  )
  same_index(
    y_true=y_true,
    y_score=y_score,
    groups=groups,
    decide_by=decide_by,
    cluster=cluster,
    sample_weight=sample_weight,
  )
  _, labels, scores, notes = inputs.predicted(y_true, y_score, pos_label)
  if scores.shape[:-1] != (1,):
    raise UserError(
      f'y_score has shape {np.shape(y_score)}; thresholds of groups are of one '
      'model and two classes, so give [n]'
    )
  judged_by = decided_by = _one_column(groups, labels, 'groups', notes)
  if decide_by is not None:
    decided_by = _one_column(decide_by, labels, 'decide_by', notes)
  columns = judged_by, decided_by
  sample = _weighted(columns, cluster, sample_weight, random_state)
  own, held = group_thresholds.halves(len(labels), holdout, sample)
  if not len(own) or not len(held):
    raise UserError(f'{len(labels)} rows are too few to hold some out')
  group_thresholds.need_rows(labels, decided_by, criterion, own)
  first, last = sample.of(own).weight, sample.of(held)
  _, limit = decide(labels[own], scores[:, own], threshold, first)
  limit = float(np.ravel(limit)[0])
  rule = group_thresholds.fit(
    labels[own], scores[0, own], decided_by[own], criterion, limit, first
  )
  options: dict[str, Any] = {
    **{'cluster': last.cluster, 'sample_weight': last.weight},
    **{'min_group': min_group, 'confidence_level': confidence_level},
    **{'n_resamples': n_resamples, 'random_state': random_state},
  }
  once = (scores[0, held] >= limit).astype(float)
  each = rule.decide(scores[0, held], decided_by[held]).astype(float)
  before, after = (
    assess(labels[held], decisions, judged_by[held], **options)
    for decisions in (once, each)
  )
  options |= {'cluster': sample.cluster, 'sample_weight': sample.weight}
  ranked = assess(labels, scores, **options)
  notes += warn.of_reversed(ranked['auc'] if 'auc' in ranked else {})
  for side in (before, after):
    side.warnings[:] = dict.fromkeys([*notes, *side.warnings])
  return Equalized(rule, before, after, compare(after, before), notes)


def _weighted(
  columns: Sequence[np.ndarray], cluster: Any, sample_weight: Any, seed: int
) -> Any:
  """The sample of rows, in which each group of the columns weighs something."""
  from fairjax.metrics.groups import of_columns
  from fairjax.metrics.inference import clusters, intervals, row_weights

  rows = len(columns[0])
  weight = row_weights.given(_listed(sample_weight), rows)
  for column in columns:
    of_columns({'group': column}).check_weight(weight)
  code = clusters.given(_listed(cluster), rows)
  return intervals.RowSample(seed=seed, weight=weight).over(code)


def _one_column(
  values: Any, labels: np.ndarray, name: str, notes: list[str]
) -> np.ndarray:
  columns, remarks = inputs.columns(values, len(labels))
  if len(columns) != 1:
    raise UserError(f'{name} has {len(columns)} columns; give one')
  notes += [f'{words[0].upper()}{words[1:]}.' for words in remarks]
  return np.asarray(next(iter(columns.values())), object)


# Texts and their counterfactuals


@doors.door()
def swap(
  texts: Texts,
  *,
  direction: str = 'opposite',
  words: Any = None,
  names: Any = True,
  axis: Any = 'gender',
  random_state: int = 0,
) -> Texts:
  """The counterfactual of a text, or of each text of a column.

  Args:
    {arguments}

  >>> swap('She lost her keys.', names=False)
  'He lost his keys.'
  >>> swap('Two Jews and a Muslim woman.', axis='religion', direction='hindu')
  'Two Hindus and a Hindu woman.'
  """
  from fairjax.pairs.swapping import dictionary as dictionary
  from fairjax.pairs.swapping import english

  alone = isinstance(texts, str)
  need(
    alone or inputs.is_column(texts),
    *('texts', texts, 'one text or a column of texts is needed'),
  )
  inputs.seed(random_state)
  need(
    isinstance(axis, str | os.PathLike),
    *('axis', axis, "'gender', another axis by name, or a file is needed"),
  )
  gendered = names if words is None and axis == 'gender' else None
  given: Any = texts
  column = [given] if alone else list(given)
  swapped = dictionary.swap(
    column, direction, words, gendered, random_state, axis=axis
  ).texts
  remedy = 'give words= of the language of the texts'
  doubt = words is None and english.doubt(column, swapped, axis, remedy)
  if swapped == column and words is not None and not alone:
    doubt = (
      f'none of {len(swapped):,} texts has a word of words=, so all are as '
      'they were'
    )
  if doubt and swapped:
    announce.note(doubt)
  turned: Texts = inputs.as_given(texts, swapped)
  return turned


# Data


@doors.door({'data.group': "a column called 'group'"})
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
    {arguments}
  """
  from fairjax.methods import diet_rows

  inputs.seed(random_state)
  table = inputs.table(scores)
  if 'twin' not in table:
    table['twin'] = swap(table['text'])
  own, twins = diet_rows.positions(
    table, table, ranking, (factual, counterfactual), Config(), random_state
  )
  table['label'] = scores['label'].to_numpy()  # as they were, names too
  rows = table.iloc[np.sort(own)].assign(origin='')
  others = table.iloc[np.sort(twins)]
  others = others.assign(
    text=others['twin'], id=others['id'] + '~twin', origin='twin'
  )
  return pd.concat([rows, others], ignore_index=True)


class WeightOptions(TypedDict, total=False):
  """The rest of what `weights` takes, which says what each is: knobs."""

  terms: Annotated[str | os.PathLike[str], 'method.terms']
  estimator: Annotated[str, 'weighting.estimator']
  n_estimators: Annotated[int, 'weighting.n_estimators']
  max_depth: Annotated[int, 'weighting.max_depth']
  folds: Annotated[int, 'weighting.folds']
  max_weight: Annotated[float, 'weighting.max_weight']
  random_state: Annotated[int, 'seed']


_WEIGHTING = doors.options(WeightOptions, Config())


@doors.door(known=_WEIGHTING)
def weights(
  table: pd.DataFrame,
  z: str = 'gender',
  *,
  sensitive_features: Any = None,
  options: WeightOptions | None = None,
  **deprecated: Unpack[WeightOptions],
) -> pd.Series:
  """Instance weights Q(y)/P(y|z) of each row (Zhang et al. 2020).

  Args:
    {arguments}

  Options (a `WeightOptions`, or a mapping):
    {options}
  """
  from fairjax.methods import reweight

  same_index(table=table, sensitive_features=sensitive_features)
  rows, groups = inputs.with_groups(inputs.table(table), sensitive_features)
  if groups:
    z = f'columns:{",".join(groups)}'
  config = Config()
  config.weighting.z = z
  doors.configured(config, _WEIGHTING, doors.given(options, deprecated))
  result = reweight.weights(rows, config)['weight']
  return pd.Series(result.to_numpy(), table.index, name='weight')


# Models


@doors.door()
def score(
  model: Classifier,
  table: pd.DataFrame,
  names: Sequence[str] = ('ge', 'el2n'),
  batch_size: int = 64,
) -> pd.DataFrame:
  """The table with the example scores of a model, a column each.

  Args:
    {arguments}
  """
  from fairjax.core import registry
  from fairjax.models.families import chances
  from fairjax.scores import SCORES, TRACKED
  from fairjax.stages.model_outputs import Predictions

  need(
    isinstance(model, Classifier),
    *('model', model, 'what `fairjax.load` returns is needed'),
  )
  chances.require_one(model.bundle.config, model.bundle.classes, model.name)
  out = inputs.table(table, list(model.classes_))
  if 'twin' not in out:
    out['twin'] = swap(out['text'])
  names = [registry.named(name, SCORES, 'score') for name in names]
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
  bundle, params = model.placed()
  config = Config(seeds=1)
  config.train.batch = batch_size
  predictions = Predictions(config, bundle, params, out)
  for name in names:
    function = registry.find(SCORES, 'score', name)
    out[name] = np.asarray(function(predictions, config), np.float64)[0]
  out['label'] = table['label'].to_numpy()  # as they were, names too
  return out
