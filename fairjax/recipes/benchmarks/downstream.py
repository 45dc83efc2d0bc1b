"""What a mitigation costs a task: a linear classifier on frozen vectors.

The texts of a user's labelled file are read once by each model; a logistic
regression of their vectors, fitted on the training split, is measured on the
test split. The network itself is not fine-tuned, so this says what the vectors
still hold; Self-Debias changes none.
"""

import dataclasses

import numpy as np
import pandas as pd

from fairjax.config import Config, Data
from fairjax.core.errors import UserError
from fairjax.data.tables import files
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.sample import RowSample
from fairjax.models.reading.judge import Judge


def items(config: Config) -> pd.DataFrame:
  """The rows of the task, each with its split."""
  data = Data(
    name='file',
    path=config.benchmarks.task,
    label=config.data.label,
    labels=config.data.labels,
    on_bad=config.data.on_bad,
  )
  tables = files.load(dataclasses.replace(config, data=data))
  table = pd.concat(
    [table.assign(split=split) for split, table in tables.items()],
    ignore_index=True,
  )
  table = table.dropna(subset=['text', 'label']).reset_index(drop=True)
  train = table.loc[table['split'] == 'train', 'label']
  if train.nunique() < 2 or not (table['split'] == 'test').any():
    raise UserError(
      f'{config.benchmarks.task} has {train.nunique()} label in its training '
      'split; a task needs two labels at least, and rows to test on'
    )
  return table


def score(judge: Judge, items: pd.DataFrame, config: Config) -> pd.DataFrame:
  """Whether each row of the test split is classified rightly."""
  from sklearn.linear_model import LogisticRegression
  from sklearn.pipeline import make_pipeline
  from sklearn.preprocessing import StandardScaler

  x = judge.vectors(list(items['text']))
  label = items['label'].to_numpy()
  train, test = (
    (items['split'] == split).to_numpy() for split in ('train', 'test')
  )
  model = make_pipeline(
    StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)
  )
  model.fit(x[train], label[train])
  right = np.full(len(items), np.nan)
  right[test] = model.predict(x[test]) == label[test]
  return pd.DataFrame({'id': items['id'], 'right': right})


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how: RowSample) -> dict:
  """The set of results.json; rows of one text are not independent."""
  right = scores['right'].dropna()
  text = clusters.of_texts(list(items.loc[right.index, 'text']))
  value = clusters.share_right(right.to_numpy(), text, how)
  return {'rows': len(right), 'quality': {'accuracy': value}}


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  """One number a row, for paired tests."""
  some = scores.dropna()
  text = list(items.loc[some.index, 'text'])
  cluster = clusters.of_texts(text)
  return pd.DataFrame(
    {
      'id': some['id'],
      'metric': 'accuracy',
      'part': 'all',
      'cluster': some['id'] if cluster is None else cluster,
      'value': some['right'],
    }
  )
