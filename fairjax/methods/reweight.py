"""Instance weights: non-discrimination learning (Zhang et al., ACL 2020).

If a data set differs from a fair one only by a selection that knows label y
and demographic evidence z, then training on it with the weights

  w = P(y) / P(y|z)

minimises the risk of the fair one, in which y does not depend on z. P(y|z) is
cross-predicted (methods/crossfit.py). As in the authors' code, weights are
divided by the mean of their class. Training and validation rows are weighted
(the validation loss stops the training); tests never are.
"""

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables.schema import Tables
from fairjax.methods import crossfit
from fairjax.methods.evidence import Evidence, evidence, kind_of

NEAR_ZERO = 0.01  # P(y|z) below which a weight rests on too little
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


def reweight(tables: Tables, config: Config) -> Tables:
  """Puts a `weight` on the training and validation rows.

  A weight that a row already has is multiplied.
  """
  check(tables, config)
  return put(tables, weights(fitted_rows(tables), config))


def check(tables: Tables, config: Config) -> None:
  """Refuses a column of `weighting.z` that no training row has."""
  start, _, names = kind_of(config).partition(':')
  for name in map(str.strip, names.split(',') if start == 'columns' else ()):
    if name not in tables['train']:
      continue  # evidence.py tells
    column = tables['train'][name]
    if (column.isna() | (column == '')).all():
      raise UserError(
        f'column {name!r} of --config.weighting.z is empty in every training '
        'row; fill it in, or name another'
      )


def put(tables: Tables, weights: pd.DataFrame) -> Tables:
  """The tables with these weights, found by id."""
  weights = weights.set_index('id')['weight']
  out = dict(tables)
  for split in ('train', 'valid'):
    if split in tables:
      rows = tables[split]
      weight = weights.loc[rows['id']].to_numpy()
      out[split] = rows.assign(weight=weight * rows.get('weight', 1.0))
  return out


def fitted_rows(tables: Tables) -> pd.DataFrame:
  """The rows that are weighted: training, then validation."""
  splits = [tables[s] for s in ('train', 'valid') if s in tables]
  return pd.concat(splits, ignore_index=True)


def weights(table: pd.DataFrame, config: Config) -> pd.DataFrame:
  """Columns id, weight, and p: the cross-predicted P(y|z) of a row's own y."""
  knobs = config.weighting
  label = table['label'].to_numpy()
  p = of_label(cross_predict(evidence(table, config), label, config), label)
  if knobs.estimator == 'forest':
    # No tree voted for y: half a vote, or the smallest p; 1/0 is infinite.
    p = np.where(p > 0, p, min(0.5 / knobs.n_estimators, p[p > 0].min()))
  weight = clip(label, ratio(label, p), knobs.max_weight)
  return pd.DataFrame({'id': table['id'].array, 'weight': weight, 'p': p})


def cross_predict(
  z: Evidence, label: np.ndarray, config: Config, name: str = ''
) -> np.ndarray:
  """P(y|z) [n, c] for each row from folds that do not hold it.

  `name` is another estimator than the config's.
  """
  knobs = config.weighting
  prior = np.bincount(label) / len(label)
  fold = crossfit.folds(label[z.fitted], knobs.folds)
  distinct = crossfit.distinct(z.values[z.fitted])
  rows = distinct, label[z.fitted], fold, len(prior)
  name = name or knobs.estimator
  if name == 'forest':
    result = crossfit.forest(
      *rows,
      trees=knobs.n_estimators,
      depth=knobs.max_depth,
      criterion='entropy',
      seed=config.seed,
    )
  elif name == 'logistic':
    result = crossfit.logistic(*rows)
  else:
    result = crossfit.count(*rows)
  out = np.tile(prior, (len(label), 1))
  out[z.fitted] = result  # no evidence: P(y|z) = P(y)
  return out


def of_label(p: np.ndarray, label: np.ndarray) -> np.ndarray:
  """The probability [n] of each row's own label."""
  return p[np.arange(len(label)), label]


def ratio(label: np.ndarray, p: np.ndarray) -> np.ndarray:
  """Weights [n]: 1 / P(y|z) of the own label over the mean of its class."""
  mean = np.bincount(label, 1 / p) / np.maximum(np.bincount(label), 1)
  return 1 / p / mean[label]


def clip(label: np.ndarray, weight: np.ndarray, limit: float) -> np.ndarray:
  """Weights [n] of at most `limit`; 0 leaves them.

  The rest of a class is scaled up by the one factor s for which the mean of
  min(s·w, limit) is the class's mean again.
  """
  if not limit:
    return weight
  out = np.empty_like(weight)
  for kind in np.unique(label):
    rows = label == kind
    w = np.sort(weight[rows])[::-1]
    if limit <= w.mean():
      raise UserError(
        f'weighting.max_weight is {limit} but the weights of label {kind} '
        f'have mean {w.mean():.3g}; choose a limit above it'
      )
    # With the k largest at the limit, s spreads what is left over the others.
    excess = w.sum() - limit * np.arange(len(w))
    s = excess / np.cumsum(w[::-1])[::-1]
    k = np.flatnonzero(s * w <= limit)[0]  # the fewest at the limit
    out[rows] = np.minimum(s[k] * weight[rows], limit)
  return out


