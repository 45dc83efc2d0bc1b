"""Would another seed, epoch, model or score choose the same tweets?

  python -m fairjax.main --config=configs/overlap_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

Figures 5 to 8 of the diet paper: overlaps of the first 10 to 50 % of the
tweets, as they are and with ties broken by lot (64 % of the tweets have no twin
that differs, and so GE 0: their order is that of their ids, which every ranking
shares). The paper's published columns give BERT and RoBERTa
.693/.815/.913/.974/.961 at 10/20/30/40/50 %.
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
