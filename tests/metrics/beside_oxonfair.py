"""Thresholds of groups beside fairlearn's and oxonfair's, on the same rows.

  python tests/metrics/beside_oxonfair.py [civil_comments_train.csv]

A bag of words is trained on a third of the rows; thresholds are chosen on a
third and judged on the last. Planted sentences, or comments with a term of one
gender. oxonfair 0.3 and fairlearn are installed by hand.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import fairjax
from fairjax.config import shipped
from fairjax.data.sets import planted
from fairjax.metrics import group_thresholds

THEIRS = {  # fairlearn's names
  'demographic_parity': 'demographic_parity',
  'equal_opportunity': 'true_positive_rate_parity',
  'equal_fpr': 'false_positive_rate_parity',
}


class Known(ClassifierMixin, BaseEstimator):
  """Scores that are there already."""

  classes_ = np.array([0, 1])

  def fit(self, x, y):
    return self

  def __sklearn_is_fitted__(self):
    return True

  def predict_proba(self, x):
    return np.stack([1 - x[:, 0], x[:, 0]], 1)


def by_fairlearn(criterion, y, p, group, held_p, held_group) -> np.ndarray:
  """Its decisions on the held-out rows; some are drawn by lot."""
  from fairlearn import postprocessing

  theirs = postprocessing.ThresholdOptimizer(
    estimator=Known(),
    constraints=THEIRS[criterion],
    prefit=True,
    objective='accuracy_score',
    predict_method='predict_proba',
  )
  theirs.fit(p[:, None], y, sensitive_features=group)
  return theirs.predict(
    held_p[:, None], sensitive_features=held_group, random_state=0
  )


def by_oxonfair(criterion, y, p, group, held_p, held_group) -> np.ndarray:
  """Its decisions: the most accurate whose gap on its rows is at most .01."""
  import oxonfair
  from oxonfair.utils import group_metrics as gm

  gap = {
    'demographic_parity': gm.demographic_parity,
    'equal_opportunity': gm.equal_opportunity,
    'equal_fpr': gm.false_pos_rate.diff,
  }[criterion]
  both = lambda one: np.stack([1 - one, one], 1)
  rows = {'data': both(p), 'target': y, 'groups': group}
  fair = oxonfair.FairPredictor(None, rows)
  fair.fit(gm.accuracy, gap, 0.01)
  held = {'data': both(held_p), 'target': None, 'groups': held_group}
  return np.asarray(fair.predict(held))


def rate(criterion, y, d) -> float:
  among = {
    'demographic_parity': y >= 0,
    'equal_opportunity': y == 1,
    'equal_fpr': y == 0,
  }
  return float(d[among[criterion]].mean())


def gap(criterion, y, d, group) -> float:
  rates = [rate(criterion, y[group == g], d[group == g]) for g in set(group)]
  return max(rates) - min(rates)


def rows(path: str = '') -> pd.DataFrame:
  """text, label, group: planted sentences, or comments about one gender."""
  if not path:
    config = shipped('quickstart_audit')
    config.planted.rows, config.planted.test_rows = 6000, 20
    table = planted.load(config)['train']
    return table[table['group'] != ''].reset_index(drop=True)
  table = pd.read_csv(path).rename(columns={'comment_text': 'text'})
  men, women = table['male_terms'] > 0, table['female_terms'] > 0
  table = table[men ^ women]
  group = np.where(table['male_terms'] > 0, 'male', 'female')
  return table.assign(group=group).reset_index(drop=True)


def scored(table: pd.DataFrame) -> tuple:
  """(labels, scores, groups) of the choosing and of the judging third."""
  third = np.random.default_rng(0).permutation(len(table)) % 3
  parts = [table[third == k] for k in range(3)]
  words = CountVectorizer(ngram_range=(1, 2), min_df=2, binary=True)
  model = make_pipeline(words, LogisticRegression(max_iter=1000, C=0.3))
  model.fit(parts[0]['text'], parts[0]['label'])
  return [
    (
      part['label'].to_numpy(int),
      model.predict_proba(part['text'])[:, 1],
      part['group'].to_numpy(str),
    )
    for part in parts[1:]
  ]


def main(path: str = '') -> None:
  (y, p, group), (held_y, held_p, held_group) = scored(rows(path))
  print(f'{len(held_y)} rows judge')
  for criterion in THEIRS:
    rule = group_thresholds.fit(y, p, group, criterion)
    decided = {
      'one threshold': (held_p >= 0.5).astype(int),
      'fairjax': rule.decide(held_p, held_group),
      'fairlearn': by_fairlearn(criterion, y, p, group, held_p, held_group),
      'oxonfair': by_oxonfair(criterion, y, p, group, held_p, held_group),
    }
    measure = group_thresholds.CRITERIA[criterion]
    results = {
      name: fairjax.assess(held_y, d.astype(float), held_group)
      for name, d in decided.items()
    }
    for name, found in results.items():
      one, right = found[measure], found['accuracy']
      print(
        f'{criterion:20} {name:14} gap {1 - one["value"]:.3f} '
        f'[{1 - one["high"]:.3f}, {1 - one["low"]:.3f}] accuracy '
        f'{right["value"]:.3f} [{right["low"]:.3f}, {right["high"]:.3f}]'
      )


if __name__ == '__main__':
  main(*sys.argv[1:])