# Report


def report(table: pd.DataFrame, weights: pd.DataFrame, config: Config) -> dict:
  """What `weights(table, config)` do, for results.json and the page."""
  knobs = config.weighting
  label = table['label'].to_numpy()
  w, p = weights['weight'].to_numpy(), weights['p'].to_numpy()
  z = evidence(table, config)
  raw = ratio(label, p)
  one_vote = 1 / knobs.n_estimators if knobs.estimator == 'forest' else 0.0
  near = max(NEAR_ZERO, one_vote)
  out = {
    'rows': len(table),
    'z': kind_of(config),
    'estimator': knobs.estimator,
    'folds': knobs.folds,
    'columns': z.values.shape[1],
    'distinct': len(crossfit.distinct(z.values[z.fitted]).values),
    'rows_with_prior': int((~z.fitted).sum()),
    'effective': effective(w),
    'effective_by_class': [effective(w[label == c]) for c in np.unique(label)],
    'mean_by_class': [float(w[label == c].mean()) for c in np.unique(label)],
    'quantiles': dict(
      zip(map(str, QUANTILES), np.quantile(w, QUANTILES).tolist())
    ),
    'clip': cut_mass(raw, knobs.max_weight),
    'near_zero': {'below': near, 'share': float((p < near).mean())},
    'terms': term_shares(z, label == config.measures.positive, w),
    'estimators': compare(z, label, p, config),
  }
  out['warnings'] = _warnings(out)
  return out


def effective(weight: np.ndarray) -> float:
  """Kish's effective sample size, (sum w)^2 / sum w^2."""
  return float(weight.sum() ** 2 / (weight**2).sum())


def cut_mass(raw: np.ndarray, limit: float) -> dict:
  """Rows above the limit, and the share of all weight that lay above it."""
  over = np.maximum(raw - limit, 0) if limit else np.zeros(1)
  return {
    'limit': limit,
    'rows': int((over > 0).sum()),
    'mass': float(over.sum() / raw.sum()),
  }


def term_shares(z: Evidence, positive: np.ndarray, w: np.ndarray) -> list[dict]:
  """The paper's Table 8: who speaks of a term, before and after weighting.

  For each term the share of the positives' mass, and of all mass, whose text
  holds it, unweighted and weighted; the gap is their difference.
  """
  present = z.present.astype(float)

  def shares(mass):
    among = mass * positive
    return (
      (among @ present) / max(among.sum(), 1e-300),  # no positives: 0
      (mass @ present) / mass.sum(),
    )

  before, after = shares(np.ones_like(w)), shares(w)
  rows = np.asarray(present.sum(0)).ravel()
  return [
    {
      'term': term,
      'rows': int(rows[i]),
      'positive': float(before[0][i]),
      'overall': float(before[1][i]),
      'gap': float(before[0][i] - before[1][i]),
      'weighted_positive': float(after[0][i]),
      'weighted_overall': float(after[1][i]),
      'weighted_gap': float(after[0][i] - after[1][i]),
    }
    for i, term in enumerate(z.terms)
  ]


def compare(z: Evidence, label, p: np.ndarray, config: Config) -> list[dict]:
  """The chosen estimator beside the two fast ones.

  Lower log loss on held-out rows is the better P(y|z); the correlation is of
  1/p with the chosen estimator's.
  """
  out = []
  for name in dict.fromkeys((config.weighting.estimator, 'logistic', 'count')):
    same = name == config.weighting.estimator
    mine = p if same else of_label(cross_predict(z, label, config, name), label)
    w = ratio(label, mine)
    out.append(
      {
        'name': name,
        'log_loss': float(-np.log(mine).mean()),
        'effective': effective(w),
        'largest': float(w.max()),
        'correlation': float(np.corrcoef(1 / mine, 1 / p)[0, 1]),
      }
    )
  return out


def _warnings(facts: dict) -> list[str]:
  out = []
  near = facts['near_zero']
  if near['share'] > 0:
    out.append(
      f'P(y|z) is below {near["below"]:.3g} in {near["share"]:.2%} of '
      'the rows: their weights rest on very few; think of '
      '--config.weighting.max_weight'
    )
  if facts['effective'] < 0.5 * facts['rows']:
    out.append(
      f'the weights leave an effective {facts["effective"]:.0f} of '
      f'{facts["rows"]} rows; think of --config.weighting.max_weight or a '
      f'coarser z'
    )
  if facts['clip']['mass'] > 0.05:
    out.append(
      f'weighting.max_weight cuts {facts["clip"]["mass"]:.1%} of all weight, '
      'so z and the label stay related'
    )
  return out
