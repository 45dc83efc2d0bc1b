"""Instance weights on news comments with 24 identities: the paper's Table 5.

  python -m fairjax.main --config=configs/weighting_jigsaw.py \\
      --config.net.glove=glove.840B.300d.txt \\
      --config.measures.madlibs=bias_madlibs_77k.csv

Civil Comments through TFDS, 1.8 million rows: a GPU, or
--config.data.limit=50000 --config.seeds=3. The third row needs
--config.weighting.rows=baseline,supplement,weight, --config.method.table=FILE
and --config.method.how=share.

The paper's: configs/RESULTS.md, "Instance weighting".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='weighting',
    model='lstm',
    seeds=10,
    data=c.Data(
      name='civil_comments/CivilCommentsIdentities',
      labels='>=0.5',
      on_bad='drop',
    ),
    tokens=c.Tokens(vocab_size=50_000, max_length=35),
    net=c.Net(glove='glove.840B.300d.txt'),
    train=c.Train(
      lr=1e-3,
      optimizer='rmsprop',
      schedule='constant',
      max_grad_norm=5.0,
      batch=256,
      epochs=100,
      patience=5,
    ),
    weighting=c.Weighting(
      z='identity', n_estimators=100, max_depth=20, folds=25
    ),
    measures=c.Measures(sets=('test', 'madlibs')),
  )
