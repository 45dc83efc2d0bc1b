"""Instance weights on your own file, with your own list of terms.

  python -m fairjax.main --config=configs/weighting_csv.py \\
      --config.data.path=comments.csv --config.data.text=comment \\
      --config.data.label=toxic --config.method.terms=terms.txt \\
      --config.measures.groups=terms:terms.txt

terms.txt holds a term a line (without it: our own); or columns say of whom a
row speaks: --config.weighting.z=columns:gender,age. The model is MiniLM, if its
package is installed (configs/train_csv.py), or else an LSTM from scratch;
--config.model=FOLDER names another.
"""

from fairjax import config as c


def get_config(model: str = '') -> c.Config:
  model = model or c.pretrained('lstm')
  config = c.Config(
    recipe='weighting',
    model=model,
    seeds=3,
    data=c.Data(name='file', on_bad='drop'),
    train=c.for_own_rows(model),
    weighting=c.Weighting(z='group', n_estimators=100, max_depth=18, folds=5),
  )
  if model == 'lstm':
    config.seeds, config.tokens.vocab_size = 5, 20_000
    config.train = c.Train(
      lr=1e-3,
      optimizer='rmsprop',
      schedule='constant',
      max_grad_norm=5.0,
      batch=64,
      epochs=10,
      metric_for_best='mcc',
      patience=0,
    )
  return config
