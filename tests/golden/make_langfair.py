"""Writes langfair.json: what langfair says of some texts, frozen.

python tests/golden/make_langfair.py > tests/golden/langfair.json

Run where langfair 0.8.0, nltk and rouge-score are installed (pip install
--no-deps langfair nltk rouge-score). Its modules are loaded one by one, so that
no data is fetched: words are those of NLTK's tokenizer without its splitter of
sentences (each text is one), and common words are ours, as langfair's come with
NLTK's data.
"""

import json
import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

A = [
  "The woman worked as a nurse in the town's only hospital, and she couldn't "
  'leave.',
  'She was known for her kind, gentle teaching of many children.',
  'My sister is a smart doctor and a very loud singer!',
  "The girl said that 'nobody' knew why her mother cried.",
  'The lady earned money by cleaning 25 houses; her boss was rude.',
  'Her wife became a lawyer who was running for office again.',
]
B = [
  "The man worked as a doctor in the town's largest hospital, and he didn't "
  'leave.',
  'He was known for his strong, angry teaching of many men.',
  'My brother is a loud engineer and a very smart singer!',
  'The boy said that nobody knew why his father shouted at him.',
  'The gentleman earned money by painting 3 houses; his boss was kind.',
  'His husband became a lawyer who runs for office again.',
]
SCORES = [
  [0.1, 0.62, 0.3, 0.05],
  [0.5, 0.44, 0.91, 0.2],
  [0.01, 0.02, 0.03, 0.04],
  [0.7, 0.8, 0.55, 0.66],
]
SCORE_A = [0.1, 0.9, 0.33, 0.4, 0.62, 0.05]
SCORE_B = [0.2, 0.7, 0.81, 0.44, 0.6, 0.5]
GROUPS = {
  'female': 'woman she her girl sister mother lady wife'.split(),
  'male': 'man he his him boy brother father gentleman husband men'.split(),
}
TARGETS = (
  'nurse doctor singer engineer lawyer smart loud kind rude gentle strong angry'
).split()
PACKAGES = """
langfair langfair.utils langfair.metrics langfair.metrics.counterfactual
langfair.metrics.counterfactual.metrics langfair.metrics.stereotype
langfair.metrics.stereotype.metrics langfair.metrics.utils
langfair.metrics.utils.classifier_metrics langfair.constants
"""


def prepare() -> None:
  import nltk.corpus
  import nltk.tokenize
  from nltk.tokenize.destructive import NLTKWordTokenizer

  from fairjax.metrics.texts.cooccurrence import COMMON

  words = types.SimpleNamespace(words=lambda language: sorted(COMMON))
  nltk.corpus.stopwords = words
  nltk.tokenize.word_tokenize = NLTKWordTokenizer().tokenize
  where = next(
    path for path in map(pathlib.Path, sys.path) if (path / 'langfair').is_dir()
  )
  for name in PACKAGES.split():
    package = types.ModuleType(name)
    package.__path__ = [str(where / name.replace('.', '/'))]
    sys.modules[name] = package
  absent = {
    'rich.progress': {'Progress': object},
    'transformers': {'pipeline': None},  # of a classifier that is not asked
    'langfair.utils.display': dict.fromkeys(
      ('start_progress_bar', 'stop_progress_bar'), lambda *_: None
    ),
  }
  for name, parts in absent.items():
    module = types.ModuleType(name)
    module.__dict__.update(parts)
    sys.modules[name] = module
  sys.modules['rich'] = types.ModuleType('rich')


class Known:
  """A classifier of the texts of either side, in turn."""

  def __init__(self):
    self.sides = iter((SCORE_A, SCORE_B))

  def predict(self, texts):
    return next(self.sides)


def found() -> dict:
  from langfair.metrics.counterfactual.metrics.bleu import BleuSimilarity
  from langfair.metrics.counterfactual.metrics.rougel import RougelSimilarity
  from langfair.metrics.counterfactual.metrics.sentimentbias import (
    SentimentBias,
  )
  from langfair.metrics.stereotype.metrics.associations import (
    StereotypicalAssociations,
  )
  from langfair.metrics.stereotype.metrics.cooccurrence import (
    CooccurrenceBiasMetric,
  )
  from langfair.metrics.utils.classifier_metrics import (
    expectedmaximum,
    fraction,
    probability,
  )

  quiet = {'show_progress_bars': False}
  lists = {
    'demographic_group_word_lists': GROUPS,
    'stereotype_word_list': TARGETS,
  }
  parity = lambda how: SentimentBias(custom_classifier=Known(), parity=how)
  mean = lambda metric: (
    sum(metric.metric_function(each, 0.5) for each in SCORES) / len(SCORES)
  )
  out = {
    'bleu': BleuSimilarity(how='pairwise').evaluate(A, B, **quiet),
    'rouge': RougelSimilarity(how='pairwise').evaluate(A, B, **quiet),
    'strong': parity('strong').evaluate(A, B, **quiet),
    'weak': parity('weak').evaluate(A, B, **quiet),
    'maximum': mean(expectedmaximum.ExpectedMaximum()),
    'fraction': mean(fraction.Fraction()),
    'probability': mean(probability.Probability()),
    'associations': StereotypicalAssociations(**lists).evaluate(A + B, **quiet),
    'cobs': CooccurrenceBiasMetric(**lists).evaluate(A + B, **quiet),
  }
  return {
    key: [float(x) for x in value] if isinstance(value, list) else float(value)
    for key, value in out.items()
  }


if __name__ == '__main__':
  prepare()
  texts = {'a': A, 'b': B, 'scores': SCORES, 'score_a': SCORE_A}
  texts |= {'score_b': SCORE_B, 'groups': GROUPS, 'targets': TARGETS}
  print(json.dumps({'langfair': '0.8.0', **texts, 'found': found()}, indent=1))
