"""Causes: the training rows behind a gap, and what would mitigate it.

With the training data and a Flax model at hand, each training row gets GE,
EL2N and GraNd (scores/), and its influence on the gap that the page leads with
(scores/influence.py). The rows that widen it most are listed.

Thresholds of groups narrow it without training: they are chosen on half of the
rows and judged on the other half (metrics/group_thresholds.py).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import api, results, stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table, labels, readers
from fairjax.metrics import group_thresholds, measures
from fairjax.metrics.group_thresholds import CRITERIA
from fairjax.metrics.inference.sample import RowSample
from fairjax.recipes.audit import measure
from fairjax.recipes.audit.groups import Who
from fairjax.recipes.audit.measure import Measured
from fairjax.report import findings, words
from fairjax.report.faces import Equalized
from fairjax.stages.asking import AuditedModel

TOP = 12  # rows listed
HALF = 0.5  # of the rows judge the thresholds of the others
MITIGATE = (
  'A fairer model by its data, from the same rows (each against none, with '
  'tests): python -m fairjax.main --config=configs/train_csv.py '
  '--config.recipe=compare --config.data.path={path} --config.model={model}'
)

METHOD = (
  'Influence is −⟨(H + λ)⁻¹ ∇G, ∇ℓ⟩ over all weights: G is the difference '
  'between the two groups in the mean probability of the decision that the '
  'rate counts, H the Gauss-Newton matrix of the training loss. To first order '
  'it is what leaving the row out of training would do, times the number of '
  'rows; of many rows at once, or of a model that was stopped early, it is an '
  'approximation.'
)

EQUALIZED = {
  'equal_opportunity': ('found of the positives', 'equal opportunity'),
  'equal_fpr': ('blamed of the negatives', 'equal false positive rates'),
  'demographic_parity': ('decided positive', 'demographic parity'),
}


def section(
  model: AuditedModel,
  config: Config,
  table: pd.DataFrame,
  measured: Measured,
  groups: Who,
  classes: Sequence[str],
  train: pd.DataFrame | None,
) -> dict | None:
  """The page's section; None where no training data was given."""
  if train is None:
    return None
  level = config.measures.confidence_level
  found = findings.leading(findings.gaps(measured.set, level))
  if not found or found[0].beside['rate'] not in measures.parities():
    return results.section(
      'No cause could be identified',
      results.text('No gap between two groups was measured.'),
    )
  gap = found[0]
  scored = api.score(
    api.Classifier(model.bundle, model.name),
    train,
    ('ge', 'el2n', 'grand'),
    config.audit.batch,
  )
  scored['influence'] = influences(
    model, config, table, measured, groups, gap, train
  )
  return _page(scored, config.audit.training, model, gap, classes)


def _page(
  scored: pd.DataFrame,
  path: str,
  model: AuditedModel,
  gap,
  classes: Sequence[str],
) -> dict:
  """The rows of most influence, what would mitigate it, and the method."""
  ranked = scored.sort_values('influence', ascending=False, kind='stable')
  names = list(model.classes)
  rows = [
    {
      'text': row.text,
      'label': names[row.label],
      'influence': f'{row.influence:.3g}',
      'GE': f'{row.ge:.3g}',
      'EL2N': f'{row.el2n:.3g}',
      'GraNd': f'{row.grand:.3g}',
    }
    for row in ranked.head(TOP).itertuples()
  ]
  share = _share(ranked['influence'].to_numpy())
  correlations = ranked[['influence', 'ge', 'el2n', 'grand']].corr('spearman')
  correlations = correlations.round(3).rename_axis('rank correlation')
  return results.section(
    f'Training rows of most influence on the gap: {share:.0%} of them carry '
    'half of what widens it',
    results.text(
      f'The {TOP} training rows of {len(ranked):,} without which the gap in '
      f'{gap.beside["rate"]} between {" and ".join(gap.groups)} would be '
      'smallest, to first order.'
    ),
    results.texts(rows, ('text',), blur=labels.offensive(classes)),
    results.text(MITIGATE.format(path=path, model=model.name)),
    results.fold(
      'How this was computed',
      results.text(METHOD, kind='quiet'),
      results.table(correlations.reset_index().to_dict('records')),
    ),
  )


def _share(influence: np.ndarray) -> float:
  """The least share of the rows whose positive influence is half of all."""
  up = np.sort(influence[influence > 0])[::-1]
  if not len(up):
    return 0.0
  half = int(np.searchsorted(np.cumsum(up), up.sum() / 2)) + 1
  return half / len(influence)


