"""Causes: the training rows behind a gap, and what would mitigate it.

With the training data and a Flax model at hand, each training row gets GE,
EL2N and GraNd (scores/), and its influence on the gap that the page leads with
(scores/influence.py). The rows that widen it most are listed.

Thresholds of groups narrow it without training: they are chosen on half of the
rows and judged on the other half (metrics/group_thresholds.py).
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairjax import api, results, stages
from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table, labels, readers
from fairjax.data.word_tables import table_rows
from fairjax.metrics import group_thresholds, measures
from fairjax.metrics.group_thresholds import CRITERIA
from fairjax.recipes.audit import measure
from fairjax.recipes.audit.measure import AuditInputs, Measured
from fairjax.report import findings, words, written
from fairjax.report.findings import Finding
from fairjax.report.result_views import SET, Equalized
from fairjax.stages.asking import AuditedModel

TOP = 12  # rows listed
HALF = 0.5  # of the rows judge the thresholds of the others
EQUALIZED = {name: of for name, *of in table_rows(__file__, 'equalized.csv')}
NUMBERS = {
  'influence': 'influence',
  **{'ge': 'GE', 'el2n': 'EL2N', 'grand': 'GraNd'},
}


def sections(
  model: AuditedModel,
  focus: Measured,
  of: results.Results,
  train: pd.DataFrame | None,
) -> list[dict]:
  """The page's: training rows behind a gap, if there are any, thresholds."""
  out = [] if train is None else _of_training(model, focus, of, train)
  if (found := focus.equalized) is not None:
    out += thresholds_section(found, of, focus.given.columns)
  return out


def _of_training(
  model: AuditedModel, focus: Measured, of: results.Results, train: pd.DataFrame
) -> list[dict]:
  """The rows of most influence, what would mitigate it, and the method."""
  config = focus.given.config
  level = config.measures.confidence_level
  found = findings.leading(findings.gaps(focus.set, level))
  if not found or found[0].beside['rate'] not in measures.parities():
    return written.sections('causes.txt', gap=None)
  classifier = api.Classifier(model.bundle, model.name)
  scored = api.score(classifier, train, [*NUMBERS][1:], config.audit.batch)
  scored['influence'] = influences(model, focus.given, found[0], train)
  ranked = scored.sort_values('influence', ascending=False, kind='stable')
  rows = [
    {'text': row['text'], 'label': model.classes[row['label']]}
    | {shown: f'{row[name]:.3g}' for name, shown in NUMBERS.items()}
    for _, row in ranked.head(TOP).iterrows()
  ]
  correlations = ranked[[*NUMBERS]].corr('spearman').round(3)
  correlations = correlations.rename_axis('rank correlation').reset_index()
  return written.sections(
    'causes.txt',
    gap=found[0],
    rate=words.label(of, found[0].beside['rate']),
    share=_share(ranked['influence'].to_numpy()),
    **{'top': TOP, 'rows': len(ranked)},
    texts=results.texts(rows, ('text',), blur=labels.offensive(of.classes)),
    **{'path': config.audit.training, 'model': model.name},
    correlations=correlations.to_dict('records'),
  )


def _share(influence: np.ndarray) -> float:
  """The least share of the rows whose positive influence is half of all."""
  up = np.sort(influence[influence > 0])[::-1]
  if not len(up):
    return 0.0
  half = int(np.searchsorted(np.cumsum(up), up.sum() / 2)) + 1
  return half / len(influence)


def training(model: AuditedModel, given: AuditInputs) -> pd.DataFrame | None:
  """The training rows, with labels numbered as the model numbers them.

  None where the config names none.
  """
  config, path = given.config, given.config.audit.training
  if not path:
    return None
  if model.bundle is None:
    raise UserError(
      f'audit.training is {path!r}, which needs gradients of the model, and '
      f'{model.name} has none; audit a Hugging Face folder, or leave it out'
    )
  if len(given.groups.names) < 2:
    raise UserError(
      'audit.training is given, but there are no two groups between which a '
      'gap could be; name groups with --config.audit.groups'
    )
  rows = audit_table.of_frame(readers.read(path), config)
  if 'text' not in rows.table or 'label' not in rows.table:
    raise UserError(f'{path} needs a text and a label column to rank its rows')
  train = rows.table
  own = [c.casefold() for c in rows.classes]
  theirs = [c.casefold() for c in model.classes]
  if set(own) <= set(theirs):
    to = {k: theirs.index(c) for k, c in enumerate(own)}
    train = train.assign(label=train['label'].map(to).astype(np.int64))
  return train


