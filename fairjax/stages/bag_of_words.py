"""A bag of words: how well the simplest classifier does on the same rows.

Logistic regression on words and pairs of words. A network that does no better
has not learnt, and the page says so beside its own numbers.
"""

from collections.abc import Sequence
from typing import Any

from fairjax.config import Config
from fairjax.data.tables.schema import Tables
from fairjax.results import Results
from fairjax.stages import assessment

MEASURES = ('accuracy', 'auc')  # taken of it, as 'words_accuracy'


def fitted(texts: Sequence[str], labels: Sequence[int]) -> Any:
  """A pipeline with predict_proba."""
  from sklearn.feature_extraction.text import CountVectorizer
  from sklearn.linear_model import LogisticRegression
  from sklearn.pipeline import make_pipeline

  words = CountVectorizer(ngram_range=(1, 2), min_df=2, binary=True)
  model = LogisticRegression(max_iter=400, C=0.3)
  return make_pipeline(words, model).fit(texts, labels)


def with_baseline(
  config: Config, tables: Tables, sets: Tables, found: Results
) -> Results:
  """The results with how good a bag of words is on each test set."""
  train = tables['train']
  if config.data.name != 'file' or 'text_pair' in train:  # made data are words
    return found
  model = fitted(train['text'], train['label'])
  for name, table in sets.items():
    chances = model.predict_proba(table['text'])[None]
    if chances.shape[2] != 2:
      continue
    whole = assessment.assess(config, {name: table}, {name: chances})[name]
    measured = {f'words_{k}': whole['quality'][k] for k in MEASURES}
    for one in found.contenders.values():
      one['sets'].get(name, {}).get('quality', {}).update(measured)
  return found
