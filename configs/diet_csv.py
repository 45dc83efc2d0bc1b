"""A healthy data diet on your own file, against all rows and the worst diet.

  fairjax diet comments.csv --text comment --label toxic --group gender

Columns and model as for configs/train_csv.py.
"""

from fairjax import config as c


def get_config(model: str = '') -> c.Config:
  model = model or c.pretrained('tiny')
  return c.Config(
    recipe='diet',
    model=model,
    seeds=3,
    data=c.Data(name='file', on_bad='drop'),
    train=c.for_own_rows(model),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=1.0),
    diet=c.Diet(
      ranking='healthy_random',
      factual=0.4,
      counterfactual=0.4,
      compare=('unhealthy_random', 'none'),
    ),
  )
