"""Instance weights on your own file, with your own list of terms.

  python -m fairjax.main --config=configs/weighting_csv.py \\
      --config.data.path=comments.csv --config.data.text=comment \\
      --config.data.label=toxic --config.method.terms=terms.txt \\
      --config.measures.groups=terms:terms.txt

terms.txt holds a term a line (without it: our own); or columns say of whom a
row speaks: --config.weighting.z=columns:gender,age. A pretrained encoder:
--config.model=FOLDER --config.train.lr=2e-5 --config.train.optimizer=adamw.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='weighting',
    model='lstm',
    seeds=5,
    data=c.Data(name='file', on_bad='drop'),
    tokens=c.Tokens(vocab_size=20_000),
    train=c.Train(
      lr=1e-3,
      optimizer='rmsprop',
      schedule='constant',
      max_grad_norm=5.0,
      batch=64,
      epochs=20,
      patience=3,
    ),
    weighting=c.Weighting(z='terms', n_estimators=100, max_depth=18, folds=5),
  )
