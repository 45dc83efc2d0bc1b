"""A healthy data diet on your own file, against all rows and the worst diet.

  fairjax diet comments.csv --text comment --label toxic --group gender

Columns and model as for configs/train_csv.py.
"""

from fairjax import config as c


def get_config(model: str = '') -> c.Config:
  model = model or c.pretrained('tiny')
  rate, epochs = (1e-3, 8.0) if model in c.SCRATCH else (1e-4, 2.0)
  return c.Config(
    recipe='diet',
    model=model,
    seeds=3,
    data=c.Data(name='file', on_bad='drop'),
    train=c.Train(
      lr=rate,
      epochs=epochs,
      batch=32,
      warmup=0.1,
      metric_for_best='mcc',  # the lowest loss of few positives is constant
      patience=0,
    ),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=1.0),
    diet=c.Diet(
      ranking='healthy_random',
      factual=0.4,
      counterfactual=0.4,
      compare=('unhealthy_random', 'none'),
    ),
  )
