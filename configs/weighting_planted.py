"""Instance weights on the data with a known bias, against the baseline.

  python -m fairjax.main --config=configs/weighting_planted.py

In training, gender words agree with the label in 90 % of the rows; the test
split is balanced. z are the gender words. Five minutes on two cores; expected
(test split, 1000 rows, 5 seeds, † p < 0.05):

  row       auc                   fped                  fned
  baseline  0.659 [0.560, 0.791]  0.403 [0.264, 0.541]  0.407 [0.295, 0.518]
  weight    0.803 [0.626, 0.970]  0.086 [0.006, 0.166]† 0.101 [0.048, 0.154]†

Where the baseline has learned to read, its bias is smaller and the AUCs are
equal: 4000 rows at correlation 0.8 and lr 2e-3 give 0.983 and 0.984, FPED
0.028 and 0.007†, FNED 0.016 and 0.002 (3 seeds).
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='weighting',
    model='lstm',
    seeds=5,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=3000, test_rows=1000, correlation=0.9),
    tokens=c.Tokens(vocab_size=2000),
    train=c.Train(
      lr=1e-3,
      optimizer='rmsprop',
      schedule='constant',
      max_grad_norm=5.0,
      batch=64,
      epochs=14,
      warmup=0.1,
      patience=4,
    ),
    weighting=c.Weighting(
      z='gender',
      n_estimators=100,
      max_depth=18,
      folds=10,
      rows=('baseline', 'weight'),
    ),
    measures=c.Measures(sets=('test',)),
  )