def influences(
  model: AuditedModel, given: AuditInputs, gap: Finding, train: pd.DataFrame
) -> np.ndarray:
  """The influence of every training row on the gap."""
  import jax
  import jax.numpy as jnp

  from fairjax.scores import influence

  config, table, groups = given.config, given.table, given.groups
  positive = config.measures.positive
  rows = np.ones(len(table), bool)
  rate = gap.beside['rate']
  if rate in ('fpr', 'fnr'):
    rows = (table['label'].to_numpy() == positive) == (rate == 'fnr')
  weight = np.zeros(len(table))
  for name, sign in zip(gap.groups, (1, -1)):
    own = groups.members[groups.names.index(name)] & rows
    weight[own] += sign / own.sum()
  # A miss is the other class's probability.
  counted = 1 - positive if rate == 'fnr' else positive
  sides = table.assign(weight=weight, label=0)[weight != 0]
  params = jax.tree.map(jnp.asarray, model.bundle.params)
  of, size = (model.bundle, params), config.audit.batch
  both = stages.pool(model.bundle, sides.reset_index(drop=True))
  pool = stages.pool(model.bundle, train)
  direction = influence.gap_gradient(*of, both, int(counted), size)
  direction = influence.preconditioned(*of, direction, pool, size=size)
  return influence.influence(*of, direction, pool, size)


def can_equalize(given: AuditInputs, one: Measured | None = None) -> bool:
  """Whether thresholds are asked for; a sentence where none can be found.

  Before any inference by the rows alone, then by what was measured.
  """
  criterion, table = given.config.audit.equalize, given.table
  lacking = {
    'there are no labels': 'label' not in table,
    'there are no groups': not given.columns,
    f'there are {len(given.classes)} classes': len(given.classes) > 2,
  }
  if one:
    several = one.scores.ndim != 2 or len(one.scores) > 1
    lacking = {
      'the predictions are of three or more classes, or of several seeds': (
        several
      ),
      'the predictions are decisions': 'auc' not in one.set['quality'],
    }
  if criterion and (why := [reason for reason, so in lacking.items() if so]):
    raise UserError(
      f'audit.equalize is {criterion!r}, but {why[0]}; it needs labels of two '
      'classes, groups, and one score a row'
    )
  if criterion and not one:
    own, _ = group_thresholds.halves(len(table), HALF, given.sample)
    column = next(iter(given.columns.values()))
    labels = measure.truth(given.config, table, 2)
    group_thresholds.need_rows(labels, column, criterion, own)
  return bool(criterion)


def thresholds(one: Measured) -> Equalized | None:
  """Those that the config asks for; None where it asks for none."""
  given = one.given
  if not can_equalize(given, one):
    return None
  config, sample = given.config, given.sample
  return api.thresholds(
    one.labels,
    one.scores[0],
    next(iter(given.columns.values())),
    criterion=config.audit.equalize,
    holdout=HALF,
    cluster=sample.cluster,
    sample_weight=sample.weight,
    min_group=given.least,
    threshold=one.limit[0] if isinstance(one.limit, list) else one.limit,
    confidence_level=config.measures.confidence_level,
    n_resamples=config.measures.resamples,
    random_state=config.seed,
  )


def _change(test: Mapping) -> str:
  one, show = test['difference'], lambda x: f'{100 * x:+.1f}'
  number = '–' if one['value'] is None else show(one['value'])
  return f'{number} points{words.bracketed(one, show)}'


def thresholds_section(found: Equalized, of: results.Results, columns) -> list:
  """What becomes of the gap, and what it costs."""
  rate, shown, criterion = EQUALIZED[found.rule.criterion]
  name = CRITERIA[found.rule.criterion]
  before, after = found.before.groups, found.after.groups
  # Of groups that count in gaps.
  parities = [side[name]['value'] for side in (found.before, found.after)]
  known = None not in parities
  return written.sections(
    'equalized.txt',
    gaps=[f'{1 - parity:.0%}' for parity in parities if known],
    narrows=known and parities[1] > parities[0],
    criterion=criterion,
    held=found.after.results.sets[SET]['rows'],
    each=found.after.results.sets[SET]['groups'],
    rate=rate,
    accuracy=_change(found.price),
    parity=_change(found.comparison[name]),
    rows=[
      {
        next(iter(columns)): group,
        'threshold': f'{limit:.3g}',
        f'{words.in_classes(of, shown)}, before': f'{before[rate][group]:.1%}',
        'after': f'{after[rate][group]:.1%}',
        'right, before': f'{before["accuracy"][group]:.1%}',
        'right, after': f'{after["accuracy"][group]:.1%}',
      }
      for group, limit in found.thresholds.items()
      if group in before.index
    ],
  )
