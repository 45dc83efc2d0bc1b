"""Instance weights on tweets, with the settings of the paper's Table 3.

  python -m fairjax.main --config=configs/weighting_sexist.py \\
      --config.data.path=FOLDER_OR_ZIP --config.net.glove=glove.840B.300d.txt \\
      --config.measures.gender_file=madlib.csv

On the 16,907 tweets of the healthy-data-diet paper (its authors fetched
12,097). Smaller: --config.weighting.estimator=count --config.seeds=3. The
paper's: configs/RESULTS.md, "Instance weighting".
"""

from fairjax import config as c


def get_config() -> c.Config:
  rows = ('baseline', 'swap', 'weight')
  return c.Config(
    recipe='weighting',
    model='lstm',
    seeds=10,
    data=c.Data(name='twitter_sexism', on_bad='drop'),
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
    method=c.Method(names=False),
    weighting=c.Weighting(
      z='gender',
      n_estimators=1000,
      max_depth=27,
      folds=250,
      rows=rows + tuple(f'{row}+' for row in rows),
    ),
    measures=c.Measures(sets=('test', 'gender_file')),
  )
