"""Instance weights on Wikipedia comments: the paper's Table 4, Dixon's CNN.

  python -m fairjax.main --config=configs/weighting_toxicity.py \\
      --config.data.path=FOLDER --config.net.glove=glove.6B.100d.txt \\
      --config.measures.madlibs=bias_madlibs_77k.csv

For the third row add --config.weighting.rows=baseline,supplement,weight and
--config.method.table=FILE. On a laptop: --config.data.limit=6000
--config.seeds=3 --config.tokens.max_length=100 --config.train.lr=5e-4.

Measured: configs/RESULTS.md, "Instance weighting".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='weighting',
    model='cnn',
    seeds=10,
    data=c.Data(name='wiki_toxicity', on_bad='drop'),
    tokens=c.Tokens(vocab_size=10_000, max_length=250),
    net=c.Net(glove='glove.6B.100d.txt'),
    train=c.Train(
      lr=5e-5,
      optimizer='rmsprop',
      schedule='constant',
      max_grad_norm=0.0,
      batch=128,
      epochs=20,
      patience=1,
    ),
    weighting=c.Weighting(z='terms', n_estimators=100, max_depth=18, folds=5),
    measures=c.Measures(sets=('test', 'madlibs')),
  )