def training(
  model: AuditedModel, config: Config, groups: Who
) -> pd.DataFrame | None:
  """The training rows, with labels numbered as the model numbers them.

  None where the config names none.
  """
  path = config.audit.training
  if not path:
    return None
  if model.bundle is None:
    raise UserError(
      f'audit.training is {path!r}, but {model.name} is no Flax model whose '
      'gradients could be taken; audit a Hugging Face folder, or leave it out'
    )
  if len(groups.names) < 2:
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
  model, config, table, measured, groups, gap, train
) -> np.ndarray:
  """The influence of every training row on the gap."""
  import jax
  import jax.numpy as jnp

  from fairjax.scores import influence

  labels = table['label'].to_numpy() if 'label' in table else None
  positive = config.measures.pos_label
  rows = np.ones(len(table), bool)
  rate = gap.beside['rate']
  if rate == 'fpr':
    rows = labels != positive
  elif rate == 'fnr':
    rows = labels == positive
  weight = np.zeros(len(table))
  for name, sign in zip(gap.groups, (1, -1)):
    own = groups.members[groups.names.index(name)] & rows
    weight[own] += sign / own.sum()
  # A miss is the other class's probability.
  counted = 1 - positive if rate == 'fnr' else positive
  sides = table.assign(weight=weight, label=0)[weight != 0]
  params = jax.tree.map(jnp.asarray, model.bundle.params)
  direction = influence.gap_gradient(
    model.bundle,
    params,
    stages.pool(model.bundle, sides.reset_index(drop=True)),
    int(counted),
    config.audit.batch,
  )
  pool = stages.pool(model.bundle, train)
  size = config.audit.batch
  direction = influence.preconditioned(
    model.bundle, params, direction, pool, size=size
  )
  return influence.influence(model.bundle, params, direction, pool, size)


def can_equalize(
  config: Config,
  table: pd.DataFrame,
  groups: Who,
  classes: Sequence[str],
  sample: RowSample,
) -> None:
  """Raises UserError where no thresholds could be found for these rows."""
  criterion = config.audit.equalize
  if not criterion:
    return
  why = (
    'there are no labels'
    if 'label' not in table
    else 'there are no groups'
    if not groups.columns
    else f'there are {len(classes)} classes'
    if len(classes) > 2
    else ''
  )
  if why:
    raise UserError(_cannot(criterion, why))
  own, _ = group_thresholds.halves(len(table), HALF, sample)
  column = next(iter(groups.columns.values()))
  group_thresholds.need_rows(
    measure.truth(config, table, 2), column, criterion, own
  )


def _cannot(criterion: str, why: str) -> str:
  return (
    f'audit.equalize is {criterion!r}, but {why}; it needs labels of two '
    'classes, groups, and one score a row'
  )


def thresholds(
  config: Config,
  table: pd.DataFrame,
  one: Measured,
  groups: Who,
  sample: RowSample,
) -> Equalized | None:
  """Those that the config asks for; None where it asks for none."""
  criterion = config.audit.equalize
  if not criterion:
    return None
  why = (
    'the predictions are of three or more classes, or of several seeds'
    if one.scores.ndim != 2 or len(one.scores) > 1
    else 'the predictions are decisions'
    if 'auc' not in one.set['quality']
    else ''
  )
  if why:
    raise UserError(_cannot(criterion, why))
  limit = one.limit
  return api.thresholds(
    measure.truth(config, table, 2),
    one.scores[0],
    next(iter(groups.columns.values())),
    criterion=criterion,
    holdout=HALF,
    cluster=sample.cluster,
    sample_weight=sample.weight,
    min_group=config.measures.min_group,
    threshold=limit[0] if isinstance(limit, list) else limit,
    confidence_level=config.measures.confidence_level,
    n_resamples=config.measures.resamples,
    random_state=config.seed,
  )


def _narrowed(before: float | None, after: float | None) -> str:
  """The heading, of two parities: gaps of the groups that count in gaps."""
  if before is None or after is None:
    return 'A threshold for each group, judged on too few rows to tell a gap'
  old, new = f'{1 - before:.0%}', f'{1 - after:.0%}'
  if old == new:
    return f'A threshold for each group would leave the gap at {old}'
  word = 'narrow' if after > before else 'widen'
  return f'A threshold for each group would {word} the gap from {old} to {new}'


def _change(test: Mapping) -> str:
  one, show = test['difference'], lambda x: f'{100 * x:+.1f}'
  number = '–' if one['value'] is None else show(one['value'])
  return f'{number} points{words.bracketed(one, show)}'


def thresholds_section(found: Equalized, groups: Who) -> dict:
  """The page's: what becomes of the gap, and what it costs."""
  name = CRITERIA[found.rule.criterion]
  shown, criterion = EQUALIZED[found.rule.criterion]
  rate = {'dp': 'selection_rate', 'eqopp1': 'tpr', 'eqopp0': 'fpr'}[name]
  before, after = found.before.groups, found.after.groups
  kind = next(iter(groups.columns))
  rows = [
    {
      kind: group,
      'threshold': f'{limit:.3g}',
      f'{shown}, before': f'{before[rate][group]:.1%}',
      'after': f'{after[rate][group]:.1%}',
      'right, before': f'{before["accuracy"][group]:.1%}',
      'right, after': f'{after["accuracy"][group]:.1%}',
    }
    for group, limit in found.thresholds.items()
    if group in before.index
  ]
  return results.section(
    _narrowed(found.before[name]['value'], found.after[name]['value']),
    results.text(
      f'With a threshold of its own each group meets {criterion}; nothing is '
      f'trained. They were chosen on half of the rows and then held fixed. On '
      f'the other {len(found.after.labels):,} accuracy changes by '
      f'{_change(found.price)}, and parity (100 less the gap) by '
      f'{_change(found.comparison[name])}. The file thresholds.json has them; '
      'to decide by them the group of a row must be known, and lawful to use.'
    ),
    results.table(rows, screen=True),
  )
