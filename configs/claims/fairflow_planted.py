"""Claims of FairFlow's texts on the embedded data, with a flow's dictionary.

  python -m fairjax.main --config=configs/claims/fairflow_planted.py

Stages 4 to 6 with the seven pairs that a flow found (fairflow_words.csv) and
with our list by hand; five generators and five classifiers of each contender.
Nothing repairs: a detector that knows these texts would be another training.

What its size decides, four times of five: ±.1 of TPRD, ±.17 of FPRD, ±.039 of
accuracy, ±.081 of exact twins.
"""

import pathlib

from fairjax import config as c

WORDS = pathlib.Path(__file__).with_name('fairflow_words.csv')

PRIMARY = (  # the paper's own claims; all else is exploratory
  'flow + BART against original: group_tprd_size on classifier',
  'flow + BART against original: group_fprd_size on classifier',
  'flow + BART against original: accuracy on classifier',
  'flow + BART against dictionary: exact on known twins',
)


def get_config() -> c.Config:
  config = c.shipped('claims/mbcda_planted')
  config.recipe = 'counterfactual_texts'
  config.method.words = str(WORDS)
  config.seed, config.planted.test_rows = 0, 600
  config.rewriters.contenders = ('dictionary', 'fairflow')
  config.rewriters.seeds = config.rewriters.generators = 5
  config.measures.primary = PRIMARY
  return config
