"""Would another seed, epoch, model or score choose the same tweets?

  python -m fairjax.main --config=configs/overlap_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

Figures 5 to 8 of the diet paper: overlaps of the first 10 to 50 %, as they are
and with ties (64 % of the tweets have GE 0) broken by lot. The paper's columns
give BERT and RoBERTa .693/.815/.913/.974/.961.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='overlap',
    model='bert-base-cased',
    seeds=5,
    data=c.Data(name='twitter_sexism', on_bad='drop'),
    tokens=c.Tokens(max_length=100),
    train=c.Train(lr=1e-6, batch=64, epochs=15.0, patience=3),
    scoring=c.Scoring(names=('ge', 'el2n', 'forgetting', 'grand'), epochs=1.0),
    grid=c.Grid(models=('roberta-base',)),
  )
